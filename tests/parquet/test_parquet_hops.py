"""Counted figures of reading 2 of 3,000 columns x 5 row groups: hops, GETs and bytes, exactly."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from corpus_files import arrow, made
from parquet_peer import Peer, same
from parquet_places import Range, chunk_ranges, footer_range, pages

import rangeio
from rangeio.ranges import Coalescing
from rangeio.testing.request import asked
from rangeio.testing.server import RangeServer
from rangeio.transport.profile import PROFILES, Profile

COLUMNS, GROUPS, ROWS = 3000, 5, 40
TWO = ["feature_01000", "feature_02000"]


@cache
def wide(rows: int = ROWS) -> bytes:
    """3,000 columns of floats and integers in turn, in 5 row groups."""
    rng = np.random.default_rng(rows)
    pool = [
        pa.array(rng.standard_normal(rows * GROUPS).astype("f4")),
        pa.array(rng.integers(0, 1_000_000, rows * GROUPS)),
    ]
    names = [f"feature_{i:05d}" for i in range(COLUMNS)]
    return arrow(pa.table([pool[i % 2] for i in range(COLUMNS)], names=names), row_group_size=rows)


@cache
def long() -> bytes:
    """200,000 rows in 2 row groups, with a page index: pages of 1,000 rows."""
    rng = np.random.default_rng(1)
    rows = 200_000
    content = pa.table(
        {
            "n": pa.array(rng.integers(0, 1 << 40, rows)),
            "text": pa.array([f"text {i:x}" for i in rng.integers(0, 1 << 30, rows)]),
            "many": pa.array([list(range(i % 3)) for i in range(rows)]),
        }
    )
    return arrow(
        content,
        row_group_size=100_000,
        write_page_index=True,
        max_rows_per_page=1000,
        use_dictionary=False,
        compression="none",
    )


def exact(name: str = "http", **words: Any) -> Profile:
    """A profile that reads through no gaps, so that every byte read is one that was needed."""
    found = PROFILES[name]
    coalescing = Coalescing(gap=0, span=found.cost.coalescing.span)
    cost = replace(found.cost, coalescing=coalescing)
    return replace(found, cost=cost, small_file=0, **words)


@pytest.fixture
def server() -> Iterator[RangeServer]:
    with RangeServer() as one:
        yield one


def opened(
    server: RangeServer, data: bytes, session: rangeio.Session, name: str = "f.parquet"
) -> rangeio.File:
    server.put(name, data)
    return rangeio.open(server.at(name), session=session)


def spans(server: RangeServer, total: int, key: str = "f.parquet") -> list[Range]:
    """What was asked of the server, in order of position."""
    ranges = [asked(r.range, total) for r in server.log if r.key == key]
    assert None not in ranges
    return sorted(one for one in ranges if one is not None)


def disjoint(found: list[Range]) -> bool:
    return all(a[1] <= b[0] for a, b in itertools.pairwise(found))


def covered(one: Range, by: list[Range]) -> bool:
    """Whether every byte of ``one`` lies in some range of ``by``."""
    at = one[0]
    for start, stop in sorted(by):
        if start <= at:
            at = max(at, stop)
    return at >= one[1]


@pytest.mark.parametrize("profile", ["http", "s3"])
def test_two_columns_cost_three_hops_and_their_own_bytes(server, profile: str) -> None:
    data = wide()
    footer = footer_range(data)
    chunks = [at for name in TWO for at in chunk_ranges(data, int(name[-5:]))]
    chosen = exact(profile, tail=64 << 10)
    with rangeio.Session(profile=chosen) as session:
        file = opened(server, data, session)
        table = file.read(TWO)
        same(table, Peer(data).read([1000, 2000]) or pa.table({}), "two columns")
        assert file.trace.hops == 3
        assert file.trace.unplanned == 0
        got = spans(server, len(data))
        assert disjoint(got)
        tail = (len(data) - chosen.tail, len(data))
        assert all(covered(one, [tail, footer, *chunks]) for one in got)
        size = footer[1] - footer[0] + sum(b - a for a, b in chunks)
        assert sum(b - a for a, b in got) == size
        assert file.trace.bytes_read == size


def test_every_request_but_the_first_is_pinned_to_the_version(server) -> None:
    with rangeio.Session(profile=exact()) as session:
        opened(server, wide(), session).read(TWO)
    assert all(r.method == "GET" for r in server.log)
    assert [bool(r.if_match) for r in server.log] == [False] + [True] * (len(server.log) - 1)


@pytest.mark.parametrize("profile", ["http", "s3", "gs"])
def test_the_profiles_as_they_are_take_three_hops_and_no_byte_twice(server, profile) -> None:
    data = wide()
    with rangeio.Session(profile=replace(PROFILES[profile], small_file=0)) as session:
        file = opened(server, data, session)
        assert file.read(TWO).num_rows == ROWS * GROUPS
        assert file.trace.hops <= 3
        assert disjoint(spans(server, len(data)))


def test_a_tail_that_holds_the_footer_saves_a_hop(server) -> None:
    data = wide()
    size = footer_range(data)[1] - footer_range(data)[0]
    with rangeio.Session(profile=exact(tail=size)) as session:
        file = opened(server, data, session)
        file.read(TWO)
        assert file.trace.hops == 2
        assert disjoint(spans(server, len(data)))


def test_the_next_file_of_a_directory_costs_a_hop_less(server) -> None:
    with rangeio.Session(profile=exact(tail=64 << 10)) as session:
        opened(server, wide(), session, "d/a.parquet").read(TWO)
        other = wide(ROWS + 1)
        file = opened(server, other, session, "d/b.parquet")
        same(file.read(TWO), Peer(other).read([1000, 2000]) or pa.table({}), "the next file")
        assert file.trace.hops == 2
        assert disjoint(spans(server, len(other), "d/b.parquet"))


def test_what_was_read_is_not_read_again(server) -> None:
    with rangeio.Session(profile=exact()) as session:
        file = opened(server, wide(), session)
        first = file.read(TWO)
        count = len(server.log)
        assert file.read(TWO).equals(first)
        assert file.explain(TWO).gets == 0
        assert opened_again(server, session).read(TWO).equals(first)
        assert file.num_rows == ROWS * GROUPS
        assert file.schema.names[0] == "feature_00000"
        assert len(server.log) <= count + 1  # opened again: a suffix, to see the version


def opened_again(server: RangeServer, session: rangeio.Session) -> rangeio.File:
    return rangeio.open(server.at("f.parquet"), session=session)


def test_columns_that_lie_together_share_a_request(server) -> None:
    data = wide()
    names = [f"feature_{i:05d}" for i in range(100, 200)]
    with rangeio.Session(profile=exact()) as session:
        file = opened(server, data, session)
        told = file.explain(names)
        assert told.gets == GROUPS
        file.read(names)
        assert file.trace.hops <= 3


ASKED: list[dict[str, Any]] = [
    {},
    {"columns": ["int64"]},
    {"columns": ["string", "struct.c", "map"]},
    {"columns": ["list_struct.x"], "rows": slice(10, 20)},
    {"columns": ["double", "category"], "rows": slice(190, 410)},
    {"columns": ["string", "list_string"], "rows": [0, 50, 51, 449]},
    {"columns": ["int64_low"], "filters": [("int64_low", "==", 5)]},
    {"columns": ["string"], "filters": [("int64_low", ">", 18), ("double", "<", 0.0)]},
]


@pytest.mark.parametrize("words", ASKED, ids=str)
@pytest.mark.parametrize("name", ["codec-zstd-1.0", "setting-page_index", "setting-one_row_groups"])
def test_explained_gets_are_the_executed_ones(name: str, words: dict[str, Any]) -> None:
    data = made(f"pyarrow-{name}")
    for profile in (exact("s3", tail=1024), replace(PROFILES["file"], tail=1024, small_file=0)):
        with rangeio.Session(profile=profile) as session, rangeio.open(data, session=session) as f:
            told = f.explain(**words)
            paid = len(f.trace)
            f.read(**words)
            made_now = [(r.start, r.stop) for r in list(f.trace)[paid:] if not r.cached]
            assert sorted(made_now) == [(g.at.start, g.at.stop) for g in told.planned]
            assert told.later_gets == 0
            assert f.trace.unplanned == 0
            assert f.explain(**words).gets == 0


@pytest.mark.parametrize("name", ["shape-no_rows", "shape-no_columns", "shape-no_row_groups"])
def test_what_holds_nothing_is_read_by_its_tail(name: str) -> None:
    with rangeio.Session(profile=exact("s3")) as session, rangeio.open(made(name)) as file:
        file = rangeio.open(made(name), session=session)
        file.read()
        assert file.trace.hops == 1


@pytest.mark.parametrize(
    ("name", "leaf", "rows"),
    [
        ("n", 0, slice(123_450, 123_550)),
        ("text", 1, slice(99_950, 100_050)),
        ("many", 2, slice(1_000, 1_100)),
        ("n", 0, list(range(50_000, 50_100))),
    ],
)
def test_a_hundred_rows_cost_their_pages(name: str, leaf: int, rows: Any) -> None:
    data = long()
    wanted = Peer(data).read([leaf])
    assert wanted is not None
    first, last = (rows.start, rows.stop) if isinstance(rows, slice) else (rows[0], rows[-1] + 1)
    needed = [p.at for p in pages(data, leaf) if p.rows[0] < last and first < p.rows[1]]
    chosen = exact("http", tail=64 << 10, few_bytes=True)
    with rangeio.Session(profile=chosen) as session, rangeio.open(data, session=session) as file:
        told = file.explain([name], rows=rows)
        assert sum(g.at.size for g in told.planned) == sum(b - a for a, b in needed)
        assert all(covered((g.at.start, g.at.stop), needed) for g in told.planned)
        found = file.read([name], rows=rows)
        same(found, wanted.slice(first, last - first), name)
        assert file.trace.hops <= 3
        chunk = min(b - a for a, b in chunk_ranges(data, leaf))
        assert file.trace.bytes_read - chosen.tail < chunk / 8


def test_scattered_rows_cost_their_pages() -> None:
    data = long()
    rows = [3, 25_000, 60_001, 99_999, 100_000, 150_500]
    wanted = Peer(data).read([0, 1])
    assert wanted is not None
    chosen = exact("http", few_bytes=True)
    with rangeio.Session(profile=chosen) as session, rangeio.open(data, session=session) as file:
        told = file.explain(["n", "text"], rows=rows)
        needed = [
            page.at
            for leaf in (0, 1)
            for page in pages(data, leaf)
            if any(page.rows[0] <= row < page.rows[1] for row in rows)
        ]
        assert told.bytes == sum(b - a for a, b in needed)
        same(file.read(["n", "text"], rows=rows), wanted.take(rows), "scattered")


def test_a_large_footer_moves_in_parallel_parts(server) -> None:
    """Metadata makes the footer 14 MB; on a connection of 100 MB/s parts of it come together."""
    noise = np.random.default_rng(5).bytes(3 << 20).hex()
    data = arrow(pa.table({"a": [1, 2, 3]}).replace_schema_metadata({"noise": noise}))
    start, stop = footer_range(data)
    assert stop - start > 10 << 20
    cost = replace(PROFILES["http"].cost, latency_s=0.01, bytes_per_s=100 << 20)
    with rangeio.Session(profile=replace(PROFILES["http"], cost=cost, small_file=0)) as session:
        file = opened(server, data, session)
        assert file.read()["a"].to_pylist() == [1, 2, 3]
        parts = [r for r in file.trace if r.why == "parquet.footer"]
        assert len(parts) > 4
        assert len({r.hop for r in parts}) == 1
        got = spans(server, len(data))
        assert disjoint(got)
        assert covered((start, stop), got)
        assert file.trace.hops <= 3
