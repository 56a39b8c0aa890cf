"""An opened Parquet file: its footer, and the columns that were looked at."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from rangeio.formats.parquet.footer.footer import Footer
from rangeio.formats.parquet.schema.columns import Columns
from rangeio.schema import Schema


@dataclass(frozen=True, eq=False)
class ParquetTable:
    """Immutable, but for what it remembers of the schema.

    size: of the file. footer_size: bytes from the footer's first to the end of the file. choice:
    see Table. sparing: bytes that a read must save to be worth one more hop.
    """

    size: int
    footer: Footer
    footer_size: int
    sparing: int
    choice: str = ""
    columns: Columns = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", Columns(self.footer, self.size))

    @property
    def num_columns(self) -> int:
        """Top-level columns."""
        return len(self.columns.tree)

    @property
    def version(self) -> str:
        """Nothing: the number in the footer tells nobody what the file uses."""
        return ""

    @property
    def metadata_size(self) -> int:
        """The footer, the page indexes aside."""
        return self.footer_size

    @cached_property
    def schema(self) -> Schema:
        """The schema, its columns made when they are looked at."""
        return self.columns.schema()

    @cached_property
    def generation(self) -> bytes:
        """A digest of all that the columns are made of, statistics and places of data aside."""
        found = hashlib.sha256(str(self.columns.numbered).encode())
        for part in self.footer.described():
            found.update(len(part).to_bytes(8, "little"))
            found.update(part)
        return found.digest()

    @cached_property
    def group_starts(self) -> npt.NDArray[np.int64]:
        """The first row of every row group, and the number of rows."""
        return np.concatenate(([0], np.cumsum(self.footer.group_rows))).astype(np.int64)
