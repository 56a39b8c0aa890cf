"""Zone maps of a column: what every page holds at least and at most, and the whole segment."""

from __future__ import annotations

from typing import Any

import numpy as np

from rangeio.codecs.bounds import Bytes
from rangeio.formats.doris.encodings import Binary, Fixed, Values
from rangeio.formats.doris.messages import MESSAGES
from rangeio.formats.doris.texts import text
from rangeio.formats.doris.types import Declared
from rangeio.formats.doris.words import Compression, Encoding, FieldType, IndexType
from rangeio.formats.doris.writing.dense import binary_of
from rangeio.formats.doris.writing.extremes import FLOATS, extremes
from rangeio.formats.doris.writing.indexed import write_indexed
from rangeio.formats.doris.writing.outlet import Outlet

FEW = 20
"""Rows below which a page says nothing of its values."""
CUT = 512
"""Bytes of a string that are kept."""

_F = FieldType
_TEXTS = frozenset({_F.CHAR, _F.VARCHAR, _F.STRING})


class Span:
    """The bounds of some values, as they are stored.

    Attributes: null, some: whether any is NULL, whether any is not. flags: the positive and the
    negative infinity, and NaN, none of which are bounds.
    """

    def __init__(self, declared: Declared) -> None:
        self._declared = declared
        self._ends: Values | None = None
        self.null = self.some = False
        self.flags = np.zeros(3, np.bool_)

    def add(self, values: Values, *, null: bool) -> None:
        """Widen by values; null: whether there were NULLs too."""
        self.null |= null
        self.some |= bool(len(values))
        field = self._declared.field
        if isinstance(values, Fixed) and (kind := FLOATS.get(field)) is not None:
            values = self._finite(values, kind)
        found = extremes(field, values)
        if found is not None:
            self._widen(found)

    def join(self, other: Span) -> None:
        """Widen by another."""
        self.null |= other.null
        self.some |= other.some
        self.flags |= other.flags
        if other._ends is not None:
            self._widen(other.ends())

    def ends(self) -> tuple[bytes, bytes]:
        """The least and the greatest; there must have been values."""
        if isinstance(self._ends, Fixed):
            return self._ends.data[0].tobytes(), self._ends.data[1].tobytes()
        assert isinstance(self._ends, Binary)
        at = self._ends.offsets
        data = self._ends.data
        return data[at[0] : at[1]].tobytes(), data[at[1] : at[2]].tobytes()

    def message(self, *, silent: bool = False) -> Any:
        """The ZoneMap. silent: too few rows to say anything of the values."""
        found = MESSAGES.ZoneMap(min=b"", max=b"", has_null=self.null, has_not_null=self.some)
        # Values that are no bounds, as NaN, leave none: then it says nothing either.
        found.pass_all = silent or (self.some and self._ends is None)
        if not silent:
            if self._ends is not None:
                found.min, found.max = self._texts()
            if self._declared.field in FLOATS:
                found.has_positive_inf, found.has_negative_inf, found.has_nan = self.flags.tolist()
        return found

    def _widen(self, found: tuple[bytes, bytes]) -> None:
        if self._ends is None:
            self._ends = self._pair(*found)
            return
        least, greatest = self.ends()
        both = extremes(self._declared.field, self._pair(least, greatest, *found))
        assert both is not None
        self._ends = self._pair(*both)

    def _pair(self, *words: bytes) -> Values:
        size = len(words[0])
        if self._declared.field not in _TEXTS:
            return Fixed(np.frombuffer(b"".join(words), np.uint8).reshape(-1, size))
        return binary_of(words)

    def _finite(self, values: Fixed, kind: np.dtype[Any]) -> Fixed:
        data: Bytes = np.ascontiguousarray(values.data)
        numbers = data.view(kind).ravel()
        finite = np.isfinite(numbers)
        if finite.all():
            return values
        odd = numbers[~finite]
        self.flags |= [(odd == np.inf).any(), (odd == -np.inf).any(), np.isnan(odd).any()]
        return Fixed(data[finite])

    def _texts(self) -> tuple[bytes, bytes]:
        least, greatest = self.ends()
        declared = self._declared
        if declared.field in _TEXTS:
            return least[:CUT], raised(greatest[:CUT])
        return (
            text(declared.field, declared.frac, least),
            text(declared.field, declared.frac, greatest),
        )


def raised(greatest: bytes) -> bytes:
    """A bound of 512 bytes may have been cut: its last byte is one more.

    Where it is the highest already it becomes 0 in Doris, which is no upper bound; here the byte
    before it is raised.
    """
    if len(greatest) < CUT:
        return greatest
    kept = greatest.rstrip(b"\xff")
    if not kept:
        return greatest
    return (kept[:-1] + bytes([kept[-1] + 1])).ljust(CUT, b"\x00")


class ZoneMaps:
    """Those of one column."""

    def __init__(self, declared: Declared) -> None:
        self._declared = declared
        self._pages: list[bytes] = []
        self._segment = Span(declared)

    def add(self, values: Values, rows: int, *, null: bool) -> None:
        """A page of ``rows`` rows, whose values are not more than these."""
        page = Span(self._declared)
        page.add(values, null=null)
        self._segment.join(page)
        self._pages.append(page.message(silent=rows < FEW).SerializeToString())

    def write(self, outlet: Outlet) -> Any:
        """Write the pages; the ColumnIndex that leads to them."""
        pages = write_indexed(
            outlet, self._pages, FieldType.BITMAP, Encoding.PLAIN, Compression.NONE
        )
        about = MESSAGES.ZoneMapIndex(
            segment_zone_map=self._segment.message(), page_zone_maps=pages
        )
        return MESSAGES.ColumnIndex(type=IndexType.ZONE_MAP, zone_map_index=about)
