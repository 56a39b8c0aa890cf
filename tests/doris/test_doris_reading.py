"""Reading: all kinds of columns, pages of every size, any rows; filters prune and never lose."""

from __future__ import annotations

import datetime as dt
import pickle

import numpy as np
import pyarrow as pa
import pytest
from doris_tables import in_memory, made, same, table, wide

import rangeio
from rangeio.errors import Corrupt, Unsupported
from rangeio.formats.doris import decoding, planning
from rangeio.plan import Query, Rows
from rangeio.predicate import parse

VERSIONS = pytest.mark.parametrize("version", [2, 3])


@VERSIONS
@pytest.mark.parametrize("rows", [0, 1, 7, 3000])
@pytest.mark.parametrize("page_size", [64, 4096, 65536])
def test_every_kind_of_column(version, rows, page_size):
    if rows == 3000 and page_size == 64:
        rows = 300
    data = made(table(rows), version=version, page_size=page_size)
    same(in_memory(data).read(), table(rows))
    with rangeio.open(data) as file:
        same(file.read(), table(rows))


@VERSIONS
@pytest.mark.parametrize("scheme", ["none", "snappy", "lz4", "lz4f", "zlib", "zstd"])
def test_every_compression(version, scheme):
    data = made(table(500), version=version, page_size=1024, compression=scheme)
    same(in_memory(data).read(), table(500))


@VERSIONS
def test_any_rows(version):
    wanted = table(2000)
    data = made(wanted, version=version, page_size=512)
    rng = np.random.default_rng(version)
    for _ in range(8):
        edges = np.sort(rng.choice(2001, 2 * int(rng.integers(1, 120)), replace=False))
        rows = Rows(edges[::2], edges[1::2])
        same(in_memory(data).read(rows=rows), wanted.take(pa.array(rows.array())))
    with rangeio.open(data) as file:
        same(file.read(rows=[1999, 3, 3, 700]), wanted.take([1999, 3, 3, 700]))
        batches = list(file.scan(batch_rows=333))
        assert [batch.num_rows for batch in batches] == [333] * 6 + [2]
        same(pa.Table.from_batches(batches), wanted)


@VERSIONS
def test_items_that_come_in_later_hops(version, monkeypatch):
    """Where a list column is too large for one unit, offsets are read first."""
    monkeypatch.setattr(planning, "_WHOLE", 1)
    monkeypatch.setattr(planning, "UNIT", 4096)
    wanted = table(2000)
    file = in_memory(made(wanted, version=version, page_size=512))
    same(file.read(), wanted)
    same(file.read(rows=Rows([5, 600], [9, 1700])), wanted.take([*range(5, 9), *range(600, 1700)]))
    opened = file.open()
    schema = file.run(file.format.schema(opened))
    columns = [c for f in schema for c in file.format.needed(f)]
    metas = file.run(file.format.columns(opened, columns))
    query = Query(tuple(schema), Rows.span(0, 2000))
    plan = file.run(file.format.plan(opened, metas, query, file.cost))
    assert max(len(unit.later) for unit in plan.units) == 2
    assert pickle.loads(pickle.dumps(plan)).units[0].ranges == plan.units[0].ranges


def test_units_are_of_many_pages():
    data = made(pa.table({"x": np.arange(200_000)}), page_size=4096, compression="none")
    file = in_memory(data)
    opened = file.open()
    schema = file.run(file.format.schema(opened))
    metas = file.run(file.format.columns(opened, file.format.needed(schema.at(0))))
    query = Query(tuple(schema), Rows.span(0, 200_000))
    plan = file.run(file.format.plan(opened, metas, query, file.cost))
    assert len(plan.units) == 1
    assert len(plan.units[0].ranges) > 300


def test_small_columns_share_units():
    file = in_memory(made(wide(500)))
    opened = file.open()
    schema = file.run(file.format.schema(opened))
    needed = [c for f in schema for c in file.format.needed(f)]
    metas = file.run(file.format.columns(opened, needed))
    query = Query(tuple(schema), Rows.span(0, 8))
    plan = file.run(file.format.plan(opened, metas, query, file.cost))
    assert len(plan.units) == 1
    same(file.read(), wide(500))


def test_a_column_of_lists_without_items():
    wanted = pa.table({"l": pa.array([[], None, []], pa.list_(pa.int32()))})
    same(in_memory(made(wanted)).read(), wanted)


def test_more_text_than_one_array_holds(monkeypatch):
    from rangeio.formats.doris import pagedata

    monkeypatch.setattr(pagedata, "_MOST_TEXT", 700)
    words = pa.table({"s": [f"{k:040d}" for k in range(50)]})
    data = made(words, page_size=64, encodings={"s": "plain"})
    found = in_memory(data).read()
    assert found.column(0).num_chunks > 2
    same(found, words)
    nested = pa.table({"s": [[one] for one in words["s"].to_pylist()]})
    same(in_memory(made(nested, page_size=64)).read(), nested)


