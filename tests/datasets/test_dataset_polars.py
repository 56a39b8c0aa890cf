"""Datasets as lazy frames: equal to polars on what was read whole, and cheaper by counted GETs."""

import asyncio
import datetime as dt
import math
import re
import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rangeio
from rangeio.datasets.finding.partitions import NULL
from rangeio.datasets.polars import _Source
from rangeio.errors import RequestError
from rangeio.testing.server import RangeServer

pl = pytest.importorskip("polars")
from polars.io.plugins import register_io_source  # noqa: E402
from polars.testing import assert_frame_equal  # noqa: E402

from rangeio.datasets.polarspredicate import pushed  # noqa: E402

ROOT = Path(__file__).parents[2]
BERLIN = ZoneInfo("Europe/Berlin")
ENGINES = ("in-memory", "streaming")
NAN = math.nan
c = pl.col

VALUES = {
    "i": [-3, -1, 0, 1, 2, 5, 2**53, 2**53 + 1, None],
    "small": [-128, -1, 0, 1, 5, 127, None],
    "big": [0, 1, 5, 2**63, 2**64 - 1, None],
    "f": [-math.inf, -1.5, -0.0, 0.0, 1.0, 2.5, 1e300, math.inf, NAN, None],
    "half": [-1.5, -0.0, 0.0, float(np.float32(1.1)), 2.5, NAN, None],
    "s": ["", "a", "ab", "b", "ä", "z", None],
    "word": ["z", "a", "m", None],
    "b": [True, False, None],
    "day": [dt.date(1969, 12, 31), dt.date(2024, 2, 29), dt.date(2024, 3, 1), None],
    "t": [dt.datetime(2024, 3, 1), dt.datetime(2024, 3, 1, 0, 0, 0, 1), None],
    "z": [dt.datetime(2024, 3, 1, h, tzinfo=BERLIN) for h in range(3)] + [None],
    "dec": [Decimal("-1.50"), Decimal("0.00"), Decimal("1.25"), Decimal("9.99"), None],
    "span": [dt.timedelta(0), dt.timedelta(hours=1), None],
    "raw": [b"", b"a", b"\xff", None],
}
KINDS = {
    "i": pa.int64(),
    "small": pa.int8(),
    "big": pa.uint64(),
    "f": pa.float64(),
    "half": pa.float32(),
    "s": pa.string(),
    "word": pa.dictionary(pa.int32(), pa.string()),
    "b": pa.bool_(),
    "day": pa.date32(),
    "t": pa.timestamp("us"),
    "z": pa.timestamp("us", "Europe/Berlin"),
    "dec": pa.decimal128(9, 2),
    "span": pa.duration("us"),
    "raw": pa.binary(),
}
PARTS = {"year": [2023, 2024, None], "town": ["x", "y y", None]}


def table(seed, rows=40):
    """Few values, so that they meet; in turns without nulls and NaN, and in order."""
    rng = np.random.default_rng(seed)
    columns = {}
    for name, values in VALUES.items():
        some = [v for v in values if seed % 3 or (v is not None and v == v)]
        picked = [some[n] for n in rng.integers(0, len(some), rows)]
        if seed % 2:
            picked.sort(key=lambda v: (v is None, v != v, v if v is not None and v == v else 0))
        columns[name] = pa.array(picked, KINDS[name])
    return pa.table(columns)


@pytest.fixture(scope="module")
def session():
    with rangeio.Session() as one:
        yield one


@pytest.fixture(scope="module")
def mixed(tmp_path_factory, session):
    """A dataset with two partition columns, and all of it as polars reads it."""
    root = tmp_path_factory.mktemp("mixed")
    keys = [
        ("2023", "x"),
        ("2023", "y y"),
        ("2024", "x"),
        ("2024", NULL),
    ]
    keys += [(NULL, "x")]
    for n, (year, town) in enumerate(keys):
        folder = root / f"year={year}" / f"town={town}"
        folder.mkdir(parents=True)
        pq.write_table(table(n), folder / "a.parquet", row_group_size=8, write_page_index=True)
    ds = rangeio.dataset(root, session=session)
    return ds, pl.from_arrow(ds.read())


def same(mixed, query, engine="in-memory"):
    ds, whole = mixed
    ours = query(ds.polars()).collect(engine=engine)
    assert_frame_equal(ours, query(whole.lazy()).collect())
    return ours


