"""Fields of all Arrow types, and how the fields of an ``ARROW:schema`` are compared."""

from __future__ import annotations

import random

import pyarrow as pa
from flat_messages import encoded, whole

from rangeio.formats.parquet.schema.arrowschema import ArrowSchema

CHARACTERS = 256  # of one block

SCALARS = [
    pa.null(),
    pa.bool_(),
    *(getattr(pa, f"{sign}int{bits}")() for sign in ("", "u") for bits in (8, 16, 32, 64)),
    *(pa.float16(), pa.float32(), pa.float64()),
    *(pa.decimal32(9, 2), pa.decimal64(18, -3), pa.decimal128(38, 9), pa.decimal256(76, 0)),
    *(pa.date32(), pa.date64(), pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns")),
    *(pa.timestamp(unit) for unit in ("s", "ms", "us", "ns")),
    *(pa.timestamp("us", zone) for zone in ("UTC", "Europe/Paris", "+05:30")),
    *(pa.duration(unit) for unit in ("s", "ms", "us", "ns")),
    pa.month_day_nano_interval(),
    *(pa.string(), pa.large_string(), pa.string_view()),
    *(pa.binary(), pa.large_binary(), pa.binary_view(), pa.binary(12)),
]
INDICES = [getattr(pa, f"{sign}int{bits}")() for sign in ("", "u") for bits in (8, 16, 32, 64)]
NAMED = pa.struct([pa.field("a", pa.int8(), nullable=False), pa.field("größe", pa.string())])
COLOURS = pa.dictionary(pa.int8(), pa.string())
NESTED = [
    pa.list_(pa.field("element", pa.int32(), nullable=False)),
    pa.large_list(NAMED),
    pa.list_view(pa.string()),
    pa.large_list_view(pa.list_view(COLOURS)),
    pa.list_(pa.float32(), 3),
    pa.list_(pa.list_(NAMED, 2), 4),
    pa.struct([]),
    NAMED,
    pa.struct([("deep", pa.struct([("er", pa.list_(pa.map_(pa.string(), NAMED)))]))]),
    pa.map_(pa.string(), pa.list_(pa.int64())),
    pa.map_(COLOURS, COLOURS, keys_sorted=True),
    pa.map_(pa.field("k", pa.int8(), nullable=False), pa.field("v", NAMED, metadata={"v": "1"})),
    *(pa.dictionary(index, pa.string()) for index in INDICES),
    pa.dictionary(pa.int16(), pa.timestamp("s", "Asia/Tokyo"), ordered=True),
    pa.dictionary(pa.int32(), NAMED),
    pa.struct([("one", COLOURS), ("two", pa.list_(pa.dictionary(pa.int32(), pa.int64())))]),
    *(pa.run_end_encoded(ends, pa.string()) for ends in (pa.int16(), pa.int32(), pa.int64())),
    pa.run_end_encoded(pa.int32(), NAMED),
    pa.sparse_union([pa.field("x", pa.int8()), pa.field("y", pa.timestamp("ms", "UTC"))]),
    pa.dense_union([pa.field("x", NAMED), pa.field("y", COLOURS)], [5, 127]),
]
EXTENSIONS = [
    *(pa.uuid(), pa.json_(), pa.json_(pa.large_string()), pa.bool8()),
    pa.fixed_shape_tensor(pa.float32(), [2, 3], dim_names=["x", "y"]),
    pa.opaque(pa.binary(), "geometry", "vendor"),
    pa.struct([("id", pa.uuid()), ("all", pa.list_(pa.bool8()))]),
]
TYPES = [*SCALARS, *NESTED, *EXTENSIONS]


def wide(count: int, seed: int = 0) -> pa.Schema:
    """All types in turn, some fields with metadata, some not nullable."""
    rng = random.Random(seed)
    first = rng.randrange(len(TYPES))
    fields = []
    for k in range(count):
        metadata = {"PARQUET:field_id": str(k), "note": "n" * rng.randrange(40)} if k % 5 else None
        kind = TYPES[(first + k) % len(TYPES)]
        nullable = k % 3 > 0 or kind == pa.null()
        fields.append(pa.field(f"column_{k}", kind, nullable=nullable, metadata=metadata))
    return pa.schema(fields, metadata={"of": "the schema"})


def opened(schema: pa.Schema) -> ArrowSchema:
    return ArrowSchema(encoded(schema.serialize().to_pybytes()))


def same(found: list[pa.Field], wanted: list[pa.Field]) -> None:
    assert [f.name for f in found] == [f.name for f in wanted]
    for got, want in zip(found, wanted, strict=True):
        assert got.equals(want, check_metadata=True), f"{got} is not {want}"
        assert type(got.type) is type(want.type)
        assert got.metadata == want.metadata


def read_back(schema: pa.Schema) -> pa.Schema:
    return whole(schema.serialize().to_pybytes())


def spoiled(value: memoryview, blocks: set[int]) -> memoryview:
    """No base64 in these blocks of characters."""
    data = bytearray(value)
    for block in blocks:
        piece = slice(CHARACTERS * block, min(CHARACTERS * (block + 1), len(data)))
        data[piece] = b"!" * (piece.stop - piece.start)
    return memoryview(bytes(data))


def random_field(rng: random.Random, depth: int) -> pa.Field:
    kind = random_type(rng, depth)
    metadata = {"k" * rng.randrange(3): "ü" * rng.randrange(9)} if rng.random() < 0.3 else None
    nullable = rng.random() < 0.6 or kind == pa.null()
    return pa.field("name" * rng.randrange(3), kind, nullable=nullable, metadata=metadata)


def random_type(rng: random.Random, depth: int) -> pa.DataType:
    if not depth or rng.random() < 0.3:
        return rng.choice([*SCALARS, *EXTENSIONS])
    children = [random_field(rng, depth - 1) for _ in range(rng.randrange(4))]
    child, key = random_field(rng, depth - 1), rng.choice(SCALARS[1:])
    makers = [
        *(lambda make=make: make(child) for make in (pa.list_, pa.large_list, pa.list_view)),
        lambda: pa.large_list_view(child),
        lambda: pa.list_(child, rng.randrange(9)),
        *(lambda make=make: make(children) for make in (pa.struct, pa.dense_union)),
        lambda: pa.map_(key, child.type, keys_sorted=rng.random() < 0.5),
        lambda: pa.run_end_encoded(pa.int32(), child.type),
        lambda: pa.dictionary(rng.choice(INDICES), child.type, ordered=rng.random() < 0.5),
    ]
    return rng.choice(makers)()
