/* FastLanes rows. Whatever the width of a value, one row of a block is 1,024 bits: 16 words of 64
 * bits. So one loop serves values of 8, 16, 32 and 64 bits: shift whole words, then mask away what
 * crossed from a neighbour. The loops over the 16 words have a constant bound, which compilers turn
 * into vector code. Little-endian only. */
#ifndef RANGEIO_FASTLANES_H
#define RANGEIO_FASTLANES_H

#include <stdint.h>
#include <string.h>

#define ROW_BYTES 128

static const int rangeio_order[8] = {0, 4, 2, 6, 1, 5, 3, 7};

static inline uint64_t rangeio_load(const uint8_t *at)
{
    uint64_t word;
    memcpy(&word, at, 8);
    return word;
}

static inline void rangeio_store(uint8_t *at, uint64_t word)
{
    memcpy(at, &word, 8);
}

/* The `ones` lowest bits of every value of a 64-bit word. */
static inline uint64_t rangeio_mask(int ones, int bits)
{
    uint64_t one = ones == 64 ? ~(uint64_t)0 : (((uint64_t)1 << ones) - 1);
    for (; bits < 64; bits *= 2)
        one |= one << bits;
    return one;
}

/* One row whose values lie within one packed word each. */
static inline void rangeio_row(const uint8_t *in, uint8_t *out, int shift, uint64_t mask)
{
    for (int i = 0; i < 16; i++)
        rangeio_store(out + 8 * i, (rangeio_load(in + 8 * i) >> shift) & mask);
}

/* One row whose values lie across two packed words; `low` bits come from the first. */
static inline void rangeio_row_across(const uint8_t *in, uint8_t *out, int shift, int low,
                                      uint64_t low_mask, uint64_t high_mask)
{
    const uint8_t *next = in + ROW_BYTES;
    for (int i = 0; i < 16; i++)
        rangeio_store(out + 8 * i, ((rangeio_load(in + 8 * i) >> shift) & low_mask) |
                                       ((rangeio_load(next + 8 * i) << low) & high_mask));
}

/* The first `count` (at most 1,024) values of a block, rounded up to 128, each `width` of `bits`
 * bits. Reads within 128 * width bytes of `in`; writes within 128 * bits bytes of `out`. */
static inline void rangeio_unpack(const uint8_t *in, uint8_t *out, int width, int bits, int count)
{
    const uint64_t mask = rangeio_mask(width, bits);
    const int lane_groups = bits / 8;
    if (width == 0) {
        memset(out, 0, (size_t)((count + 127) / 128 * 128) * (bits / 8));
        return;
    }
    for (int j = 0; j * 128 < count; j++) {
        for (int group = 0; group < lane_groups; group++) {
            const int bit = (group * 8 + j) * width;
            const int shift = bit % bits, low = bits - shift;
            const uint8_t *row = in + ROW_BYTES * (bit / bits);
            uint8_t *place = out + (size_t)j * 128 * (bits / 8) +
                             (size_t)rangeio_order[group] * 16 * (bits / 8);
            if (width <= low) {
                rangeio_row(row, place, shift, mask);
            } else {
                const uint64_t low_mask = rangeio_mask(low, bits);
                rangeio_row_across(row, place, shift, low, low_mask, mask & ~low_mask);
            }
        }
    }
}

#endif
