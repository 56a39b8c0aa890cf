"""Dictionary pages that are none, runs that are not whole pages, headers that lie."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest
from page_files import Taken
from page_tables import PAGE, table, written

from rangeio.codecs import thrift
from rangeio.codecs.thrift import Struct
from rangeio.errors import Corrupt
from rangeio.formats.parquet.leaf import Fact
from rangeio.formats.parquet.pages.file import dictionary_range
from rangeio.formats.parquet.pages.header import page_header
from rangeio.ranges import ByteRange

# ---- dictionary pages ----------------------------------------------------------------------------


def with_facts(file: Taken, **facts: int) -> Any:
    """The metadata of the first leaf, with other facts."""
    changed = file.metas[0].facts.copy()
    for name, value in facts.items():
        changed[0, Fact[name]] = value
    return replace(file.metas[0], facts=changed)


@pytest.mark.parametrize(
    ("dictionary", "data", "first", "found"),
    [
        (4, 90, 90, (4, 90)),
        (-1, 4, 90, (4, 90)),  # the data pages are said to begin with the dictionary
        (0, 4, 90, (4, 90)),
        (95, 4, 90, (4, 90)),
        (-1, 90, 90, None),
        (0, 90, 90, None),
        (4, 90, 80, (4, 80)),
    ],
)
def test_where_a_dictionary_page_may_lie(
    dictionary: int, data: int, first: int, found: tuple[int, int] | None
) -> None:
    file = written()
    meta = with_facts(file, DICTIONARY_PAGE=dictionary, DATA_PAGE=data, COMPRESSED=200)
    assert dictionary_range(meta, 0, first) == (None if found is None else ByteRange(*found))


@pytest.mark.parametrize(
    ("dictionary", "data", "size", "first"),
    [(4, 90, 200, 3), (4, 90, 200, 205), (-1, 90, 200, 80), (-1, -1, 200, 4), (4, 90, -1, 90)],
)
def test_data_pages_outside_of_their_chunk(
    dictionary: int, data: int, size: int, first: int
) -> None:
    meta = with_facts(written(), DICTIONARY_PAGE=dictionary, DATA_PAGE=data, COMPRESSED=size)
    with pytest.raises(Corrupt, match="the first page"):
        dictionary_range(meta, 0, first)


@pytest.mark.parametrize("odd", [b"PAR1", b"", b"\0", bytes(50), b"\x15", b"\xff" * 60, b"a page"])
def test_what_is_no_dictionary_page_is_left_out(odd: bytes) -> None:
    file = written(use_dictionary=False)
    rows = [(0, PAGE), (5 * PAGE, 6 * PAGE)]
    pages = file.pages(file.metas[0], 0, rows)
    parts = file.parts(0, [replace(pages, dictionary=memoryview(odd))], 2 * PAGE)
    assert parts == file.chosen(0, 0, rows)


def test_a_data_page_is_no_dictionary_page() -> None:
    file = written(use_dictionary=False)
    rows = [(PAGE, 2 * PAGE)]
    pages = file.pages(file.metas[0], 0, rows)
    first = file.pages(file.metas[0], 0, [(0, PAGE)]).pages[0]
    parts = file.parts(0, [replace(pages, dictionary=first)], PAGE)
    assert parts == file.chosen(0, 0, rows)


def test_bytes_after_the_dictionary_page_are_left_out() -> None:
    file = written()
    rows = [(PAGE, 2 * PAGE)]
    pages = file.pages(file.metas[0], 0, rows)
    assert pages.dictionary is not None
    longer = memoryview(bytes(pages.dictionary) + b"index page")
    parts = file.parts(0, [replace(pages, dictionary=longer)], PAGE)
    assert parts == file.chosen(0, 0, rows)


def test_a_dictionary_page_that_is_cut_short() -> None:
    file = written()
    rows = [(PAGE, 2 * PAGE)]
    pages = file.pages(file.metas[0], 0, rows)
    assert pages.dictionary is not None
    cut = replace(pages, dictionary=pages.dictionary[:-1])
    with pytest.raises(Corrupt, match="into the data pages"):
        file.parts(0, [cut], PAGE)


# ---- pages that are not what they should be ------------------------------------------------------


def test_rows_that_the_pages_do_not_have() -> None:
    file = written()
    flat = file.pages(file.metas[0], 0, [(0, 2 * PAGE)])
    for rows, claimed in ((99, 99), (101, 101), (100, 99), (99, 100), (0, 0)):
        with pytest.raises(Corrupt, match="pages of int64 have 100 values"):
            file.parts(0, [replace(flat, rows=claimed)], rows)
    k = table().schema.names.index("list")
    lists = file.pages(file.leaves(k)[0], 0, [(0, 2 * PAGE)])
    with pytest.raises(Corrupt, match="values in 900 rows"):
        file.parts(k, [replace(lists, rows=900)], 900)


def test_runs_that_are_not_whole_pages() -> None:
    file = written()
    good = file.pages(file.metas[0], 0, [(0, 2 * PAGE)])
    run = good.pages[0]
    for stop in range(len(run)):
        with pytest.raises(Corrupt, match="pages of int64"):
            file.parts(0, [replace(good, pages=[run[:stop]])], 2 * PAGE)
    longer = memoryview(bytes(run) + b"\0")
    with pytest.raises(Corrupt, match="pages of int64"):
        file.parts(0, [replace(good, pages=[longer])], 2 * PAGE)


def test_a_dictionary_page_among_data_pages() -> None:
    file = written()
    good = file.pages(file.metas[0], 0, [(0, 2 * PAGE)])
    assert good.dictionary is not None
    with pytest.raises(Corrupt, match="type 2 among data pages"):
        file.parts(0, [replace(good, pages=[good.dictionary])], 2 * PAGE)


def header(**changes: Any) -> bytes:
    """A page header of one data page with 3 values in 5 bytes."""
    fields = {
        1: (thrift.I32, 0),
        2: (thrift.I32, 9),
        3: (thrift.I32, 5),
        5: (thrift.STRUCT, Struct({1: (thrift.I32, 3)})),
    }
    for name, value in changes.items():
        field = int(name.removeprefix("field_"))
        fields[field] = value
        if value is None:
            del fields[field]
    return thrift.write(Struct(fields))


def test_headers_of_every_kind() -> None:
    found = page_header(memoryview(b"..." + header()), 3)
    assert (found.kind, found.head, found.size, found.uncompressed) == (0, len(header()), 5, 9)
    assert found.values == 3
    second = Struct({1: (thrift.I32, 8)})
    assert page_header(memoryview(header(field_1=(5, 2), field_7=(12, second)))).values == 8
    assert page_header(memoryview(header(field_1=(5, 3), field_8=(12, second)))).values == 8
    assert page_header(memoryview(header(field_1=(5, 1), field_5=None))).values == 0
    assert page_header(memoryview(header(field_99=(8, b"new")))).values == 3


@pytest.mark.parametrize(
    "changes",
    [
        {"field_1": None},
        {"field_2": None},
        {"field_3": None},
        {"field_5": None},
        {"field_1": (5, 3)},
        {"field_1": (5, 2)},
        {"field_2": (5, -1)},
        {"field_3": (5, -1)},
        {"field_3": (8, b"5")},
        {"field_5": (5, 3)},
        {"field_5": (12, Struct())},
        {"field_5": (12, Struct({1: (5, -1)}))},
        {"field_5": (12, Struct({1: (8, b"3")}))},
    ],
    ids=str,
)
def test_headers_that_say_too_little_or_nonsense(changes: dict[str, Any]) -> None:
    with pytest.raises(Corrupt):
        page_header(memoryview(header(**changes)))


def test_flipped_bits_give_corrupt_or_a_file() -> None:
    """pyarrow may refuse such a file; what matters here is that nothing else comes of it."""
    rng = random.Random(5)
    file = written(compression="none")
    corrupt = 0
    for name in ("int64", "struct", "list", "few_strings"):
        k = table().schema.names.index(name)
        leaves = [file.pages(meta, 0, [(0, 2 * PAGE)]) for meta in file.leaves(k)]
        for _ in range(500):
            flipped = list(leaves)
            i = rng.randrange(len(leaves))
            dictionary, run = bytearray(leaves[i].dictionary or b""), bytearray(leaves[i].pages[0])
            for data in (dictionary, run):
                if data:
                    data[rng.randrange(min(len(data), 40))] ^= 1 << rng.randrange(8)
            changed = {"dictionary": memoryview(dictionary), "pages": [memoryview(run)]}
            flipped[i] = replace(leaves[i], **changed)
            try:
                file.parts(k, flipped, 2 * PAGE)
            except Corrupt:
                corrupt += 1
    assert 200 < corrupt < 2000
