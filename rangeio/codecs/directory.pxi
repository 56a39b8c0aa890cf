# Protobuf messages, located without making an object of any: see wire.py, and its twins there.


cdef inline int64_t _pb_varint(
    const uint8_t *b, int64_t p, int64_t n, uint64_t *value
) noexcept nogil:
    """The position after a varint of at most ten bytes, else -1."""
    cdef uint64_t found = 0
    cdef int shift = 0
    while p < n and shift < 70:
        found |= <uint64_t>(b[p] & 0x7F) << shift
        p += 1
        if b[p - 1] < 0x80:
            value[0] = found
            return p
        shift += 7
    return -1


cdef inline int64_t _pb_field(
    const uint8_t *b, int64_t p, int64_t n, int64_t *number, int *type, uint64_t *value
) noexcept nogil:
    """The position after a field, else -1; ``value``: of a varint, or the size of its payload."""
    cdef uint64_t tag = 0
    value[0] = 0
    p = _pb_varint(b, p, n, &tag)
    if p < 0 or tag < 8 or tag >> 32:
        return -1
    number[0] = <int64_t>(tag >> 3)
    type[0] = <int>(tag & 7)
    if type[0] == 0:
        return _pb_varint(b, p, n, value)
    if type[0] == 1:
        value[0] = 8
    elif type[0] == 5:
        value[0] = 4
    elif type[0] == 2:
        p = _pb_varint(b, p, n, value)
        if p < 0:
            return -1
    else:
        return -1
    if value[0] > <uint64_t>(n - p):
        return -1
    return p + <int64_t>value[0]


def message_spans(const uint8_t[::1] data, int64_t wanted):
    """(starts, stops, rest), or None where the bytes are no message."""
    cdef int64_t n = data.shape[0], p = 0, q, number = 0, count = 0, i = 0, resting = 0
    cdef int type = 0
    cdef uint64_t value = 0
    cdef const uint8_t *b = &data[0] if n else NULL
    with nogil:
        while p < n:
            p = _pb_field(b, p, n, &number, &type, &value)
            if p < 0:
                break
            count += number == wanted and type == 2
    if p < 0:
        return None
    starts, stops, rest = np.empty(count, np.int64), np.empty(count, np.int64), []
    cdef int64_t[::1] a = starts, z = stops
    p = 0
    while p < n:
        q = _pb_field(b, p, n, &number, &type, &value)
        if number == wanted and type == 2:
            if resting < p:
                rest.append((resting, p))
            resting = q
            a[i] = q - <int64_t>value
            z[i] = q
            i += 1
        p = q
    if resting < n:
        rest.append((resting, n))
    return starts, stops, rest


def message_facts(
    const uint8_t[::1] data,
    const int64_t[::1] starts,
    const int64_t[::1] stops,
    const int64_t[::1] wanted,
    int64_t[:, :, ::1] out,
):
    """Fills a row of facts for every message; the index of the first that is none, else -1."""
    cdef Py_ssize_t i, j, n = starts.shape[0], k = wanted.shape[0]
    cdef int64_t p, stop, number = 0
    cdef int type = 0
    cdef uint64_t value = 0
    if n == 0:
        return -1
    cdef const uint8_t *b = &data[0] if data.shape[0] else NULL
    with nogil:
        for i in range(n):
            p, stop = starts[i], stops[i]
            for j in range(k):
                out[i, j, 0], out[i, j, 1] = 0, -1
            while p < stop:
                p = _pb_field(b, p, stop, &number, &type, &value)
                if p < 0:
                    break
                for j in range(k):
                    if wanted[j] == number and type == 0:
                        out[i, j, 0], out[i, j, 1] = <int64_t>value, -2
                    elif wanted[j] == number and type == 2:
                        out[i, j, 0], out[i, j, 1] = p - <int64_t>value, p
            if p < 0:
                break
        else:
            i = -1
    return i


def message_pairs(const uint8_t[::1] data, int64_t wanted, int64_t first, int64_t second):
    """(numbers, numbers, rest) of a field of messages; None where the bytes are no message."""
    cdef int64_t n = data.shape[0], p = 0, q, inner, number = 0, count = 0, resting = 0
    cdef int type = 0
    cdef uint64_t value = 0, size = 0
    cdef uint32_t low, high
    cdef const uint8_t *b = &data[0] if n else NULL
    with nogil:
        while p < n:
            p = _pb_field(b, p, n, &number, &type, &value)
            if p < 0:
                break
            count += number == wanted and type == 2
    if p < 0:
        return None
    lows, highs, rest = np.empty(count, np.uint32), np.empty(count, np.uint32), []
    cdef uint32_t[::1] a = lows, z = highs
    p = count = 0
    while p < n:
        q = _pb_field(b, p, n, &number, &type, &size)
        if number == wanted and type == 2:
            if resting < p:
                rest.append((resting, p))
            resting = q
            inner = q - <int64_t>size
            low = high = 0
            while inner < q:
                inner = _pb_field(b, inner, q, &number, &type, &value)
                if inner < 0:
                    return None
                if type == 0 and number == first:
                    low = <uint32_t>value
                elif type == 0 and number == second:
                    high = <uint32_t>value
            a[count] = low
            z[count] = high
            count += 1
        p = q
    if resting < n:
        rest.append((resting, n))
    return lows, highs, rest
