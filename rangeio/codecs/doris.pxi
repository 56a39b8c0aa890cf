# The kernels of bitshuffle.py, bitruns.py, varints.py and prefixed.py; a part of _kernels.pyx.

# ---- bitshuffle ----------------------------------------------------------------------------------

cdef enum:
    BLOCK_BYTES = 8192


cdef inline uint64_t _transposed(uint64_t x) noexcept nogil:
    """Bit k of byte i becomes bit i of byte k: 8 rows of 8 bits, in three swaps."""
    cdef uint64_t t
    t = (x ^ (x >> 7)) & <uint64_t>0x00AA00AA00AA00AA
    x = x ^ t ^ (t << 7)
    t = (x ^ (x >> 14)) & <uint64_t>0x0000CCCC0000CCCC
    x = x ^ t ^ (t << 14)
    t = (x ^ (x >> 28)) & <uint64_t>0x00000000F0F0F0F0
    return x ^ t ^ (t << 28)


cdef inline void _unshuffle(const uint8_t *at, uint8_t *out, int64_t row, int size) noexcept nogil:
    """One block of 8 * `row` elements: from a row for each bit to elements."""
    cdef int64_t g
    cdef int b, k
    cdef uint64_t x
    cdef const uint8_t *rows
    cdef uint8_t *to
    for b in range(size):
        rows = at + 8 * b * row
        to = out + b
        for g in range(row):
            x = rows[g]
            x |= <uint64_t>rows[g + row] << 8
            x |= <uint64_t>rows[g + 2 * row] << 16
            x |= <uint64_t>rows[g + 3 * row] << 24
            x |= <uint64_t>rows[g + 4 * row] << 32
            x |= <uint64_t>rows[g + 5 * row] << 40
            x |= <uint64_t>rows[g + 6 * row] << 48
            x |= <uint64_t>rows[g + 7 * row] << 56
            x = _transposed(x)
            for k in range(8):
                to[k * size] = <uint8_t>(x >> (8 * k))
            to += 8 * size


cdef inline void _shuffle(const uint8_t *at, uint8_t *out, int64_t row, int size) noexcept nogil:
    """One block of 8 * `row` elements: from elements to a row for each bit."""
    cdef int64_t g
    cdef int b, k
    cdef uint64_t x
    cdef const uint8_t *here
    cdef uint8_t *rows
    for b in range(size):
        rows = out + 8 * b * row
        here = at + b
        for g in range(row):
            x = 0
            for k in range(8):
                x |= <uint64_t>here[k * size] << (8 * k)
            x = _transposed(x)
            for k in range(8):
                rows[g + k * row] = <uint8_t>(x >> (8 * k))
            here += 8 * size


cdef int64_t _lz4(
    const uint8_t *at, const uint8_t *stop, uint8_t *out, int64_t room
) noexcept nogil:
    """Bytes that a raw LZ4 block decodes to, in `out`; -1 where it does not decode, or not fit.

    `out` has 16 bytes of slack, which short copies may overwrite.
    """
    cdef uint8_t *to = out
    cdef uint8_t *end = out + room
    cdef const uint8_t *back
    cdef int64_t size, span, distance
    cdef uint8_t token
    while at < stop:
        token = at[0]
        at += 1
        size = token >> 4
        if size == 15 and not _length(&at, stop, &size):
            return -1
        if size > stop - at or size > end - to:
            return -1
        _copy(to, at, size, stop - at >= 16)
        at += size
        to += size
        if at == stop:
            return to - out
        if stop - at < 2:
            return -1
        distance = at[0] | <int64_t>at[1] << 8
        at += 2
        size = token & 15
        if size == 15 and not _length(&at, stop, &size):
            return -1
        size += 4
        if distance == 0 or distance > to - out or size > end - to:
            return -1
        back = to - distance
        if distance >= 16 and size <= 16:
            _copy(to, back, size, True)
            to += size
            continue
        while size:
            # What was copied is there to copy again: the distance doubles.
            span = min(size, to - back)
            memcpy(to, back, span)
            to += span
            size -= span
    return -1


