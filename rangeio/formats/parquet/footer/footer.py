"""A footer that was scanned: where its schema elements, row groups and column chunks lie.

Three sources give it: the Thrift footer with the kernels or without, and the FlatBuffer footer.
All that follows (schema, surgery, planning) knows only this.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
import numpy.typing as npt

Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]
Part = tuple[int, int, bytes]
"""A Thrift field that is encoded already: (id, type, value)."""


class Elements(Protocol):
    """The schema elements, depth first; the root is the first. One entry an element."""

    @property
    def count(self) -> int:
        """How many, the root included."""
        ...

    @property
    def flat(self) -> bool:
        """Whether all but the root are leaves."""
        ...

    @property
    def children(self) -> Int32:
        """num_children, 0 for a leaf."""
        ...

    @property
    def physical(self) -> Int32:
        """The physical type, -1 where absent."""
        ...

    @property
    def repetition(self) -> Int32:
        """The repetition_type, -1 where absent."""
        ...

    @property
    def ids(self) -> Int32:
        """The field_id, where :attr:`identified`."""
        ...

    @property
    def identified(self) -> npt.NDArray[np.bool_]:
        """Whether there is a field_id."""
        ...


class Tabled:
    """Elements as a scanner's table has them: see ``layout.py``. Looked at where asked for."""

    def __init__(self, table: Int32) -> None:
        self._table = table
        self.count = len(table)
        self.flat = int(table[0, 4]) == len(table) - 1
        self.physical: Int32 = table[:, 5]
        self.repetition: Int32 = table[:, 6]
        self.ids: Int32 = table[:, 7]

    @cached_property
    def children(self) -> Int32:
        """num_children, 0 for a leaf."""
        found: Int32 = np.maximum(self._table[:, 4], 0)
        return found

    @cached_property
    def identified(self) -> npt.NDArray[np.bool_]:
        """Whether there is a field_id."""
        found: npt.NDArray[np.bool_] = self._table[:, 8] != 0
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Arrays:
    """Elements that are arrays already: see :class:`Elements`."""

    children: Int32
    physical: Int32
    repetition: Int32
    ids: Int32
    identified: npt.NDArray[np.bool_]

    @property
    def count(self) -> int:
        """How many, the root included."""
        return len(self.children)

    @property
    def flat(self) -> bool:
        """Whether all but the root are leaves."""
        return int(self.children[0]) == len(self.children) - 1


class Footer(Protocol):
    """What a Parquet footer says, piece by piece; immutable."""

    num_rows: int
    group_rows: Int64
    """Rows of every row group."""
    weight: int
    """Bytes of memory it holds."""
    data: memoryview
    """The footer itself, where it is Thrift; else nothing."""

    @property
    def created_by(self) -> str:
        """Which writer, "" where it does not say."""
        ...

    @property
    def elements(self) -> Elements:
        """The schema."""
        ...

    def name(self, element: int) -> bytes:
        """The name of a schema element."""
        ...

    def named(self, name: bytes) -> Sequence[int]:
        """The elements of this name, nested ones too; does not look at them one by one."""
        ...

    def element(self, element: int) -> bytes:
        """A SchemaElement as a Thrift struct."""
        ...

    def described(self) -> Iterable[bytes | memoryview]:
        """The bytes that make the schema: its elements, and what Arrow says of them."""
        ...

    def chunk(self, group: int, leaf: int) -> bytes:
        """A ColumnChunk as a Thrift struct."""
        ...

    def group(self, group: int) -> Sequence[Part]:
        """The fields of a RowGroup, but for its columns (1) and sorting_columns (4)."""
        ...

    def order(self, leaf: int) -> int:
        """Which member of the union ColumnOrder a leaf has, 0 for none."""
        ...

    def metadata(self) -> dict[bytes, bytes]:
        """key_value_metadata without ``ARROW:schema``."""
        ...

    def arrow_schema(self) -> memoryview | None:
        """The value of ``ARROW:schema``, base64, where there is one."""
        ...


def one_by_one(footer: Footer) -> Iterator[bytes | memoryview]:
    """See :meth:`Footer.described`: for a footer whose elements do not lie together."""
    for element in range(footer.elements.count):
        yield footer.element(element)
    yield footer.arrow_schema() or b""
