"""Cut files and flipped bits over the public surface: right data, other data or a FormatError, in
little time and memory."""

from __future__ import annotations

import os
import resource
import struct
import time
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from corpus_files import arrow
from parquet_columns import table
from parquet_places import footer_range, forged, tree_of
from peer_files import by_duckdb, by_polars

import rangeio
from rangeio.codecs import thrift
from rangeio.errors import FormatError

FULL = os.environ.get("RANGEIO_FUZZ") == "full"
FLIPS = 60_000 if FULL else 640
SECONDS = 20.0
"""What no single read may take, on the slowest of machines."""

VALUES = ("UTF8", "Decimal value", "decimal value", "Invalid UTF")
"""What Arrow says of values that mean nothing in an array that is whole."""

FLAT = ["int32", "int64_low", "string", "bool", "double"]
NESTED = ["struct", "list_string", "map"]
ODD = ["category", "decimal128", "stamp_ns_paris", "uuid", "fixed_3", "null"]


@cache
def small() -> dict[str, bytes]:
    """Files of a few columns each, with all kinds of pages, indexes and filters among them."""
    delta = {"int64_low": "DELTA_BINARY_PACKED", "string": "DELTA_BYTE_ARRAY"}
    return {
        "flat": arrow(table(FLAT, 60), row_group_size=40),
        "nested": arrow(table(NESTED, 60), row_group_size=40, compression="zstd"),
        "odd": arrow(table(ODD, 50), compression="none"),
        "second": arrow(table(FLAT, 50), data_page_version="2.0", compression="gzip"),
        "delta": arrow(
            table(["int64_low", "string"], 90), use_dictionary=False, column_encoding=delta
        ),
        "indexed": arrow(
            table(["int64_low", "string", "list_string"], 90),
            row_group_size=50,
            write_page_index=True,
            max_rows_per_page=12,
            bloom_filter_options={"string": {"ndv": 60, "fpp": 0.1}},
        ),
        "polars": by_polars(table(["int32", "string", "list_struct"], 40)),
        "duckdb": by_duckdb(table(["int32", "string", "struct"], 40), "CODEC snappy"),
    }


WAYS: list[dict[str, Any]] = [
    {},
    {"rows": slice(13, 15)},
    {"rows": [0, 7, 39]},
]
FILTERED: list[dict[str, Any]] = [
    {"filters": [("int64_low", "==", 5)]},
    {"filters": [("string", "==", "wörd 3")]},
    {"columns": ["string"], "filters": [("int64_low", ">", 17)]},
]


@pytest.fixture(scope="module")
def session() -> Iterator[rangeio.Session]:
    with rangeio.Session(memory_cache=1 << 20, column_cache=1 << 20) as one:
        yield one


