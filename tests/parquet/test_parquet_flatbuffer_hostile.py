"""Hostile extensions: nothing, the footer as it is, or a FormatError; in little time and memory."""

from __future__ import annotations

import os
import struct
import time
import tracemalloc
import zlib
from functools import cache

import numpy as np
import pyarrow as pa
import pytest
from flat_builder import built, chunk, element, file_metadata
from flat_files import extended_file, flatbuffer_of, footer_of, leaves, old, parquet
from hypothesis import given, settings
from hypothesis import strategies as st

from rangeio.codecs import thrift
from rangeio.errors import Corrupt, FormatError
from rangeio.formats.parquet.flatbuffer.container import HEADERS, RATIO, found, payload
from rangeio.formats.parquet.flatbuffer.footer import FlatFooter

FULL = os.environ.get("RANGEIO_FUZZ") == "full"
MOST = 64
"""Bytes that all answers of a footer may take together, per byte of its FlatBuffer."""


@cache
def small() -> bytes:
    """A file of some types with statistics, nested, in two row groups."""
    content = pa.table(
        {
            "i": pa.array([1, 2, None, 4], pa.int32()),
            "s": ["apple", "application", "b", None],
            "l": [[{"x": 1.5}], [], None, [{"x": None}]],
            "t": pa.array([1, 2, 3, 4], pa.timestamp("us", "UTC")),
        }
    )
    return extended_file(
        parquet(content, row_group_size=2, bloom_filter_options={"i": True}, store_schema=False)
    )


def used(data: bytes) -> int:
    """How many bytes all answers of a footer take; raises what they raise."""
    footer = FlatFooter(memoryview(data))
    count, groups = len(footer.elements.children), len(footer.group_rows)
    assert int(footer.group_rows.sum()) == footer.num_rows >= 0
    said = [footer.element(i) for i in range(count)]
    said += [footer.chunk(g, leaf) for g in range(groups) for leaf in range(leaves(footer))]
    said += [value for g in range(groups) for *_, value in footer.group(g)]
    for one in said[: len(said) - sum(len(footer.group(g)) for g in range(groups))]:
        assert thrift.read(one)[1] == len(one)
    names = [footer.name(i) for i in range(count)]
    for i, name in enumerate(names[1:17], 1):
        assert i in footer.named(name)
    assert {footer.order(leaf) for leaf in range(leaves(footer))} <= {0, 1}
    schema = bytes(footer.arrow_schema() or b"")
    said += [*names, *footer.metadata(), *footer.metadata().values(), schema]
    return sum(len(one) for one in said) + len(footer.created_by)


def survives(data: bytes) -> bool:
    """Whether a footer can be used; a FormatError is the only way that it may fail."""
    try:
        size = used(data)
    except FormatError:
        return False
    assert size <= MOST * len(data) + 1000
    return True


# ---- the container -----------------------------------------------------------------------------


def test_no_flipped_bit_of_the_container_goes_unnoticed():
    file = small()
    stop = len(file) - 8
    start = stop - len(footer_of(file))
    right, plain = found(memoryview(file), start, stop), flatbuffer_of(file)
    header = 4 + 2
    unseen = 0
    for at in range(right.at.start - header, stop):
        for bit in range(8):
            flipped = bytearray(file)
            flipped[at] ^= 1 << bit
            extension = found(memoryview(flipped), start, stop)
            data = None
            if extension is not None:
                assert extension.at == right.at
                data = payload(extension, memoryview(flipped)[right.at.start : right.at.stop])
            if data is not None:
                assert bytes(data) == plain
                unseen += 1
    # The header's two spellings differ in more than one bit; so nothing at all is left.
    assert unseen == 0


def test_the_header_is_not_looked_at_where_the_tail_does_not_reach_it():
    file = bytearray(small())
    stop = len(file) - 8
    right = found(memoryview(file), 0, stop)
    size = len(file) - right.at.start + 6
    file[right.at.start - 6] ^= 0xFF
    assert found(memoryview(file)[-size:], 0, stop) is None
    assert found(memoryview(file)[1 - size :], 0, stop) == right


