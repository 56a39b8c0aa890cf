"""A dataset as a lazy frame of polars, which hands down columns, rows and filters."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa

from rangeio.errors import BadFilter, RequestError

if TYPE_CHECKING:
    import polars as pl

    from rangeio.datasets.dataset import Dataset

_BATCH_ROWS = 65536


def lazy_frame(dataset: Dataset, every_file: bool = False) -> pl.LazyFrame:
    """The dataset as a source of polars: each collect is a scan of what the query needs.

    Its columns are those of the first and the last file, or of every file. RequestError where
    polars is not installed or has no type for a column.
    """
    try:
        from polars.io.plugins import register_io_source
    except ImportError:
        raise RequestError("polars is not installed: pip install 'rangeio[polars]'") from None
    # A scan of no rows knows the columns without opening more.
    source = _Source(dataset, dataset.scan(limit=0, every_file=every_file).schema, every_file)
    # The files are pinned to a version: reading them twice gives the same rows.
    return register_io_source(
        source.frames, schema=source.schema(), validate_schema=True, is_pure=True
    )


class _Source:
    """arrow: the columns that polars was promised; those of every file, or of two."""

    def __init__(self, dataset: Dataset, arrow: pa.Schema, every_file: bool = False) -> None:
        self._arrow = arrow
        self._dataset = dataset
        self._every_file = every_file

    def schema(self) -> dict[str, pl.DataType]:
        """The types as polars converts them."""
        found = _types(self._arrow)
        if found is not None:
            return found
        if len(set(self._arrow.names)) < len(self._arrow):
            raise RequestError("polars has no two columns of one name, this dataset has")
        field = next(one for one in self._arrow if _types(pa.schema([one])) is None)
        raise RequestError(
            f"polars has no type for column {field.name!r} of {field.type}: "
            "hand over the others, polars.from_arrow(ds.read(columns))"
        )

    def frames(
        self,
        with_columns: list[str] | None,
        predicate: pl.Expr | None,
        n_rows: int | None,
        batch_size: int | None,
    ) -> Iterator[pl.DataFrame]:
        """What polars calls: the first ``n_rows`` rows, of these the ones that match, of these the
        columns. Polars relies on all three. Closing the iterator ends the scan."""
        import polars as pl

        for batch in self._opened(with_columns, predicate, n_rows, batch_size):
            frame = pl.DataFrame(batch)
            if predicate is not None:
                frame = frame.filter(predicate)
            if with_columns is not None:
                frame = frame.select(with_columns)
            if frame.height:
                yield frame

    def _opened(
        self,
        with_columns: list[str] | None,
        predicate: pl.Expr | None,
        n_rows: int | None,
        batch_size: int | None,
    ) -> pa.RecordBatchReader:
        from rangeio.datasets.polarspredicate import pushed

        names = with_columns
        if names is not None and predicate is not None:
            names = list(dict.fromkeys([*names, *predicate.meta.root_names()]))
        words = None if names is None else [(name,) for name in names]
        rows = batch_size or _BATCH_ROWS
        # With a limit the rows are counted before the predicate takes some of them away.
        filters = (
            None if predicate is None or n_rows is not None else pushed(predicate, self._arrow)
        )
        scan = partial(self._dataset.scan, every_file=self._every_file)
        try:
            reader = scan(words, filters=filters, limit=n_rows, batch_rows=rows)
        except BadFilter:
            reader = scan(words, limit=n_rows, batch_rows=rows)
        self._kept(names, reader.schema)
        return reader

    def _kept(self, names: list[str] | None, found: pa.Schema) -> None:
        """Files between the first and the last may have what was not promised."""
        promised = self._arrow
        if names is not None:
            promised = pa.schema([promised.field(name) for name in names])
        if [(one.name, one.type) for one in promised] == [(one.name, one.type) for one in found]:
            return
        odd = [
            f"{one.name!r} ({one.type})"
            for one in found
            if one.name not in promised.names or promised.field(one.name).type != one.type
        ]
        raise RequestError(
            f"the first and the last file did not tell of {', '.join(odd) or 'this order'}: "
            "ask for ds.polars(every_file=True), which looks into every file"
        )


def _types(arrow: pa.Schema) -> dict[str, pl.DataType] | None:
    """The types of polars for those of Arrow; None where it has none for some of them."""
    import polars as pl

    if any(pa.types.is_interval(field.type) for field in arrow):
        return None  # polars would panic, and say so at length
    try:
        return dict(pl.DataFrame(arrow.empty_table()).schema)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, pa.ArrowException):
        return None
