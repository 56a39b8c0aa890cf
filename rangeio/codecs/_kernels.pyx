# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""The compiled kernels. See native.Kernels for what each promises, and the modules for its twin.

Callers have checked that every segment lies within its buffer. What only the bytes themselves can
tell (widths, offsets, codes, lengths) is checked here, before it is used.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcmp, memcpy, memset

cdef extern from "fastlanes.h" nogil:
    void rangeio_unpack(const uint8_t *src, uint8_t *out, int width, int bits, int count)
    uint64_t rangeio_load(const uint8_t *src)
    void rangeio_store(uint8_t *out, uint64_t word)

REVISION = 5


# ---- FastLanes -----------------------------------------------------------------------------------


def unpack_blocks(
    const uint8_t[::1] data, const int64_t[::1] starts, int width, int bits, uint8_t[::1] out
):
    cdef Py_ssize_t k, n = starts.shape[0]
    if n == 0:
        return
    cdef const uint8_t *raw = &data[0] if data.shape[0] else NULL
    cdef uint8_t *to = &out[0]
    with nogil:
        for k in range(n):
            rangeio_unpack(raw + starts[k], to + k * 128 * bits, width, bits, 1024)


def unpack_inline(const uint8_t[::1] data, const int64_t[::1] starts, int bits, uint8_t[::1] out):
    cdef Py_ssize_t k, n = starts.shape[0]
    cdef int64_t limit = data.shape[0], at
    cdef int word = bits // 8
    cdef uint64_t width
    if n == 0:
        return -1
    cdef const uint8_t *raw = &data[0]
    cdef uint8_t *to = &out[0]
    with nogil:
        for k in range(n):
            at = starts[k]
            width = 0
            memcpy(&width, raw + at, word)
            at += word
            if width > <uint64_t>bits or <int64_t>(128 * width) > limit - at:
                break
            rangeio_unpack(raw + at, to + k * 128 * bits, <int>width, bits, 1024)
        else:
            k = -1
    return k


def unpack_levels(
    const uint8_t[::1] data,
    const int64_t[::1] starts,
    const int64_t[::1] sizes,
    const int64_t[::1] counts,
    int width,
    uint16_t[::1] out,
):
    cdef Py_ssize_t k, n = starts.shape[0]
    cdef int64_t left, block = 128 * width
    cdef const uint8_t *at
    cdef const uint8_t *raw = &data[0] if data.shape[0] else NULL
    cdef uint16_t *to = &out[0]
    with nogil:
        for k in range(n):
            left = counts[k]
            at = raw + starts[k]
            while left >= 1024:
                rangeio_unpack(at, <uint8_t *>to, width, 16, 1024)
                at += block
                to += 1024
                left -= 1024
            if left and sizes[k] == (counts[k] >> 10) * block + 2 * left:
                memcpy(to, at, 2 * left)
            elif left:
                # What is written beyond `left` falls into the slack, or the next chunk's place.
                rangeio_unpack(at, <uint8_t *>to, width, 16, <int>left)
            to += left


# ---- FSST ----------------------------------------------------------------------------------------


def fsst_decode(
    const uint8_t[::1] codes,
    const int64_t[::1] offsets,
    const uint64_t[::1] symbols,
    const uint8_t[::1] lengths,
    uint8_t[::1] out,
    int64_t[::1] out_offsets,
):
    cdef Py_ssize_t i, n = offsets.shape[0] - 1
    cdef const uint8_t *base = &codes[0] if codes.shape[0] else NULL
    cdef const uint64_t *words = &symbols[0]
    cdef const uint8_t *sizes = &lengths[0]
    cdef uint8_t *begin = &out[0]
    cdef uint8_t *to = begin
    cdef const uint8_t *at
    cdef const uint8_t *stop
    cdef uint8_t code, size
    cdef bint good = True
    out_offsets[0] = 0
    with nogil:
        for i in range(n):
            at = base + offsets[i]
            stop = base + offsets[i + 1]
            while at < stop:
                code = at[0]
                size = sizes[code]
                at += 1
                if size:
                    rangeio_store(to, words[code])
                    to += size
                elif code == 255 and at < stop:
                    to[0] = at[0]
                    to += 1
                    at += 1
                else:
                    good = False
                    break
            if not good:
                break
            out_offsets[i + 1] = to - begin
        else:
            i = -1
    return i


# ---- variable width ------------------------------------------------------------------------------


cdef inline uint64_t _word(const uint8_t *at, int width) noexcept nogil:
    cdef uint64_t value = 0
    if width == 4:
        memcpy(&value, at, 4)
    else:
        memcpy(&value, at, 8)
    return value


cdef inline bint _rebase(
    const uint8_t *at, int64_t count, int width, int64_t by, int64_t *out
) noexcept nogil:
    """Offsets 1 to count, shifted by `by`; whether none falls. Branch-free, so that it vectorises."""
    cdef int64_t i
    cdef uint64_t before = _word(at, width), here
    cdef bint falls = False
    for i in range(count):
        here = _word(at + (i + 1) * width, width)
        falls |= here < before
        out[i] = <int64_t>here + by
        before = here
    return not falls


