"""One file that is corrupt, missing or replaced: named, or left out by name; never wrong rows."""

from __future__ import annotations

import io
import pickle

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from many_files import KINDS, SMALL_TAIL, doris, parquet

import rangeio
from rangeio.errors import (
    FormatError,
    NotFound,
    ObjectChanged,
    RangeIOError,
    RequestError,
    StoreError,
)
from rangeio.testing.fault import Fault

ROWS = 2000
FILES = 4
BAD = 2


def table(n: int, salt: int = 0) -> pa.Table:
    """Columns that do not compress, so that a file's data is not there with its footer."""
    make = np.random.default_rng(n + 100 * salt)
    return pa.table(
        {
            "a": make.integers(0, 1 << 60, ROWS),
            "b": make.integers(0, 1 << 60, ROWS),
            "n": pa.array([n + 100 * salt] * ROWS, pa.int32()),
            "rest": make.integers(0, 1 << 60, 6 * ROWS).reshape(-1, 6).tolist(),
        }
    )


def written(n: int, salt: int = 0) -> bytes:
    return parquet(
        table(n, salt), write_page_checksum=True, use_dictionary=["n"], compression="none",
        row_group_size=1000,
    )  # fmt: skip


def damaged(data: bytes, column: str, group: int) -> bytes:
    """The head of a page of the column, in one row group, is overwritten."""
    metadata = pq.read_metadata(io.BytesIO(data)).row_group(group)
    at = metadata.column(list(table(0).schema.names).index(column)).data_page_offset
    return data[:at] + b"\xff" * 8 + data[at + 8 :]


def whole(*numbers: int, words=("a", "b", "n")) -> pa.Table:
    return pa.concat_tables([table(n).select(words) for n in numbers])


def name(n: int) -> str:
    return f"{n}.parquet"


@pytest.fixture
def session():
    with rangeio.Session(profile=SMALL_TAIL) as one:
        yield one


@pytest.fixture(params=KINDS)
def lake(request, lakes):
    made = lakes(request.param)
    for n in range(FILES):
        made.put(name(n), written(n))
    return made


OTHERS = [n for n in range(FILES) if n != BAD]


def check_skipped(dataset, lake, kind: type[RangeIOError], rows: int = 0) -> None:
    (one,) = dataset.skipped
    assert one.url == lake.at(name(BAD))
    assert isinstance(one.error, kind)
    assert (one.rows, one.error.url) == (rows, one.url)
    assert one.url in str(one)
    assert one.error.reason in str(one)
    assert str(pickle.loads(pickle.dumps(one.error))) == str(one.error)


def named(lake, kind: type[RangeIOError], work) -> None:
    with pytest.raises(kind) as caught:
        work()
    assert caught.value.url == lake.at(name(BAD))
    assert lake.at(name(BAD)) in str(caught.value)


# ---- corrupt -------------------------------------------------------------------------------------


@pytest.mark.parametrize("group", [0, 1])
def test_a_corrupt_column(session, lake, group):
    lake.put(name(BAD), damaged(written(BAD), "b", group))
    dataset = lake.open(session)
    named(lake, FormatError, lambda: dataset.read(["b"]))
    named(lake, FormatError, lambda: dataset.scan(["a", "b"]).read_all())
    named(lake, FormatError, lambda: dataset.count([("b", ">", 1 << 59)]))
    # The other columns of the same file still read.
    assert dataset.read(["n", "a"]) == whole(*range(FILES), words=("n", "a"))
    kept = dataset.read(["a", "b"], on_error="skip")
    assert kept == whole(*OTHERS, words=("a", "b"))
    check_skipped(dataset, lake, FormatError)
    assert dataset.read(["a"], on_error="skip").num_rows == FILES * ROWS
    assert dataset.skipped == ()


def test_rows_that_were_handed_on_before(session, lake):
    lake.put(name(BAD), damaged(written(BAD), "b", 1))
    dataset = lake.open(session)
    scanned = dataset.scan(["b", "n"], on_error="skip", batch_rows=100)
    read = scanned.read_all()
    (one,) = dataset.skipped
    assert one.url == lake.at(name(BAD))
    numbers = read["n"].to_numpy()
    assert (numbers == BAD).sum() == one.rows
    for n in range(FILES):
        rows = read.filter(numbers == n)["b"]
        assert rows.to_pylist() == table(n)["b"].to_pylist()[: len(rows)]
        assert n == BAD or len(rows) == ROWS


