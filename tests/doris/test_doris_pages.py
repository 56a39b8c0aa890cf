"""Pages: their frame, their sizes as the format's own writer has them, damage."""

import numpy as np
import pytest

from rangeio.errors import Corrupt, FormatError, Truncated, Unsupported
from rangeio.formats.doris.encodings import Binary, Fixed, Values, encoded
from rangeio.formats.doris.messages import MESSAGES
from rangeio.formats.doris.page import (
    IndexEntries,
    Page,
    crc32c,
    framed,
    index_body,
    index_entries,
    unframed,
)
from rangeio.formats.doris.words import Compression, Encoding, PageType

TEXT = b"pages of the same words, pages of the same bytes; " * 40
NONE = Compression.NONE


def data_footer(rows: int, first: int = 0) -> object:
    footer = MESSAGES.PageFooter(type=PageType.DATA)
    footer.data_page_footer.first_ordinal = first
    footer.data_page_footer.num_values = rows
    footer.data_page_footer.nullmap_size = 0
    return footer


def index_footer(entries: int, kind: int = 1) -> object:
    footer = MESSAGES.PageFooter(type=PageType.INDEX)
    footer.index_page_footer.num_entries = entries
    footer.index_page_footer.type = kind
    return footer


def summed(parts: bytes) -> memoryview:
    return memoryview(parts + crc32c(parts).to_bytes(4, "little"))


def binary(count: int) -> Binary:
    return Binary(np.arange(count + 1) * 8, np.zeros(8 * count, np.uint8))


def fixed(count: int, size: int) -> Fixed:
    return Fixed(np.zeros((count, size), np.uint8))


@pytest.mark.parametrize(
    ("encoding", "size", "values", "first", "expected"),
    [
        (Encoding.PLAIN, 8, fixed(64, 8), 0, 537),
        (Encoding.PLAIN, 16, fixed(32, 16), 0, 537),
        (Encoding.PLAIN, 32, fixed(16, 32), 0, 537),
        (Encoding.PLAIN, 12, fixed(42, 12), 0, 529),
        (Encoding.PLAIN, 0, binary(43), 0, 541),
        (Encoding.PLAIN, 0, binary(43), 43, 541),
        (Encoding.PLAIN_V2, 0, binary(57), 0, 538),
        (Encoding.PLAIN_V3, 0, binary(57), 0, 542),
    ],
)
def test_sizes_of_pages_that_doris_wrote(
    encoding: Encoding, size: int, values: Values, first: int, expected: int
) -> None:
    body = encoded(encoding, size, values)
    assert len(framed(body, data_footer(len(values), first), NONE)) == expected


@pytest.mark.parametrize("scheme", list(Compression)[2:])
@pytest.mark.parametrize("body", [b"", b"a", TEXT, bytes(range(256))])
def test_round_trip(scheme: Compression, body: bytes) -> None:
    footer = data_footer(7)
    data = framed(body, footer, scheme)
    page = unframed(memoryview(data), scheme, 0)
    assert page.kind is PageType.DATA
    assert page.body == body
    assert page.footer.uncompressed_size == len(body)
    assert page.footer.data_page_footer.num_values == 7
    assert not footer.HasField("uncompressed_size")
    assert (len(data) < len(TEXT)) == (body != TEXT or scheme is not NONE)


def test_a_body_is_compressed_where_it_saves_a_tenth() -> None:
    """Noise that ends in zeros: as the zeros grow, the saving does."""
    noise = np.random.default_rng(6).integers(0, 256, 1000, np.uint8).tobytes()
    seen = set()
    for zeros in range(0, 300, 5):
        body = noise + bytes(zeros)
        page = framed(body, data_footer(1), Compression.LZ4)
        small = len(page) < len(body)
        seen.add(small)
        assert small == (zeros >= 130) or 110 <= zeros <= 135
        assert unframed(memoryview(page), Compression.LZ4, 0).body == body
    assert seen == {True, False}


def test_a_page_is_a_view_where_it_is_not_compressed() -> None:
    data = memoryview(framed(b"abcdef", data_footer(1), NONE))
    assert unframed(data, NONE, 0).body.obj is data.obj


@pytest.mark.parametrize("scheme", [NONE, Compression.ZSTD])
def test_every_flipped_byte_is_told_with_its_place(scheme: Compression) -> None:
    data = framed(TEXT[:300], data_footer(1), scheme)
    for at in range(len(data)):
        damaged = bytearray(data)
        damaged[at] ^= 1 << at % 8
        with pytest.raises(Corrupt, match="crc32c") as caught:
            unframed(memoryview(damaged), scheme, 4711)
        assert caught.value.offset == 4711