def test_null_keys_of_maps_are_refused():
    array = pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int64()))
    file = in_memory(made(pa.table({"m": array})))
    column = file.run(file.format.schema(file.open())).at(0)
    children = [pa.array([None], pa.string()), pa.array([1])]
    with pytest.raises(Unsupported, match="NULL as a key"):
        decoding._list_of(column, np.array([1]), children, None)


# ---- filters -------------------------------------------------------------------------------------

ROWS = 3000
FILTERED = pa.table(
    {
        "k": pa.array(range(ROWS), pa.int32()),
        "s": [f"key{i:06d}" for i in range(ROWS)],
        "r": [(i * 7919) % ROWS for i in range(ROWS)],
        "d": [dt.date(2020, 1, 1) + dt.timedelta(days=i) for i in range(ROWS)],
        "f": [float(i) if i % 100 else float("nan") for i in range(ROWS)],
        "z": pa.array([None if i < ROWS // 2 else i for i in range(ROWS)], pa.int64()),
        "l": [[i, i + 1] for i in range(ROWS)],
    }
)
NAMES = dict(enumerate(FILTERED.column_names))
FILTERS = [
    ([("k", "<", 10)], "pages of k"),
    ([("k", "==", -1)], "all rows: zone map of k"),
    ([("s", "==", "key000777")], "pages of s"),
    ([("r", "==", 1321)], "pages of r"),
    ([("r", "in", [1, 2])], "pages of r"),
    ([("d", ">", dt.date(2028, 1, 1))], "pages of d"),
    ([("f", ">", 2990.0)], "pages of f"),
    ([("f", "!=", 3.0)], ""),
    ([("z", "is null")], "pages of z"),
    ([("z", "is not null"), ("k", "<", 1600)], "pages of k"),
    ([("k", ">", 100), ("s", "<", "key000200")], "pages of k"),
    ([("l", "is null")], ""),
    ([[("k", "<", 5)], [("k", ">", 2995)]], "pages of k"),
]


@VERSIONS
@pytest.mark.parametrize(("filters", "pruned"), FILTERS, ids=lambda one: str(one)[:40])
def test_filters_prune_and_lose_nothing(version, filters, pruned):
    data = made(FILTERED, version=version, page_size=1024, bloom_filter_columns=["s", "r"])
    with rangeio.open(data, schema=NAMES) as file:
        wanted = parse(filters, file.schema).filter(file.read())
        for columns in (["k", "l"], ["s"], []):
            assert (
                file.read(columns, filters=filters).to_pydict()
                == wanted.select(columns).to_pydict()
            )
        said = file.explain(["k", "l"], filters=filters).pruned
        assert pruned in " ".join(said)
        assert bool(pruned) == bool(said)
        rows = slice(150, 1700)
        part = parse(filters, file.schema).filter(file.read(rows=rows))
        assert file.read(["s"], rows=rows, filters=filters).to_pydict() == {
            "s": part["s"].to_pylist()
        }


def test_without_zone_maps_nothing_is_pruned():
    data = made(FILTERED, zone_maps=False)
    with rangeio.open(data, schema=NAMES) as file:
        assert file.explain(["l"], filters=[("k", "<", 3)]).pruned == ()
        assert file.read(["k"], filters=[("k", "<", 3)])["k"].to_pylist() == [0, 1, 2]
        assert file.column("k").statistics is None


def test_statistics_and_pages_for_people():
    with rangeio.open(made(FILTERED), schema=NAMES) as file:
        found = file.column("d").statistics
        assert found is not None
        assert found.min.as_py() == dt.date(2020, 1, 1)
        assert (found.null_count, found.rows) == (0, ROWS)
        assert file.column("s").statistics.max == "key002999"
        assert file.column("z").statistics.null_count is None
        (page,) = file.column("k").pages
        assert page.rows == (0, ROWS)
        assert page.encoding == "plain, zstd"
        assert [p.rows[1] for p in file.column("l").pages] == [2 * ROWS, ROWS, ROWS]


def test_a_column_that_has_other_rows_than_the_file():
    file = in_memory(made(wide(2, 9)))
    opened = file.open()
    object.__setattr__(opened.footer, "num_rows", 8)
    schema = file.run(file.format.schema(opened))
    metas = file.run(file.format.columns(opened, file.format.needed(schema.at(0))))
    query = Query((schema.at(0),), Rows.span(0, 8))
    with pytest.raises(Corrupt, match="has 9 rows where 8 belong"):
        file.run(file.format.plan(opened, metas, query, file.cost))
