"""Blob columns: positions and sizes in the page, the bytes anywhere in the file."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from rangeio.errors import Corrupt
from rangeio.formats.lance.v20.arrays import is_variable, masked, variable
from rangeio.formats.lance.v20.encodings import Node
from rangeio.formats.lance.v20.page import read
from rangeio.formats.lance.v20.span import Span
from rangeio.plan import Later
from rangeio.ranges import ByteRange
from rangeio.steps import Steps, needs

_DESCRIPTOR = pa.struct([("position", pa.uint64()), ("size", pa.uint64())])


def blobs(node: Node, kind: pa.DataType, span: Span, limit: int) -> Steps[pa.Array]:
    """The rows' bytes: descriptors, then what they point at, below ``limit`` of the file.

    Nothing at position 0 is empty, nothing at another position is null.
    """
    if not is_variable(kind):
        raise Corrupt(f"blobs of the type {kind}")
    found = yield from read(node, _DESCRIPTOR, span)
    if found.null_count:
        found = found.fill_null({"position": 1, "size": 0})
    at = found.field(0).to_numpy(zero_copy_only=False)
    size = found.field(1).to_numpy(zero_copy_only=False)
    bound = np.uint64(limit)
    if ((size > 0) & ((at > bound) | (size > bound - np.minimum(at, bound)))).any():
        raise Corrupt(f"a blob outside the {limit} bytes of the file's data")
    some = size > 0
    total = float(size.sum(dtype=np.float64))
    if total > limit:
        raise Corrupt(f"blobs of {total:.0f} bytes in a file of {limit}")
    pairs = zip(at[some].tolist(), size[some].tolist(), strict=True)
    parts = yield from needs([ByteRange(a, a + n) for a, n in pairs], "lance.blobs")
    offsets = np.zeros(span.count + 1, np.int64)
    np.cumsum(size.astype(np.int64), out=offsets[1:])
    array = variable(kind, offsets, memoryview(b"".join(parts)))
    valid = some | (at == 0)
    return array if valid.all() else masked(array, np.packbits(valid, bitorder="little"))


def later(span: Span, limit: int) -> list[Later]:
    """One hop, to anywhere in the file."""
    return [Later((ByteRange(0, limit),), span.count)]
