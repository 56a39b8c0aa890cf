"""Opening: the trailer, the footer's checksum, both versions, and what a tail holds."""

from __future__ import annotations

from pathlib import Path

import pytest
from doris_tables import in_memory, made, same, table, wide

import rangeio
from rangeio.errors import BadMagic, Corrupt, FormatError, Truncated
from rangeio.formats.doris.footer import Footer, Trailer
from rangeio.formats.doris.messages import MESSAGES
from rangeio.formats.doris.page import crc32c

SHARED = Path(__file__).parents[2].parent / "shared/data/doris"


def with_footer(change, version: int = 3) -> bytes:
    """A segment whose footer was changed and sealed again."""
    data = made(wide(3), version=version)
    size = int.from_bytes(data[-12:-8], "little")
    footer = MESSAGES.SegmentFooter.FromString(data[-12 - size : -12])
    change(footer)
    own = footer.SerializeToString()
    sums = len(own).to_bytes(4, "little") + crc32c(own).to_bytes(4, "little")
    return data[: -12 - size] + own + sums + data[-4:]


@pytest.mark.parametrize("version", [2, 3])
def test_a_tail_that_holds_the_footer_is_the_only_hop(version):
    file = in_memory(made(wide(50), version=version))
    found = file.open()
    assert (found.version, found.num_columns) == (f"V{version}", 50)
    assert [need.why for need in file.needs] == ["doris.tail"]
    assert 0 < found.metadata_size < len(file.data)


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("tail", [12, 13, 100])
def test_a_footer_beyond_the_tail_is_one_more_hop(version, tail):
    file = in_memory(made(wide(50), version=version), tail=tail)
    same(file.read(), wide(50))
    assert [need.why for need in file.needs[:2]] == ["doris.tail", "doris.footer"]


@pytest.mark.parametrize("version", [2, 3])
def test_what_a_segment_teaches_is_a_tail_that_fits(version):
    file = in_memory(made(wide(4000), version=version), tail=12)
    hint = file.format.learn(file.open())
    again = in_memory(file.data, tail=hint.tail)
    again.open()
    assert [need.why for need in again.needs] == ["doris.tail"]


@pytest.mark.parametrize("version", [2, 3])
def test_segments_of_another_writer(version):
    path = SHARED / f"synthetic_v{version}.dat"
    if not path.exists():
        pytest.skip("no shared data")
    found = rangeio.open(path).read()
    assert found.column_names == ["col_10", "col_11", "col_12"]
    assert found.num_rows == 5000
    assert found["col_11"].to_pylist()[:3] == ["w0", "w1", "w2"]


def test_every_cut_is_refused():
    data = made(table(12), page_size=128)
    for size in range(0, len(data), 5):
        with pytest.raises(FormatError):
            in_memory(data[:size]).read()


def test_magic_size_and_checksum():
    data = made(wide(2))
    with pytest.raises(BadMagic):
        in_memory(data[:-1] + b"2").open()
    with pytest.raises(Truncated):
        in_memory(data[:-12] + (1 << 30).to_bytes(4, "little") + data[-8:]).open()
    with pytest.raises(Truncated):
        Trailer.parse(memoryview(b"D0R1"), 4)
    damaged = bytearray(data)
    damaged[-20] ^= 1
    with pytest.raises(Corrupt, match="crc32c"):
        in_memory(bytes(damaged)).open()


def test_version_2_never_falls_back_to_inline_columns():
    def inline(footer) -> None:
        footer.columns.add(unique_id=1, type=5)
        del footer.column_meta_entries[:]

    with pytest.raises(Corrupt, match="without a column meta region"):
        in_memory(with_footer(inline)).open()

    def nowhere(footer) -> None:
        footer.col_meta_region_start = 0

    with pytest.raises(Corrupt, match="without a column meta region"):
        in_memory(with_footer(nowhere)).open()


def test_later_versions_are_read_as_v3():
    def later(footer) -> None:
        footer.version = 3

    assert in_memory(with_footer(later)).read().num_columns == 3


def test_the_region_lies_before_the_footer():
    def far(footer) -> None:
        footer.col_meta_region_start += 1

    with pytest.raises(Corrupt, match="all lies before"):
        in_memory(with_footer(far)).open()


def test_an_empty_v2_footer_is_a_segment_without_columns():
    def none(footer) -> None:
        del footer.columns[:]

    assert in_memory(with_footer(none, 2)).read().num_columns == 0


def test_a_table_keeps_no_byte_of_the_file():
    found = in_memory(made(wide(7000), zone_maps=False)).open()
    assert isinstance(found.footer, Footer)
    assert found.footer.directory.weight < 100_000
