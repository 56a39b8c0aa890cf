"""The layers of a page: what its repetition and definition levels mean.

Layers are listed inner-most first. Level 0 is valid; each nullable item takes one level, a list
one for null and one for empty, in that order, as far as the page has them. Pages of one column may
number them differently, so levels are renumbered once, when they are decoded: every item layer
then takes one level and every list layer two.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rangeio.errors import Corrupt

Levels = npt.NDArray[np.uint16]

_NULLABLE = {1: 0, 2: 0, 3: 1, 4: 1, 5: 0, 6: 1}
_EMPTY = {2: 0, 4: 0, 5: 1, 6: 1}
DEEPEST = 256


@dataclass(frozen=True, slots=True)
class Layers:
    """The layers of one page, inner-most first, as the numbers of the RepDefLayer enum."""

    codes: tuple[int, ...]

    @classmethod
    def of(cls, codes: Sequence[int]) -> Layers:
        """Checked layers."""
        if not 0 < len(codes) <= DEEPEST:
            raise Corrupt(f"a page of {len(codes)} layers")
        if any(code not in _NULLABLE for code in codes):
            raise Corrupt(f"layers {list(codes)}")
        if codes[0] in _EMPTY:
            raise Corrupt("a page whose inner-most layer is a list")
        return cls(tuple(codes))

    @property
    def kinds(self) -> tuple[bool, ...]:
        """For each layer whether it is a list."""
        return tuple(code in _EMPTY for code in self.codes)

    @property
    def lists(self) -> int:
        """How many layers are lists."""
        return sum(self.kinds)

    @property
    def nulls_above(self) -> bool:
        """Whether any layer but the inner-most has nulls (or empty lists)."""
        return any(_NULLABLE[c] or _EMPTY.get(c, 0) for c in self.codes[1:])

    def renumber(self, levels: Levels) -> Levels:
        """The levels in the numbering that all pages share. Raises Corrupt for unknown levels."""
        table = self._table()
        if len(levels) and int(levels.max()) >= len(table):
            raise Corrupt(f"a definition level of {levels.max()}, where {len(table)} are known")
        if np.array_equal(table, np.arange(len(table))):
            return levels
        return table[levels]

    def _table(self) -> Levels:
        found, shared = [0], 0
        for code in self.codes:
            if _NULLABLE[code]:
                found.append(shared + 1)
            if _EMPTY.get(code):
                found.append(shared + 2)
            shared += 2 if code in _EMPTY else 1
        return np.array(found, np.uint16)


def invisible(kinds: Sequence[bool]) -> int:
    """The lowest shared level at which an entry has no value slot; above all without a list."""
    for depth, is_list in enumerate(kinds):
        if is_list:
            return depth + 1
    return 1 << 16
