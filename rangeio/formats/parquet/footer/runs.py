"""A Thrift FileMetaData whose column chunks are alike, scanned by comparing them with one another.

A chunk that was parsed is kept: as a template, its bytes and a mask of what in them is structure;
and as a shape, regular expressions. Where other bytes agree with one of them, parsing them would
take the same steps, so they are a chunk and end where it says: a proof, not a guess.
"""

from __future__ import annotations

import numpy as np

from rangeio.codecs.thrift import Buffer
from rangeio.formats.parquet.footer.layout import Layout
from rangeio.formats.parquet.footer.scan import CHUNK_DEPTH, Places, struct_end, walk
from rangeio.formats.parquet.footer.structure import TILE, Shape, Structure, Template

_LARGEST = 1024  # bytes of a chunk that is kept
_SHAPES = 16
_BLOCK = 1 << 16  # bytes that are compared at once
_ALIKE = 16  # chunks of one size, after which a template is worth its making
_FEW = 4  # chunks compared one by one before a block is worth its while

# Costs, in comparisons of one chunk, and what may be spent before it is given up.
_PARSE = 40
_MATCH = 5
_KEEP_A_SHAPE = 2000
_KEEP_A_TEMPLATE = 600
_COMPARE_A_BLOCK = 20
_AT_FIRST = 50_000
_A_CHUNK = 10


def scan(data: memoryview, *, plain: int = 100) -> Layout | None:
    """As :func:`rangeio.formats.parquet.scan.scan`; None where few chunks are alike.

    That is noticed early, and never where there are few chunks. Raises Corrupt. plain: chunks that
    are parsed before any is kept, for it does not pay where there are no more.
    """
    try:
        return walk(data, _Runs(data, plain).chunks)
    except _IrregularError:
        return None


class _IrregularError(Exception):
    """Too few chunks are alike."""


class _Runs:
    """What is kept of the chunks of one footer, and what may still be spent on it."""

    def __init__(self, data: memoryview, plain: int) -> None:
        self._data = data
        self._bytes = np.frombuffer(data, np.uint8)
        self._template: Template | None = None
        self._shapes: list[Shape] = []  # the last that matched first
        self._left = _AT_FIRST
        self._plain = plain
        self._size = self._alike = 0

    def chunks(self, data: Buffer, at: int, places: Places) -> int:
        """The chunks of one row group: see :data:`rangeio.formats.parquet.footer.scan.Chunks`."""
        i, last, out = 0, len(places) - 1, places.data
        while i < last:
            if self._template is not None:
                size = self._template.size
                found = self._run(self._template, at, last - i)
                places[i : i + found] = np.arange(at, at + found * size, size)
                i, at, self._template = i + found, at + found * size, None
            else:
                out[i] = at
                i, at = i + 1, self._one(at)
        out[last] = at
        return at

    def _spend(self, cost: int, found: int = 0) -> None:
        """Pay for what was done, and earn for the chunks found by it."""
        self._left += found * _A_CHUNK - cost
        if self._left < 0:
            raise _IrregularError

    # ---- one by one ------------------------------------------------------------------------------

    def _one(self, at: int) -> int:
        """Where the chunk at ``at`` ends."""
        for i, shape in enumerate(self._shapes):
            stop = shape.match(self._data, at)
            if stop >= 0:
                if i:
                    self._shapes.insert(0, self._shapes.pop(i))
                self._spend(_MATCH + i, 1)
                break
        else:
            stop = self._parsed(at)
        if stop - at != self._size:
            self._size, self._alike = stop - at, 0
        self._alike += 1
        if self._alike == _ALIKE and self._shapes and self._size <= _LARGEST:
            self._alike = 0
            self._spend(_KEEP_A_TEMPLATE)
            mask = Structure(self._data, at).mask
            self._template = Template(bytes(self._data[at:stop]), bytes(mask))
        return stop

    def _parsed(self, at: int) -> int:
        """Where the chunk at ``at`` ends, which no shape matches; it is kept as one."""
        self._spend(_PARSE + len(self._shapes), 1)
        stop = struct_end(self._data, at, CHUNK_DEPTH)
        if self._plain:
            self._plain -= 1
        elif stop - at <= _LARGEST:
            self._spend(_KEEP_A_SHAPE)
            self._shapes.insert(0, Shape(Structure(self._data, at).patterns))
            del self._shapes[_SHAPES:]
        return stop

    # ---- many at once ----------------------------------------------------------------------------

    def _run(self, template: Template, at: int, most: int) -> int:
        """How many of ``most`` chunks from ``at`` on fit the template."""
        size = template.size
        most = min(most, (len(self._data) - at) // size)
        done = self._few(template, at, min(most, _FEW))
        if done < _FEW:
            return done
        tiles = 1
        while rows := min(tiles, (most - done) // TILE) * TILE:
            start = at + done * size
            found = template.fitting(self._bytes[start : start + rows * size])
            self._spend(_COMPARE_A_BLOCK, found)
            done += found
            if found < rows:
                return done
            tiles = min(2 * tiles, max(_BLOCK // (TILE * size), 1))
        return done + self._few(template, at + done * size, most - done)

    def _few(self, template: Template, at: int, most: int) -> int:
        """As :meth:`_run`, one by one."""
        found = 0
        while found < most and template.fits(self._data, at + found * template.size):
            found += 1
        self._spend(found + 1, found)
        return found
