"""The tree of schema elements, as arrays: the top-level fields, and which leaves they have."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from rangeio.formats.parquet.footer.footer import Elements, Int32


class Tree:
    """Depth-first elements, the root first; consistent, as every scanner has checked.

    starts: the element of every top-level field, and one past the last element.
    """

    def __init__(self, elements: Elements) -> None:
        children = elements.children
        leaf = children[1:] == 0
        self._children = children
        self._flat = bool(leaf.all())
        if self._flat:
            self.starts = np.arange(1, len(children) + 1, dtype=np.int32)
        else:
            # A field is done where the balance of elements to come reaches a new low.
            balance = np.cumsum(children[1:].astype(np.int64) - 1)
            low = np.minimum.accumulate(np.concatenate(([0], balance)))
            ends = np.flatnonzero(low[1:] < low[:-1])
            self.starts = np.concatenate(([1], ends + 2)).astype(np.int32)
        self._leaves: Int32 = np.concatenate(([0, 0], np.cumsum(leaf))).astype(np.int32)
        self._firsts = self._leaves[self.starts[:-1]]

    def __len__(self) -> int:
        """Top-level fields."""
        return len(self.starts) - 1

    @property
    def num_leaves(self) -> int:
        """All leaves."""
        return int(self._leaves[-1])

    def elements(self, top: int) -> range:
        """The elements of a top-level field, depth first."""
        return range(int(self.starts[top]), int(self.starts[top + 1]))

    def leaves(self, top: int) -> range:
        """The leaves of a top-level field."""
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
        found = np.searchsorted(self.starts[:-1], elements)
        return [
            top
            for top, element in zip(found.tolist(), elements, strict=True)
            if top < len(self) and self.starts[top] == element
        ]

    def children(self, element: int) -> int:
        """num_children, 0 for a leaf."""
        return int(self._children[element])
