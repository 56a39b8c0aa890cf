"""Encodings of version 2.0 that older writers chose, put together by hand; and pages that lie."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from corpus import expected, same
from handmade import Field, Handmade, Leaf, single

from rangeio.errors import Corrupt, FormatError, Unsupported
from rangeio.formats.lance.format import Lance
from rangeio.formats.lance.v20.messages import MESSAGES as V20
from rangeio.plan import Rows
from rangeio.testing.formats import InMemory

Encoding = V20.ArrayEncoding
N = 3000
ROWS = [
    Rows.span(0, N),
    Rows.span(1, 2),
    Rows.span(1023, 1026),
    Rows.span(777, 2999),
    Rows.of(np.array([0, 1, 2, 9, 10, 500, 1023, 1024, 2047, 2999])),
    Rows.of(np.arange(0, N, 7)),
]


def flat(bits: int, buffer: int = 0, scheme: str = "") -> object:
    compression = V20.Compression(scheme=scheme) if scheme else None
    at = V20.Buffer(buffer_index=buffer)
    return Encoding(flat=V20.Flat(bits_per_value=bits, buffer=at, compression=compression))


def whole(values: object) -> object:
    return Encoding(nullable=V20.Nullable(no_nulls=V20.NoNull(values=values)))


def some(validity: object, values: object) -> object:
    return Encoding(
        nullable=V20.Nullable(some_nulls=V20.SomeNull(validity=validity, values=values))
    )


def read(file: Handmade, rows: Rows | None = None) -> pa.ChunkedArray:
    return InMemory(Lance(), file.encode()).read(rows=rows).column(0)


def check(file: Handmade, wanted: pa.Array) -> None:
    """All rows, slices and row lists equal those of ``wanted``."""
    for rows in ROWS:
        found = read(file, rows).combine_chunks()
        found.validate(full=True)
        assert found.equals(wanted.take(pa.array(rows.array()))), rows


def stream(values: np.ndarray, bits: int) -> bytes:
    """The values' low bits, one after the other."""
    every = (values.astype(np.uint64)[:, None] >> np.arange(bits, dtype=np.uint64)) & np.uint64(1)
    return np.packbits(every.astype(np.uint8).reshape(-1), bitorder="little").tobytes()


@pytest.mark.parametrize("bits", [1, 3, 7, 8, 12, 20, 31])
@pytest.mark.parametrize("kind", [pa.int32(), pa.uint64()])
def test_bitpacked_stream(bits: int, kind: pa.DataType) -> None:
    rng = np.random.default_rng(bits)
    values = rng.integers(0, 1 << bits, N, dtype=np.uint64)
    packed = V20.Bitpacked(
        compressed_bits_per_value=bits, uncompressed_bits_per_value=kind.bit_width
    )
    file = single(str(kind), [(N, Encoding(bitpacked=packed), [stream(values, bits)])])
    check(file, pa.array(values.astype(f"u{kind.bit_width // 8}")).view(kind))


def test_bitpacked_signed_stream() -> None:
    values = np.random.default_rng(1).integers(-100, 100, N)
    packed = V20.Bitpacked(compressed_bits_per_value=9, uncompressed_bits_per_value=16, signed=True)
    data = stream(values.astype(np.uint64) & np.uint64(511), 9)
    check(
        single("int16", [(N, Encoding(bitpacked=packed), [data])]),
        pa.array(values, pa.int16()),
    )


ORDER = (0, 4, 2, 6, 1, 5, 3, 7)


