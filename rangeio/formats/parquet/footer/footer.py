"""A footer that was scanned: where its schema elements, row groups and column chunks lie.

Three sources give it: the Thrift footer with the kernels or without, and the FlatBuffer footer.
All that follows (schema, surgery, planning) knows only this.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]
Part = tuple[int, int, bytes]
"""A Thrift field that is encoded already: (id, type, value)."""


@dataclass(frozen=True, slots=True, eq=False)
class Elements:
    """The schema elements, depth first; the root is the first. One entry an element.

    children: num_children, 0 for a leaf. physical, repetition: -1 where absent. ids: field_id;
    identified: whether there is one.
    """

    children: Int32
    physical: Int32
    repetition: Int32
    ids: Int32
    identified: npt.NDArray[np.bool_]


class Footer(Protocol):
    """What a Parquet footer says, piece by piece; immutable."""

    elements: Elements
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

    def name(self, element: int) -> bytes:
        """The name of a schema element."""
        ...

    def named(self, name: bytes) -> Sequence[int]:
        """The elements of this name, nested ones too; does not look at them one by one."""
        ...

    def element(self, element: int) -> bytes:
        """A SchemaElement as a Thrift struct."""
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
