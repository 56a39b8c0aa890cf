"""Random tables, written by pylance and read in every way the file offers.

``RANGEIO_FUZZ=full`` runs many more seeds. A seed alone makes its table again:
``Sample.draw(seed)``.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from corpus import REFUSALS, lance_file, quiet, write
from likeness import difference
from random_tables import Rng, batches, row_count, schema

import rangeio
from rangeio.errors import FormatError, Unsupported
from rangeio.transport.profile import PROFILES

SEEDS = range(3000 if os.environ.get("RANGEIO_FUZZ") == "full" else 36)


@dataclass(frozen=True)
class Sample:
    """A table in batches, and how it is written."""

    seed: int
    version: str
    batches: list[pa.RecordBatch]
    options: dict[str, int]

    @classmethod
    def draw(cls, seed: int) -> Sample:
        """The sample of a seed."""
        rng = np.random.default_rng(seed)
        version = ("2.0", "2.1", "2.2")[seed % 3]
        fields = schema(rng, version, int(rng.integers(1, 7)))
        made = batches(rng, fields, row_count(rng, fields), version)
        limits = {"data_cache_bytes": 1 << 12, "max_page_bytes": 1 << 16}
        options = {key: value for key, value in limits.items() if rng.random() < 0.4}
        return cls(seed, version, made, options)

    def write(self, path: Path) -> pa.Table:
        """Write the columns that pylance takes, and that it or rangeio can read; returns them."""
        found = self.batches
        if not self._written(path, found):
            names = found[0].schema.names
            taken = [n for n in names if self._written(path, [b.select([n]) for b in found])]
            found = [b.select(taken) for b in found]
            if not taken or not self._written(path, found):
                pytest.skip(f"pylance refuses every column in {self.version}")
        written = pa.Table.from_batches(found)
        known = peers(path, written.column_names)
        lost = [n for n in written.column_names if n not in known and not readable(path, n)]
        if len(lost) == written.num_columns:
            pytest.skip(f"nobody reads what pylance wrote in {self.version}")
        if lost:
            kept = [b.drop_columns(lost) for b in found]
            assert self._written(path, kept)
        return written.drop_columns(lost)

    def _written(self, path: Path, found: Sequence[pa.RecordBatch]) -> bool:
        path.unlink(missing_ok=True)
        try:
            with (
                quiet(),
                lance_file.LanceFileWriter(
                    str(path), found[0].schema, version=self.version, **self.options
                ) as writer,
            ):
                for batch in found:
                    writer.write_batch(batch)
        except BaseException as error:
            if not refusal(error):
                raise
            return False
        return True


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


def verify(seed: int, folder: Path) -> None:
    """Write the sample of a seed, and read it in every way with sessions of several kinds."""
    rng = np.random.default_rng(seed + (1 << 32))
    path = folder / f"{seed}.lance"
    written = Sample.draw(seed).write(path)
    wanted: pa.Table | None = None
    for at, session in enumerate(sessions()):
        if at and rng.random() < 0.5:
            continue
        with session, rangeio.open(str(path), session=session) as file:
            found = file.read()
            wanted = truth(path, written, found) if wanted is None else wanted
            equal(found, wanted, f"session {at}")
            for check in rng.permutation(np.array(CHECKS))[: 5 if at == 0 else 2]:
                check(file, wanted, rng)


@pytest.mark.parametrize("seed", SEEDS)
def test_random_table(seed: int, tmp_path: Path) -> None:
    verify(seed, tmp_path)


# ---- what random tables found ------------------------------------------------------------------


@pytest.mark.parametrize("version", ["2.1", "2.2"])
@pytest.mark.parametrize("nulls", [0.0, 0.3])
def test_booleans_behind_levels_take_a_byte_each(
    tmp_path: Path, version: str, nulls: float
) -> None:
    rng = np.random.default_rng(5)
    flags = pa.array(rng.random(3001) < 0.4, mask=rng.random(3001) < nulls)
    lists = pa.ListArray.from_arrays(np.arange(0, 3001, 3).astype("i4"), flags)
    for name, column in (("flat", flags), ("list", lists)):
        word = {"lance-encoding:structural-encoding": "fullzip"}
        item = pa.field("item", pa.bool_(), metadata=word)
        field = pa.field("c", pa.list_(item)) if name == "list" else item.with_name("c")
        table = pa.table([column.cast(field.type)], schema=pa.schema([field]))
        path = tmp_path / f"{name}.lance"
        write(path, table, version)
        with rangeio.open(str(path)) as file:
            found = file.read()
            equal(found, truth(path, table, found), name)
            equal(file.read(rows=[5, 3, 900]), cut(found, [5, 3, 900]), name)


@pytest.mark.parametrize("version", ["2.1", "2.2"])
def test_blobs_in_lists_are_refused_by_name(tmp_path: Path, version: str) -> None:
    item = pa.field("item", pa.large_binary(), metadata={"lance-encoding:blob": "true"})
    kind = pa.list_(item)
    content = pa.table({"c": pa.array([[b"a"], [], [b"bc", None]] * 700, kind), "k": range(2100)})
    path = tmp_path / "blobs.lance"
    write(path, content, version)
    with rangeio.open(str(path)) as file:
        with pytest.raises(Unsupported, match="blobs inside lists"):
            file.read()
        equal(file.read("k"), content.select(["k"]), "the column beside it")


def found(path: Path, table: pa.Table, version: str) -> None:
    """Written, and read in every way."""
    write(path, table, version)
    rng = np.random.default_rng(7)
    with rangeio.Session() as session, rangeio.open(str(path), session=session) as file:
        wanted = truth(path, table, file.read())
        for check in CHECKS:
            check(file, wanted, rng)


@pytest.mark.parametrize("share", [0.0, 0.2, 1.0])
def test_dictionaries_with_null_items_join(tmp_path: Path, share: float) -> None:
    """2.0 keeps nulls among the items of a dictionary, and every page has its own."""
    rng = np.random.default_rng(3)
    words = pa.array(["a", None, "c"] if share < 1 else [None], pa.string())
    batches = []
    for _ in range(3):
        picks = pa.array(rng.integers(0, len(words), 600).astype("i1"), mask=rng.random(600) < 0.1)
        flat = pa.DictionaryArray.from_arrays(picks, words)
        lists = pa.ListArray.from_arrays(np.arange(0, 601, 2).astype("i4"), flat)
        batches.append(pa.table({"flat": flat[:300], "lists": lists}))
    table = pa.concat_tables(batches)
    path = tmp_path / "dictionaries.lance"
    write(path, table, "2.0", data_cache_bytes=1)
    with rangeio.open(str(path)) as file:
        read = file.read()
        equal(read, truth(path, table, read), "all rows")
        nulls = pc.sum(pc.is_null(table["flat"].cast(pa.string()))).as_py()
        assert read["flat"].null_count == nulls
        equal(file.read(rows=[899, 3, 3, 300]), cut(read, [899, 3, 3, 300]), "any order")


@pytest.mark.parametrize("version", ["2.0", "2.1", "2.2"])
def test_fixed_size_lists_inside_one_another_in_any_order(tmp_path: Path, version: str) -> None:
    """Arrow gathers wrong values from a slice of such lists."""
    pairs = pa.FixedSizeListArray.from_arrays(pa.array(np.arange(6000)), 3)
    column = pa.FixedSizeListArray.from_arrays(pairs, 2)
    table = pa.table({"c": column, "s": pa.StructArray.from_arrays([column], ["c"])})
    path = tmp_path / "lists.lance"
    found(path, table, version)
    with rangeio.open(str(path)) as file:
        for rows in ([184, 183, 184, 185], [999, 998]):
            equal(file.read(rows=rows), cut(table, rows), f"rows {rows}")
        picked = file.read(rows=slice(500, 600), filters=pc.is_valid(pc.field("c")))
        equal(picked, table.slice(500, 100), "filtered")


@pytest.mark.parametrize("version", ["2.0", "2.1", "2.2"])
def test_json_is_read_as_it_is_stored(tmp_path: Path, version: str) -> None:
    column = pa.array(['{"a": 1}', None, "[]"] * 40, pa.json_())
    path = tmp_path / "json.lance"
    write(path, pa.table({"j": column}), version)
    theirs = peers(path, ["j"])["j"]
    with rangeio.open(str(path)) as file:
        read = file.read()
    equal(read, pa.table({"j": theirs}), "json")
    assert read.schema.field("j").metadata[b"ARROW:extension:name"] == b"lance.json"


@pytest.mark.parametrize("version", ["2.0", "2.1", "2.2"])
def test_dictionaries_of_booleans(tmp_path: Path, version: str) -> None:
    column = pa.array([True, False, None, True] * 300).dictionary_encode()
    found(tmp_path / "flags.lance", pa.table({"c": column}), version)


@pytest.mark.parametrize("version", ["2.1", "2.2"])
def test_types_that_only_an_empty_file_can_have(tmp_path: Path, version: str) -> None:
    item = pa.list_(pa.struct([("a", pa.int32()), ("t", pa.string())]), 2)
    table = pa.table({"c": pa.array([], pa.list_(item)), "k": pa.array([], pa.int8())})
    path = tmp_path / "empty.lance"
    try:
        write(path, table, version)
    except REFUSALS as error:
        pytest.skip(f"pylance refuses it in {version}: {error}")
    with rangeio.open(str(path)) as file:
        assert file.read().schema.equals(table.schema)
        assert file.scan().read_all().num_rows == 0
