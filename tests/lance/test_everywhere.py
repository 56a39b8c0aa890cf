"""Every kind of column over every kind of store, blocking and async: pylance's values, and the same
transcript of GETs for the same profile."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from cases import CASES
from corpus import Corpus, expected, params, same

import rangeio
from rangeio.testing.server import RangeServer
from rangeio.testing.sigv4 import Bucket, SigV4Server
from rangeio.transport.profile import PROFILES

PROFILE = replace(PROFILES["s3"], tail=1024, few_bytes=True)
ROWS = 1025
LARGE = 100_000
PART = slice(7, 900)
PICKED = [0, 3, 4, 5, 511, 512, 1023, 1024]

# The kinds that the table of defaults names, at more rows than a page or a block of levels holds.
NAMED = [
    "int32_small",
    "int32_random",
    "i64_sequence",
    "i64_negative",
    "int64_random",
    "int64_null",
    "i64_constant",
    "i64_all_null",
    "i32_runs",
    "uint8_random",
    "f16",
    "f32",
    "f32_null",
    "f64",
    "f64_low",
    "f64_null",
    "bool",
    "bool_null",
    "string_low",
    "string_unique",
    "string_low_null",
    "string_unique_null",
    "large_string_unique",
    "list_i32",
    "list_i32_null",
    "list_string",
    "struct",
    "struct_null",
    "fsl4_f32",
    "timestamp_us",
    "timestamp_ms_UTC",
    "date32_day",
    "dec128",
    "fsb16",
    "dict_int32_string",
    "map",
    "list_struct_null",
    "struct_list_null",
]


@pytest.fixture(scope="module")
def http(corpus: Corpus):
    with RangeServer(root=corpus.root) as server:
        yield server


@pytest.fixture(scope="module")
def s3():
    with SigV4Server({"lake": Bucket()}) as server:
        yield server


def places(path, http, s3):
    """(target, storage_options) of one file in every kind of store."""
    data = path.read_bytes()
    s3.buckets["lake"].objects[f"d/{path.name}"] = data
    signed = {
        "key": s3.credentials.access,
        "secret": s3.credentials.secret,
        "endpoint_url": s3.url,
        "client_kwargs": {"region_name": "us-east-1"},
    }
    yield "file", str(path), None
    yield "memory", data, None
    yield "http", http.at(path.name), None
    yield "s3", f"s3://lake/d/{path.name}", signed


def blocking(target, options):
    session = rangeio.Session(profile=PROFILE)
    with session, rangeio.open(target, storage_options=options, session=session) as file:
        tables = [file.read(), file.read(rows=PART), file.read(rows=PICKED)]
        return tables, file.trace.transcript()


def awaited(target, options):
    async def main(session):
        async with await rangeio.open_async(
            target, storage_options=options, session=session
        ) as file:
            tables = [await file.read(), await file.read(rows=PART), await file.read(rows=PICKED)]
            return tables, file.trace.transcript()

    with rangeio.Session(profile=PROFILE) as session:
        return asyncio.run(main(session))


@pytest.mark.parametrize(("name", "version", "rows"), params([ROWS]))
def test_every_store_reads_the_same_by_the_same_gets(corpus, http, s3, name, version, rows):
    path = corpus.path(name, version, rows)
    whole = expected(path)
    part, picked = PART, [row for row in PICKED if row < whole.num_rows]
    first = ""
    for kind, target, options in places(path, http, s3):
        if whole.num_rows <= PICKED[-1]:
            return  # too few rows for the queries: the other tests read these files
        (everything, some, few), transcript = blocking(target, options)
        same(everything, whole)
        same(some, whole.slice(part.start, part.stop - part.start))
        same(few, whole.take(picked))
        first = first or transcript
        assert transcript == first, kind
    (everything, some, _), transcript = awaited(http.at(path.name), None)
    same(everything, whole)
    assert transcript == first


@pytest.mark.parametrize("version", ["2.0", "2.1", "2.2"])
@pytest.mark.parametrize("name", NAMED)
def test_many_rows_of_what_is_written_by_default(corpus, name, version):
    one = CASES[name]
    if version not in one.versions or one.most < LARGE:
        pytest.skip(f"{name} has no {LARGE} rows in {version}")
    path = corpus.path(name, version, LARGE)
    whole = expected(path)
    with rangeio.open(path) as file:
        same(file.read(), whole)
        same(file.read(rows=slice(65_530, 65_545)), whole.slice(65_530, 15))
        same(file.read(rows=[99_999, 0, 50_000]), whole.take([99_999, 0, 50_000]))
        batches = file.scan(batch_rows=30_000)
        same(batches.read_all(), whole)
    path.unlink()
