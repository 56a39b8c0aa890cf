"""Filters: what is read equals what Arrow filters of the whole, and what is pruned held nothing."""

from __future__ import annotations

import os
import re
from functools import reduce
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from corpus_files import DATA, arrow, made
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from parquet_columns import table
from parquet_filters import COMPARISONS, Asked, Group, expressible, filters, layouts, mask, tables
from parquet_peer import Peer, same
from parquet_places import metadata, pages
from parquet_ways import cut

import rangeio
from rangeio.errors import BadFilter

FULL = os.environ.get("RANGEIO_FUZZ") == "full"
EXAMPLES = settings(
    max_examples=5000 if FULL else 70,
    deadline=None,
    derandomize=not FULL,
    suppress_health_check=list(HealthCheck),
    database=None,
)
PRUNED = re.compile(
    r"row group (\d+): (?:(statistics|bloom filter) of (.+)|the filter matches no row)"
)
WORDS = list(COMPARISONS)[:: 1 if FULL else 2]
PAGES = re.compile(r"row group (\d+): \d+ of \d+ pages of .+")
PAGES_OF = re.compile(r"(\d+) of (\d+) pages of (.+?)(?=, \d+ of|$)")


@pytest.fixture(scope="module")
def session():
    with rangeio.Session() as one:
        yield one


def whole(data: bytes) -> pa.Table:
    found = Peer(data).read()
    assert found is not None
    return found


def picked(content: pa.Table, wanted: np.ndarray) -> pa.Table:
    return content.take(pa.array(np.flatnonzero(wanted)))


def empty_where_pruned(data: bytes, told: rangeio.Explanation, wanted: np.ndarray) -> None:
    """Every row group that is named as pruned held no matching row, and no more pages of a column
    are than held none."""
    footer = metadata(data)
    sizes = [footer.row_group(g).num_rows for g in range(footer.num_row_groups)]
    starts = np.concatenate(([0], np.cumsum(sizes))).astype(int)
    paths = [column.path for column in Peer(data).file.schema]
    for line in told.pruned:
        found = PRUNED.fullmatch(line) or PAGES.fullmatch(line)
        assert found is not None, line
        first, stop = starts[int(found[1]) : int(found[1]) + 2]
        if found.re is PRUNED:
            assert not wanted[first:stop].any(), line
            continue
        for count, total, name in PAGES_OF.findall(line):
            own = [p.rows for p in pages(data, paths.index(name)) if first <= p.rows[0] < stop]
            empty = sum(not wanted[start:end].any() for start, end in own)
            assert 0 < int(count) <= empty, line
            assert int(total) == len(own), line


# ---- any table, any filter ---------------------------------------------------------------------


@given(st.data())
@EXAMPLES
def test_filtered_reads_equal_arrows(session: rangeio.Session, data: st.DataObject) -> None:
    content = data.draw(tables())
    written = arrow(content, **data.draw(layouts(content)))
    content = whole(written)
    groups: list[Group] = data.draw(filters(content))
    columns = data.draw(st.lists(st.sampled_from(content.column_names), unique=True, max_size=2))
    wanted = mask(groups, content)
    with rangeio.open(written, session=session) as file:
        asked: Any = [[one.triple() for one in group] for group in groups]
        expected = picked(content, wanted).select(columns)
        same(file.read(columns, filters=asked), expected, "lists")
        empty_where_pruned(written, file.explain(columns, filters=asked), wanted)
        if expressible(groups):
            one = joined(groups)
            assert np.array_equal(np.flatnonzero(wanted), matched(content, one))
            same(file.read(columns, filters=one), expected, "expression")
            empty_where_pruned(written, file.explain(columns, filters=one), wanted)
        check_rows(data, file, content, groups, columns)


def joined(groups: list[Group]) -> pc.Expression:
    every = [reduce(lambda a, b: a & b, [one.expression() for one in group]) for group in groups]
    return reduce(lambda a, b: a | b, every)


def matched(content: pa.Table, expression: pc.Expression) -> np.ndarray:
    """The rows that Arrow's own filter keeps."""
    numbered = content.append_column("", pa.array(np.arange(content.num_rows)))
    return numbered.filter(expression).column("").to_numpy()