@pytest.fixture(autouse=True)
def bounded() -> Iterator[None]:
    """Whatever the bytes claim, reading them takes little memory."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    yield
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert after - before < 512 << 10, f"{(after - before) >> 10} MiB more than before"


def attempt(session: rangeio.Session, data: bytes, **words: Any) -> FormatError | None:
    """Read; any error but a FormatError fails the test, and so does a broken array."""
    begun = time.perf_counter()
    try:
        with rangeio.open(data, session=session, format="parquet") as file:
            found = file.read(**words)
    except FormatError as error:
        return error
    except rangeio.errors.RequestError:  # the name or type of a filter's column is another now
        assert "filters" in words or "rows" in words
        return None
    finally:
        assert time.perf_counter() - begun < SECONDS
    try:
        found.validate(full=True)
    except pa.ArrowInvalid as error:
        # Other bytes of a string or a decimal are other data, not a broken array.
        if not any(words in str(error) for words in VALUES):
            raise
    return None


def ways(name: str) -> list[dict[str, Any]]:
    return WAYS + FILTERED if name in ("indexed", "flat") else WAYS


@pytest.mark.parametrize("name", list(small()))
def test_the_files_are_good(session, name: str) -> None:
    data = small()[name]
    assert len(data) < 32 << 10
    for words in ways(name):
        assert attempt(session, data, **words) is None


@pytest.mark.parametrize("name", list(small()))
def test_cut_at_every_length(session, name: str) -> None:
    data = small()[name]
    start = footer_range(data)[0]
    rng = np.random.default_rng(len(data))
    step = 1 if FULL else 29
    lengths = {*range(start - 1, len(data), step), *range(14), *range(len(data) - 12, len(data))}
    lengths |= set(rng.integers(0, start, 40).tolist())
    for length in sorted(lengths):
        assert attempt(session, data[:length]) is not None, length


@pytest.mark.parametrize("name", list(small()))
def test_cut_out_and_filled_in(session, name: str) -> None:
    """Bytes are missing, or too many, in the middle: what lies behind is not where it is said."""
    data = small()[name]
    start = footer_range(data)[0]
    for edge in (4, start // 2, start, len(data) - 8):
        for at in (edge - 1, edge, edge + 1):
            for missing in (1, 64):
                attempt(session, data[:at] + data[at + missing :])
                attempt(session, data[:at] + bytes(missing) + data[at:])


def test_footers_of_any_claimed_length(session) -> None:
    data = small()["flat"]
    size = len(data)
    claims = [0, 1, 2, 7, 8, size - 12, size - 8, size - 4, size, 2**31 - 1, 2**31, 2**32 - 1]
    start, stop = footer_range(data)
    for claim in (*claims, stop - start - 9, stop - start - 7):
        other = data[:-8] + struct.pack("<I", claim) + data[-4:]
        assert attempt(session, other) is not None, claim
    for magic in (b"PAR2", b"PARE", b"par1", bytes(4)):
        assert attempt(session, data[:-4] + magic) is not None, magic


@pytest.mark.parametrize("name", list(small()))
def test_flipped_bits(session, name: str) -> None:
    """Most flips go to the footer, the others to pages, their headers and indexes."""
    data = small()[name]
    rng = np.random.default_rng(len(data))
    start = footer_range(data)[0]
    refused = 0
    count = FLIPS // len(small())
    for k in range(count):
        other = bytearray(data)
        low = start if k % 3 else 4
        at = int(rng.integers(low, len(data)))
        other[at] ^= 1 << int(rng.integers(8))
        chosen = ways(name)
        words = chosen[k % len(chosen)]
        refused += attempt(session, bytes(other), **words) is not None
    assert refused > count // 10


@pytest.mark.parametrize("name", list(small()))
def test_overwritten_bytes(session, name: str) -> None:
    """Runs of bytes replaced: long numbers, zeros, and bytes of elsewhere in the file."""
    data = small()[name]
    rng = np.random.default_rng(len(data) + 1)
    for k in range(FLIPS // len(small()) // 2):
        other = bytearray(data)
        at, size = int(rng.integers(4, len(data))), int(rng.integers(1, 12))
        source = int(rng.integers(0, len(data) - size))
        patches = (b"\xff" * size, bytes(size), bytes(data[source : source + size]))
        patch = patches[int(rng.integers(3))][: len(data) - at]
        other[at : at + len(patch)] = patch
        chosen = ways(name)
        attempt(session, bytes(other), **chosen[k % len(chosen)])


# ---- footers that were written to harm ---------------------------------------------------------


def groups_of(tree: thrift.Struct) -> list[thrift.Struct]:
    return tree[4][1][1]


def meta_of(tree: thrift.Struct, group: int, leaf: int) -> thrift.Struct:
    return groups_of(tree)[group][1][1][1][leaf][3][1]


HUGE = [-1, -(2**63), 0, 1, 2**31 - 1, 2**31, 2**40, 2**62, 2**63 - 1]
FIELDS = {
    "num_values": 5,
    "uncompressed": 6,
    "compressed": 7,
    "data_page": 9,
    "index_page": 10,
    "dictionary_page": 11,
    "bloom": 14,
}


@pytest.mark.parametrize("field", list(FIELDS))
@pytest.mark.parametrize("name", ["flat", "nested", "indexed"])
def test_positions_and_sizes_of_chunks_that_lie(session, name: str, field: str) -> None:
    data = small()[name]
    near = (4, len(data), len(data) - 8, footer_range(data)[0])
    for value in (*HUGE[:: 1 if FULL else 2], *near):
        tree = tree_of(data)
        meta_of(tree, 0, 0)[FIELDS[field]] = (thrift.I64, value)
        for words in ways(name)[:: 1 if FULL else 3]:
            attempt(session, forged(data, tree), **words)


@pytest.mark.parametrize("value", HUGE)
def test_numbers_of_rows_that_lie(session, value: int) -> None:
    for name in list(small()) if FULL else ("odd", "indexed"):
        data = small()[name]
        for place in ("file", "group", "both"):
            tree = tree_of(data)
            if place != "group":
                tree[3] = (thrift.I64, value)
            if place != "file":
                groups_of(tree)[0][3] = (thrift.I64, value)
            bad = place != "file"  # pyarrow trusts the row groups
            for words in ({}, {"rows": slice(0, 3)}, {"columns": ["*"], "rows": slice(0, 60)}):
                error = attempt(session, forged(data, tree), **words)
                assert error is not None or not bad or value in (0, 1) or words


@pytest.mark.parametrize("value", HUGE)
def test_indexes_that_lie_elsewhere(session, value: int) -> None:
    data = small()["indexed"]
    for field, kind in ((4, thrift.I64), (5, thrift.I32), (6, thrift.I64), (7, thrift.I32)):
        if kind == thrift.I32 and not -(2**31) <= value < 2**31:
            continue
        tree = tree_of(data)
        for group in groups_of(tree):
            for chunk in group[1][1][1]:
                chunk[field] = (kind, value)
        for words in ways("indexed"):
            attempt(session, forged(data, tree), **words)


def test_lists_that_claim_more_than_there_is(session) -> None:
    """A million elements in a few bytes: nothing is allocated for them."""
    for field in (2, 4, 5, 7):
        head = bytes([0x15, 2, 0x19 + 16 * 0]) + bytes([0xFC]) + b"\xff\xff\xff\x7f"
        for footer in (head, bytes([(field << 4) | 9, 0xFC]) + b"\xc0\x84\x3d" + bytes(8)):
            data = b"PAR1" + footer + struct.pack("<I", len(footer)) + b"PAR1"
            assert attempt(session, data) is not None


@pytest.mark.parametrize("depth", [3, 23, 200, 5000, 100_000])
def test_schemas_of_any_depth(session, depth: int) -> None:
    """A chain of groups, one in another: read, or refused, but never the end of the process."""
    tree = tree_of(arrow(pa.table({"a": pa.array([{"b": 1}])})))
    elements = tree[2][1][1]
    root, group, leaf = elements
    tree[2] = (thrift.LIST, (thrift.STRUCT, [root, *[group] * depth, leaf]))
    tree.pop(5, None)
    data = arrow(pa.table({"a": pa.array([{"b": 1}])}))
    error = attempt(session, forged(data, tree))
    assert error is not None or depth < 5000


def test_a_schema_of_many_children_that_are_not_there(session) -> None:
    data = small()["flat"]
    for children in (0, 1, 4, 6, 1000, 2**31 - 1, -1):
        tree = tree_of(data)
        tree[2][1][1][0][5] = (thrift.I32, children)
        assert attempt(session, forged(data, tree)) is not None, children
