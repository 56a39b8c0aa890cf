"""Headers of pages that lie of sizes and counts: other data or a FormatError, in little memory."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from functools import cache

import pyarrow as pa
import pytest
from corpus_files import arrow
from parquet_columns import table
from parquet_places import chunk_ranges, footer_range, forged, tree_of

import rangeio
from rangeio.codecs import thrift
from rangeio.codecs.thrift import I32, I64, STRUCT, Struct
from rangeio.errors import FormatError

ROWS = 60
LIES = [-1, 0, ROWS - 1, ROWS + 1, 2**27, 2**31 - 1]
CODECS = ["none", "snappy", "gzip", "zstd", "lz4", "brotli"]
KINDS = ["int32", "string", "bool", "list_string", "fixed_3", "category", "null"]


@cache
def written(kind: str, codec: str, dictionary: bool, version: str) -> bytes:
    """One column in one row group of one page, behind its dictionary if it has one."""
    return arrow(
        table([kind], ROWS), compression=codec, use_dictionary=dictionary, data_page_version=version
    )


def changed(data: bytes, page: int, path: tuple[int, ...], value: int) -> bytes:
    """The file with one field of one of its page headers changed; the footer knows the places."""
    (start, stop) = chunk_ranges(data, 0)[0]
    at = start
    for _ in range(page):
        header, end = thrift.read(data, at)
        at = end + (header.integer(3) or 0)
    header, end = thrift.read(data, at)
    inner: Struct = header
    for step in path[:-1]:
        found = inner.struct(step)
        assert found is not None
        inner = found
    inner[path[-1]] = (I32, value)
    fresh = thrift.write(header)
    tree = tree_of(data)
    meta = tree[4][1][1][0][1][1][1][0][3][1]
    longer = len(fresh) - (end - at)
    meta[6] = (I64, meta.integer(6) + longer)
    meta[7] = (I64, meta.integer(7) + longer)
    if page == 0 and 11 in meta:
        meta[9] = (I64, meta.integer(9) + longer)
    footer = data[footer_range(data)[0] :]
    return forged(data[:at] + fresh + data[end:stop] + footer, tree)


@pytest.fixture(scope="module")
def session() -> Iterator[rangeio.Session]:
    with rangeio.Session(memory_cache=1 << 20) as one:
        yield one


@pytest.fixture(autouse=True)
def bounded() -> Iterator[None]:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    yield
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert after - before < 512 << 10, f"{(after - before) >> 10} MiB more than before"


def attempt(session: rangeio.Session, data: bytes) -> pa.Table | None:
    """What is read; None where it is refused with a FormatError."""
    try:
        with rangeio.open(data, session=session) as file:
            found = file.read()
    except FormatError:
        return None
    found.validate()
    assert found.num_rows == ROWS
    return found


HEADER: dict[str, tuple[int, ...]] = {"type": (1,), "uncompressed": (2,), "compressed": (3,)}
FIRST: dict[str, tuple[int, ...]] = {"values": (5, 1), "encoding": (5, 2), "levels": (5, 3)}
SECOND: dict[str, tuple[int, ...]] = {
    "values": (8, 1),
    "nulls": (8, 2),
    "rows": (8, 3),
    "encoding": (8, 4),
    "definitions": (8, 5),
    "repetitions": (8, 6),
}
DICTIONARY: dict[str, tuple[int, ...]] = {"values": (7, 1), "encoding": (7, 2)}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("version", "fields"), [("1.0", FIRST), ("2.0", SECOND)])
def test_a_data_page_that_lies(
    session, kind: str, version: str, fields: dict[str, tuple[int, ...]]
) -> None:
    data = written(kind, "none" if version == "1.0" else "snappy", False, version)
    assert attempt(session, data) is not None
    paths = (*HEADER.values(), *fields.values())
    found = [attempt(session, changed(data, 0, path, lie)) for path in paths for lie in LIES]
    assert found.count(None) > len(found) // 4


@pytest.mark.parametrize("kind", ["string", "category", "list_string", "fixed_3"])
def test_a_dictionary_page_that_lies(session, kind: str) -> None:
    data = written(kind, "none", True, "1.0")
    assert attempt(session, data) is not None
    for page, fields in ((0, HEADER | DICTIONARY), (1, HEADER | FIRST)):
        paths = fields.values()
        found = [attempt(session, changed(data, page, path, lie)) for path in paths for lie in LIES]
        assert found.count(None) > len(found) // 4


@pytest.mark.parametrize("codec", CODECS)
def test_compressed_pages_of_any_claimed_size(session, codec: str) -> None:
    for version in ("1.0", "2.0"):
        data = written("string", codec, False, version)
        good = attempt(session, data)
        assert good is not None
        for value in LIES:
            attempt(session, changed(data, 0, (2,), value))


def test_the_change_of_a_header_alone_changes_nothing(session) -> None:
    """Unknown fields are skipped, and the places of a longer header are found."""
    for dictionary, pages in ((False, 1), (True, 2)):
        data = written("string", "none", dictionary, "1.0")
        good = attempt(session, data)
        assert good is not None
        for page in range(pages):
            found = attempt(session, changed(data, page, (99,), 2**31 - 1))
            assert found is not None
            assert found.equals(good)


def test_a_page_without_the_header_of_its_kind(session) -> None:
    data = written("int32", "none", False, "1.0")
    start, _ = chunk_ranges(data, 0)[0]
    header, end = thrift.read(data, start)
    for fields in ({}, {8: (STRUCT, Struct())}, {7: (STRUCT, Struct())}, {5: (STRUCT, Struct())}):
        other = Struct({k: v for k, v in header.items() if k < 4} | fields)
        fresh = thrift.write(other)
        fresh += b"" if len(fresh) >= end - start else bytes(end - start - len(fresh))
        assert attempt(session, data[:start] + fresh[: end - start] + data[end:]) is None