def literal(name):
    values = [v for v in {**VALUES, **PARTS}[name] if v is not None]
    return st.sampled_from(values)


@st.composite
def leaves(draw):
    """A condition on one column."""
    name = draw(st.sampled_from([*VALUES, *PARTS]))
    column = c(name)
    kind = draw(st.sampled_from(["compare", "list", "null", "between", "missing"]))
    if name == "b" and draw(st.booleans()):
        return column
    if kind == "null":
        return draw(st.sampled_from([column.is_null(), column.is_not_null()]))
    if kind == "list":
        return column.is_in(draw(st.lists(literal(name), max_size=3)))
    value = pl.lit(draw(literal(name)))
    if kind == "missing":
        return draw(st.sampled_from([column.eq_missing(value), column.ne_missing(value)]))
    if kind == "between" and name != "b":
        closed = draw(st.sampled_from(["both", "left", "right", "none"]))
        return column.is_between(value, pl.lit(draw(literal(name))), closed=closed)
    compared = ["eq", "ne"] if name == "b" else ["eq", "ne", "lt", "le", "gt", "ge"]
    asked = draw(st.sampled_from(compared))
    if draw(st.booleans()) and name not in ("word", "b"):
        return getattr(value, asked)(column)
    return getattr(column, asked)(value)


def joined(inner):
    return st.one_of(
        st.builds(lambda a, b: a & b, inner, inner),
        st.builds(lambda a, b: a | b, inner, inner),
        st.builds(lambda a, b: a ^ b, inner, inner),
        st.builds(lambda a: ~a, inner),
    )


PREDICATES = st.recursive(leaves(), joined, max_leaves=5)


@settings(max_examples=250, deadline=None)
@given(PREDICATES)
def test_every_predicate_keeps_the_rows_that_polars_keeps(mixed, predicate):
    same(mixed, lambda frame: frame.filter(predicate))


@settings(max_examples=40, deadline=None)
@given(
    PREDICATES,
    st.lists(st.sampled_from([*VALUES, *PARTS]), min_size=1, unique=True),
    st.integers(0, 130),
    st.booleans(),
    st.sampled_from(ENGINES),
)
def test_columns_and_rows_go_with_predicates(mixed, predicate, names, rows, first, engine):
    def query(frame):
        if first:
            return frame.head(rows).filter(predicate).select(names)
        return frame.filter(predicate).select(names).head(rows)

    same(mixed, query, engine)


@pytest.mark.parametrize(
    "predicate",
    [
        c.i.is_in(range(0, 4000, 2)),
        ~c.i.is_in(range(4000)),
        c.f.is_in([float(n) for n in range(100)]),
        ~c.f.is_in([float(n) for n in range(100)]),
        c.f == NAN,
        c.f != NAN,
        c.f >= math.inf,
        c.f.is_in([0.0, NAN]),
        ~c.f.is_in([-0.0]),
        c.f > -0.0,
        c.f.is_nan() | (c.f < 0),
        c.half > 1.1,
        c.half == pl.lit(1.1, dtype=pl.Float64),
        c.half.is_in([1.1, 2.5]),
        c.i > 2.5,
        c.i == float(2**53),
        c.i.cast(pl.Float64) == float(2**53),
        c.i.is_in([1, None]),
        ~c.i.is_in([1, None]),
        c.i.is_in([1, None], nulls_equal=True),
        ~c.i.is_in([1], nulls_equal=True),
        c.i.is_in([]),
        c.small > 1000,
        c.small.is_in([1, 500]),
        c.small < c.i,
        c.big > 2**63 - 1,
        c.s.is_in(pl.Series(["a", "z"])),
        c.s.str.starts_with("a") & (c.i > 0),
        c.s.str.starts_with("a") | (c.i > 0),
        c.word > "b",
        c.word.cast(pl.String) == "m",
        ~c.word.is_in(["m"]),
        c.day > dt.datetime(2024, 2, 29, 12),
        c.dec > 1,
        c.dec == Decimal("1.254"),
        c.dec < 1.3,
        c.z == dt.datetime(2024, 3, 1, 1, tzinfo=BERLIN),
        (c.year == 2024) & c.town.is_null(),
        c.year + 1 == 2024,
        pl.any_horizontal(c.i > 1, c.b),
        pl.all_horizontal(c.i > 1, ~c.b),
        pl.when(c.b).then(c.i > 0).otherwise(c.i < 0),
        pl.lit(True),
        pl.lit(False),
        c.f > c.f.mean(),
    ],
    ids=str,
)
@pytest.mark.parametrize("engine", ENGINES)
def test_what_is_hard_to_say_to_arrow(mixed, predicate, engine):
    same(mixed, lambda frame: frame.filter(predicate), engine)


