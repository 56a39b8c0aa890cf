"""OffsetIndex: of real writers, in every spelling, and of pages that cannot be."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from page_files import DATA, Taken
from page_tables import made

from rangeio.codecs import thrift
from rangeio.codecs.thrift import Struct
from rangeio.errors import Corrupt
from rangeio.formats.parquet.leaf import Fact, ParquetMeta
from rangeio.formats.parquet.pages.offsets import (
    OffsetIndex,
    locations,
    offset_index,
    usual_locations,
)
from rangeio.ranges import ByteRange

Page = tuple[int, int, int]
I64 = st.integers(-(1 << 63), (1 << 63) - 1)
PAGES: list[Page] = [(4, 100, 0), (104, 20, 10), (200, 7, 25)]


def location(offset: int, size: int, row: int) -> Struct:
    return Struct({1: (thrift.I64, offset), 2: (thrift.I32, size), 3: (thrift.I64, row)})


def listed(pages: list[Page], **more: Any) -> bytes:
    """An OffsetIndex as writers spell it."""
    fields = {1: (thrift.LIST, (thrift.STRUCT, [location(*page) for page in pages]))}
    return thrift.write(Struct({**fields, **more.get("fields", {})}))


def parsed(data: bytes, rows: int = 100) -> OffsetIndex:
    return offset_index(memoryview(data), ByteRange(1000, 1000 + len(data)), rows)


def tuples(index: OffsetIndex | tuple[Any, Any, Any]) -> list[Page]:
    three = (
        (index.offsets, index.sizes, index.first_rows) if isinstance(index, OffsetIndex) else index
    )
    assert all(one.dtype == np.int64 for one in three)
    return list(zip(*(one.tolist() for one in three), strict=True))


def spans(file: Taken) -> Iterator[tuple[ParquetMeta, int, ByteRange]]:
    for meta in file.metas:
        for group in range(len(file.groups)):
            at = file.span(meta, group, Fact.OFFSET_INDEX, Fact.OFFSET_INDEX_SIZE)
            if at is not None:
                yield meta, group, at


def test_indexes_of_a_writer() -> None:
    file = made()
    found = list(spans(file))
    assert len(found) == 6 * 2
    for meta, group, at in found:
        index = file.offset_index(meta, group)
        assert index is not None
        assert len(index) == (20, 10)[group]
        assert index.first_rows.tolist() == list(range(0, (200, 100)[group], 10))
        whole = thrift.read(file.part(at))[0].list(1)
        want = [tuple(page.integer(k) for k in (1, 2, 3)) for page in whole or []]
        assert tuples(index) == want
        assert tuples(locations(file.part(at))) == want


def test_all_files_with_an_index_are_spelt_as_usual() -> None:
    pages = 0
    for path in sorted(DATA.glob("*.parquet")):
        file = Taken(path.read_bytes())
        for meta, group, at in spans(file):
            quick = usual_locations(file.part(at))
            assert quick is not None
            assert tuples(quick) == tuples(locations(file.part(at)))
            index = file.offset_index(meta, group)
            assert index is not None
            pages += len(index)
    if not DATA.exists():
        pytest.skip("the files of parquet-testing are not here")
    assert pages > 5794 + 5713


@given(st.lists(st.tuples(I64, I64, I64), max_size=40), st.booleans())
def test_the_quick_way_agrees_with_thrift(pages: list[Page], more: bool) -> None:
    sizes = (thrift.LIST, (thrift.I64, [page[0] for page in pages]))
    data = memoryview(listed(pages, fields={2: sizes} if more else {}))
    quick = usual_locations(data)
    assert quick is not None
    assert tuples(quick) == tuples(locations(data)) == pages


def test_numbers_of_every_size() -> None:
    pages = [(sign * (1 << k), 1 << k, 0) for k in range(63) for sign in (1, -1)]
    data = memoryview(listed(pages))
    quick = usual_locations(data)
    assert quick is not None
    assert tuples(quick) == tuples(locations(data)) == pages


def test_a_varint_that_is_longer_than_it_must_be() -> None:
    usual = listed(PAGES[:1])
    longer = usual.replace(b"\x16\x08", b"\x16\x88\x80\x80\x00", 1)
    assert usual_locations(memoryview(longer)) is not None
    assert tuples(parsed(longer)) == PAGES[:1]
    tenth = usual.replace(b"\x16\x08", b"\x16\x88" + b"\x80" * 8 + b"\x00", 1)
    assert tuples(parsed(tenth)) == PAGES[:1]
    eleventh = usual.replace(b"\x16\x08", b"\x16\x88" + b"\x80" * 9 + b"\x00", 1)
    with pytest.raises(Corrupt, match="more than 10 bytes"):
        parsed(eleventh)


@pytest.mark.parametrize("head", range(4))
def test_a_head_that_only_ends_a_number_is_no_head(head: int) -> None:
    """``96 16`` ends in the byte that a field of type I64 begins with."""
    usual = listed(PAGES[:1])  # 19 1c, 16 08, 15 c8 01, 16 00, 00, 00
    place = (2, 4, 7, 9)[head]
    longer = usual[:place] + b"\x80" + usual[place:]
    assert usual_locations(memoryview(longer)) is None
    with pytest.raises(Corrupt):
        parsed(longer)


def long_list_head(pages: list[Page]) -> bytes:
    body = b"".join(thrift.write(location(*page)) for page in pages)
    return b"\x19\xfc" + thrift.unsigned(len(pages)) + body + b"\0"


def long_ids(pages: list[Page]) -> bytes:
    """Every field's id apart from its type."""
    out = b"\x09\x02" + bytes([len(pages) << 4 | thrift.STRUCT])
    for page in pages:
        for field, (kind, value) in location(*page).items():
            out += bytes([kind, field << 1]) + thrift.encoded(kind, value)
        out += b"\0"
    return out + b"\0"