def test_every_cut_of_the_tail_and_of_the_payload():
    file = small()
    stop = len(file) - 8
    right = found(memoryview(file), 0, stop)
    for size in range(300):
        assert found(memoryview(file)[len(file) - size :], 0, stop) in (None, right)
    data = memoryview(file)[right.at.start : right.at.stop]
    for size in range(len(data)):
        assert payload(right, data[:size]) is None


def sealed(block: bytes, raw_size: int, codec: int) -> bytes:
    """A footer that is only an extension, true in its CRCs."""
    data = block + bytes([codec])
    sizes = struct.pack("<II", len(block), raw_size)
    trailer = struct.pack("<I", zlib.crc32(data)) + sizes + struct.pack("<I", zlib.crc32(sizes))
    body = data + trailer + b"\xde\xad\xbe\xef" * 4
    return HEADERS[0] + thrift.unsigned(len(body)) + body + b"\0"


@pytest.mark.parametrize("claimed", [1 << 20, RATIO * 5000, (1 << 32) - 1])
def test_a_block_that_claims_much_takes_little(claimed):
    block = pa.compress(bytes(1 << 20), codec="lz4_raw", asbytes=True)
    assert len(block) < 5000
    footer = sealed(block, claimed, 7)
    tail = memoryview(footer + bytes(8))
    before = pa.total_allocated_bytes()
    tracemalloc.start()
    assert found(tail, 0, len(footer)) is None
    assert tracemalloc.get_traced_memory()[1] < 100_000
    tracemalloc.stop()
    assert pa.total_allocated_bytes() == before


def test_blocks_that_do_not_decode_are_none():
    raw = flatbuffer_of(small())
    block = pa.compress(raw, codec="lz4_raw", asbytes=True)
    random = np.random.default_rng(1)
    wrong = 0
    for at in range(0, len(block), 3):
        data = bytearray(block)
        data[at] ^= int(random.integers(1, 256))
        footer = sealed(bytes(data), len(raw), 7)
        extension = found(memoryview(footer + bytes(8)), 0, len(footer))
        plain = payload(extension, memoryview(footer)[extension.at.start : extension.at.stop])
        wrong += plain is None
        assert plain is None or len(plain) == len(raw)
        if plain is not None:
            survives(bytes(plain))
    assert wrong > 10


# ---- the FlatBuffer ----------------------------------------------------------------------------


