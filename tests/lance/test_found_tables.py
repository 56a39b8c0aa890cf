"""Tables that random ones led to, and extreme ones: wide, deep, long rows, odd names."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from corpus import REFUSALS, write
from ways import CHECKS, cut, equal, peers, truth

import rangeio
from rangeio.errors import Unsupported


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


# ---- extremes ----------------------------------------------------------------------------------

VERSIONS = ["2.0", "2.1", "2.2"]


def layered(levels: int, item: object) -> pa.Array:
    """Rows of lists inside one another."""
    kind: pa.DataType = pa.int32()
    for _ in range(levels):
        item, kind = [item], pa.list_(kind)
    return pa.array([item, None, [], item] * 50, kind)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("levels", [10, 40])
def test_deep_lists(tmp_path: Path, version: str, levels: int) -> None:
    found(tmp_path / "deep.lance", pa.table({"l": layered(levels, 3)}), version)


@pytest.mark.parametrize("version", VERSIONS)
def test_rows_longer_than_any_chunk(tmp_path: Path, version: str) -> None:
    rows = [list(range(200_000)), [], None, [1], list(range(40_000)), *([i] for i in range(900))]
    texts = [None if row is None else [str(x % 977) * 3 for x in row] for row in rows]
    table = pa.table(
        {"n": pa.array(rows, pa.list_(pa.int64())), "t": pa.array(texts, pa.list_(pa.string()))}
    )
    found(tmp_path / "long.lance", table, version)


@pytest.mark.parametrize("version", VERSIONS)
def test_values_of_megabytes_among_tiny_ones(tmp_path: Path, version: str) -> None:
    texts = ["a" * 5_000_000, "", None, "b", *["x"] * 100, "q" * 300_000]
    found(tmp_path / "big.lance", pa.table({"t": texts}), version)


@pytest.mark.parametrize("version", VERSIONS)
def test_odd_names(tmp_path: Path, version: str) -> None:
    names = ["", "a b", "\u65e5\u672c", "a/b", "'q'", '"q"', "*", "[x]", "\n", "item", "A", "a"]
    columns = [pa.array([i, None, i + 1]) for i in range(len(names))]
    table = pa.table([*columns, pa.StructArray.from_arrays(columns, names)], [*names, "s"])
    path = tmp_path / "names.lance"
    write(path, table, version)
    with rangeio.open(str(path)) as file:
        equal(file.read(), table, "all")
        for name in names:
            equal(file.read(name), table.select([name]), name)
            equal(file.read([("s", name)]), table.select(["s"]), f"s {name}")


@pytest.mark.parametrize("version", VERSIONS)
def test_a_struct_of_many_fields(tmp_path: Path, version: str) -> None:
    names = [f"f{i}" for i in range(300)]
    wide = pa.StructArray.from_arrays([pa.array([i, i + 1]) for i in range(300)], names)
    found(tmp_path / "wide.lance", pa.table({"s": wide, "k": [1, 2]}), version)
