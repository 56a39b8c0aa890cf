"""Tables and filters drawn by hypothesis, and Arrow's word on which rows match."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from hypothesis import strategies as st

Draw = Callable[[st.SearchStrategy[Any]], Any]


# ---- what columns are made of ------------------------------------------------------------------


def _times(kind: pa.DataType, *values: int) -> pa.Array:
    return (
        pa.array(values, pa.int64())
        .cast(pa.int32() if kind.bit_width == 32 else pa.int64())
        .view(kind)
    )


def _integers(kind: pa.DataType) -> pa.Array:
    bits = kind.bit_width
    low = 0 if pa.types.is_unsigned_integer(kind) else -(1 << (bits - 1))
    high = low + (1 << bits) - 1
    return pa.array([low, low + 1, 0, 1, 2, 3, 5, 8, 13, 100, 127, high - 1, high], kind)


FLOATS = [
    float("-inf"),
    -1e30,
    -1.5,
    -0.0,
    0.0,
    1e-30,
    0.5,
    1.0,
    2.5,
    60000.0,
    float("inf"),
    np.nan,
]
HALVES = [one if abs(one) < 65000 or np.isinf(one) or one != one else 5.0 for one in FLOATS]
WORDS = ["", "a", "aa", "ab", "b", "zz", "é", "名前", "a" * 70, "a" * 70 + "b", "\U0010ffff" * 20]
BYTES = [b"", b"\0", b"\0\0", b"a", b"ab", b"\x7f", b"\x80", b"\xff", b"\xff" * 70, b"\xfe" * 70]
NUMBERS = [Decimal(n) / 100 for n in (-99999, -100, -1, 0, 1, 2, 99, 100, 101, 5000, 99999)]
POOLS: dict[str, pa.Array] = {
    **{
        str(k): _integers(k)
        for k in (*(pa.int8(), pa.int32(), pa.int64()), *(pa.uint8(), pa.uint32(), pa.uint64()))
    },
    "half": pa.array(np.array(HALVES, "f2"), from_pandas=False),
    "float": pa.array(np.array(FLOATS, "f4"), from_pandas=False),
    "double": pa.array(np.array(FLOATS, "f8"), from_pandas=False),
    "bool": pa.array([False, True]),
    "string": pa.array(WORDS),
    "large_string": pa.array(WORDS, pa.large_string()),
    "binary": pa.array(BYTES),
    "fixed": pa.array(
        [b"\0\0\0", b"\0\0\1", b"abc", b"abd", b"\x80\0\0", b"\xff\xff\xff"], pa.binary(3)
    ),
    "category": pa.array(WORDS).dictionary_encode(),
    "uuid": pa.ExtensionArray.from_storage(
        pa.uuid(), pa.array([bytes([i] * 16) for i in (0, 1, 127, 128, 255)], pa.binary(16))
    ),
    "day": _times(pa.date32(), -50_000, -1, 0, 1, 2, 20_000, 100_000),
    "date64": _times(pa.date32(), -50_000, -1, 0, 1, 2, 20_000, 100_000).cast(pa.date64()),
    "time_s": _times(pa.time32("s"), 0, 1, 2, 3600, 86_399),
    "time_us": _times(pa.time64("us"), 0, 1, 2, 3600, 86_399_999_999),
    "stamp_s": _times(pa.timestamp("s"), -(10**9), -1, 0, 1, 2, 10**9, 10**10),
    "stamp_ms": _times(pa.timestamp("ms"), -(10**12), -1, 0, 1, 2, 10**12),
    "stamp_us": _times(pa.timestamp("us", "UTC"), -(10**15), -1, 0, 1, 2, 10**15),
    "stamp_ns": _times(pa.timestamp("ns", "Asia/Kolkata"), -(10**18), -1, 0, 1, 2, 10**18),
    "duration": _times(pa.duration("ms"), -(10**9), -1, 0, 1, 2, 10**12),
    "decimal32": pa.array(NUMBERS, pa.decimal32(7, 2)),
    "decimal64": pa.array(NUMBERS, pa.decimal64(12, 2)),
    "decimal128": pa.array(NUMBERS, pa.decimal128(30, 2)),
    "decimal128_small": pa.array(NUMBERS, pa.decimal128(8, 2)),
    "decimal256": pa.array(NUMBERS, pa.decimal256(60, 2)),
}
KINDS = sorted(POOLS)
BELOW = [kind for kind in KINDS if kind != "category"]
"""What pyarrow reads below a struct in several row groups."""


@st.composite
def columns(draw: Draw, rows: int, kinds: Sequence[str] = KINDS) -> tuple[str, pa.Array]:
    """A kind and a column of it: values of its pool and nulls, at times sorted."""
    kind = draw(st.sampled_from(kinds))
    pool = POOLS[kind]
    raw = np.frombuffer(draw(st.binary(min_size=rows, max_size=rows)), "u1")
    most = draw(st.integers(1, len(pool)))
    picks = raw % (most + draw(st.sampled_from([0, 1])))
    if draw(st.booleans()):
        picks = np.sort(picks)
    return kind, pool.take(pa.array(picks, mask=picks >= most))


@st.composite
def tables(draw: Draw) -> pa.Table:
    """Up to three columns, and at times a struct of two."""
    rows = draw(st.sampled_from([0, 1, 7, *range(20, 91, 10)]))
    made = [draw(columns(rows)) for _ in range(draw(st.integers(1, 3)))]
    content = {f"c{i} {kind}": array for i, (kind, array) in enumerate(made)}
    if draw(st.booleans()):
        (one, first), (two, second) = draw(columns(rows, BELOW)), draw(columns(rows, BELOW))
        hole = pa.array(np.frombuffer(draw(st.binary(min_size=rows, max_size=rows)), "u1") > 200)
        struct = pa.StructArray.from_arrays([first, second], [f"x {one}", f"y {two}"], mask=hole)
        content["s"] = struct
    return pa.table(content)


@st.composite
def layouts(draw: Draw, content: pa.Table) -> dict[str, Any]:
    """Options of pyarrow's writer: several row groups, small pages, statistics, filters."""
    options: dict[str, Any] = {
        "row_group_size": draw(st.integers(5, 50)),
        "max_rows_per_page": draw(st.integers(1, 12)),
        "write_page_index": draw(st.sampled_from([True, True, False])),
        "write_statistics": draw(st.sampled_from([True, True, True, False])),
        "use_dictionary": draw(st.booleans()),
        "store_decimal_as_integer": draw(st.booleans()),
        "data_page_version": draw(st.sampled_from(["1.0", "2.0"])),
    }
    if draw(st.booleans()):
        flat = [f.name for f in content.schema if not f.name.endswith("bool") and f.name != "s"]
        options["bloom_filter_options"] = {name: {"ndv": 50, "fpp": 0.01} for name in flat}
    return options