def other_order(pages: list[Page]) -> bytes:
    """first_row before size before offset."""
    out = b"\x19" + bytes([len(pages) << 4 | thrift.STRUCT])
    for page in pages:
        for field in (3, 2, 1):
            kind, value = location(*page)[field]
            out += bytes([kind, field << 1]) + thrift.encoded(kind, value)
        out += b"\0"
    return out + b"\0"


def unknown_fields(pages: list[Page]) -> bytes:
    each = [location(*page) for page in pages]
    for one in each:
        one[0x7FFF] = (thrift.BINARY, b"new")
        one[4] = (thrift.TRUE, True)
    list_of = (thrift.LIST, (thrift.STRUCT, each))
    return thrift.write(Struct({-1: (thrift.I32, 5), 1: list_of, 9: (thrift.BINARY, b"x")}))


def wide_sizes(pages: list[Page]) -> bytes:
    each = [location(*page) for page in pages]
    for one in each:
        one[2] = (thrift.I64, one[2][1])
    return thrift.write(Struct({1: (thrift.LIST, (thrift.STRUCT, each))}))


@pytest.mark.parametrize("spelt", [long_ids, other_order, unknown_fields, wide_sizes])
def test_other_spellings(spelt: Any) -> None:
    data = spelt(PAGES)
    assert usual_locations(memoryview(data)) is None
    assert tuples(parsed(data)) == PAGES


def test_the_long_head_of_a_short_list_is_usual() -> None:
    data = long_list_head(PAGES)
    assert usual_locations(memoryview(data)) is not None
    assert tuples(parsed(data)) == PAGES


def test_a_group_without_rows_has_no_pages() -> None:
    assert len(parsed(listed([]), 0)) == 0
    for first in (thrift.I32, thrift.STRUCT):
        assert len(parsed(bytes([0x19, first, 0]), 0)) == 0


