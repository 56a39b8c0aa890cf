"""Where everything lies in a Thrift FileMetaData: what all scanners of it find, alike."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """Positions are offsets into the bytes of the footer.

    fields: (id, type, start, stop) of every top-level field's value, in the order of the file.
    elements: (elements, 9) of (start, stop, start of the name, its size, num_children or -1, type
        or -1, repetition_type or -1, field_id, 1 where there is a field_id).
    groups: (row groups, 5) of (start, stop of the RowGroup struct, start, stop of the value of its
        field 1, the list of chunks; num_rows).
    chunks: (row groups, leaves + 1): where each ColumnChunk struct starts, and where the last ends.
    num_rows: field 3. size: bytes of the FileMetaData, its stop byte included.
    """

    fields: npt.NDArray[np.int64]
    elements: npt.NDArray[np.int32]
    groups: npt.NDArray[np.int64]
    chunks: npt.NDArray[np.uint32]
    num_rows: int
    size: int
