"""The footer, the offset tables and the column metadata, told the truth and lied to."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from corpus import DATA, Corpus, expected, same
from handmade import Field, Handmade, Leaf, single

from rangeio.errors import BadMagic, Corrupt, FormatError, Truncated, Unsupported
from rangeio.formats.lance.footer import FOOTER
from rangeio.formats.lance.format import Lance
from rangeio.formats.lance.messages import MESSAGES
from rangeio.formats.lance.v20.messages import MESSAGES as V20
from rangeio.testing.formats import InMemory


def read(data: bytes) -> object:
    return InMemory(Lance(), data).read()


def flat(bits: int) -> object:
    return V20.ArrayEncoding(flat=V20.Flat(bits_per_value=bits))


def good() -> Handmade:
    values = np.arange(10, dtype=np.int64).tobytes()
    file = single("int64", [(10, flat(64), [values])])
    file.fields = [Field("c", "int64"), Field("d", "int64")]
    file.leaves = [*file.leaves, Leaf([(10, flat(64), [values])])]
    return file


def patched(data: bytes, **numbers: int) -> bytes:
    names = ["column_meta_start", "cmo_start", "gbo_start", "num_global_buffers", "num_columns"]
    found = dict(zip([*names, "major", "minor"], FOOTER.unpack(data[-40:])[:-1], strict=True))
    assert set(numbers) <= set(found)
    return data[:-40] + FOOTER.pack(*(found | numbers).values(), b"LANC")


def test_the_handmade_file_is_good() -> None:
    assert read(good().encode()).to_pydict() == {"c": list(range(10)), "d": list(range(10))}


@pytest.mark.parametrize(
    "numbers",
    [
        {"column_meta_start": 1 << 63},
        {"cmo_start": (1 << 64) - 1},
        {"gbo_start": 1 << 40},
        {"num_global_buffers": 0},
        {"num_global_buffers": 2},
        {"num_global_buffers": (1 << 32) - 1},
        {"num_columns": 1},
        {"num_columns": (1 << 32) - 1},
        {"cmo_start": 0},
        {"gbo_start": 0},
    ],
)
def test_footers_that_contradict_the_file(numbers: dict[str, int]) -> None:
    with pytest.raises(Corrupt):
        read(patched(good().encode(), **numbers))


@pytest.mark.parametrize(
    ("version", "words"),
    [
        ((0, 1), "legacy Lance v1 file"),
        ((0, 2), "legacy Lance v1 file"),
        ((2, 3), r"version 2\.3"),
        ((2, 4), r"version 2\.4"),
        ((0, 4), r"version 0\.4"),
        ((65535, 0), r"version 65535\.0"),
    ],
)
def test_versions_are_refused_by_name(version: tuple[int, int], words: str) -> None:
    with pytest.raises(Unsupported, match=words):
        read(patched(good().encode(), major=version[0], minor=version[1]))


def test_version_2_0_as_others_write_it() -> None:
    data = patched(good().encode(), major=2, minor=0)
    assert read(data).to_pydict()["c"] == list(range(10))


def test_other_files() -> None:
    for data in (b"PAR1" * 30, b"LANC" + bytes(60), bytes(100)):
        with pytest.raises(BadMagic):
            read(data)
    for data in (b"", b"LANC", bytes(35) + b"LANC"):
        with pytest.raises(Truncated):
            read(data)


def table_at(data: bytes, which: str) -> int:
    return FOOTER.unpack(data[-40:])[{"cmo": 1, "gbo": 2}[which]]


def with_pair(data: bytes, at: int, start: int, size: int) -> bytes:
    return data[:at] + struct.pack("<QQ", start, size) + data[at + 16 :]


@pytest.mark.parametrize(
    ("start", "size"), [(0, 10), (1 << 63, 1), ((1 << 64) - 1, (1 << 64) - 1), (None, 1 << 40)]
)
@pytest.mark.parametrize("column", [0, 1])
def test_column_metadata_outside_its_region(column: int, start: int | None, size: int) -> None:
    data = good().encode()
    at = table_at(data, "cmo") + 16 * column
    own = struct.unpack_from("<Q", data, at)[0]
    with pytest.raises(Corrupt, match=f"column {column}"):
        read(with_pair(data, at, own if start is None else start, size))


def test_column_metadata_that_overlaps() -> None:
    data = good().encode()
    at = table_at(data, "cmo")
    with pytest.raises(Corrupt, match="overlaps"):
        read(data[: at + 16] + data[at : at + 16] + data[at + 32 :])


def test_column_metadata_in_any_order() -> None:
    data = good().encode()
    at = table_at(data, "cmo")
    swapped = data[:at] + data[at + 16 : at + 32] + data[at : at + 16] + data[at + 32 :]
    assert read(swapped).to_pydict() == read(data).to_pydict()


@pytest.mark.parametrize(("start", "size"), [(1 << 63, 8), (0, 1 << 40), (None, 10_000)])
def test_global_buffers_outside_the_file(start: int | None, size: int) -> None:
    data = good().encode()
    at = table_at(data, "gbo")
    own = struct.unpack_from("<Q", data, at)[0]
    with pytest.raises(Corrupt, match="global buffer 0"):
        read(with_pair(data, at, own if start is None else start, size))


def test_buffers_of_2_1_must_be_aligned(corpus: Corpus) -> None:
    data = corpus.path("f64", "2.1", 20_000).read_bytes()
    at = table_at(data, "gbo")
    start, size = struct.unpack_from("<QQ", data, at)
    with pytest.raises(Corrupt, match="aligned"):
        read(with_pair(data, at, start + 1, size - 1))
    old = good().encode()
    start, size = struct.unpack_from("<QQ", old, table_at(old, "gbo"))
    moved = old[:start] + old[start : start + size] + old[start + size :]
    assert read(moved) is not None


def changed(edit: Callable[[object], None]) -> bytes:
    """The good file with the metadata of column 0 edited and put anew."""
    file = good()
    made = file._column

    def column(out: bytearray, leaf: Leaf) -> bytes:
        message = MESSAGES.ColumnMetadata.FromString(made(out, leaf))
        if leaf is file.leaves[0]:
            edit(message)
        return message.SerializeToString()

    file._column = column
    return file.encode()


def direct(meta: object, url: str, value: bytes) -> None:
    meta.encoding.direct.encoding = MESSAGES.Any(type_url=url, value=value).SerializeToString()


EDITS: dict[str, tuple[Callable[[object], object], type[FormatError], str]] = {
    "counts": (lambda m: m.pages[0].buffer_sizes.append(3), Corrupt, "differently"),
    "start": (lambda m: m.pages[0].buffer_offsets.__setitem__(0, 1 << 63), Corrupt, "outside"),
    "size": (lambda m: m.pages[0].buffer_sizes.__setitem__(0, (1 << 64) - 1), Corrupt, "outside"),
    "footer": (lambda m: m.pages[0].buffer_sizes.__setitem__(0, 1 << 20), Corrupt, "outside"),
    "rows": (lambda m: setattr(m.pages[0], "length", 11), Corrupt, "11 rows"),
    "huge": (lambda m: setattr(m.pages[0], "length", (1 << 64) - 1), Corrupt, "rows"),
    "more": (lambda m: m.pages.add().CopyFrom(m.pages[0]), Corrupt, "20 rows"),
    "none": (lambda m: m.pages[0].encoding.Clear(), Corrupt, "no encoding"),
    "far": (lambda m: m.pages[0].encoding.indirect.SetInParent(), Unsupported, "elsewhere"),
    "empty": (lambda m: m.encoding.none.SetInParent(), Corrupt, "no encoding"),
    "url": (lambda m: direct(m, "/lance.encodings.Other", b""), Unsupported, "Other"),
    "value": (
        lambda m: direct(m, "/lance.encodings.ColumnEncoding", b""),
        Corrupt,
        "no column encoding",
    ),
}


def test_pages_that_share_their_bytes() -> None:
    page = (1000, flat(64), [bytes(8000)])
    file = single("int64", [page])
    file.rows = 50_000

    def column(out: bytearray, leaf: Leaf) -> bytes:
        message = MESSAGES.ColumnMetadata.FromString(Handmade._column(file, out, leaf))
        for _ in range(49):
            message.pages.add().CopyFrom(message.pages[0])
        return message.SerializeToString()

    file._column = column
    with pytest.raises(Corrupt, match="more bytes than the file"):
        read(file.encode())


@pytest.mark.parametrize("name", EDITS)
def test_column_metadata_that_lies(name: str) -> None:
    edit, error, words = EDITS[name]
    with pytest.raises(error, match=words):
        read(changed(edit))


def test_pages_of_before_the_release_are_refused_by_their_type() -> None:
    file = good()
    file.version = (2, 1)
    file.url = "/lance.encodings.PageLayout"
    with pytest.raises(Unsupported, match=r"/lance\.encodings\.PageLayout"):
        read(file.encode())


def test_zoned_columns_are_what_they_wrap() -> None:
    file = good()
    inner = MESSAGES.ColumnEncoding(values=MESSAGES.Empty())
    zoned = MESSAGES.ColumnEncoding(zoned=MESSAGES.Zoned(inner=inner))
    file.column_value = zoned.SerializeToString()
    assert read(file.encode()).num_rows == 10


def test_more_global_buffers_are_no_matter() -> None:
    file = good()
    file.buffers_before = [b"index", b"", b"more" * 1000]
    assert read(file.encode()).num_rows == 10


@pytest.mark.skipif(not DATA.exists(), reason="no sample files beside the repository")
@pytest.mark.parametrize("path", sorted((DATA / "hand").glob("*.lance")), ids=lambda p: p.name)
def test_private_bytes_in_every_place(path: Path) -> None:
    same(InMemory(Lance(), path.read_bytes()).read(), expected(path))


@pytest.mark.skipif(not DATA.exists(), reason="no sample files beside the repository")
def test_sample_files_read_equal_or_are_refused() -> None:
    legacy = 0
    for path in sorted(DATA.rglob("*.lance")):
        memory = InMemory(Lance(), path.read_bytes())
        if path.name.startswith(("v0.1__", "v0.2__")):
            with pytest.raises(Unsupported, match="legacy Lance v1"):
                memory.read()
            legacy += 1
        elif "v2.3" in path.name:
            with pytest.raises(Unsupported, match=r"2\.3"):
                memory.read()
        elif path.name.startswith("v0.3__0.13"):
            # Strings of two columns: pylance takes the second for another field.
            assert memory.read().to_pydict() == {
                "numbers": [1, 2, 3],
                "strings": ["foo", "bar", "baz"],
                "bins": [b"foo", b"bar", b"baz"],
                "more_numbers": [4, 5, 6],
            }
        else:
            same(memory.read(), expected(path))
    assert legacy == 14