def test_rows_in_an_order_of_their_own(session, lake):
    lake.put(name(BAD), damaged(written(BAD), "b", 0))
    dataset = lake.open(session)
    rows = [7999, 4000, 5, 5, 4500, 2000]
    named(lake, FormatError, lambda: dataset.read(["b"], rows=rows))
    read = dataset.read(["b"], rows=rows, on_error="skip")
    assert read == whole(*range(FILES), words=("b",)).take([7999, 5, 5, 2000])
    assert [one.url for one in dataset.skipped] == [lake.at(name(BAD))]


def test_a_file_that_is_no_file_of_any_format(session, lake):
    lake.put(name(BAD), b"neither this nor that" * 100)
    dataset = lake.open(session)
    named(lake, FormatError, lambda: dataset.read())
    named(lake, FormatError, lambda: dataset.num_rows)
    named(lake, FormatError, lambda: dataset.schema)
    assert dataset.read(["a", "b", "n"], on_error="skip") == whole(*OTHERS)
    check_skipped(dataset, lake, FormatError)
    scanned = dataset.scan(["a", "b", "n"], on_error="skip")
    assert scanned.read_all() == whole(*OTHERS)
    check_skipped(dataset, lake, FormatError)


@pytest.mark.parametrize("bad", [0, FILES - 1], ids=["first", "last"])
def test_the_files_that_tell_the_schema(session, lakes, bad):
    lake = lakes("memory")
    for n in range(FILES):
        lake.put(name(n), b"" if n == bad else written(n))
    dataset = lake.open(session)
    left = [n for n in range(FILES) if n != bad]
    # Files of no bytes are no files of a directory, as those that Spark leaves behind.
    assert dataset.read(["a", "b", "n"], on_error="skip") == whole(*left)
    lake.put(name(bad), b"PAR1PAR1")
    dataset = lake.open(session)
    assert dataset.read(["a", "b", "n"], on_error="skip") == whole(*left)
    assert [one.url for one in dataset.skipped] == [lake.at(name(bad))]
    assert dataset.read(["a"], limit=3, on_error="skip") == whole(left[0], words=("a",)).slice(0, 3)


def test_all_files_are_bad(session, lakes):
    lake = lakes("memory")
    for n in range(3):
        lake.put(name(n), b"PAR1PAR1")
    dataset = lake.open(session)
    for words in (None, ["a"]):
        with pytest.raises(
            FormatError, match="none of 3 files could be read; this one: "
        ) as caught:
            dataset.read(words, on_error="skip")
        assert caught.value.url == lake.at(name(0))
        assert [one.url for one in dataset.skipped] == [lake.at(name(n)) for n in range(3)]
    assert dataset.count(on_error="skip") == dataset.read([], on_error="skip").num_rows == 0
    declared = lake.open(session, schema=pa.schema([("a", pa.int64())]))
    assert declared.read(on_error="skip").num_rows == 0
    assert [one.url for one in declared.skipped] == [lake.at(name(n)) for n in range(3)]


@pytest.mark.parametrize("words", [{"limit": 5}, {"limit": 2500}], ids=["one", "two"])
def test_a_limit_is_met_by_the_files_that_are_left(session, lakes, words):
    lake = lakes("memory")
    for n in range(FILES):
        lake.put(name(n), damaged(written(BAD), "b", 0) if n == 0 else written(n))
    dataset = lake.open(session)
    wanted = whole(1, 2, 3, words=("b",)).slice(0, words["limit"])
    assert dataset.read(["b"], on_error="skip", **words) == wanted
    assert dataset.scan(["b"], on_error="skip", **words).read_all() == wanted
    assert [one.url for one in dataset.skipped] == [lake.at(name(0))]


# ---- missing -------------------------------------------------------------------------------------


def test_a_file_that_is_gone_since_the_listing(session, lake):
    if lake.kind == "s3":
        pytest.skip("the server of the tests deletes nothing")
    dataset = lake.open(session)
    lake.drop(name(BAD))
    named(lake, NotFound, lambda: dataset.read())
    named(lake, NotFound, lambda: dataset.scan(["a"]).read_all())
    assert dataset.read(["a", "b", "n"], on_error="skip") == whole(*OTHERS)
    check_skipped(dataset, lake, NotFound)
    with pytest.raises(FileNotFoundError):
        dataset.count()