def fastlanes(values: np.ndarray, bits: int, width: int) -> bytes:
    """Blocks of 1,024 in the order of the lanes, each lane a stream of its own."""
    lanes = 1024 // bits
    padded = np.zeros(-(-len(values) // 1024) * 1024, np.uint64)
    padded[: len(values)] = values
    out = []
    for block in padded.reshape(-1, 1024):
        words = np.zeros((width, lanes), f"u{bits // 8}")
        for lane in range(lanes):
            at = [ORDER[r // 8] * 16 + (r % 8) * 128 + lane for r in range(bits)]
            words[:, lane] = np.frombuffer(stream(block[at], width), f"u{bits // 8}")
        out.append(words.tobytes())
    return b"".join(out)


@pytest.mark.parametrize("width", [0, 1, 5, 13])
@pytest.mark.parametrize("kind", [pa.uint16(), pa.int32(), pa.int64()])
def test_bitpacked_blocks(kind: pa.DataType, width: int) -> None:
    values = np.random.default_rng(width).integers(0, 1 << width, N)
    packed = V20.Bitpacked(
        compressed_bits_per_value=width, uncompressed_bits_per_value=kind.bit_width
    )
    data = fastlanes(values, kind.bit_width, width)
    file = single(str(kind), [(N, Encoding(bitpacked_for_non_neg=packed), [data])])
    check(file, pa.array(values, kind))


def test_nulls_over_bitpacked_blocks() -> None:
    rng = np.random.default_rng(5)
    values, valid = rng.integers(0, 100, N), rng.random(N) < 0.8
    packed = V20.Bitpacked(
        compressed_bits_per_value=7,
        uncompressed_bits_per_value=64,
        buffer=V20.Buffer(buffer_index=1),
    )
    encoding = some(flat(1), Encoding(bitpacked_for_non_neg=packed))
    buffers = [np.packbits(valid, bitorder="little").tobytes(), fastlanes(values, 64, 7)]
    check(single("int64", [(N, encoding, buffers)]), pa.array(values, mask=~valid))


@pytest.mark.parametrize("scheme", ["zstd", "lz4"])
@pytest.mark.parametrize("bare", [False, True])
def test_compressed_flat(scheme: str, bare: bool) -> None:
    values = np.arange(N, dtype=np.int64)
    raw = values.tobytes()
    codec = "zstd" if scheme == "zstd" else "lz4_raw"
    block = pa.Codec(codec).compress(raw, asbytes=True)
    head = len(raw).to_bytes(8 if scheme == "zstd" else 4, "little")
    if bare and scheme == "lz4":
        pytest.skip("only zstd was ever written without its size")
    data = block if bare else head + block
    check(single("int64", [(N, flat(64, 0, scheme), [data])]), pa.array(values))


def test_compressed_validity() -> None:
    valid = np.random.default_rng(3).random(N) < 0.5
    bits = np.packbits(valid, bitorder="little").tobytes()
    data = len(bits).to_bytes(8, "little") + pa.Codec("zstd").compress(bits, asbytes=True)
    values = np.arange(N, dtype=np.int32)
    file = single("int32", [(N, some(flat(1, 0, "zstd"), flat(32, 1)), [data, values.tobytes()])])
    check(file, pa.array(values, mask=~valid))


@pytest.mark.parametrize(
    ("logical", "value", "wanted"),
    [
        ("int64", (77).to_bytes(8, "little"), pa.scalar(77, pa.int64())),
        ("bool", b"\x01", pa.scalar(True)),
        ("bool", b"\x00", pa.scalar(False)),
        ("string", b"abc", pa.scalar("abc")),
        ("string", b"", pa.scalar("")),
        ("fixed_size_binary:3", b"xyz", pa.scalar(b"xyz", pa.binary(3))),
    ],
)
def test_constant(logical: str, value: bytes, wanted: pa.Scalar) -> None:
    file = single(logical, [(N, Encoding(constant=V20.Constant(value=value)), [])])
    check(file, pa.repeat(wanted, N))


@pytest.mark.parametrize("logical", ["string", "large_binary", "fixed_size_binary:4"])
def test_values_of_one_width(logical: str, tmp_path: Path) -> None:
    data = b"".join(b"%04d" % i for i in range(N))
    inner = V20.FixedSizeBinary(bytes=flat(8), byte_width=4)
    file = single(logical, [(N, whole(Encoding(fixed_size_binary=inner)), [data])])
    kind = {"string": pa.string(), "large_binary": pa.large_binary()}.get(logical, pa.binary(4))
    check(file, pa.array([b"%04d" % i for i in range(N)]).cast(kind))


def packed_file(fields: Sequence[Field], inner: Sequence[object], data: bytes) -> Handmade:
    struct = V20.PackedStruct(inner=inner)
    top = Field("c", "struct", metadata={"lance-encoding:packed": b"true"})
    page = (N, Encoding(packed_struct=struct), [data])
    return Handmade([top, *fields], [Leaf([page])], N)


def test_packed_struct_with_a_fixed_size_list() -> None:
    kind = np.dtype([("x", "<i2"), ("y", "<f4", 3), ("z", "u1")])
    rows = np.zeros(N, kind)
    rows["x"], rows["z"] = np.arange(N) % 1000, np.arange(N) % 200
    rows["y"] = np.arange(3 * N).reshape(N, 3)
    listed = Encoding(fixed_size_list=V20.FixedSizeList(dimension=3, items=flat(32)))
    fields = [
        Field("x", "int16", 0),
        Field("y", "fixed_size_list:float:3", 0),
        Field("z", "uint8", 0),
    ]
    file = packed_file(fields, [whole(flat(16)), whole(listed), flat(8)], rows.tobytes())
    triples = pa.FixedSizeListArray.from_arrays(pa.array(rows["y"].reshape(-1)), 3)
    columns = [pa.array(rows["x"].copy()), triples, pa.array(rows["z"].copy())]
    check(file, pa.StructArray.from_arrays(columns, ["x", "y", "z"]))


def paired(parts: int) -> tuple[Handmade, pa.Array]:
    """Strings as Lance 0.13 wrote them: entries in one column, bytes in the next, cut anywhere."""
    words = [None if i % 11 == 0 else f"w{i}" * (i % 3) for i in range(N)]
    pages, data = [], b""
    for part in np.array_split(np.arange(N), parts):
        texts = [words[i] for i in part]
        joined = "".join(t or "" for t in texts).encode()
        end = np.cumsum([len(t or "") for t in texts]).astype(np.uint64)
        adjustment = len(joined) + 1
        null = np.array([t is None for t in texts])
        entries = np.where(null, end + np.uint64(adjustment), end)
        node = V20.List(
            offsets=whole(flat(64)), null_offset_adjustment=adjustment, num_items=len(joined)
        )
        pages.append((len(part), Encoding(list=node), [entries.tobytes()]))
        data += joined
    cut = len(data) // 3
    below = [(len(d), whole(flat(8)), [d]) for d in (data[:cut], data[cut:])]
    fields = [Field("c", "string"), Field("d", "int8")]
    other = Leaf([(N, flat(8), [bytes(N)])])
    return Handmade(fields, [Leaf(pages), Leaf(below), other], N), pa.array(words)


@pytest.mark.parametrize("parts", [1, 4])
def test_strings_of_two_columns(parts: int) -> None:
    check(*paired(parts))


def test_pages_cut_anywhere(tmp_path: Path) -> None:
    values = np.arange(N, dtype=np.int64)
    pages = [(len(p), whole(flat(64)), [p.tobytes()]) for p in np.array_split(values, 13)]
    file = single("int64", [*pages, (0, whole(flat(64)), [b""])])
    file.rows = N
    check(file, pa.array(values))
    (tmp_path / "x").write_bytes(file.encode())
    same(InMemory(Lance(), file.encode()).read(), expected(tmp_path / "x"))


def small(
    encoding: object, buffers: Sequence[bytes], logical: str = "int64", rows: int = 4
) -> None:
    read(single(logical, [(rows, encoding, buffers)]))


LIES: list[tuple[str, object, list[bytes], type[FormatError]]] = [
    ("int64", flat(32), [bytes(16)], Corrupt),
    ("int64", flat(64), [bytes(31)], Corrupt),
    ("int64", flat(64, 1), [bytes(32)], Corrupt),
    ("int64", flat(64, 0, "snappy"), [bytes(32)], Unsupported),
    ("int64", flat(64, 0, "lz4"), [b"\xff" * 32], Corrupt),
    ("int64", flat(64, 0, "zstd"), [b"\xff" * 32], Corrupt),
    ("bool", flat(1), [b""], Corrupt),
    ("string", flat(64), [bytes(32)], Corrupt),
    ("int64", Encoding(), [], Unsupported),
    ("int64", b"\xff", [], Corrupt),
    ("int64", b"\xa2\x06\x00", [], Unsupported),
    ("int64", Encoding(struct=V20.Empty()), [], Corrupt),
    ("int64", Encoding(nullable=V20.Nullable()), [], Corrupt),
    ("int64", some(flat(8), flat(64, 1)), [bytes(9), bytes(32)], Corrupt),
    ("int64", Encoding(fixed_size_list=V20.FixedSizeList(dimension=3)), [], Unsupported),
    ("int64", Encoding(list=V20.List(offsets=flat(64))), [bytes(32)], Corrupt),
    ("int64", Encoding(constant=V20.Constant(value=b"abc")), [], Corrupt),
    ("int64", flat(1 << 40), [bytes(32)], Corrupt),
    ("null", Encoding(constant=V20.Constant(value=b"")), [], Corrupt),
    ("dict:string:int8:false", Encoding(constant=V20.Constant(value=b"")), [], Corrupt),
    ("fixed_size_list:float:2", Encoding(constant=V20.Constant(value=b"")), [], Corrupt),
    ("fixed_size_list:float:2", flat(64), [bytes(32)], Corrupt),
    (
        "string",
        Encoding(binary=V20.Binary(indices=flat(64), bytes=flat(8, 1))),
        [np.array([1, 2, 9, 3], np.uint64).tobytes(), bytes(9)],
        Corrupt,
    ),
    (
        "string",
        Encoding(binary=V20.Binary(indices=flat(64), bytes=flat(8, 1))),
        [np.array([1, 2, 3, 10], np.uint64).tobytes(), bytes(9)],
        Corrupt,
    ),
    (
        "string",
        Encoding(
            dictionary=V20.Dictionary(
                indices=flat(8),
                items=Encoding(binary=V20.Binary(indices=flat(64, 1), bytes=flat(8, 2))),
                num_dictionary_items=1,
            )
        ),
        [b"\x00\x01\x02\x01", np.array([2], np.uint64).tobytes(), b"ab"],
        Corrupt,
    ),
    (
        "string",
        Encoding(
            fsst=V20.Fsst(
                binary=Encoding(binary=V20.Binary(indices=flat(64), bytes=flat(8, 1))),
                symbol_table=b"short",
            )
        ),
        [np.array([1, 2, 3, 4], np.uint64).tobytes(), bytes(4)],
        FormatError,
    ),
]


@pytest.mark.parametrize(("logical", "encoding", "buffers", "error"), LIES)
def test_pages_that_lie(
    logical: str, encoding: object, buffers: list[bytes], error: type[FormatError]
) -> None:
    with pytest.raises(error):
        small(encoding, buffers, logical)


@pytest.mark.parametrize(
    ("logical", "encoding"),
    [
        ("int64", Encoding(nullable=V20.Nullable(all_nulls=V20.Empty()))),
        ("string", Encoding(constant=V20.Constant(value=b"x" * 1000))),
        ("int64", Encoding(constant=V20.Constant(value=bytes(8)))),
        ("fixed_size_list:float:768", Encoding(nullable=V20.Nullable(all_nulls=V20.Empty()))),
    ],
)
def test_rows_that_take_no_bytes_take_no_memory(logical: str, encoding: object) -> None:
    for rows in (1 << 33, 1 << 61):
        with pytest.raises(FormatError):
            small(encoding, [], logical, rows)


def test_items_that_are_not_there() -> None:
    node = V20.List(offsets=whole(flat(64)), null_offset_adjustment=9, num_items=8)
    entries = np.array([2, 4, 6, 8], np.uint64).tobytes()
    fields = [Field("c", "list"), Field("item", "int8", 0)]
    for items in (7, 8):
        leaves = [Leaf([(4, Encoding(list=node), [entries])]), Leaf([(items, flat(8), [bytes(8)])])]
        file = Handmade(fields, leaves, 4)
        if items == 8:
            assert read(file).to_pylist() == [[0, 0]] * 4
            continue
        for rows in (None, Rows.span(3, 4)):
            with pytest.raises(Corrupt):
                read(file, rows)
