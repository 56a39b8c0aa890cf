"""Every way to read a file, beside what pylance reads and what was written."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from corpus import REFUSALS, lance_file, quiet
from likeness import difference
from random_tables import Rng

import rangeio
from rangeio.errors import FormatError
from rangeio.transport.profile import PROFILES


def refusal(error: BaseException) -> bool:
    """Whether it is pylance that says no; its panics are a class of their own, of no package."""
    return isinstance(error, REFUSALS) or type(error).__name__ == "PanicException"


def peers(path: Path, names: Sequence[str]) -> dict[str, pa.ChunkedArray]:
    """What pylance reads of each column; none for those that it cannot read."""
    found: dict[str, pa.ChunkedArray] = {}
    for name in names:
        try:
            with quiet():
                reader = lance_file.LanceFileReader(str(path), columns=[name])
                found[name] = reader.read_all(batch_size=1 << 17).to_table().column(0)
        except BaseException as error:
            if not refusal(error):
                raise
    return found


def readable(path: Path, name: str) -> bool:
    """Whether rangeio reads the column of a file that pylance cannot read again."""
    with rangeio.Session() as session, rangeio.open(str(path), session=session) as file:
        try:
            file.read([name])
        except FormatError:
            return False
    return True


def truth(path: Path, written: pa.Table, read: pa.Table) -> pa.Table:
    """All rows as they must be read: as pylance reads them, or exactly as they were written.

    The latter is for columns that pylance's own reader fails on or garbles.
    """
    assert read.column_names == written.column_names
    theirs = peers(path, written.column_names)
    for name in written.column_names:
        ours = read.select([name])
        told = "pylance cannot read it"
        if name in theirs:
            told = difference(ours, pa.table({name: theirs[name]})) or ""
            if not told:
                assert ours.column(0).type == theirs[name].type
        if told:
            wrong = difference(ours, written.select([name]))
            assert wrong is None, f"beside pylance's: {told}; beside what was written: {wrong}"
    return read


# ---- ways to read ------------------------------------------------------------------------------

Check = Callable[["rangeio.File", pa.Table, Rng], None]


def equal(actual: pa.Table, wanted: pa.Table, what: str) -> None:
    wrong = difference(actual, wanted)
    assert wrong is None, f"{what}: {wrong}"


def some_rows(rng: Rng, rows: int) -> Iterator[slice | list[int]]:
    """Slices and row lists: short, long, in order and not, with duplicates."""
    for _ in range(3):
        start, stop = np.sort(rng.integers(0, rows + 1, 2)).tolist()
        yield slice(start, min(stop, start + int(rng.choice([1, 50, rows + 1]))))
    if rows:
        for most in (1, 5, 300):
            picks = rng.integers(0, rows, rng.integers(1, most + 1))
            yield picks.tolist() if rng.random() < 0.6 else np.unique(picks).tolist()
        middle = int(rng.integers(0, rows))
        yield [middle, max(middle - 1, 0), middle, min(middle + 1, rows - 1)]


def cut(table: pa.Table, rows: slice | Sequence[int]) -> pa.Table:
    """The same rows of a table, cut by Arrow."""
    if isinstance(rows, slice):
        return table.slice(rows.start, rows.stop - rows.start)
    if not rows:
        return table.slice(0, 0)
    return pa.concat_tables(table.slice(row, 1) for row in rows)


def check_rows(file: rangeio.File, wanted: pa.Table, rng: Rng) -> None:
    for rows in some_rows(rng, wanted.num_rows):
        equal(file.read(rows=rows), cut(wanted, rows), f"rows {rows}")


def check_columns(file: rangeio.File, wanted: pa.Table, rng: Rng) -> None:
    names = rng.permutation(wanted.column_names)[: rng.integers(1, 4)].tolist()
    equal(file.read(names), wanted.select(names), f"columns {names}")
    rows = next(some_rows(rng, wanted.num_rows))
    equal(file.read(names, rows=rows), cut(wanted.select(names), rows), f"{names} {rows}")


def check_leaves(file: rangeio.File, wanted: pa.Table, rng: Rng) -> None:
    """Nested leaves by path. Asked for alone, each must come as it does with its siblings."""
    leaves = file.schema.leaves
    for at in rng.integers(0, len(leaves), 3):
        path = leaves[at].path
        for rows in (None, *list(some_rows(rng, wanted.num_rows))[1:5:3]):
            word = ".".join(path) if rng.random() < 0.5 else [path]
            whole = wanted.select([path[0]])
            found = file.read(word, rows=rows)
            equal(found, whole if rows is None else cut(whole, rows), f"{path} {rows}")
            opened = file.read([path], rows=rows, flatten=True)
            assert opened.num_rows == found.num_rows


def check_scan(file: rangeio.File, wanted: pa.Table, rng: Rng) -> None:
    size = int(rng.choice([1, 7, 1000, 1024, 65536])) if wanted.num_rows < 2000 else 1777
    rows = next(some_rows(rng, wanted.num_rows)) if rng.random() < 0.5 else None
    found = file.scan(rows=rows, batch_rows=size).read_all()
    equal(found, wanted if rows is None else cut(wanted, rows), f"scan {rows} by {size}")


def check_filters(file: rangeio.File, wanted: pa.Table, rng: Rng) -> None:
    for name in wanted.column_names:
        column = wanted.column(name)
        if not ordered(column.type) or not column.drop_null().length():
            continue
        known = column.drop_null()
        value = known[int(rng.integers(len(known)))]
        word, apply = list(COMPARISONS.items())[rng.integers(len(COMPARISONS))]
        asked = rng.permutation(wanted.column_names)[:2].tolist()
        picks = np.flatnonzero(pc.fill_null(apply(column, value), False).to_numpy())
        found = file.read(asked, filters=[(name, word, value)])
        assert found.num_rows == len(picks), (name, word, found.num_rows)
        if len(picks) < 500:
            equal(found, cut(wanted.select(asked), picks.tolist()), f"{name} {word} a value")


COMPARISONS = {
    "=": pc.equal,
    "!=": pc.not_equal,
    "<": pc.less,
    "<=": pc.less_equal,
    ">": pc.greater,
    ">=": pc.greater_equal,
}


def ordered(kind: pa.DataType) -> bool:
    """Types that compare alike in every reader: no floats, which may be NaN."""
    families = (pa.types.is_integer, pa.types.is_temporal, pa.types.is_decimal)
    texts = (pa.types.is_string, pa.types.is_large_string, pa.types.is_binary)
    return any(one(kind) for one in (*families, *texts))


CHECKS: tuple[Check, ...] = (check_rows, check_columns, check_leaves, check_scan, check_filters)


def sessions() -> Iterator[rangeio.Session]:
    """Stores of several costs; buffers and caches too small to hold what is read."""
    far = dataclasses.replace(PROFILES["s3"], tail=1024, few_bytes=True, small_file=0)
    hops = dataclasses.replace(PROFILES["s3"], tail=1024, few_bytes=False, small_file=0)
    near = dataclasses.replace(PROFILES["memory"], tail=100)
    yield rangeio.Session()
    yield rangeio.Session(profile=far)
    yield rangeio.Session(profile=hops, max_buffer=1 << 16, memory_cache=0)
    yield rangeio.Session(profile=near, memory_cache=1 << 14, column_cache=1 << 12)
