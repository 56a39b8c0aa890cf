"""The footer of a Lance file, and the two offset tables before it: all of it checked first."""

from __future__ import annotations

import struct
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rangeio.errors import BadMagic, Corrupt, Truncated, Unsupported
from rangeio.ranges import ByteRange

FOOTER = struct.Struct("<QQQIIHH4s")
SIZE = FOOTER.size
MAGIC = b"LANC"
ALIGNMENT = 64
_LEGACY = ((0, 1), (0, 2))
_READ = {(0, 3): (2, 0), (2, 0): (2, 0), (2, 1): (2, 1), (2, 2): (2, 2)}

Pairs = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Footer:
    """The last 40 bytes. Offsets are absolute; ``end`` is where the footer itself begins.

    version: as in the file, ``(0, 3)`` for what users call 2.0. Every number was checked against
    the size of the file.
    """

    column_meta_start: int
    cmo_start: int
    gbo_start: int
    num_global_buffers: int
    num_columns: int
    version: tuple[int, int]
    end: int

    @classmethod
    def parse(cls, tail: memoryview, size: int) -> Footer:
        """The footer at the end of ``tail``, which ends a file of ``size`` bytes."""
        if tail[-4:] != MAGIC:
            raise BadMagic(f"not a Lance file: it ends in {bytes(tail[-4:])!r}", offset=size)
        if len(tail) < SIZE:
            raise Truncated(f"{size} bytes hold no Lance footer of {SIZE}", offset=0)
        start, cmo, gbo, buffers, columns, major, minor, _ = FOOTER.unpack(tail[-SIZE:])
        _readable((major, minor), size - 8)
        footer = cls(start, cmo, gbo, buffers, columns, (major, minor), size - SIZE)
        footer._check()
        return footer

    def _check(self) -> None:
        tables = self.gbo_start + 16 * self.num_global_buffers
        if not self.column_meta_start <= self.cmo_start <= self.gbo_start <= self.end:
            raise Corrupt("the footer's offsets are out of order", offset=self.end)
        if self.cmo_start + 16 * self.num_columns != self.gbo_start:
            raise Corrupt(
                f"an offset table of {self.num_columns} columns cannot reach from "
                f"{self.cmo_start} to {self.gbo_start}",
                offset=self.end,
            )
        if tables > self.end:
            raise Corrupt(
                f"{self.num_global_buffers} global buffers do not fit before the footer",
                offset=self.end,
            )
        if not self.num_global_buffers:
            raise Corrupt("there is no global buffer 0, which holds the schema", offset=self.end)

    @property
    def aligned(self) -> bool:
        """Whether pages and global buffers must begin at multiples of 64 (2.1 and later)."""
        return self.version >= (2, 1)

    @property
    def column_offsets(self) -> ByteRange:
        """Where the column metadata offset table lies."""
        return ByteRange(self.cmo_start, self.gbo_start)

    @property
    def buffer_offsets(self) -> ByteRange:
        """Where the global buffer offset table lies."""
        return ByteRange(self.gbo_start, self.gbo_start + 16 * self.num_global_buffers)

    def global_buffers(self, table: memoryview) -> Pairs:
        """(position, size) of every global buffer: inside the file, aligned where they must be."""
        pairs = _pairs(table)
        bad = _outside(pairs, 0, self.end)
        if self.aligned:
            bad |= pairs[:, 0] % ALIGNMENT != 0
        if bad.any():
            i = int(bad.argmax())
            raise Corrupt(
                f"global buffer {i} at {pairs[i, 0]}, {pairs[i, 1]} bytes, lies outside the file "
                f"or is not aligned",
                offset=self.gbo_start + 16 * i,
            )
        return pairs

    def columns(self, table: memoryview) -> Pairs:
        """(position, size) of every column's metadata: inside their region and disjoint."""
        pairs = _pairs(table)
        bad = _outside(pairs, self.column_meta_start, self.cmo_start)
        if bad.any():
            i = int(bad.argmax())
            raise Corrupt(
                f"the metadata of column {i} at {pairs[i, 0]}, {pairs[i, 1]} bytes, lies outside "
                f"{self.column_meta_start}:{self.cmo_start}",
                offset=self.cmo_start + 16 * i,
            )
        if (np.diff(pairs[:, 0].view(np.int64)) < 0).any():
            pairs = pairs[np.argsort(pairs[:, 0], kind="stable")]
        if (pairs[:-1].sum(axis=1) > pairs[1:, 0]).any():
            raise Corrupt("the metadata of two columns overlaps", offset=self.cmo_start)
        return _pairs(table)


def _pairs(table: memoryview) -> Pairs:
    return np.frombuffer(bytes(table), "<u8").reshape(-1, 2)


def _outside(pairs: Pairs, start: int, stop: int) -> npt.NDArray[np.bool_]:
    at, size = pairs[:, 0], pairs[:, 1]
    low, high = np.uint64(start), np.uint64(stop)
    # A difference that wraps belongs to a position that is refused anyway.
    return (at < low) | (at > high) | (size > high - at)


def _readable(version: tuple[int, int], offset: int) -> None:
    if version in _READ:
        return
    words = f"{version[0]}.{version[1]}"
    if version in _LEGACY:
        raise Unsupported(
            f"this is a legacy Lance v1 file (footer {words}); rangeio reads 2.0, 2.1 and 2.2",
            offset=offset,
        )
    raise Unsupported(
        f"Lance file version {words} is not supported; rangeio reads 2.0, 2.1 and 2.2",
        offset=offset,
    )