QUERIES = {
    "all": lambda f: f,
    "select": lambda f: f.select("s", "year", "i"),
    "drop": lambda f: f.drop("word"),
    "head": lambda f: f.head(50),
    "none": lambda f: f.head(0),
    "tail": lambda f: f.tail(7),
    "slice": lambda f: f.slice(35, 10),
    "slice, filter": lambda f: f.slice(35, 60).filter(c.i > 0),
    "count": lambda f: f.select(pl.len()),
    "count of some": lambda f: f.filter(c.year == 2023).select(pl.len()),
    "group": lambda f: f.group_by("town").agg(c.i.sum(), c.s.max()).sort("town"),
    "join": lambda f: f.join(
        f.filter(c.b).group_by("small").agg(pl.len()), on="small", maintain_order="left"
    ),
    "twice": lambda f: pl.concat([f.filter(c.i > 0), f.filter(c.i <= 0)]),
    "computed": lambda f: f.with_columns(k=c.i * 2).filter(c.k > 3).select("k"),
    "unique": lambda f: f.select("s").unique(maintain_order=True),
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)
def test_queries(mixed, query, engine):
    same(mixed, query, engine)


def test_sql(mixed):
    ds, whole = mixed
    query = (
        "SELECT town, count(*) AS n, max(i) AS top FROM t "
        "WHERE year = 2024 AND i BETWEEN 0 AND 10 AND s IN ('a', 'b') GROUP BY town ORDER BY town"
    )
    ours = pl.SQLContext(t=ds.polars()).execute(query).collect()
    assert_frame_equal(ours, pl.SQLContext(t=whole.lazy()).execute(query).collect())


def test_small_batches(mixed):
    ds, whole = mixed
    frames = list(ds.polars().select("i").collect_batches(chunk_size=10, maintain_order=True))
    assert_frame_equal(pl.concat(frames), whole.select("i"))


# ---- what goes down ----

GOES_DOWN = [
    (c.i > 1, "(i > 1)"),
    (~(c.i > 1), "(i <= 1)"),
    (~((c.i > 1) & (c.s == "a")), '((i <= 1) or (s != "a"))'),
    ((c.i > 1) & (c.s.str.len_bytes() == 1), "(i > 1)"),
    ((c.i > 1) | (c.s.str.len_bytes() == 1), None),
    (c.i.is_between(1, 5), "((i >= 1) and (i <= 5))"),
    (c.i.is_in(range(0, 4000, 2)), "((i >= 0) and (i <= 3998))"),
    (~c.i.is_in(range(4000)), None),
    (c.span.is_in([dt.timedelta(n) for n in range(2000)]), None),
    (c.f.is_in([0.0, 2.5]), "((f == 0) or (f == 2.5))"),
    (c.f > 2.5, "invert((f <= 2.5))"),
    (c.f < 2.5, "(f < 2.5)"),
    (c.f.ne_missing(2.5), "((f != 2.5) or is_null(f, {nan_is_null=false}))"),
    (c.f < math.inf, None),
    (c.b & ~c.b, "((b == true) and (b == false))"),
    (c.word == "m", '(word == "m")'),
    (c.word > "m", None),
    (c.word.is_null(), None),  # a dictionary may hold nulls that Arrow does not count
    (c.i.is_null(), "is_null(i, {nan_is_null=false})"),
    (c.day >= dt.date(2024, 2, 29), "(day >= 2024-02-29)"),
    (c.dec > Decimal("1.2"), "(dec > 1.20)"),
    (c.z < dt.datetime(2024, 3, 1, 1, tzinfo=BERLIN), "(z < 2024-03-01 00:00:00.000000Z)"),
    (c.i.is_in([]), "false"),
    (c.small > 1.5, None),
    (c.i > c.big, None),
]