@pytest.mark.parametrize("scheme", [NONE, Compression.ZSTD])
@pytest.mark.parametrize("checked", [True, False])
def test_cut_anywhere_it_is_a_format_error(scheme: Compression, checked: bool) -> None:
    data = framed(TEXT[:300], data_footer(1), scheme)
    for cut in range(len(data)):
        with pytest.raises(FormatError) as caught:
            unframed(memoryview(data)[:cut], scheme, 9, checked=checked)
        assert caught.value.offset == 9
    with pytest.raises(Truncated):
        unframed(memoryview(b"1234567"), scheme, 0)


@pytest.mark.parametrize("scheme", [NONE, Compression.LZ4F])
def test_flipped_bytes_behind_a_true_crc_raise_only_format_errors(scheme: Compression) -> None:
    data = framed(TEXT[:300], data_footer(1), scheme)[:-4]
    for at in range(len(data)):
        for bit in range(8):
            damaged = bytearray(data)
            damaged[at] ^= 1 << bit
            try:
                page = unframed(summed(bytes(damaged)), scheme, 0)
            except FormatError:
                continue
            assert len(page.body) == page.footer.uncompressed_size


def test_unchecked_pages_are_not_summed() -> None:
    data = bytearray(framed(b"abc", data_footer(1), NONE))
    data[-1] ^= 1
    assert unframed(memoryview(data), NONE, 0, checked=False).body == b"abc"


def test_footers_that_do_not_fit_their_page() -> None:
    bare = MESSAGES.PageFooter(type=PageType.DATA)
    with pytest.raises(Corrupt, match="without a footer of that kind"):
        unframed(memoryview(framed(b"", bare, NONE)), NONE, 0)
    odd = MESSAGES.PageFooter(type=5)
    with pytest.raises(Unsupported, match="PageType 5"):
        unframed(memoryview(framed(b"", odd, NONE)), NONE, 0)
    with pytest.raises(Corrupt, match="begins before"):
        unframed(summed(b"\xff\xff\xff\xff"), NONE, 0)
    with pytest.raises(Corrupt, match="valid message"):
        unframed(summed(b"\xff\xff\x02\0\0\0"), NONE, 0)


def test_a_body_whose_size_lies_is_corrupt_before_it_is_allocated() -> None:
    footer = data_footer(1)
    footer.uncompressed_size = (1 << 32) - 1
    tail = footer.SerializeToString()
    page = summed(b"body" + tail + len(tail).to_bytes(4, "little"))
    for scheme in list(Compression)[3:]:
        with pytest.raises(Corrupt, match="cannot become"):
            unframed(page, scheme, 0)
    with pytest.raises(Corrupt, match="nothing is compressed"):
        unframed(page, NONE, 0)


# ---- index pages -------------------------------------------------------------------------------


def index_page(body: bytes, entries: int, kind: int = 1) -> Page:
    page = framed(body, index_footer(entries, kind), NONE)
    return unframed(memoryview(page), NONE, 0)


def test_index_entries_by_hand() -> None:
    entries = IndexEntries([bytes(8), b"k"], np.array([0, 300]), np.array([300, 7]))
    body = b"\x08" + bytes(8) + b"\x00\xac\x02" + b"\x01k\xac\x02\x07"
    assert index_body(entries) == body
    got = index_entries(index_page(body, 2))
    assert got.keys == entries.keys
    assert got.offsets.tolist() == [0, 300]
    assert got.sizes.tolist() == [300, 7]


def test_no_index_entries() -> None:
    none = IndexEntries([], np.zeros(0, np.int64), np.zeros(0, np.int64))
    assert index_entries(index_page(index_body(none), 0)).keys == []


def test_index_entries_that_are_fewer_or_more() -> None:
    count = 20
    numbers = np.arange(count) * 1000
    body = index_body(IndexEntries([b"key%d" % k for k in range(count)], numbers, numbers + 1))
    assert index_entries(index_page(body, count)).sizes.tolist() == (numbers + 1).tolist()
    for cut in range(len(body)):
        with pytest.raises(Corrupt):
            index_entries(index_page(body[:cut], count))
    for wrong in (0, count - 1, count + 1, (1 << 32) - 1):
        with pytest.raises(Corrupt):
            index_entries(index_page(body, wrong))


def test_pages_that_are_no_leaves() -> None:
    with pytest.raises(Unsupported):
        index_entries(index_page(b"", 0, kind=2))
    data = unframed(memoryview(framed(b"", data_footer(0), NONE)), NONE, 0)
    with pytest.raises(Unsupported):
        index_entries(data)
