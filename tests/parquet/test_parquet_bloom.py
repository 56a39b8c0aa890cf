"""Bloom filters: those of other writers say yes to their members, and no to nearly all others."""

from __future__ import annotations

import random
import struct
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from page_files import DATA, Taken, encoded, shared

from rangeio.codecs import thrift
from rangeio.codecs.thrift import Struct
from rangeio.codecs.xxh64 import xxh64
from rangeio.formats.parquet.leaf import Fact
from rangeio.formats.parquet.pruning import bloom
from rangeio.formats.parquet.pruning.bloom import Bloom
from rangeio.ranges import ByteRange

SALT = (
    *(0x47B6137B, 0x44974D91, 0x8824AD5B, 0xA2B7289D),
    *(0x705495C7, 0x2DF1424B, 0x9EFC4947, 0x5C6BFB31),
)
EMPTY: tuple[int, Any] = (thrift.STRUCT, Struct({1: (thrift.STRUCT, Struct())}))


# ---- the hash ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "seed", "want"),
    [
        (b"", 0, 0xEF46DB3751D8E999),
        (b"a", 0, 0xD24EC4F1A98C6E5B),
        (b"abc", 0, 0x44BC2CF5AD770999),
        (b"Nobody inspects the spammish repetition", 0, 0xFBCEA83C8A378BF1),
        (b"xxhash", 20141025, 0xB559B98D844E0635),
        (b"", 2654435761, 0xAC75FDA2929B17EF),
    ],
)
def test_known_hashes(data: bytes, seed: int, want: int) -> None:
    assert xxh64(data, seed) == want


def test_hashes_of_every_length_are_those_of_a_writer() -> None:
    """A filter with room for far more values tells a wrong hash from a right one."""
    rng = random.Random(7)
    values = [rng.randbytes(size) for size in range(260)]
    assert missed(pa.array(values, pa.binary()), values) == []
    others = [rng.randbytes(size) for size in range(8, 260)]
    assert len(missed(pa.array(values, pa.binary()), others)) > 245


# ---- filters of writers --------------------------------------------------------------------------


def filters(data: bytes) -> tuple[bytes, Bloom]:
    """The filter of a file's first chunk, found by a header of its own range."""
    file = Taken(data)
    offset = file.metas[0].fact(0, Fact.BLOOM)
    length = file.metas[0].fact(0, Fact.BLOOM_SIZE)
    at = bloom.header_range(offset, None if length < 0 else length, len(data))
    assert at.start == offset
    assert at.size <= bloom.HEADER
    found = bloom.header(file.part(at), offset, len(data))
    assert found is not None
    if length >= 0:
        assert found.at + found.size == offset + length
    return data, found


def there(data: bytes, found: Bloom, value: bytes) -> bool:
    hashed = bloom.hashed(value)
    at = bloom.block(found, hashed)
    assert at.size == 32
    assert ByteRange(found.at, found.at + found.size).covers(at)
    return bloom.holds(memoryview(data)[at.start : at.stop], hashed)


def missed(array: pa.Array, values: list[bytes]) -> list[bytes]:
    """Which PLAIN values the filter of a file of ``array`` says no to."""
    options = {"x": {"ndv": 50_000, "fpp": 0.001}}
    data, found = filters(encoded(pa.table({"x": array}), bloom_filter_options=options))
    return [value for value in values if not there(data, found, value)]


@pytest.mark.parametrize(
    ("kind", "code"),
    [(pa.int32(), "<i"), (pa.int64(), "<q"), (pa.float32(), "<f"), (pa.float64(), "<d")],
    ids=str,
)
def test_numbers(kind: pa.DataType, code: str) -> None:
    numbers = list(range(-500, 500))
    values = [struct.pack(code, number) for number in numbers]
    others = [struct.pack(code, number) for number in range(1000, 2000)]
    array = pa.array([*numbers, None], kind)
    assert missed(array, values) == []
    assert len(missed(array, others)) > 990


def test_texts_and_fixed_bytes() -> None:
    texts = [f"text {i}" * (i % 9) for i in range(500)]
    assert missed(pa.array(texts), [text.encode() for text in texts]) == []
    fixed = [i.to_bytes(5, "big") for i in range(500)]
    assert missed(pa.array(fixed, pa.binary(5)), fixed) == []
    assert len(missed(pa.array(texts), fixed)) > 490


def test_a_filter_whose_length_is_not_told() -> None:
    data = encoded(pa.table({"x": range(100)}), bloom_filter_options={"x": True})
    offset = Taken(data).metas[0].fact(0, Fact.BLOOM)
    at = bloom.header_range(offset, None, len(data))
    assert at == ByteRange(offset, offset + bloom.HEADER)
    assert bloom.header(memoryview(data)[at.start : at.stop], offset, len(data)) == filters(data)[1]


def test_the_filter_of_another_writer() -> None:
    data, found = filters(shared("data_index_bloom_encoding_with_length"))
    assert found.size == 2048
    path = DATA / "data_index_bloom_encoding_with_length.parquet"
    members = [text.encode() for text in pq.read_table(path).column(0).to_pylist()]
    assert len(members) > 5
    assert all(there(data, found, member) for member in members)
    assert not any(there(data, found, f"other {i}".encode()) for i in range(1000))