def variable_chunks(
    const uint8_t[::1] data,
    const int64_t[::1] starts,
    const int64_t[::1] counts,
    int width,
    int64_t[::1] out_offsets,
    uint8_t[::1] out,
):
    cdef Py_ssize_t k, n = starts.shape[0]
    cdef const uint8_t *raw = &data[0] if data.shape[0] else NULL
    cdef const uint8_t *at
    cdef int64_t place = 0, first, size, limit = data.shape[0], room = out.shape[0]
    cdef int64_t *offset = &out_offsets[0] + 1
    cdef uint8_t *to = &out[0] if out.shape[0] else NULL
    cdef bint good
    with nogil:
        for k in range(n):
            at = raw + starts[k]
            first = <int64_t>_word(at, width)
            size = <int64_t>_word(at + counts[k] * width, width) - first
            if width == 4:
                good = _rebase(at, counts[k], 4, place - first, offset)
            else:
                good = _rebase(at, counts[k], 8, place - first, offset)
            # Measured before; anew, for a mapped file may change meanwhile.
            good = good and 0 <= first <= limit - starts[k] and size <= room - place
            if not good or size > limit - starts[k] - first:
                break
            if size:
                memcpy(to + place, at + first, size)
            place += size
            offset += counts[k]
        else:
            k = -1
    return k


cdef inline void _copy(uint8_t *to, const uint8_t *at, int64_t size, bint slack) noexcept nogil:
    """`size` bytes; with `slack` both sides have 16 bytes more, so that short ones are one move."""
    if slack and size <= 16:
        rangeio_store(to, rangeio_load(at))
        rangeio_store(to + 8, rangeio_load(at + 8))
    elif size:
        memcpy(to, at, size)


def gather(
    const uint8_t[::1] data, const int64_t[::1] starts, const int64_t[::1] sizes, uint8_t[::1] out
):
    cdef Py_ssize_t k, n = starts.shape[0]
    cdef int64_t limit = data.shape[0] - 16, room = out.shape[0] - 16, place = 0
    if out.shape[0] == 0:
        return
    cdef const uint8_t *raw = &data[0]
    cdef uint8_t *to = &out[0]
    with nogil:
        for k in range(n):
            _copy(to + place, raw + starts[k], sizes[k], starts[k] <= limit and place <= room)
            place += sizes[k]


def take(
    const int64_t[::1] offsets,
    const uint8_t[::1] data,
    const int64_t[::1] indices,
    int64_t[::1] out_offsets,
    uint8_t[::1] out,
):
    cdef Py_ssize_t k, n = indices.shape[0]
    cdef int64_t limit = data.shape[0] - 16, room = out.shape[0] - 16, place = 0, start, size
    cdef const uint8_t *raw = &data[0] if data.shape[0] else NULL
    cdef uint8_t *to = &out[0] if out.shape[0] else NULL
    out_offsets[0] = 0
    with nogil:
        for k in range(n):
            start = offsets[indices[k]]
            size = offsets[indices[k] + 1] - start
            _copy(to + place, raw + start, size, start <= limit and place <= room)
            place += size
            out_offsets[k + 1] = place


include "zipped.pxi"


# ---- levels --------------------------------------------------------------------------------------


def unravel_list(
    const uint16_t[::1] rep,
    const uint16_t[::1] definition,
    numbering,
    uint16_t[::1] outer_rep,
    uint16_t[::1] outer_definition,
    int64_t[::1] offsets,
    uint8_t[::1] valid,
):
    cdef Py_ssize_t i, n = rep.shape[0]
    cdef uint16_t inside, null, own, outside, level
    cdef int64_t lists = 0, slots = 0, items = 0
    cdef bint begins, hidden, before = True, full = False, within = False
    inside, null, own, outside = numbering
    cdef int64_t most = outer_rep.shape[0] - 1
    with nogil:
        for i in range(n):
            level = definition[i]
            begins = rep[i] != 0
            hidden = level > inside
            full |= not begins and before
            within |= not begins and hidden
            before = hidden
            # Written always, kept only where a list begins: no branch that levels could confuse.
            outer_rep[lists] = rep[i] - 1
            outer_definition[lists] = level
            offsets[slots] = items
            valid[slots] = not null or (level != null and level <= own)
            lists += begins
            slots += begins and level <= outside
            items += not hidden
            if lists > most:
                break
        offsets[slots] = items
    return slots, full, within


# ---- LZ4 -----------------------------------------------------------------------------------------


def lz4_size(const uint8_t[::1] block):
    cdef const uint8_t *at
    cdef const uint8_t *stop
    cdef int64_t size = 0
    if block.shape[0] == 0:
        return -1
    at = &block[0]
    stop = at + block.shape[0]
    with nogil:
        size = _lz4_size(at, stop)
    return size


cdef int64_t _lz4_size(const uint8_t *at, const uint8_t *stop) noexcept nogil:
    """Literals and matches summed, without copying any; the last sequence has no match."""
    cdef int64_t size = 0, literals, match
    cdef uint8_t token
    while at < stop:
        token = at[0]
        at += 1
        literals = token >> 4
        if literals == 15 and not _length(&at, stop, &literals):
            return -1
        if literals > stop - at:
            return -1
        at += literals
        size += literals
        if at == stop:
            return size
        if stop - at < 2:
            return -1
        at += 2
        match = token & 15
        if match == 15 and not _length(&at, stop, &match):
            return -1
        size += match + 4
    return -1


cdef inline bint _length(const uint8_t **at, const uint8_t *stop, int64_t *length) noexcept nogil:
    """Add the bytes that continue a length of 15 (each 255 but the last); whether they end."""
    cdef uint8_t more
    while at[0] < stop:
        more = at[0][0]
        at[0] += 1
        length[0] += more
        if more != 255:
            return True
    return False


# ---- Parquet footers -----------------------------------------------------------------------------

include "footer.pxi"

# ---- Doris pages ---------------------------------------------------------------------------------

include "doris.pxi"


# ---- protobuf directories ------------------------------------------------------------------------


include "directory.pxi"