# ---- conditions --------------------------------------------------------------------------------

COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "==": pc.equal,
    "!=": pc.not_equal,
    "<": pc.less,
    "<=": pc.less_equal,
    ">": pc.greater,
    ">=": pc.greater_equal,
}
OPERATORS = dict(
    zip(
        COMPARISONS,
        (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge),
        strict=True,
    )
)


@dataclass(frozen=True)
class Asked:
    """One condition: a column by its path, a word, and values of the column's own type."""

    path: tuple[str, ...]
    word: str
    values: pa.Array

    def triple(self) -> tuple[Any, ...]:
        """As rangeio's and pyarrow's lists have it."""
        column = self.path[0] if len(self.path) == 1 else self.path
        if "null" in self.word:
            return column, self.word
        stored = self.values.storage if _extended(self.values) else self.values
        values = [stored[i] for i in range(len(stored))]
        return column, self.word, values if "in" in self.word else values[0]

    def expression(self) -> pc.Expression:
        """As Arrow has it; of types that Arrow compares by itself."""
        field = pc.field(*self.path)
        if "null" in self.word:
            return field.is_null() if self.word == "is null" else field.is_valid()
        if "in" in self.word:
            found = field.isin(self.values)
            return found if self.word == "in" else ~found & field.is_valid()
        return OPERATORS[self.word](field, pc.scalar(self.values[0]))

    def mask(self, content: pa.Table) -> pa.Array:
        """Which rows of a table match, null where Arrow does not know."""
        array = plain(reached(content, self.path))
        if "null" in self.word:
            return array.is_null() if self.word == "is null" else array.is_valid()
        values = plain(self.values)
        if "in" in self.word:
            found = pc.is_in(array, values)
            if self.word == "not in":
                found = pc.invert(found)
            return pc.and_(found, array.is_valid())
        return COMPARISONS[self.word](array, values[0])