@pytest.mark.parametrize(
    ("golden", "values"),
    [
        (
            "18821808860844060265800a4002264e7201402601c0c2984046002438794000",
            [struct.pack("<q", i) for i in range(10)],
        ),
        (
            "c80150144044086d062504439050602008842b21000563410200e02c404e6004",
            [f"a{i}".encode() for i in range(10)],
        ),
    ],
    ids=["int64", "strings"],
)
def test_golden_blocks(golden: str, values: list[bytes]) -> None:
    """One block, bit by bit: it is made from the hashes and the salt again."""
    block = bytes.fromhex(golden)
    words = np.zeros(8, np.uint32)
    for value in values:
        low = xxh64(value) & 0xFFFFFFFF
        words |= np.array([1 << ((low * salt & 0xFFFFFFFF) >> 27) for salt in SALT], np.uint32)
        assert bloom.holds(memoryview(block), bloom.hashed(value))
    assert words.tobytes() == block


def test_each_of_the_eight_bits_counts() -> None:
    hashed = bloom.hashed(b"value")
    full = np.full(8, 0xFFFFFFFF, np.uint32)
    assert bloom.holds(memoryview(full.tobytes()), hashed)
    for k, salt in enumerate(SALT):
        lacking = full.copy()
        lacking[k] ^= np.uint32(1 << (((hashed & 0xFFFFFFFF) * salt & 0xFFFFFFFF) >> 27))
        assert not bloom.holds(memoryview(lacking.tobytes()), hashed)


def test_blocks_lie_within_the_bitset() -> None:
    for size in (32, 96, 1 << 20, 3 << 30):
        found = Bloom(100, size)
        assert bloom.block(found, 0) == ByteRange(100, 132)
        last = bloom.block(found, (1 << 64) - 1)
        assert last == ByteRange(100 + size - 32, 100 + size)
    assert bloom.block(Bloom(0, 64), 1 << 63) == ByteRange(32, 64)
    assert bloom.block(Bloom(0, 64), (1 << 63) - 1) == ByteRange(0, 32)


# ---- headers -------------------------------------------------------------------------------------


def header(**changes: Any) -> bytes:
    fields = {1: (thrift.I32, 64), 2: EMPTY, 3: EMPTY, 4: EMPTY}
    for name, value in changes.items():
        fields[int(name.removeprefix("field_"))] = value
    return thrift.write(Struct({k: v for k, v in fields.items() if v is not None}))


def test_where_a_header_may_lie() -> None:
    assert bloom.header_range(100, None, 1000) == ByteRange(100, 164)
    assert bloom.header_range(100, 8209, 1000) == ByteRange(100, 164)
    assert bloom.header_range(100, 48, 1000) == ByteRange(100, 148)
    assert bloom.header_range(100, 0, 1000) == ByteRange(100, 164)
    assert bloom.header_range(100, None, 120) == ByteRange(100, 120)
    for offset in (-5, 1000, 5000, 1 << 62):
        at = bloom.header_range(offset, None, 1000)
        assert at.size == 0
        assert bloom.header(memoryview(b""), offset, 1000) is None


def test_a_header_and_where_its_bitset_lies() -> None:
    data = header()
    found = bloom.header(memoryview(data + bytes(40)), 500, 10_000)
    assert found == Bloom(500 + len(data), 64)
    assert bloom.header(memoryview(data), 500, 500 + len(data) + 64) == found
    assert bloom.header(memoryview(data), 500, 500 + len(data) + 63) is None
    new = header(field_9=(thrift.BINARY, b"new"))
    assert bloom.header(memoryview(new), 0, 10_000) == Bloom(len(new), 64)


OTHER = (thrift.STRUCT, Struct({2: (thrift.STRUCT, Struct())}))


@pytest.mark.parametrize(
    "changes",
    [
        *({f"field_{k}": None} for k in (1, 2, 3, 4)),
        *({f"field_{k}": OTHER} for k in (2, 3, 4)),
        *({f"field_{k}": (thrift.STRUCT, Struct())} for k in (2, 3, 4)),
        *({f"field_{k}": (thrift.I32, 1)} for k in (2, 3, 4)),
        *({"field_1": (thrift.I32, size)} for size in (0, -32, 31, 33, 100, 1 << 30)),
        {"field_1": (thrift.BINARY, b"64")},
    ],
    ids=str,
)
def test_filters_that_are_not_asked(changes: dict[str, Any]) -> None:
    assert bloom.header(memoryview(header(**changes)), 0, 10_000) is None


def test_obsolete_filters_are_not_asked() -> None:
    path = DATA / "bloom_filter.bin"
    if not path.exists():
        pytest.skip(f"{path.name} is not here")
    data = path.read_bytes()
    assert bloom.header(memoryview(data), 0, len(data)) is None
    data = (DATA / "bloom_filter.xxhash.bin").read_bytes()
    found = bloom.header(memoryview(data), 0, len(data))
    assert found == Bloom(16, 1024)
    words = (b"hello", b"parquet", b"bloom", b"filter")
    assert all(there(data, found, word) for word in words)
    assert not there(data, found, b"nope")


def test_cut_and_flipped_headers_never_fail_a_read() -> None:
    data = header()
    for stop in range(len(data)):
        assert bloom.header(memoryview(data)[:stop], 0, 10_000) is None
    rng = random.Random(9)
    for _ in range(5000):
        flipped = bytearray(data + bytes(20))
        for _ in range(rng.randint(1, 3)):
            flipped[rng.randrange(len(flipped))] ^= 1 << rng.randrange(8)
        found = bloom.header(memoryview(flipped), 50, 10_000)
        if found is not None:
            assert found.size % 32 == 0
            assert 50 < found.at < found.at + found.size <= 10_000