@pytest.mark.parametrize(("predicate", "filters"), GOES_DOWN, ids=[str(e) for e, _ in GOES_DOWN])
def test_what_goes_down(mixed, predicate, filters):
    """A new polars that writes expressions in another way is noticed here."""
    ds, _ = mixed
    asked = []

    def source(with_columns, predicate, n_rows, batch_size):
        asked.append(predicate)
        return iter(())

    frame = register_io_source(source, schema=ds.polars().collect_schema())
    frame.filter(predicate).collect()
    found = pushed(asked[0], ds.schema.arrow)
    assert (None if found is None else str(found)) == filters


def test_what_is_not_known_does_not_go_down(mixed):
    ds, _ = mixed
    for other in (pa.schema({}), pa.schema({"i": pa.timestamp("s")})):
        assert pushed(c.i == 1, other) is None
        assert pushed(c.i.is_null(), other) is None
    assert pushed(pl.struct("i", "s").is_null(), ds.schema.arrow) is None


# ---- what it costs ----

FILES, ROWS = 8, 4000


@pytest.fixture
def lake(session):
    """Ten-column files of a year each, on a server that counts."""
    rng = np.random.default_rng(0)
    with RangeServer() as server:
        for n in range(FILES):
            columns = {f"x{k}": rng.random(ROWS) for k in range(10)}
            columns["n"] = np.arange(n * ROWS, (n + 1) * ROWS)
            sink = pa.BufferOutputStream()
            pq.write_table(pa.table(columns), sink, row_group_size=ROWS // 8, use_dictionary=False)
            server.put(f"lake/year={2017 + n}/a.parquet", sink.getvalue().to_pybytes())
        urls = [server.at(f"lake/year={2017 + n}/a.parquet") for n in range(FILES)]
        with rangeio.Session(memory_cache=0, column_cache=0, profile="memory") as fresh:
            yield rangeio.dataset(urls, session=fresh)


def opened(ds):
    found = (re.search(r"year(?:=|%3D)(\d+)", get.url) for get in ds.trace if get.size)
    return sorted({int(one.group(1)) for one in found if one})


def test_the_schema_costs_the_first_and_the_last_file(lake):
    lake.polars().collect_schema()
    assert opened(lake) == [2017, 2024]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_partition_filter_opens_the_files_that_match(lake, engine):
    found = lake.polars().filter(c.year.is_in([2019, 2020]), c.x0 < 2).collect(engine=engine)
    assert found.height == 2 * ROWS
    assert opened(lake) == [2017, 2019, 2020, 2024]


def test_a_filter_prunes_row_groups(lake):
    frame = lake.polars()
    before = lake.trace.bytes_read
    found = frame.filter(c.year == 2020, c.n.is_between(12_100, 12_200)).select("x1").collect()
    assert found.height == 101
    data = sum(get.size for get in lake.trace if get.why.endswith("data"))
    assert 0 < data < 2.2 * 8 * ROWS / 8  # two columns of one row group of eight
    assert lake.trace.bytes_read > before


def test_one_column_of_many_is_read_alone(lake):
    assert lake.polars().select("x3").collect().height == FILES * ROWS
    data = sum(get.size for get in lake.trace if get.why.endswith("data"))
    assert 0 < data < 1.1 * 8 * ROWS * FILES


@pytest.mark.parametrize("engine", ENGINES)
def test_head_reads_no_more_files_than_it_takes(lake, engine):
    assert lake.polars().head(10).collect(engine=engine)["n"].to_list() == list(range(10))
    assert opened(lake) == [2017, 2024]


def test_equal_scans_of_one_query_are_read_once(lake):
    frame = lake.polars().select("n")
    assert pl.concat([frame, frame]).collect(engine="in-memory").height == 2 * FILES * ROWS
    data = sum(get.size for get in lake.trace if get.why.endswith("data"))
    assert data < 1.1 * 8 * ROWS * FILES


def test_stopping_early_ends_the_scan(mixed):
    """What polars closes is the iterator of the source."""
    ds, _ = mixed

    async def tasks():
        return len(asyncio.all_tasks())

    before = ds._session.run(tasks())
    frames = _Source(ds, ds.scan(limit=0).schema).frames(["i"], c.i > 0, None, 4)
    assert next(frames).height <= 4
    frames.close()
    assert ds._session.run(tasks()) == before
    assert list(frames) == []


# ---- what it refuses, and what it needs ----


def written(tmp_path, *tables):
    for n, one in enumerate(tables):
        pq.write_table(one, tmp_path / f"{n}.parquet")
    return rangeio.dataset(tmp_path)


def test_a_type_that_polars_lacks_is_named(tmp_path):
    rows = pa.table({"a": [1], "gap": pa.array([0], pa.timestamp("us", "Nowhere/Else"))})
    said = r"polars has no type for column 'gap' of timestamp\[us, tz=Nowhere/Else\]: hand over"
    with pytest.raises(RequestError, match=said):
        written(tmp_path, rows).polars()


@pytest.mark.parametrize("kind", [pa.month_day_nano_interval(), pa.list_view(pa.int8())], ids=str)
def test_types_that_no_format_here_holds(kind):
    with pytest.raises(RequestError, match=r"polars has no type for column 'gap'"):
        _Source(None, pa.schema({"a": pa.int8(), "gap": kind})).schema()


def test_two_columns_of_one_name(tmp_path):
    twice = pa.schema([("a", pa.int8()), ("a", pa.int8())])
    with pytest.raises(RequestError, match="no two columns of one name"):
        _Source(written(tmp_path, pa.table({"a": [1]})), twice, False).schema()


def test_a_column_between_the_first_and_the_last_file(tmp_path):
    plain = pa.table({"a": [1, 2], "b": [0, 0]})
    ds = written(tmp_path, plain, pa.table({"a": [3], "b": [0], "more": ["x"]}), plain)
    frame = ds.polars()
    assert frame.select("a").collect()["a"].to_list() == [1, 2, 3, 1, 2]
    with pytest.raises(RequestError, match=r"did not tell of 'more' \(string\): ask for ds.pol"):
        frame.collect()
    assert ds.schema.arrow.names == ["a", "b", "more"]
    assert ds.polars().collect_schema().names() == ["a", "b"]  # whatever was asked before
    whole = ds.polars(every_file=True)
    assert_frame_equal(whole.collect(), pl.from_arrow(ds.read()))
    assert whole.filter(c.more == "x").select("a").collect()["a"].to_list() == [3]
    assert whole.head(1).collect().to_dicts() == [{"a": 1, "b": 0, "more": None}]


def test_columns_that_widen(tmp_path):
    narrow, wide = pa.table({"a": pa.array([1], pa.int32())}), pa.table({"a": [2**40]})
    ds = written(tmp_path, narrow, wide)
    assert ds.polars().filter(c.a > 1).collect()["a"].to_list() == [2**40]
    between = tmp_path / "deep"
    between.mkdir()
    ds = written(between, narrow, wide, narrow)
    with pytest.raises(RequestError, match=r"'a' \(int64\)"):
        ds.polars().collect()
    assert ds.polars(every_file=True).filter(c.a == 1).collect()["a"].to_list() == [1, 1]


def test_names_are_taken_as_they_are(tmp_path):
    rows = pa.table({"a.b": [1], "a*": [2], "a": [{"b": 3}]})
    ds = written(tmp_path, rows)
    assert ds.polars().select("a*", "a.b").collect().row(0) == (2, 1)
    assert ds.polars().filter(c("a.b") == 1).collect().height == 1


def test_without_polars():
    code = (
        "import sys; sys.modules['polars'] = None\n"
        "import rangeio, pyarrow as pa\n"
        "rangeio.write(pa.table({'a': [1]}), 'memory://lake/a.parquet')\n"
        "try:\n    rangeio.dataset('memory://lake').polars()\n"
        "except rangeio.RequestError as error:\n    print(error)"
    )
    assert said(code) == "polars is not installed: pip install 'rangeio[polars]'"


def test_importing_loads_no_polars():
    assert said("import sys, rangeio; print('polars' in sys.modules)") == "False"


def said(code):
    words = [sys.executable, "-W", "error", "-c", code]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_the_page_on_datasets_runs_as_it_stands(tmp_path):
    page = (ROOT / "docs" / "datasets.md").read_text()
    code = "".join(re.findall(r"```python\n(.*?)```", page, re.DOTALL))
    assert "ds.polars()" in code
    lines = said(code).splitlines()
    assert "[('NZ', 100), ('FJ', 100)]" in lines or "[('FJ', 100), ('NZ', 100)]" in lines
    assert "2 2000 1000" in lines
    assert "0 142.71428571428572" in lines
