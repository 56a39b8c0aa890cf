"""Files of other formats than Parquet, and of several: a dataset of them is their concatenation."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from many_files import KINDS, SMALL_TAIL, doris, lance, numbered, parquet

import rangeio
from rangeio.errors import RequestError

DATA = Path(__file__).parents[3] / "shared" / "data" / "lance" / "gen"
NAMES = {1: "a", 2: "b", 3: "t"}


def table(n: int, rows: int = 7) -> pa.Table:
    """Rows of the n-th file."""
    numbers = range(n * 100, n * 100 + rows)
    return pa.table(
        {
            "a": pa.array([None if i % 5 == 3 else i for i in numbers], pa.int64()),
            "b": pa.array([i / 4 for i in numbers], pa.float64()),
            "t": pa.array([None if i % 3 == 1 else f"row {i}" for i in numbers], pa.string()),
        }
    )


def segment(n: int, folder: Path, version: int, rows: int = 7) -> bytes:
    made = table(n, rows)
    ids = {name: (i, made[name].combine_chunks()) for i, name in NAMES.items()}
    return doris(numbered(**ids), folder, version=version)


def values(one: pa.Table) -> dict:
    return one.to_pydict()


def together(session, lake, words=None, **asked) -> pa.Table:
    """What the files give one by one, as rangeio reads them."""
    parts = []
    for name in sorted(lake.names):
        options = {**lake.words, **asked}
        with rangeio.open(lake.at(name), session=session, **options) as file:
            parts.append(file.read(words))
    return pa.concat_tables(parts)


@pytest.mark.parametrize(
    ("kind", "version"), [*zip(KINDS, ["2.0", "2.1", "2.2", "2.1"], strict=True), ("http", "2.0")]
)
def test_lance_files_are_a_concatenation(session, lakes, tmp_path, kind, version):
    lake = lakes(kind)
    for n in range(4):
        data = lance(table(n, rows=(7, 1, 0, 12)[n]), tmp_path, version)
        if data is None:
            pytest.skip("no pylance")
        if n != 2 or version != "2.0":
            lake.put(f"{n}.lance", data)
    dataset = lake.open(session)
    whole = together(session, lake)
    assert whole.num_rows >= 20
    assert values(dataset.read()) == values(whole)
    assert values(dataset.read(["t", "a"])) == values(whole.select(["t", "a"]))
    assert values(dataset.scan(batch_rows=3).read_all()) == values(whole)
    assert values(dataset.read(rows=[11, 2, 2, 0])) == values(whole.take([11, 2, 2, 0]))
    kept = whole.filter(pc.field("a") > 100)
    assert values(dataset.read(filters=[("a", ">", 100)])) == values(kept)
    assert dataset.count([("a", ">", 100)]) == kept.num_rows
    assert dataset.num_rows == whole.num_rows
    assert (dataset.min("a"), dataset.max("a")) == (0, 311)
    assert {how for _, _, how in dataset.matched} == {"name"}


def corpus() -> list[str]:
    return sorted(path.name for path in DATA.glob("*.lance")) if DATA.is_dir() else []


@pytest.mark.parametrize("name", corpus()[::4] or ["none"])
def test_found_lance_files_twice_are_their_rows_twice(session, lakes, name):
    if name == "none":
        pytest.skip("no corpus of Lance files")
    lake = lakes("memory")
    data = (DATA / name).read_bytes()
    for n in range(2):
        lake.put(f"{n}.lance", data)
    try:
        whole = together(session, lake)
    except rangeio.RangeIOError as error:
        with pytest.raises(type(error)):
            lake.open(session).read()
        return
    read = lake.open(session).read()
    assert read.num_rows == whole.num_rows
    assert [c.type for c in read.columns] == [c.type for c in whole.columns]
    assert repr(read.slice(0, 300).to_pylist()) == repr(whole.slice(0, 300).to_pylist())
    end = max(read.num_rows - 50, 0)
    assert repr(read.slice(end).to_pylist()) == repr(whole.slice(end).to_pylist())


@pytest.mark.parametrize(
    ("kind", "versions"),
    [*zip(KINDS, [(2, 2, 2), (3, 3, 3), (2, 3, 2), (3, 2, 3)], strict=True)],
)
def test_segments_with_names(session, lakes, tmp_path, kind, versions):
    lake = lakes(kind)
    for n, version in enumerate(versions):
        lake.put(f"{n}.dat", segment(n, tmp_path, version, rows=5 + n))
    dataset = lake.open(session, schema=NAMES)
    whole = together(session, lake, schema=NAMES)
    assert list(dataset.schema.names) == ["a", "b", "t"]
    assert values(dataset.read()) == values(whole)
    assert values(dataset.read([3, "a"])) == values(whole.select(["t", "a"]))
    assert values(dataset.scan(["b"], batch_rows=2).read_all()) == values(whole.select(["b"]))
    kept = whole.filter(pc.field("t") == "row 203")
    assert kept.num_rows == 1
    assert values(dataset.read(filters=[("t", "==", "row 203")])) == values(kept)
    assert values(dataset.read(rows=slice(4, 9))) == values(whole.slice(4, 5))
    assert {how for _, _, how in dataset.matched} == {"id"}
    assert dataset.matched[0][0] == lake.at("0.dat")
    assert sum(files for _, files, _ in dataset.matched) == 3


def test_segments_without_names(session, lakes, tmp_path):
    lake = lakes("file")
    for n in range(2):
        lake.put(f"{n}.dat", segment(n, tmp_path, 3))
    dataset = lake.open(session)
    assert list(dataset.schema.names) == ["col_1", "col_2", "col_3"]
    assert values(dataset.read()) == values(together(session, lake))
    assert dataset.read(["col_3"]).num_rows == 14
    assert dataset.max("col_1") == 106


def declared(**kinds: pa.DataType) -> pa.Schema:
    """An Arrow schema of these columns, whose ids are those of NAMES, and 9 of what is none."""
    ids = {name: one for one, name in NAMES.items()}
    return pa.schema(
        [
            pa.field(name, kind, metadata={"unique_id": str(ids.get(name, 9)), "default": "17"})
            if name not in ids
            else pa.field(name, kind, metadata={"unique_id": str(ids[name])})
            for name, kind in kinds.items()
        ]
    )


@pytest.mark.parametrize("version", [2, 3])
def test_segments_with_an_arrow_schema(session, lakes, tmp_path, version):
    lake = lakes("http")
    for n in range(2):
        lake.put(f"{n}.dat", segment(n, tmp_path, version))
    schema = declared(t=pa.large_string(), a=pa.int64(), new=pa.int32())
    dataset = lake.open(session, schema=schema)
    read = dataset.read()
    whole = pa.concat_tables([table(0), table(1)])
    assert read.schema.names == ["t", "a", "new"]
    assert read.schema.types == [pa.large_string(), pa.int64(), pa.int32()]
    assert read["t"].to_pylist() == whole["t"].to_pylist()
    assert read["a"].to_pylist() == whole["a"].to_pylist()
    assert read["new"].to_pylist() == [17] * 14
    assert dataset.read(filters=[("new", "!=", 17)]).num_rows == 0


@pytest.mark.parametrize("kind", KINDS)
def test_formats_are_mixed(session, lakes, tmp_path, kind):
    lake = lakes(kind)
    lake.put("0.parquet", parquet(table(0)))
    lake.put("2.dat", segment(2, tmp_path, 3))
    lake.put("3.parquet", parquet(table(3), row_group_size=2))
    made = lance(table(1), tmp_path)
    if made is not None:
        lake.put("1.lance", made)
    whole = pa.concat_tables([table(n) for n in range(4) if n != 1 or made is not None])
    dataset = lake.open(session, schema=NAMES)
    assert values(dataset.read()) == values(whole)
    assert values(dataset.scan(["t", "b"], batch_rows=4).read_all()) == values(
        whole.select(["t", "b"])
    )
    kept = whole.filter((pc.field("a") >= 102) & (pc.field("a") < 300))
    asked = [("a", ">=", 102), ("a", "<", 300)]
    assert values(dataset.read(["t"], filters=asked)) == values(kept.select(["t"]))
    assert dataset.count(asked) == kept.num_rows
    assert values(dataset.read(rows=[20, 0, 8])) == values(whole.take([20, 0, 8]))
    assert {how for _, _, how in dataset.matched} == {"id", "name"}


def test_ids_of_parquet_and_of_segments_are_the_same_ids(session, lakes, tmp_path):
    lake = lakes("memory")
    old = numbered(old=(1, table(0)["a"].combine_chunks()), t=(3, table(0)["t"].combine_chunks()))
    lake.put("0.parquet", parquet(old))
    lake.put("1.dat", segment(1, tmp_path, 3))
    dataset = lake.open(session, schema=NAMES)
    read = dataset.read()
    assert read.schema.names == ["a", "t", "b"]
    assert read["a"].to_pylist() == table(0)["a"].to_pylist() + table(1)["a"].to_pylist()
    assert read["b"].to_pylist() == [None] * 7 + table(1)["b"].to_pylist()


def test_a_format_that_is_named_is_that_of_all_files(session, lakes):
    lake = lakes("memory")
    lake.put("0", parquet(table(0)))
    assert values(lake.open(session, format="parquet").read()) == values(table(0))
    with pytest.raises(rangeio.errors.FormatError, match=lake.at("0")):
        lake.open(session, format="orc" if _has("orc") else "doris").read()


def _has(name: str) -> bool:
    try:
        rangeio.formats.named(name)
    except (RequestError, AttributeError):
        return False
    return True


def wide(n: int) -> pa.Table:
    """Every other one has a column of another type, and the same names."""
    kind = pa.int64() if n % 2 else pa.int32()
    columns = {f"column_{i:03d}": pa.array([n, i], pa.int32()) for i in range(400)}
    sign = pa.array([2**31 + n] * 2, pa.uint32()) if n % 2 else pa.array([-n] * 2, pa.int32())
    return pa.table(columns | {"column_200": pa.array([n, None], kind), "column_100": sign})


@pytest.mark.parametrize("cache", [0, 1 << 24], ids=["uncached", "cached"])
@pytest.mark.parametrize("fmt", ["parquet", "lance"])
def test_files_that_are_unlike_their_neighbours(lakes, tmp_path, fmt, cache):
    lake = lakes("http")
    for n in range(6):
        data = parquet(wide(n)) if fmt == "parquet" else lance(wide(n), tmp_path)
        if data is None:
            pytest.skip("no pylance")
        lake.put(f"{n}.x", data)
    with rangeio.Session(profile=SMALL_TAIL, memory_cache=cache) as session:
        dataset = lake.open(session)
        assert dataset.num_rows == 12
        assert dataset.schema["column_200"].type == pa.int64()
        read = dataset.read(["column_200", "column_201"])
        assert read["column_200"].to_pylist() == [v for n in range(6) for v in (n, None)]
        assert read["column_201"].to_pylist() == [v for n in range(6) for v in (n, 201)]
        assert dataset.count([("column_200", ">", 2)]) == 3
        again = lake.open(session)
        assert again.read(["column_200"])["column_200"] == read["column_200"]
        assert sorted(files for _, files, _ in again.matched) == [3, 3]
        # Of types that are as wide as one another nobody would notice the wrong one.
        signs = lake.open(session).read(["column_100"])["column_100"].to_pylist()
        assert signs[::2] == [2**31 + n if n % 2 else -n for n in range(6)]
