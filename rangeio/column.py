"""A thin handle on one column's metadata: it pins no file, socket or buffer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from rangeio.errors import RequestError
from rangeio.formats.format import PageInfo
from rangeio.predicate import Statistics
from rangeio.reading import column_of
from rangeio.request import RowWords
from rangeio.schema import Column, ColumnId

if TYPE_CHECKING:
    from rangeio.file import File


class ColumnReader:
    """One column of one file. Its metadata is loaded once for the whole session, when asked for."""

    def __init__(self, file: File, column: Column) -> None:
        self._file = file
        self._column = column

    @property
    def unique_id(self) -> int:
        """The id inside the file; across files only where ``id_declared``."""
        return self._column.unique_id

    @property
    def id_declared(self) -> bool:
        """Whether the id means the same column in other files."""
        return self._column.id_declared

    @property
    def path(self) -> tuple[str, ...]:
        """Names from the root."""
        return self._column.path

    @property
    def name(self) -> str:
        """The dotted path."""
        return self._column.id.name

    @property
    def type(self) -> pa.DataType:
        """The Arrow type."""
        return self._column.type

    @property
    def num_rows(self) -> int:
        """Top-level rows of the file."""
        return self._file.num_rows

    @property
    def statistics(self) -> Statistics | None:
        """Bounds and null counts of the whole leaf, None where the file keeps none."""
        return self._file._run(self._file._opened.statistics(self._column))

    @property
    def pages(self) -> Sequence[PageInfo]:
        """The pages of every physical column below, in order."""
        found = pages_of(self._file, [self._column])
        return [page for pages in found.values() for page in pages]

    def paths(self, prefix: str = "") -> Sequence[str]:
        """The paths inside a column of no fixed structure (a Variant) that begin with ``prefix``,
        sorted as bytes. RequestError of any other column."""
        if len(self.path) > 1:
            raise RequestError(f"{self.name!r} lies inside a column: ask that for its paths")
        return self._file._run(self._file._opened.paths(self.name, prefix))

    def read(self, rows: RowWords | None = None) -> pa.ChunkedArray:
        """The column's values, opened along its path as far as structs go."""
        return column_of(self._file.read([self._column], rows=rows), self.path)

    def to_numpy(self, rows: RowWords | None = None) -> np.ndarray[Any, Any]:
        """The values as a numpy array; nulls as Arrow converts them."""
        values: np.ndarray[Any, Any] = self.read(rows).to_numpy()
        return values

    def __repr__(self) -> str:
        return f"<rangeio.ColumnReader {self.name}: {self.type} of {self._file.url}>"


def pages_of(file: File, columns: Sequence[Column]) -> dict[ColumnId, Sequence[PageInfo]]:
    """The pages of every physical column at or below these, by its id: one hop of metadata."""
    return file._run(file._opened.pages(columns))