@pytest.mark.parametrize(
    ("pages", "rows", "why"),
    [
        ([], 1, "no pages for 1 rows"),
        ([(4, 10, 0)], 0, "begin at rows 0 to 0 of 0"),
        ([(4, 10, 1)], 100, "begin at rows 1 to 1 of 100"),
        ([(4, 10, -1)], 100, "begin at rows -1"),
        ([(4, 10, 0), (14, 10, 100)], 100, "begin at rows 0 to 100 of 100"),
        ([(4, 10, 0), (14, 10, 0)], 100, "do not ascend"),
        ([(4, 10, 0), (14, 10, 50), (24, 10, 49)], 100, "do not ascend"),
        ([(4, 10, 0), (14, 10, -1), (24, 10, 49)], 100, "do not ascend"),
        ([(4, 0, 0)], 100, "pages of 0 to 0 bytes"),
        ([(4, -5, 0)], 100, "pages of -5 to -5 bytes"),
        ([(4, 1 << 31, 0)], 100, "pages of 2147483648 to"),
        ([(-4, 10, 0)], 100, "pages at -4"),
        ([(-(1 << 63), 10, 0)], 100, "pages at -9223372036854775808"),
        ([((1 << 63) - 1, 10, 0)], 100, "pages at 9223372036854775807"),
        ([(4, 10, 0), (13, 10, 1)], 100, "page 1 begins before"),
        ([(4, 10, 0), (14, 10, 1), (4, 10, 2)], 100, "page 2 begins before"),
    ],
)
@pytest.mark.parametrize("spelt", [listed, long_ids])
def test_pages_that_cannot_be(pages: list[Page], rows: int, why: str, spelt: Any) -> None:
    with pytest.raises(Corrupt, match=f"OffsetIndex: .*{why}") as caught:
        parsed(spelt(pages), rows)
    assert caught.value.at == ByteRange(1000, 1000 + len(spelt(pages)))
    assert caught.value.offset == 1000


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x19",
        b"\0",
        thrift.write(Struct({1: (thrift.I32, 4)})),
        thrift.write(Struct({1: (thrift.LIST, (thrift.I32, [4]))})),
        thrift.write(Struct({1: (thrift.LIST, (thrift.STRUCT, [Struct()]))})),
        thrift.write(Struct({1: (thrift.LIST, (thrift.STRUCT, [Struct({1: (6, 4), 2: (5, 4)})]))})),
        thrift.write(
            Struct({1: (9, (12, [Struct({1: (6, 4), 2: (5, 4), 3: (thrift.BINARY, b"0")})]))})
        ),
        b"\x19\xfc\xff\xff\xff\xff\x0f",  # 4 billion pages
        b"\x19\xfc" + b"\xff" * 12,
    ],
    ids=str,
)
def test_broken_thrift_is_corrupt(data: bytes) -> None:
    with pytest.raises(Corrupt, match="OffsetIndex: "):
        parsed(data)


@pytest.mark.parametrize("spelt", [listed, long_ids])
def test_every_cut_is_corrupt_until_all_pages_are_there(spelt: Any) -> None:
    data = spelt(PAGES)
    for stop in range(len(data) - 1):
        with pytest.raises(Corrupt):
            parsed(data[:stop])
    assert tuples(parsed(data)) == PAGES


def test_flipped_bits_give_corrupt_or_pages_in_order() -> None:
    rng = random.Random(11)
    pages = [(4 + 300 * k, 100 + k, 700 * k) for k in range(30)]
    usual, corrupt = 0, 0
    for data in (listed(pages), long_ids(pages[:14])):
        for _ in range(3000):
            flipped = bytearray(data)
            for _ in range(rng.randint(1, 2)):
                flipped[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
            quick = usual_locations(memoryview(flipped))
            try:
                index = parsed(bytes(flipped), 700 * 30)
            except Corrupt:
                corrupt += 1
                continue
            assert index.first_rows[0] == 0
            assert (np.diff(index.first_rows) > 0).all()
            assert (index.offsets[1:] >= (index.offsets + index.sizes)[:-1]).all()
            if quick is not None:
                usual += 1
                assert tuples(index) == tuples(quick) == tuples(locations(memoryview(flipped)))
    assert usual > 300
    assert corrupt > 1000