def test_a_signed_url_that_fails_is_told_once_and_without_its_secret(session, lakes):
    lake = lakes("http")
    urls = [f"{lake.put(name(n), written(n))}?sig=hidden" for n in range(FILES)]
    lake.drop(name(BAD))
    dataset = rangeio.dataset(urls, session=session)
    sent = len(lake.server.log)
    assert dataset.read(["a", "b", "n"], on_error="skip") == whole(*OTHERS)
    check_skipped(dataset, lake, NotFound)
    assert "hidden" not in f"{dataset.skipped} {dataset.skipped[0]} {dataset.explain!r}"
    asked = [one for one in lake.server.log[sent:] if one.key == f"lake/{name(BAD)}"]
    assert len(asked) == 1


# ---- replaced ------------------------------------------------------------------------------------


def test_a_file_that_was_replaced_between_listing_and_read(session, lake):
    dataset = lake.open(session)
    if lake.kind == "http":
        assert dataset.num_rows == FILES * ROWS  # no listing told the version; this look does
    lake.put(name(BAD), written(BAD, salt=1))
    named(lake, ObjectChanged, lambda: dataset.read(["a", "n"]))
    assert dataset.read(["a", "b", "n"], on_error="skip") == whole(*OTHERS)
    check_skipped(dataset, lake, ObjectChanged)
    fresh = lake.open(session).read(["n"])
    assert set(fresh["n"].to_pylist()) == {0, 1, 3, 100 + BAD}


def test_a_file_of_which_other_columns_were_read_before(session, lake):
    dataset = lake.open(session)
    assert dataset.read(["a"]).num_rows == FILES * ROWS
    lake.put(name(BAD), written(BAD, salt=1))
    named(lake, ObjectChanged, lambda: dataset.read(["b"]))
    assert dataset.read(["b"], on_error="skip") == whole(*OTHERS, words=("b",))
    check_skipped(dataset, lake, ObjectChanged)


def drained(scanned: pa.RecordBatchReader, into: list) -> ObjectChanged | None:
    """Add the batches that are left; the error that ended them."""
    try:
        into.extend(scanned)
    except ObjectChanged as error:
        return error
    return None


def test_a_file_that_is_replaced_in_the_middle_of_a_scan(lake):
    with rangeio.Session(profile=SMALL_TAIL, max_buffer=64 << 10, memory_cache=0) as session:
        dataset = lake.open(session)
        for policy in ("raise", "skip"):
            lake.put(name(BAD), written(BAD))
            dataset = lake.open(session)
            dataset.read(["n"], limit=1)
            scanned = dataset.scan(["a", "n"], batch_rows=500, on_error=policy, limit=10**6)
            got = [scanned.read_next_batch()]
            lake.put(name(BAD), written(BAD, salt=1))
            error = drained(scanned, got)
            assert error is None or (policy == "raise" and error.url == lake.at(name(BAD)))
            read = pa.Table.from_batches(got)
            numbers = read["n"].to_numpy()
            assert (100 + BAD) not in numbers  # of the other version nothing is handed on
            for n in range(FILES):
                rows = read.filter(numbers == n)["a"].to_pylist()
                assert rows == table(n)["a"].to_pylist()[: len(rows)]
            if policy == "skip":
                assert (numbers == FILES - 1).sum() == ROWS
                assert all(one.url == lake.at(name(BAD)) for one in dataset.skipped)


def test_a_file_that_is_replaced_between_two_of_its_own_gets(session, lakes):
    lake = lakes("http")
    for n in range(FILES):
        lake.put(name(n), written(n))
    dataset = lake.open(session)
    assert dataset.num_rows == FILES * ROWS
    key = f"lake/{name(BAD)}"
    swap = Fault(then=lambda: lake.put(name(BAD), written(BAD, salt=1)))
    lake.server.script.add(swap, after=1, when=lambda request: request.key == key)
    scanned = dataset.scan(["a", "rest", "b"])
    with pytest.raises(ObjectChanged) as caught:
        scanned.read_all()
    assert caught.value.url == lake.at(name(BAD))


def test_a_store_that_fails_for_good_is_named(session, lakes):
    lake = lakes("http")
    for n in range(FILES):
        lake.put(name(n), written(n))
    dataset = lake.open(session)
    key = f"lake/{name(BAD)}"
    lake.server.script.add(Fault(status=403), 10**6, when=lambda request: request.key == key)
    named(lake, StoreError, lambda: dataset.read(["a"]))
    assert dataset.read(["a", "b", "n"], on_error="skip") == whole(*OTHERS)
    check_skipped(dataset, lake, StoreError)


