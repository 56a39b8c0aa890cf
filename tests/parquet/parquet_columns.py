"""Columns of every Arrow type that a Parquet file can hold, seeded, with nulls among the values."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Context, Decimal

import numpy as np
import pyarrow as pa

Rng = np.random.Generator
Make = Callable[[int, Rng], pa.Array]
Form = Callable[[int, int], object]

_WIDE = Context(prec=100)


def _each(kind: pa.DataType, form: Form) -> Make:
    """``form(i, random)`` of every row; one in nine is null."""

    def make(rows: int, rng: Rng) -> pa.Array:
        draws = rng.integers(0, 1 << 30, rows).tolist()
        return pa.array([None if r % 9 == 0 else form(i, r) for i, r in enumerate(draws)], kind)

    return make


def _number(kind: pa.DataType, low: int | None = None, high: int | None = None) -> Make:
    """Integers ``low..high`` seen as ``kind``; over all of its range where none are given."""

    def make(rows: int, rng: Rng) -> pa.Array:
        width = kind.bit_width // 8
        if low is None or high is None:
            raw = np.frombuffer(rng.bytes(rows * width), f"i{width}")
        else:
            raw = rng.integers(low, high, rows).astype(f"i{width}")
        return pa.array(raw, mask=rng.random(rows) < 0.1).view(kind)

    return make


def _float(kind: pa.DataType) -> Make:
    def make(rows: int, rng: Rng) -> pa.Array:
        values = rng.standard_normal(rows)
        values[::7], values[3::11], values[5::13] = np.nan, -0.0, np.inf
        width = {"halffloat": "f2", "float": "f4", "double": "f8"}[str(kind)]
        return pa.array(values.astype(width), mask=rng.random(rows) < 0.1, from_pandas=False)

    return make


def _decimal(kind: pa.DataType) -> Make:
    def form(i: int, r: int) -> Decimal:
        number = (r * 982_451_653 + i) ** 9 % 10**kind.precision
        return Decimal(number if r % 2 else -number).scaleb(-kind.scale, _WIDE)

    return _each(kind, form)


def _word(i: int, r: int) -> str:
    return "" if r % 13 == 0 else f"wörd {r % 50}" if r % 2 else f"{r:x}" * (r % 9)


def _raw(i: int, r: int) -> bytes:
    return _word(i, r).encode() + bytes([r % 256])


def _fixed(width: int) -> Form:
    return lambda i, r: (r * 2_654_435_761).to_bytes(16, "little")[:width].ljust(width, b"\1")


def _category(index: pa.DataType, value: pa.DataType) -> Make:
    def make(rows: int, rng: Rng) -> pa.Array:
        words = pa.array([f"category-{i}" for i in range(12)]).cast(value)
        codes = pa.array(rng.integers(0, 12, rows), mask=rng.random(rows) < 0.1).cast(index)
        return pa.DictionaryArray.from_arrays(codes, words)

    return make


def _extension(kind: pa.DataType, storage: Make) -> Make:
    return lambda rows, rng: pa.ExtensionArray.from_storage(kind, storage(rows, rng))


def _low(rows: int, rng: Rng) -> pa.Array:
    return pa.array(rng.integers(0, 20, rows), mask=rng.random(rows) < 0.1)


DAY = 86_400
FLAT: dict[str, Make] = {
    "null": lambda rows, rng: pa.nulls(rows),
    "bool": _each(pa.bool_(), lambda i, r: r % 3 == 0),
    **{str(k): _number(k) for k in (pa.int8(), pa.int16(), pa.int32(), pa.int64())},
    **{str(k): _number(k) for k in (pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64())},
    "int64_low": _low,
    **{str(k): _float(k) for k in (pa.float16(), pa.float32(), pa.float64())},
    "string": _each(pa.string(), _word),
    "large_string": _each(pa.large_string(), _word),
    "string_view": _each(pa.string_view(), _word),
    "binary": _each(pa.binary(), _raw),
    "large_binary": _each(pa.large_binary(), _raw),
    "binary_view": _each(pa.binary_view(), _raw),
    "fixed_3": _each(pa.binary(3), _fixed(3)),
    "fixed_16": _each(pa.binary(16), _fixed(16)),
    "date32": _number(pa.date32(), -9999, 99_999),
    "date64": lambda rows, rng: FLAT["date32"](rows, rng).cast(pa.date64()),
    "time_s": _number(pa.time32("s"), 0, DAY),
    "time_ms": _number(pa.time32("ms"), 0, DAY * 1000),
    "time_us": _number(pa.time64("us"), 0, DAY * 10**6),
    "time_ns": _number(pa.time64("ns"), 0, DAY * 10**9),
    "stamp_s": _number(pa.timestamp("s"), -(10**9), 10**10),
    "stamp_ms": _number(pa.timestamp("ms"), -(10**12), 10**13),
    "stamp_us_utc": _number(pa.timestamp("us", "UTC"), -(10**15), 10**16),
    "stamp_ns_paris": _number(pa.timestamp("ns", "Europe/Paris"), -(10**18), 10**18),
    "duration_us": _number(pa.duration("us"), -(10**9), 10**9),
    "decimal32": _decimal(pa.decimal32(7, 2)),
    "decimal64": _decimal(pa.decimal64(17, 5)),
    "decimal128": _decimal(pa.decimal128(38, 10)),
    "decimal128_small": _decimal(pa.decimal128(5, 1)),
    "decimal256": _decimal(pa.decimal256(76, 30)),
    "category": _category(pa.int32(), pa.string()),
    "category_int8_large": _category(pa.int8(), pa.large_string()),
    "category_binary": _category(pa.int16(), pa.binary()),
    "uuid": _extension(pa.uuid(), _each(pa.binary(16), _fixed(16))),
    "json": _extension(pa.json_(), _each(pa.string(), lambda i, r: f'{{"k": {r}}}')),
}


# ---- nested ------------------------------------------------------------------------------------


def _struct(**makes: Make) -> Make:
    def make(rows: int, rng: Rng) -> pa.Array:
        children = [one(rows, rng) for one in makes.values()]
        hole = pa.array(rng.random(rows) < 0.15)
        return pa.StructArray.from_arrays(children, list(makes), mask=hole)

    return make


def _offsets(rows: int, rng: Rng) -> pa.Array:
    """Lists of 0 to 4 items; one in seven null."""
    sizes = rng.integers(0, 5, rows)
    hole = rng.random(rows) < 0.14
    sizes[hole] = 0
    ends = np.concatenate(([0], np.cumsum(sizes)))
    return pa.array(ends, mask=np.append(hole, False))


def _list(item: Make, *, large: bool = False) -> Make:
    def make(rows: int, rng: Rng) -> pa.Array:
        offsets = _offsets(rows, rng)
        items = item(int(offsets[rows].as_py()), rng)
        if large:
            return pa.LargeListArray.from_arrays(offsets.cast(pa.int64()), items)
        return pa.ListArray.from_arrays(offsets.cast(pa.int32()), items)

    return make


def _fixed_list(item: Make, size: int) -> Make:
    def make(rows: int, rng: Rng) -> pa.Array:
        hole = pa.array(rng.random(rows) < 0.1)
        return pa.FixedSizeListArray.from_arrays(item(rows * size, rng), size, mask=hole)

    return make


def _map(item: Make) -> Make:
    def make(rows: int, rng: Rng) -> pa.Array:
        offsets = _offsets(rows, rng)
        count = int(offsets[rows].as_py())
        keys = pa.array([f"key {i}" for i in range(count)], pa.string())
        return pa.MapArray.from_arrays(offsets.cast(pa.int32()), keys, item(count, rng))

    return make


def _deep(rows: int, rng: Rng) -> pa.Array:
    point = _struct(x=FLAT["double"], tag=FLAT["category"])
    return _list(_struct(p=point, words=_list(FLAT["string"])))(rows, rng)


NESTED: dict[str, Make] = {
    "struct": _struct(a=FLAT["int32"], b=FLAT["string"], c=_struct(d=FLAT["double"])),
    "struct_views": _struct(a=FLAT["string_view"], b=FLAT["large_string"], c=FLAT["category"]),
    "list": _list(FLAT["int64"]),
    "list_string": _list(FLAT["string"]),
    "large_list": _list(FLAT["large_string"], large=True),
    "list_list": _list(_list(FLAT["stamp_ns_paris"])),
    "list_struct": _list(_struct(x=FLAT["int32"], y=FLAT["string"], z=_list(FLAT["bool"]))),
    "struct_list": _struct(a=_list(FLAT["float"]), b=_list(_list(FLAT["string"])), c=_low),
    "fixed_list": _fixed_list(FLAT["float"], 3),
    "map": _map(FLAT["int32"]),
    "map_struct": _map(_struct(u=FLAT["decimal128"], v=FLAT["uuid"])),
    "struct_map": _struct(m=_map(FLAT["string"]), n=FLAT["date32"]),
    "deep": _deep,
}
COLUMNS: dict[str, Make] = FLAT | NESTED


def column(name: str, rows: int, seed: int = 0) -> pa.Array:
    """The column of that name: the same whenever it is made."""
    return COLUMNS[name](rows, np.random.default_rng([seed, rows, *name.encode()]))


def table(names: list[str], rows: int, seed: int = 0) -> pa.Table:
    """Columns by name, side by side."""
    return pa.table({name: column(name, rows, seed) for name in names})


def wrapped(name: str, rows: int) -> pa.Table:
    """A flat type alone, and below a struct, a list, a struct in a list, and a map."""
    make = FLAT[name]
    ways = {
        "alone": make,
        "in_struct": _struct(before=_low, here=make, after=FLAT["string"]),
        "in_list": _list(make),
        "in_list_struct": _list(_struct(here=make, other=_low)),
        "in_map": _map(make),
    }
    seeds = {way: np.random.default_rng([rows, *f"{name} {way}".encode()]) for way in ways}
    return pa.table({way: one(rows, seeds[way]) for way, one in ways.items()})