def reached(content: pa.Table, path: tuple[str, ...]) -> pa.Array:
    """The column at the end of a path; null where a struct above it is."""
    array = content.column(path[0]).combine_chunks()
    if isinstance(array, pa.ChunkedArray):  # Arrow combines no chunks of none
        array = array.chunk(0) if array.num_chunks else pa.nulls(0, array.type)
    return array if len(path) == 1 else pc.struct_field(array, path[1])


def _extended(array: pa.Array) -> bool:
    return isinstance(array, pa.ExtensionArray)


def plain(array: pa.Array) -> pa.Array:
    """The same values in a type that Arrow compares."""
    if _extended(array):
        array = array.storage
    kind = array.type
    if pa.types.is_dictionary(kind):
        return array.dictionary_decode()
    if pa.types.is_float16(kind):
        return array.cast(pa.float32())
    if pa.types.is_decimal32(kind) or pa.types.is_decimal64(kind):
        return array.cast(pa.decimal128(kind.precision, kind.scale))
    return array


@st.composite
def conditions(draw: Draw, content: pa.Table) -> Asked:
    """A condition on one column of ``content``, the table as it is read."""
    paths: list[tuple[str, ...]] = [(n,) for n in content.column_names if n != "s"]
    if "s" in content.column_names:
        paths += [("s", field.name) for field in content.schema.field("s").type]
    path = draw(st.sampled_from(paths))
    kind = path[-1].split(" ")[1]
    words = [*COMPARISONS, *COMPARISONS, "in", "not in", "is null", "is not null"]
    word = draw(st.sampled_from(words))
    picks = st.integers(0, len(POOLS[kind]) - 1)
    chosen = draw(st.lists(picks, min_size=1, max_size=3 if word.endswith("in") else 1))
    values = POOLS[kind].take(pa.array(chosen))
    return Asked(path, word, values.cast(reached(content.slice(0, 0), path).type))


Group = Sequence[Asked]


@st.composite
def filters(draw: Draw, content: pa.Table) -> list[Group]:
    """Lists of conditions, any of which is to match as a whole."""
    group = st.lists(conditions(content), min_size=1, max_size=3)
    return draw(st.lists(group, min_size=1, max_size=3))


def mask(groups: Sequence[Group], content: pa.Table) -> np.ndarray:
    """Which rows match, by Arrow's evaluation of every condition."""
    if not content.num_rows:
        return np.zeros(0, bool)
    wanted = None
    for group in groups:
        every = None
        for one in group:
            found = one.mask(content)
            every = found if every is None else pc.and_kleene(every, found)
        wanted = every if wanted is None else pc.or_kleene(wanted, every)
    return np.asarray(pc.fill_null(wanted, False).to_numpy(zero_copy_only=False), bool)


def expressible(groups: Sequence[Group]) -> bool:
    """Whether Arrow compares all types of the conditions without help."""
    kinds = [one.values.type for group in groups for one in group]
    return not any(
        pa.types.is_dictionary(k)
        or pa.types.is_float16(k)
        or pa.types.is_decimal32(k)
        or pa.types.is_decimal64(k)
        or isinstance(k, pa.BaseExtensionType)
        for k in kinds
    )