def test_a_request_that_makes_no_sense_is_never_skipped(session, lakes):
    lake = lakes("memory")
    lake.put(name(0), written(0))
    dataset = lake.open(session)
    with pytest.raises(RequestError):
        dataset.read(["nope"], on_error="skip")
    with pytest.raises(RequestError):
        dataset.read(["a"], filters=[("a", "==", "text")], on_error="skip")


@pytest.mark.parametrize("schema", [None, pa.schema([("a", pa.int64()), ("b", pa.int64())])])
def test_types_that_clash(session, lakes, schema):
    lake = lakes("memory")
    for n, value in enumerate([1, 2, "three", 4]):
        lake.put(name(n), parquet(pa.table({"a": [value], "b": [n]})))
    dataset = lake.open(session, schema=schema)
    kind = FormatError if schema is None else RequestError
    named(lake, kind, dataset.read)
    named(lake, kind, lambda: dataset.scan().read_all())
    for again in (dataset, lake.open(session, schema=schema)):
        assert again.read(on_error="skip").to_pydict() == {"a": [1, 2, 4], "b": [0, 1, 3]}
        check_skipped(again, lake, kind)
        assert again.scan(on_error="skip").read_all().num_rows == 3
        check_skipped(again, lake, kind)
        assert again.plan(on_error="skip").read()["a"].to_pylist() == [1, 2, 4]
        check_skipped(again, lake, kind)
        assert again.explain(on_error="skip").rows == 3
        assert (again.min("a", on_error="skip"), again.max("a", on_error="skip")) == (1, 4)
        assert again.count([("a", ">", 1)], on_error="skip") == 2
        check_skipped(again, lake, kind)
        assert again.read(["b"], on_error="skip").num_rows == 4
        assert again.skipped == ()


def test_what_is_not_read_is_no_reason_to_leave_out_what_is(session, lakes):
    lake = lakes("memory")
    for n, value in enumerate([1, "two", "three", 4]):
        lake.put(f"p={n}/{name(n)}", parquet(pa.table({"a": [value]})))
    dataset = lake.open(session)
    with pytest.raises(FormatError):
        dataset.read(["a"], filters=[("p", "in", [1, 2])])
    read = dataset.read(["a"], filters=[("p", "in", [1, 2])], on_error="skip")
    assert read.to_pydict() == {"a": ["two", "three"]}
    assert dataset.skipped == ()


def test_policy_of_what_asks_for_metadata_alone(session, lakes):
    lake = lakes("memory")
    bad = [0, 3, 5]
    for n in range(6):
        lake.put(name(n), b"PAR1PAR1" if n in bad else written(n))
    dataset = lake.open(session)
    with pytest.raises(FormatError):
        dataset.plan(["n"])
    asked = [
        lambda: dataset.plan(["n"], on_error="skip").read()["n"].unique().to_pylist() == [1, 2, 4],
        lambda: dataset.explain(["n"], on_error="skip").rows == 3 * ROWS,
        lambda: dataset.count(on_error="skip") == 3 * ROWS,
        lambda: dataset.count([("n", ">", 1)], on_error="skip") == 2 * ROWS,
        lambda: dataset.min("n", on_error="skip") == 1,
        lambda: dataset.max("n", on_error="skip") == 4,
    ]
    for one in asked:
        assert one()
        assert [left.url for left in dataset.skipped] == [lake.at(name(n)) for n in bad]
    with pytest.raises(RequestError, match="limit"):
        dataset.plan(["n"], limit=3, on_error="skip")


@pytest.mark.parametrize("version", [2, 3])
def test_a_corrupt_segment(session, lakes, tmp_path, version):
    lake = lakes("memory")
    for n in range(3):
        data = doris(table(n).select(["a", "b"]), tmp_path, version=version, compression="none",
                     encodings={"b": "plain"})  # fmt: skip
        if n == 1:
            at = data.index(table(n)["b"].to_numpy().tobytes()[:64])
            data = data[:at] + b"\xff" + data[at + 1 :]
        lake.put(f"{n}.dat", data)
    dataset = lake.open(session, schema={0: "a", 1: "b"})
    with pytest.raises(FormatError) as caught:
        dataset.read(["b"])
    assert caught.value.url == lake.at("1.dat")
    assert dataset.read(["a"]).num_rows == 3 * ROWS
    assert dataset.read(["b"], on_error="skip").num_rows == 2 * ROWS
    assert [one.url for one in dataset.skipped] == [lake.at("1.dat")]
