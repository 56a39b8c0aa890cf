"""IndexedColumns put together by hand: pages of keys, found by value and by ordinal."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rangeio.engine.drive import drive
from rangeio.errors import Corrupt, FormatError
from rangeio.formats.doris import ordinals
from rangeio.formats.doris.directory import Directory
from rangeio.formats.doris.encodings import Binary, encoded
from rangeio.formats.doris.footer import Footer
from rangeio.formats.doris.messages import MESSAGES
from rangeio.formats.doris.meta import Root
from rangeio.formats.doris.ordinals import Ordinals, Wanted
from rangeio.formats.doris.page import IndexEntries, framed, index_body
from rangeio.formats.doris.variant import Variants
from rangeio.formats.doris.words import Compression, Encoding, PageType
from rangeio.plan import Rows
from rangeio.ranges import ByteRange
from rangeio.steps import Need

LIMIT = 1 << 20
PATHS = st.lists(st.text("ab.-0", min_size=1, max_size=6), unique=True, min_size=1, max_size=60)
ASKED = st.text("ab.-0", max_size=6)


class Pages:
    """Bytes that grow page by page, and answer needs."""

    def __init__(self) -> None:
        self.data = bytearray(b"begin")
        self.whys: list[str] = []

    def add(self, body: bytes, footer: object, scheme: Compression) -> ByteRange:
        at = len(self.data)
        self.data += framed(body, footer, scheme)
        return ByteRange(at, len(self.data))

    def index(
        self, keys: Sequence[bytes], at: Sequence[ByteRange], scheme: Compression
    ) -> ByteRange:
        offsets = np.array([one.start for one in at], np.int64)
        sizes = np.array([one.size for one in at], np.int64)
        footer = MESSAGES.PageFooter(type=PageType.INDEX)
        footer.index_page_footer.num_entries, footer.index_page_footer.type = len(keys), 1
        return self.add(index_body(IndexEntries(list(keys), offsets, sizes)), footer, scheme)

    def answer(self, need: Need) -> list[memoryview]:
        self.whys.append(need.why)
        return [memoryview(bytes(self.data[at.start : at.stop])) for at in need.ranges]


def big(number: int) -> bytes:
    return number.to_bytes(8, "big")


def column(pages: Pages, values: Sequence[bytes], each: int, encoding: Encoding) -> bytes:
    """An IndexedColumn of values, ``each`` a page."""
    meta = MESSAGES.IndexedColumn(
        data_type=17, encoding=encoding, num_values=len(values), compression=Compression.ZSTD
    )
    spots, firsts = [], range(0, len(values), each)
    for first in firsts:
        own = values[first : first + each]
        edges = np.cumsum([0, *map(len, own)])
        data = Binary(edges.astype(np.int64), np.frombuffer(b"".join(own), np.uint8))
        footer = MESSAGES.PageFooter(type=PageType.DATA)
        footer.data_page_footer.first_ordinal = first
        footer.data_page_footer.num_values = len(own)
        footer.data_page_footer.nullmap_size = 0
        spots.append(pages.add(encoded(encoding, 0, data), footer, Compression.ZSTD))
    for tree, keys in (
        (meta.ordinal_index_meta, [big(first) for first in firsts]),
        (meta.value_index_meta, [values[first] for first in firsts]),
    ):
        at = spots[0] if len(spots) == 1 else pages.index(keys, spots, Compression.ZSTD)
        tree.root_page.offset, tree.root_page.size = at.start, at.size
        tree.is_root_data_page = len(spots) == 1
    return meta.SerializeToString()


def variants(keys: bytes, count: int) -> Variants:
    """One Variant with the id 5, and so many sub-columns."""
    ids = np.array([3, 5, *[-1] * count, 8], np.int64)
    sizes = np.ones(len(ids), np.int64)
    directory = Directory.of(ids, np.arange(len(ids)), sizes, last=True)
    at = ByteRange(LIMIT, LIMIT + 9)
    return Variants.of(Footer(2, 1, directory, {5: keys}, {}, at))


@given(
    paths=PATHS, each=st.integers(1, 20), asked=st.lists(st.text("ab.-0", max_size=6), max_size=4)
)
def test_look_ups_are_those_of_a_scan(paths, each, asked):
    pages = Pages()
    every = sorted(path.encode() for path in paths)
    keys = column(pages, every, each, Encoding.PREFIX)

    def below(path: bytes) -> set[tuple[bytes, int]]:
        """A scan of all paths; positions come after the root's, which is 1."""
        return {
            (one, 2 + k)
            for k, one in enumerate(every)
            if one == path or one.startswith(path + b".") or not path
        }

    for path in [*asked, *paths[:3]]:
        found = drive(variants(keys, len(every)).below(5, [path]), pages.answer)
        assert set(zip(found.paths, found.positions, strict=True)) == below(path.encode())
        prefixed = drive(variants(keys, len(every)).prefixed(5, path), pages.answer)
        assert prefixed == [p.decode() for p in every if p.startswith(path.encode())]
    whole = drive(variants(keys, len(every)).whole(5), pages.answer)
    assert list(whole.paths) == every
    several = drive(variants(keys, len(every)).below(5, paths[:3]), pages.answer)
    wanted = set().union(*(below(path.encode()) for path in paths[:3]))
    assert set(zip(several.paths, several.positions, strict=True)) == wanted