def check_rows(
    data: st.DataObject,
    file: rangeio.File,
    content: pa.Table,
    groups: list[Group],
    columns: list[str],
) -> None:
    """Rows are chosen first, then the filter applies; also as a stream."""
    number = st.integers(0, max(content.num_rows - 1, 0))
    if content.num_rows and data.draw(st.booleans()):
        rows: Any = data.draw(st.lists(number, max_size=12))
    else:
        start, stop = sorted((data.draw(number), data.draw(number)))
        rows = slice(start, stop)
    part = cut(content, rows)
    wanted = picked(part, mask(groups, part)).select(columns)
    asked: Any = [[one.triple() for one in group] for group in groups]
    same(file.read(columns, rows=rows, filters=asked), wanted, f"rows {rows}")
    if columns:
        scanned = file.scan(columns, rows=rows, filters=asked, batch_rows=9).read_all()
        same(scanned, wanted, f"scan of {rows}")


# ---- files of others, and those that lie -------------------------------------------------------

LIARS = [
    "datapage_v1-uncompressed-checksum",
    "datapage_v1-snappy-compressed-checksum",
    "floating_orders_nan_count",
    "binary_truncated_min_max",
    "fixed_length_byte_array",
    "alltypes_tiny_pages",
    "alltypes_tiny_pages_plain",
    "data_index_bloom_encoding_with_length",
    "nan_in_stats",
    "sort_columns",
    "float16_nonzeros_and_nans",
    "int32_decimal",
    "byte_array_decimal",
    "nested_maps.snappy",
    "delta_encoding_required_column",
]


WRITTEN = [
    "polars-codec-zstd",
    "polars-full_statistics",
    "duckdb-codec-zstd",
    "duckdb-version_1",
    "arrow_rs-small_pages",
    "arrow_rs-version_2",
    "fastparquet-row_groups",
    "pyarrow-setting-int96",
    "pyarrow-setting-page_index",
    "pyarrow-setting-bloom",
    "pyarrow-setting-decimal_integers",
    "pyarrow-setting-version_1.0",
    "pyarrow-setting-no_arrow_schema",
    "shape-all_null",
    "shape-empty_row_groups",
]


@pytest.mark.skipif(not DATA.exists(), reason="the sample files are not beside the repository")
@pytest.mark.parametrize("name", LIARS)
def test_filters_on_values_of_found_files(name: str, session) -> None:
    """Every flat column against some of its own values: no row is lost to its statistics."""
    data = (DATA / "data" / f"{name}.parquet").read_bytes()
    check_own_values(data, session)


@pytest.mark.parametrize("name", WRITTEN)
def test_filters_on_values_of_every_writers_files(name: str, session) -> None:
    check_own_values(made(name), session)


def check_own_values(data: bytes, session: rangeio.Session) -> None:
    content = whole(data)
    rng = np.random.default_rng(len(data))
    checked = 0
    with rangeio.open(data, session=session) as file:
        for name in (f.name for f in content.schema if comparable(f.type)):
            one = content.select([name])
            values = one.column(0).drop_null()
            nulls = Asked((name,), "is null", pa.nulls(1))
            asked = [nulls]
            for word in WORDS if len(values) else ():
                pick = values.slice(int(rng.integers(len(values))), 1).combine_chunks()
                asked.append(Asked((name,), word, pick))
            for condition in asked:
                got = file.read([name], filters=[condition.triple()])
                same(got, picked(one, mask([[condition]], content)), str(condition))
                checked += 1
    assert checked


def comparable(kind: pa.DataType) -> bool:
    """Whether Arrow compares and picks values of the type."""
    odd = (pa.types.is_nested, pa.types.is_null, pa.types.is_interval)
    views = (pa.string_view(), pa.binary_view())
    return kind not in views and not any(one(kind) for one in odd)


# ---- what makes no sense -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "asked",
    [
        [("int32", "~", 1)],
        [("int32", "==", "text")],
        [("struct", "==", 1)],
        [("int32", "<", None)],
        [("list_string", "==", "a")],
    ],
    ids=str,
)
def test_filters_that_make_no_sense_say_so(asked: Any, session) -> None:
    content = table(["int32", "struct", "list_string"], 50)
    with rangeio.open(arrow(content), session=session) as file, pytest.raises(BadFilter):
        file.read(["int32"], filters=asked)
