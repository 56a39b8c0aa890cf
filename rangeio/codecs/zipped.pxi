# The kernels of zipped.py; a part of _kernels.pyx.

cdef struct Entry:
    uint32_t word
    const uint8_t *value
    uint64_t size
    bint seen


cdef inline bint _entry(
    const uint8_t *at,
    const uint8_t *stop,
    int head,
    int def_bits,
    uint32_t most,
    int width,
    uint64_t value_size,
    Entry *out,
) noexcept nogil:
    """Read one entry; whether it ends at or before `stop`."""
    cdef uint32_t level
    if stop - at < head:
        return False
    out.word = 0
    if head == 1:
        out.word = at[0]
    elif head == 2:
        memcpy(&out.word, at, 2)
    elif head == 4:
        memcpy(&out.word, at, 4)
    at += head
    level = out.word & ((<uint32_t>1 << def_bits) - 1)
    out.seen = level <= most
    out.size = 0
    if out.seen and not width:
        out.size = value_size
    elif out.seen and not level:
        if stop - at < width:
            return False
        out.size = _word(at, width)
        at += width
    out.value = at
    return out.size <= <uint64_t>(stop - at)


def zipped_measure(
    const uint8_t[::1] data,
    const int64_t[::1] starts,
    const int64_t[::1] stops,
    control,
    int width,
    int64_t value_size,
    int64_t[::1] cuts,
):
    cdef Py_ssize_t k, n = starts.shape[0]
    cdef int head, def_bits
    cdef uint32_t most
    cdef int64_t entries = 0, visible = 0, size = 0
    cdef const uint8_t *raw = &data[0] if data.shape[0] else NULL
    cdef const uint8_t *at
    cdef const uint8_t *stop
    cdef Entry entry
    cdef bint good = True
    head, def_bits, most = control
    with nogil:
        for k in range(n):
            at = raw + starts[k]
            stop = raw + stops[k]
            while at < stop:
                if not _entry(at, stop, head, def_bits, most, width, value_size, &entry):
                    good = False
                    break
                entries += 1
                visible += entry.seen
                size += entry.size
                at = entry.value + entry.size
            if not good:
                break
            cuts[k + 1] = entries
        else:
            k = -1
    return k, visible, size


def zipped_fill(
    const uint8_t[::1] data,
    const int64_t[::1] starts,
    const int64_t[::1] stops,
    control,
    int width,
    int64_t value_size,
    uint32_t[::1] words,
    int64_t[::1] out_offsets,
    uint8_t[::1] out,
):
    cdef Py_ssize_t k, n = starts.shape[0]
    cdef int head, def_bits
    cdef uint32_t most
    cdef int64_t slot = 0, number = 0, place = 0, room = out.shape[0] - 16
    cdef const uint8_t *raw = &data[0] if data.shape[0] else NULL
    cdef const uint8_t *end = raw + data.shape[0]
    cdef uint8_t *to = &out[0] if out.shape[0] else NULL
    cdef const uint8_t *at
    cdef const uint8_t *stop
    cdef Entry entry
    cdef bint good = True
    head, def_bits, most = control
    if width:
        out_offsets[0] = 0
    with nogil:
        for k in range(n):
            at = raw + starts[k]
            stop = raw + stops[k]
            while at < stop:
                # Measured before: only a mapped file that changes meanwhile ends here.
                if (
                    not _entry(at, stop, head, def_bits, most, width, value_size, &entry)
                    or number == words.shape[0]
                    or entry.size > <uint64_t>(out.shape[0] - place)
                    or (width and slot + entry.seen == out_offsets.shape[0])
                ):
                    good = False
                    break
                words[number] = entry.word
                number += 1
                _copy(
                    to + place,
                    entry.value,
                    entry.size,
                    end - entry.value >= 16 and place <= room,
                )
                place += entry.size
                at = entry.value + entry.size
                if entry.seen and width:
                    slot += 1
                    out_offsets[slot] = place
            if not good:
                break
    return good