def variants(data: bytes) -> list[bytes]:
    """All flips of one bit; or of every other byte one, or all of its bits."""
    every = [(at, 1 << bit) for at in range(len(data)) for bit in range(8)]
    some = [(at, (0x01, 0x80, 0xFF, 0x04)[at // 2 % 4]) for at in range(0, len(data), 2)]
    out = []
    for at, flip in every if FULL else some:
        turned = bytearray(data)
        turned[at] ^= flip
        out.append(bytes(turned))
    return out


@pytest.mark.parametrize("revision", ["newest", "older"])
def test_flipped_bytes_behind_a_true_crc(revision):
    file = small()
    data = flatbuffer_of(file) if revision == "newest" else bytes(old(file=file)._data)
    assert survives(data)
    lived = [survives(turned) for turned in variants(data)]
    assert 0 < sum(lived) < len(lived)


def test_every_cut_of_the_flatbuffer_is_corrupt():
    data = flatbuffer_of(small())
    lived = [size for size in range(0, len(data), 1 if FULL else 3) if survives(data[:size])]
    # At the very end lies the table that stands for nothing, into which nobody looks.
    assert all(size > len(data) - 16 for size in lived)


def test_numbers_in_place_of_offsets():
    data = flatbuffer_of(small())
    values = [0, 1, 4, len(data) - 4, len(data), (1 << 31) - 1, 1 << 31, (1 << 32) - 1]
    for at in range(0, len(data) - 3, 1 if FULL else 4):
        for value in values if FULL else [values[at // 4 % 8]]:
            survives(data[:at] + struct.pack("<I", value) + data[at + 4 :])


@settings(deadline=None)
@given(st.binary(max_size=300))
def test_any_bytes(data):
    survives(data)


@settings(deadline=None)
@given(st.lists(st.integers(0, 40), min_size=8, max_size=60))
def test_words_that_look_like_offsets(numbers):
    survives(struct.pack(f"<{len(numbers)}I", *(4 * n for n in numbers)))


# ---- what refers to one thing many times -------------------------------------------------------


def bomb_names() -> bytes:
    name = b"n" * 4000
    elements = [element(name) for _ in range(300)]
    return built(file_metadata(elements, [chunk() for _ in elements]))


def bomb_names_alone() -> bytes:
    """Names without a row group that had paths of them."""
    name = b"n" * 4000
    return built(file_metadata([element(name) for _ in range(300)], [], _2=(0, "q"), _3=None))


def bomb_elements() -> bytes:
    one = element(b"n")
    return built(file_metadata([one] * 5000, [chunk()] * 5000))


def bomb_row_groups() -> bytes:
    root = file_metadata([element(b"n") for _ in range(200)], [chunk() for _ in range(200)])
    root[2] = (20_000, "q")
    root[3] = root[3] * 10_000
    return built(root)


def bomb_columns() -> bytes:
    root = file_metadata([element(b"n") for _ in range(300)], [chunk()] * 300)
    columns = root[3][0][0]
    root[2] = (600, "q")
    root[3] = [{0: columns, 2: (2, "q")} for _ in range(300)]
    root[4] = [
        {0: b"", 1: bytes(40_000)}
    ]  # or the paths would be too long, before it comes to this
    return built(root)


def bomb_paths() -> bytes:
    """A comb: every group has a leaf and the next group; names all one."""
    name = b"n" * 200
    group = {2: (1, "b"), 3: name, 4: (2, "i")}
    elements = [one for _ in range(400) for one in (dict(group), element(name))]
    root = file_metadata([*elements, element(name)], [chunk() for _ in range(401)])
    root[1][0][4] = (1, "i")
    return built(root)


def bomb_metadata() -> bytes:
    value = b"v" * 20_000
    root = file_metadata([element(b"n")], [chunk()])
    root[4] = [{0: str(i).encode(), 1: value} for i in range(2000)]
    return built(root)


def bomb_crs() -> bytes:
    crs = b"c" * 20_000
    elements = [element(b"n", _6=(16, "B"), _7={0: crs}) for _ in range(1000)]
    return built(file_metadata(elements, [chunk() for _ in elements]))


BOMBS = {
    bomb_names: "paths",
    bomb_names_alone: "paths",
    bomb_elements: "schema elements in",
    bomb_row_groups: "tables in",
    bomb_columns: "row groups of 300 columns in",
    bomb_paths: "paths",
    bomb_metadata: "metadata",
    bomb_crs: "reference systems",
}


@pytest.mark.parametrize(("bomb", "words"), BOMBS.items())
def test_what_is_shared_does_not_multiply(bomb, words):
    data = bomb()
    started = time.process_time()
    tracemalloc.start()
    with pytest.raises(Corrupt, match=words):
        FlatFooter(memoryview(data))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak <= 24 * len(data) + (1 << 16)
    assert time.process_time() - started < 5


def test_shared_prefixes_are_not_looked_at_where_they_are_long():
    prefix = b"p" * 50_000
    stats = {0: (0, "q"), 4: (0x6162 << 48, "Q"), 5: (2, "b"), 9: (0, "b"), 10: prefix}
    elements = [element(b"%d" % i, _0=(6, "b")) for i in range(500)]
    data = built(file_metadata(elements, [chunk(_8=stats) for _ in elements]))
    assert survives(data)


def test_a_deep_schema_is_no_recursion():
    group = {2: (1, "b"), 3: b"g", 4: (1, "i")}
    elements = [dict(group) for _ in range(5000)]
    root = file_metadata([*elements, element(b"leaf")], [chunk()])
    root[1][0][4] = (1, "i")
    footer = FlatFooter(memoryview(built(root)))
    path = thrift.read(footer.chunk(0, 0))[0].struct(3).list(3)
    assert (len(path), path[-1]) == (5001, b"leaf")
