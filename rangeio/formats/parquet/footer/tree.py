"""The tree of schema elements, as arrays: the top-level fields, and which leaves they have."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from rangeio.formats.parquet.footer.footer import Elements, Int32


class Tree:
    """Depth-first elements, the root first; consistent, as every scanner has checked.

    Of a flat schema nothing is computed: element, top-level field and leaf are the same but for 1.
    """

    def __init__(self, elements: Elements) -> None:
        self._elements = elements
        self._flat = elements.flat
        self._count = elements.count

    @cached_property
    def starts(self) -> Int32:
        """The element of every top-level field, and one past the last element."""
        if self._flat:
            return np.arange(1, self._count + 1, dtype=np.int32)
        # A field is done where the balance of elements to come reaches a new low.
        balance = np.cumsum(self._elements.children[1:].astype(np.int64) - 1)
        low = np.minimum.accumulate(np.concatenate(([0], balance)))
        ends = np.flatnonzero(low[1:] < low[:-1])
        return np.concatenate(([1], ends + 2)).astype(np.int32)

    @cached_property
    def _leaves(self) -> Int32:
        """Before each element, how many leaves there are."""
        leaf = self._elements.children[1:] == 0
        return np.concatenate(([0, 0], np.cumsum(leaf))).astype(np.int32)

    @cached_property
    def _firsts(self) -> Int32:
        """The first leaf of every top-level field."""
        return self._leaves[self.starts[:-1]]

    def __len__(self) -> int:
        """Top-level fields."""
        return self._count - 1 if self._flat else len(self.starts) - 1

    @property
    def num_leaves(self) -> int:
        """All leaves."""
        return self._count - 1 if self._flat else int(self._leaves[-1])

    def elements(self, top: int) -> range:
        """The elements of a top-level field, depth first."""
        if self._flat:
            return range(top + 1, top + 2)
        return range(int(self.starts[top]), int(self.starts[top + 1]))

    def leaves(self, top: int) -> range:
        """The leaves of a top-level field."""
        if self._flat:
            return range(top, top + 1)
        at = self.elements(top)
        return range(int(self._leaves[at.start]), int(self._leaves[at.stop]))

    def top_of(self, leaf: int) -> int:
        """The top-level field that a leaf belongs to."""
        if self._flat:
            return leaf
        return int(np.searchsorted(self._firsts, leaf, "right")) - 1

    def repeated(self, elements: Elements) -> npt.NDArray[np.bool_]:
        """Of every leaf, whether anything of its top-level field is repeated."""
        found: npt.NDArray[np.bool_] = elements.repetition[1:] == 2
        if self._flat:
            return found
        tops = np.logical_or.reduceat(found, self.starts[:-1] - 1)
        return np.repeat(tops, np.diff(np.append(self._firsts, self.num_leaves)))

    def tops(self, elements: Sequence[int]) -> list[int]:
        """The top-level fields among some elements, as positions."""
        if self._flat:
            return [element - 1 for element in elements]
        found = np.searchsorted(self.starts[:-1], elements)
        return [
            top
            for top, element in zip(found.tolist(), elements, strict=True)
            if top < len(self) and self.starts[top] == element
        ]

    def children(self, element: int) -> int:
        """num_children, 0 for a leaf."""
        return int(self._elements.children[element])