@pytest.mark.parametrize(("each", "hops"), [(100, 1), (10, 2), (1, 2)])
def test_a_look_up_costs_an_index_page_and_one_of_keys(each, hops):
    pages = Pages()
    keys = column(pages, [b"k%02d" % k for k in range(100)], each, Encoding.PREFIX)
    found = drive(variants(keys, 100).below(5, ["k42"]), pages.answer)
    assert (list(found.paths), list(found.positions)) == ([b"k42"], [44])
    assert pages.whys == ["doris.variant_keys"] * hops


def test_the_tree_is_read_once():
    pages = Pages()
    tree = variants(column(pages, [b"a", b"b"], 9, Encoding.PREFIX), 2)
    drive(tree.whole(5), pages.answer)
    drive(tree.whole(5), pages.answer)
    drive(tree.below(5, ["a"]), pages.answer)
    assert drive(tree.prefixed(5, "b"), pages.answer) == ["b"]
    assert len(pages.whys) == 1


def test_an_index_of_nothing():
    keys = MESSAGES.IndexedColumn(encoding=3, num_values=0).SerializeToString()
    tree = variants(keys, 0)
    pages = Pages()
    assert drive(tree.below(5, ["a"]), pages.answer).paths == []
    assert drive(tree.prefixed(5, ""), pages.answer) == []
    assert len(drive(tree.whole(5), pages.answer)) == 0


def changed(keys: bytes, change: Callable[[object], None]) -> bytes:
    meta = MESSAGES.IndexedColumn.FromString(keys)
    change(meta)
    return meta.SerializeToString()


def broken(number: int, value: int) -> Callable[[object], None]:
    def change(meta) -> None:
        if number == 0:
            meta.num_values = value
        elif number == 1:
            meta.value_index_meta.root_page.offset = value
            meta.ordinal_index_meta.root_page.offset = value
        else:
            meta.compression = value

    return change


@pytest.mark.parametrize("each", [3, 50])
@pytest.mark.parametrize(
    ("number", "value"), [(0, 1), (0, 1 << 40), (0, -1), (1, LIMIT), (1, 6), (2, 99)]
)
def test_broken_indexes_of_paths_are_corrupt(each, number, value):
    pages = Pages()
    keys = column(pages, [b"k%02d" % k for k in range(20)], each, Encoding.PREFIX)
    tree = variants(changed(keys, broken(number, value)), 20)
    with pytest.raises(FormatError):
        drive(tree.whole(5), pages.answer)


def test_keys_beyond_the_sub_columns_are_corrupt():
    pages = Pages()
    keys = column(pages, [b"a", b"b", b"c"], 9, Encoding.PREFIX)
    with pytest.raises(Corrupt, match="is no sub-column"):
        drive(variants(keys, 2).whole(5), pages.answer)


# ---- ordinal indexes -----------------------------------------------------------------------------


def parsed(firsts: Sequence[int], rows: int, spots: Sequence[ByteRange] | None = None) -> Ordinals:
    pages = Pages()
    spots = spots or [ByteRange(10 * k, 10 * k + 10) for k in range(len(firsts))]
    at = pages.index([big(first) for first in firsts], spots, Compression.NONE)
    wanted = Wanted(Root(at, False), rows, Compression.NONE, "c")
    (found,) = drive(ordinals.read([wanted], LIMIT), pages.answer)
    return found


def test_pages_of_rows():
    found = parsed([0, 5, 6], 20)
    assert found.stops.tolist() == [5, 6, 20]
    assert found.touched(Rows([0, 19], [1, 20])).tolist() == [0, 2]
    assert found.touched(Rows([5], [6])).tolist() == [1]
    assert found.touched(Rows([4], [7])).tolist() == [0, 1, 2]
    assert found.touched(Rows([], [])).tolist() == []
    chosen = found.chosen(np.array([1, 2]))
    assert [(at.start, at.size) for at in chosen.ranges()] == [(10, 10), (20, 10)]
    assert chosen.size == 20


@pytest.mark.parametrize(
    ("firsts", "rows"), [([1, 5], 9), ([0, 5, 5], 9), ([0, 5, 3], 9), ([0, 9], 9), ([], 9)]
)
def test_ordinals_that_part_nothing(firsts, rows):
    with pytest.raises(Corrupt, match="'c': "):
        parsed(firsts, rows)


@pytest.mark.parametrize("at", [ByteRange(LIMIT - 4, LIMIT + 6), ByteRange(0, 7)])
def test_pages_that_are_not_there(at):
    with pytest.raises(Corrupt, match="pages that are not there"):
        parsed([0], 9, [at])


def test_columns_of_one_page_or_none_cost_nothing():
    pages = Pages()
    one = Wanted(Root(ByteRange(5, 50), True), 7, Compression.NONE, "a")
    none = Wanted(None, 0, Compression.NONE, "b")
    found = drive(ordinals.read([one, none], LIMIT), pages.answer)
    assert found[0].ranges() == (ByteRange(5, 50),)
    assert len(found[1]) == 0
    assert pages.whys == []
    with pytest.raises(Corrupt, match="and no page"):
        drive(ordinals.read([Wanted(None, 3, Compression.NONE, "b")], LIMIT), pages.answer)