def unshuffle(const uint8_t[::1] data, int64_t count, int size, uint8_t[::1] out):
    cdef uint8_t block[BLOCK_BYTES + 16]
    cdef int64_t most = BLOCK_BYTES // size // 8 * 8, left = count, number, stored, k = 0
    cdef const uint8_t *at = &data[0] if data.shape[0] else NULL
    cdef const uint8_t *stop = at + data.shape[0]
    cdef uint8_t *to = &out[0] if out.shape[0] else NULL
    cdef bint good = True
    if size < 1 or size > 32 or count % 8 or out.shape[0] != count * size:
        return 0
    with nogil:
        while left and good:
            number = min(most, left)
            good = False
            if stop - at < 4:
                break
            stored = (<int64_t>at[0] << 24) | (<int64_t>at[1] << 16) | (<int64_t>at[2] << 8) | at[3]
            at += 4
            if stored > stop - at:
                break
            if _lz4(at, at + stored, block, number * size) != number * size:
                break
            _unshuffle(block, to, number // 8, size)
            at += stored
            to += number * size
            left -= number
            k += 1
            good = True
        good = good and at == stop
    return -1 if good else k


def shuffle(const uint8_t[::1] data, int size, uint8_t[::1] out):
    cdef int64_t most = BLOCK_BYTES // size // 8 * 8, left = data.shape[0] // size, number
    cdef const uint8_t *at = &data[0] if data.shape[0] else NULL
    cdef uint8_t *to = &out[0] if out.shape[0] else NULL
    with nogil:
        while left >= 8:
            number = min(most, left)
            _shuffle(at, to, number // 8, size)
            at += number * size
            to += number * size
            left -= number


# ---- runs of bits --------------------------------------------------------------------------------


cdef inline bint _varint(const uint8_t **at, const uint8_t *stop, uint64_t *value) noexcept nogil:
    """Read a varint; whether it ends before `stop` and fits 63 bits."""
    cdef int shift = 0
    cdef uint8_t byte
    value[0] = 0
    while at[0] < stop and shift < 63:
        byte = at[0][0]
        at[0] += 1
        value[0] |= <uint64_t>(byte & 127) << shift
        if byte < 128:
            return True
        shift += 7
    return False


def bit_runs(const uint8_t[::1] data, int64_t count, uint8_t[::1] out):
    cdef const uint8_t *at = &data[0] if data.shape[0] else NULL
    cdef const uint8_t *stop = at + data.shape[0]
    cdef uint8_t *to = &out[0] if out.shape[0] else NULL
    cdef int64_t done = 0, size, j
    cdef uint64_t head
    count = min(count, out.shape[0]) if out.shape[0] else count
    with nogil:
        while done < count and _varint(&at, stop, &head):
            if head & 1:
                size = min(<int64_t>(head >> 1), <int64_t>(stop - at))
                if to != NULL:
                    for j in range(min(8 * size, count - done)):
                        to[done + j] = at[j >> 3] >> (j & 7) & 1
                at += size
                size *= 8
            else:
                size = <int64_t>(head >> 1)
                if at == stop:
                    break
                if to != NULL:
                    memset(to + done, at[0] & 1, min(size, count - done))
                at += 1
            done += min(size, count - done)
    return done


cdef struct Runs:
    uint8_t *to
    uint8_t *head  # of the open literal run, NULL where none is open
    int groups  # of the open literal run


cdef inline void _put_group(Runs *out, uint8_t bits) noexcept nogil:
    if out.head == NULL:
        out.head = out.to
        out.to += 1
        out.groups = 0
    out.to[0] = bits
    out.to += 1
    out.groups += 1
    out.head[0] = <uint8_t>(out.groups << 1 | 1)
    if out.groups == 63:
        out.head = NULL


cdef inline void _put_repeat(Runs *out, uint8_t bit, uint64_t times) noexcept nogil:
    times <<= 1
    while times > 127:
        out.to[0] = <uint8_t>(times & 127 | 128)
        out.to += 1
        times >>= 7
    out.to[0] = <uint8_t>times
    out.to[1] = bit
    out.to += 2
    out.head = NULL


def pack_runs(const uint8_t[::1] bits, uint8_t[::1] out):
    cdef Py_ssize_t i, n = bits.shape[0]
    cdef uint8_t last = 0, group = 0, bit
    cdef int held = 0
    cdef uint64_t times = 0
    cdef Runs runs
    if n == 0:
        return 0
    runs.to = &out[0]
    runs.head = NULL
    runs.groups = 0
    with nogil:
        for i in range(n):
            bit = bits[i] != 0
            if bit == last:
                times += 1
                if times > 8:
                    continue
            else:
                if times >= 8:
                    _put_repeat(&runs, last, times)
                times = 1
                last = bit
            group |= <uint8_t>(bit << held)
            held += 1
            if held == 8:
                if times >= 8:
                    runs.head = NULL
                else:
                    _put_group(&runs, group)
                    times = 0
                held = group = 0
        if runs.head == NULL and times and (held == 0 or times == <uint64_t>held):
            _put_repeat(&runs, last, times)
        elif held:
            _put_group(&runs, group)
    return runs.to - &out[0]


# ---- varints, and values of variable width -------------------------------------------------------


def varints(const uint8_t[::1] data, int64_t[::1] out):
    cdef const uint8_t *at = &data[0] if data.shape[0] else NULL
    cdef const uint8_t *begin = at
    cdef const uint8_t *stop = at + data.shape[0]
    cdef Py_ssize_t k, n = out.shape[0]
    cdef uint64_t value
    with nogil:
        for k in range(n):
            if not _varint(&at, stop, &value):
                break
            out[k] = <int64_t>value
        else:
            k = -1
    return k, at - begin


def delimited(const uint8_t[::1] data, int64_t[::1] offsets, uint8_t[::1] out):
    cdef const uint8_t *begin = &data[0] if data.shape[0] else NULL
    cdef const uint8_t *at = begin
    cdef const uint8_t *stop = at + data.shape[0]
    cdef uint8_t *to = &out[0] if out.shape[0] else NULL
    cdef Py_ssize_t k, n = offsets.shape[0] - 1
    cdef int64_t room = out.shape[0], place = 0
    cdef uint64_t size
    offsets[0] = 0
    with nogil:
        for k in range(n):
            if not _varint(&at, stop, &size):
                break
            if size > <uint64_t>(stop - at) or size > <uint64_t>(room - place):
                break
            _copy(to + place, at, size, stop - at >= 16 and room - place >= 16)
            at += size
            place += size
            offsets[k + 1] = place
        else:
            k = -1
    return k, at - begin


def keyed(const uint8_t[::1] data, int numbers, int64_t[:, ::1] out):
    cdef const uint8_t *begin = &data[0] if data.shape[0] else NULL
    cdef const uint8_t *at = begin
    cdef const uint8_t *stop = at + data.shape[0]
    cdef Py_ssize_t k, n = out.shape[0]
    cdef int j
    cdef uint64_t value
    cdef bint good = True
    with nogil:
        for k in range(n):
            if not _varint(&at, stop, &value) or value > <uint64_t>(stop - at):
                break
            out[k, 0] = at - begin
            at += value
            out[k, 1] = at - begin
            for j in range(numbers):
                good = good and _varint(&at, stop, &value)
                out[k, 2 + j] = <int64_t>value
            if not good:
                break
        else:
            k = -1
    return k, at - begin


def prefixed_measure(const uint8_t[::1] data, int interval, int64_t[::1] offsets):
    cdef const uint8_t *begin = &data[0] if data.shape[0] else NULL
    cdef const uint8_t *at = begin
    cdef const uint8_t *stop = at + data.shape[0]
    cdef Py_ssize_t k, n = offsets.shape[0] - 1
    cdef uint64_t shared, own, before = 0
    offsets[0] = 0
    with nogil:
        for k in range(n):
            if k % interval == 0:
                before = 0
            if not _varint(&at, stop, &shared) or not _varint(&at, stop, &own):
                break
            if shared > before or own > <uint64_t>(stop - at):
                break
            at += own
            before = shared + own
            offsets[k + 1] = offsets[k] + <int64_t>before
        else:
            k = -1
    return k, at - begin


def prefixed_fill(const uint8_t[::1] data, const int64_t[::1] offsets, uint8_t[::1] out):
    cdef const uint8_t *at = &data[0] if data.shape[0] else NULL
    cdef const uint8_t *stop = at + data.shape[0]
    cdef uint8_t *to = &out[0] if out.shape[0] else NULL
    cdef uint8_t *last = to
    cdef Py_ssize_t k, n = offsets.shape[0] - 1
    cdef uint64_t shared, own
    cdef bint good = True
    with nogil:
        for k in range(n):
            # Measured before; anew, for a mapped file may change meanwhile.
            good = _varint(&at, stop, &shared) and _varint(&at, stop, &own)
            good = good and own <= <uint64_t>(stop - at) and shared <= <uint64_t>(to - last)
            good = good and shared + own == <uint64_t>(offsets[k + 1] - offsets[k])
            if not good:
                break
            if shared:
                memcpy(to, last, shared)
            if own:
                memcpy(to + shared, at, own)
            last = to
            to += shared + own
            at += own
    return good
