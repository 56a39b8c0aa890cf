# The footer scanner of rangeio.formats.parquet.footer.locate; a part of _kernels.pyx.

import numpy as np

cdef extern from "footer.h" nogil:
    ctypedef struct rangeio_segment:
        pass
    ctypedef struct rangeio_body:
        pass
    ctypedef struct rangeio_templates:
        rangeio_segment *segments
        rangeio_body *bodies
    int RANGEIO_SEGMENTS, RANGEIO_GUESSES, RANGEIO_FACTS
    void rangeio_forget(rangeio_templates *t)
    int64_t rangeio_field(const uint8_t *b, int64_t p, int64_t n, int64_t *id, int *type)
    int64_t rangeio_integer(
        const uint8_t *b, int64_t p, int64_t n, int type, int64_t low, int64_t high, int64_t *out
    )
    int64_t rangeio_list(const uint8_t *b, int64_t p, int64_t n, int64_t *count, int *element)
    int64_t rangeio_skip(const uint8_t *b, int64_t p, int64_t n, int type, int depth, int inside)
    ctypedef struct rangeio_shapes:
        pass
    int64_t rangeio_next_element(
        rangeio_shapes *all, const uint8_t *b, int64_t p, int64_t n, int32_t *out
    )
    int64_t rangeio_group(
        rangeio_templates *t, const uint8_t *b, int64_t p, int64_t n, int64_t leaves,
        uint16_t *guesses, int64_t *group, uint32_t *chunks,
    )
    int64_t rangeio_chunk_facts(const uint8_t *b, int64_t start, int64_t n, int64_t *out)


def scan_footer(const uint8_t[::1] data, bint templates):
    """The parts of a Layout, or None where the bytes are no footer."""
    cdef int64_t n = data.shape[0], p = 0, stop, id = 0, rows = -1, start = -1, leaves
    cdef int type
    if n == 0 or n > 0x7FFFFFFF:
        return None
    cdef const uint8_t *b = &data[0]
    fields = []
    elements = groups = None
    while True:
        p = rangeio_field(b, p, n, &id, &type)
        if p < 0:
            return None
        if type < 0:
            break
        stop = -1
        if id == 2:
            found = None if elements is not None or type != 9 else _elements(b, p, n)
            if found is not None:
                elements, leaves, stop = found
        elif id == 3:
            if rows < 0:
                stop = rangeio_integer(b, p, n, type, 0, 0x7FFFFFFFFFFFFFFF, &rows)
        elif id == 4 and elements is not None:
            found = None if groups is not None or start >= 0 or type != 9 else _groups(
                b, p, n, leaves, templates
            )
            if found is not None:
                *groups, stop = found
        else:
            # Row groups before the schema wait for it: their chunks are counted by its leaves.
            if id != 4 or (start < 0 and type == 9):
                stop = rangeio_skip(b, p, n, type, 0, 0)
            if id == 4:
                start = p
        if stop < 0 or len(fields) == 1024:
            return None
        fields.append((id, type, p, stop))
        p = stop
    if start >= 0 and elements is not None:
        found = _groups(b, start, n, leaves, templates)
        if found is not None:
            *groups, stop = found
    if elements is None or groups is None or rows < 0:
        return None
    return fields, elements, groups[0], groups[1], rows, p


cdef object _elements(const uint8_t *b, int64_t p, int64_t n):
    """(table, leaves, where the list ends), or None."""
    cdef int64_t count, i, leaves
    cdef int element
    p = rangeio_list(b, p, n, &count, &element)
    # An element takes three bytes at least, for it has a name.
    if p < 0 or count < 1 or element != 12 or count > (n - p) // 3:
        return None
    table = np.empty((count, 9), np.int32)
    cdef int32_t[:, ::1] rows = table
    cdef rangeio_shapes shapes
    memset(&shapes, 0, sizeof(shapes))
    with nogil:
        for i in range(count):
            p = rangeio_next_element(&shapes, b, p, n, &rows[i, 0])
            if p < 0:
                break
    if p < 0:
        return None
    leaves = _leaves(rows)
    return None if leaves < 0 else (table, leaves, p)


cdef int64_t _leaves(const int32_t[:, ::1] rows) noexcept nogil:
    """Leaves of a tree that takes all elements, else -1."""
    cdef int64_t i, n = rows.shape[0], leaves = 0, open_ = 1
    for i in range(n):
        # Elements that are still to come: each takes its own place and makes room for its children.
        if open_ < 1:
            return -1
        open_ -= 1
        if rows[i, 4] > 0:
            open_ += rows[i, 4]
        elif i:
            leaves += 1
    return leaves if open_ == 0 else -1


cdef object _groups(const uint8_t *b, int64_t p, int64_t n, int64_t leaves, bint templates):
    """(groups, chunks, where the list ends), or None."""
    cdef int64_t count, i
    cdef int element
    cdef rangeio_templates t
    cdef rangeio_templates *used = NULL
    cdef uint16_t *guesses = NULL
    p = rangeio_list(b, p, n, &count, &element)
    # A row group takes a byte a chunk, and five more at least.
    if p < 0 or (count and element != 12) or count > (n - p) // (leaves + 5):
        return None
    groups = np.empty((count, 5), np.int64)
    chunks = np.empty((count, leaves + 1), np.uint32)
    cdef int64_t[:, ::1] g = groups
    cdef uint32_t[:, ::1] c = chunks
    memset(&t, 0, sizeof(t))
    if templates and leaves * count > 64:
        t.segments = <rangeio_segment *>malloc(RANGEIO_SEGMENTS * sizeof(rangeio_segment))
        t.bodies = <rangeio_body *>malloc(RANGEIO_SEGMENTS * sizeof(rangeio_body))
        if t.segments != NULL and t.bodies != NULL:
            rangeio_forget(&t)
            used = &t
        if count > 1:
            guesses = <uint16_t *>calloc(leaves * RANGEIO_GUESSES, sizeof(uint16_t))
    with nogil:
        for i in range(count):
            p = rangeio_group(used, b, p, n, leaves, guesses, &g[i, 0], &c[i, 0])
            if p < 0:
                break
    free(t.segments)
    free(t.bodies)
    free(guesses)
    return None if p < 0 else (groups, chunks, p)


def chunk_facts(const uint8_t[::1] data, const int64_t[::1] starts, int64_t[:, ::1] out):
    """Fills a row for every chunk; the index of the first that is none, else -1."""
    cdef Py_ssize_t i, n = starts.shape[0]
    cdef int64_t size = data.shape[0]
    if n and size == 0:
        return 0
    for i in range(n):
        if not 0 <= starts[i] < size:
            return i
        if rangeio_chunk_facts(&data[0], starts[i], size, &out[i, 0]) < 0:
            return i
    return -1


def same_names(const uint8_t[::1] data, const int32_t[:, ::1] elements, const uint8_t[::1] name):
    """The elements, but for the root, of this name."""
    cdef Py_ssize_t i, size = name.shape[0]
    found = []
    for i in range(1, elements.shape[0]):
        if elements[i, 3] == size and (
            size == 0 or memcmp(&data[elements[i, 2]], &name[0], size) == 0
        ):
            found.append(i)
    return found
