"""Lance files of every type, written by pylance, and what pylance's own reader makes of them.

``cases.CASES`` names the columns; a :class:`Corpus` writes one file a (case, version, rows) when
it is first asked for and keeps it for the session. ``expected`` is the oracle.
"""

from __future__ import annotations

import contextlib
import os
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from cases import CASES, VERSIONS

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    lance_file = pytest.importorskip("lance.file")

ROWS = (0, 1, 1023, 1025, 20_000)
DATA = Path(__file__).parents[2].parent / "shared" / "data" / "lance"


class Corpus:
    """The files, written once a session below ``root``."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def path(self, name: str, version: str, rows: int) -> Path:
        """One column ``name`` of ``rows`` rows; skips the test where pylance cannot write it."""
        path = self.root / f"{name}-{version}-{rows}.lance"
        refused = path.with_suffix(".refused")
        if not path.exists() and not refused.exists():
            try:
                write(path, table(name, rows), version)
            except REFUSALS as error:
                path.unlink(missing_ok=True)
                refused.write_text(str(error)[:300])
        if refused.exists():
            pytest.skip(f"pylance refuses {name} in {version}: {refused.read_text()}")
        return path


REFUSALS: tuple[type[BaseException], ...] = (
    ValueError,
    RuntimeError,
    NotImplementedError,
    pa.ArrowInvalid,
    OSError,
)
"""How pylance says no. Its panics are BaseExceptions of their own class."""
with contextlib.suppress(ImportError):
    from lance.lance import PanicException as _Panic  # type: ignore[import-not-found]

    REFUSALS = (*REFUSALS, _Panic)


def params(
    rows: Sequence[int] = ROWS, versions: Sequence[str] = VERSIONS, match: str = ""
) -> list[object]:
    """Parameters (name, version, rows) of every case that exists in these versions."""
    found: list[object] = []
    for one in CASES.values():
        counts = [n for n in rows if n <= one.most] or [one.most]
        for version in versions:
            if version in one.versions and match in one.name:
                found += [
                    pytest.param(one.name, version, n, id=f"{one.name}-{version}-{n}")
                    for n in counts
                ]
    return found


def table(name: str, rows: int) -> pa.Table:
    """The case's column, of the same values whenever it is made."""
    one = CASES[name]
    rng = np.random.default_rng(sum(name.encode()) + rows)
    column = one.make(rows, rng)
    field = pa.field("c", column.type, one.nullable, metadata=dict(one.metadata) or None)
    return pa.table([column], schema=pa.schema([field]))


def write(path: Path | str, content: pa.Table, version: str, **options: object) -> None:
    """Write with pylance, one call a chunk of the table."""
    with (
        quiet(),
        lance_file.LanceFileWriter(str(path), content.schema, version=version, **options) as w,
    ):
        for batch in content.to_batches() or [_empty(content.schema)]:
            w.write_batch(batch)


def _empty(schema: pa.Schema) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.nulls(0, f.type) for f in schema], schema=schema)


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Silences the backtraces that pylance's panics print to the process's stderr."""
    kept, null = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(null, 2)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(null)


def expected(
    path: Path, columns: list[str] | None = None, rows: slice | Sequence[int] | None = None
) -> pa.Table:
    """What pylance's own reader returns: all rows, a slice, or a list of ascending rows."""
    with quiet():
        reader = lance_file.LanceFileReader(str(path), columns=columns)
        if rows is None:
            return reader.read_all().to_table()
        if isinstance(rows, slice):
            return reader.read_range(rows.start, rows.stop - rows.start).to_table()
        return reader.take_rows(list(rows)).to_table()


def same(actual: pa.Table, wanted: pa.Table) -> None:
    """Equal types, names, metadata of fields and values; chunking does not count."""
    assert actual.schema.equals(wanted.schema, check_metadata=False), (
        f"{actual.schema} is not {wanted.schema}"
    )
    for name, a, b in zip(wanted.column_names, actual.columns, wanted.columns, strict=True):
        assert len(a) == len(b), f"{name}: {len(a)} rows, not {len(b)}"
        a.validate(full=True)
        if not plain(a).equals(plain(b)):
            one, two = a.to_pylist(), b.to_pylist()
            at = next((i for i in range(len(one)) if one[i] != two[i]), None)
            what = "rows differ in hidden parts" if at is None else f"{one[at]} != {two[at]}"
            assert at is None, f"{name}[{at}]: {what}"


def plain(column: pa.ChunkedArray) -> pa.Array:
    """One array of the values; dictionaries decoded, for two readers may number them apart."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if not column.num_chunks:
        return pa.nulls(0, column.type)  # Arrow cannot combine no chunks of some extension types
    return column.combine_chunks()
