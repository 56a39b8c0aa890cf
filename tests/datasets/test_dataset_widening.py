"""Types that hold all values of others, proven by casting there and back; and those that do not."""

from __future__ import annotations

import itertools
import math
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rangeio.datasets.evolving.reshaping import Cast
from rangeio.datasets.evolving.widening import clash, common, fits


def integers(kind: pa.DataType) -> list[int]:
    low = 0 if pa.types.is_unsigned_integer(kind) else -(1 << (kind.bit_width - 1))
    return [low, low + 1, 0, 1, low + (1 << kind.bit_width) - 2, low + (1 << kind.bit_width) - 1]


def floats(kind: pa.DataType) -> list[float]:
    numpy = kind.to_pandas_dtype()
    about = np.finfo(numpy)
    ends = [about.max, about.min, about.tiny, about.smallest_subnormal, -0.0, 0.0, 1 / 3]
    return [*(float(numpy(one)) for one in ends), math.inf, -math.inf, math.nan]


def decimals(kind: pa.DataType) -> list[Decimal]:
    nines = Decimal((0, (9,) * kind.precision, -kind.scale))
    least = Decimal((0, (1,), -kind.scale))
    return [nines, nines.copy_negate(), least, least.copy_negate(), Decimal(0).scaleb(-kind.scale)]


INTS = [getattr(pa, f"{sign}int{bits}")() for sign in ("", "u") for bits in (8, 16, 32, 64)]
FLOATS = [pa.float16(), pa.float32(), pa.float64()]
DECIMALS = [
    pa.decimal32(9, 0),
    pa.decimal32(5, 5),
    pa.decimal64(18, 3),
    pa.decimal128(12, 5),
    pa.decimal128(38, 10),
    pa.decimal256(76, 38),
    pa.decimal256(40, 0),
]
STRINGS = [pa.string(), pa.large_string(), pa.string_view()]
BYTES = [pa.binary(), pa.large_binary(), pa.binary_view()]
DATES = [pa.date32(), pa.date64(), pa.timestamp("s"), pa.timestamp("ms"), pa.timestamp("ns")]
ZONED = [pa.timestamp(unit, "UTC") for unit in ("s", "ms", "us", "ns")]
TIMES = [pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns")]
SPANS = [pa.duration(unit) for unit in ("s", "ms", "us", "ns")]
CODED = [pa.dictionary(pa.int8(), pa.string()), pa.dictionary(pa.int32(), pa.int16())]
OTHERS = [pa.bool_(), pa.null(), pa.binary(4), pa.timestamp("us", "Europe/Oslo"), pa.uuid()]
ALL = [*INTS, *FLOATS, *DECIMALS, *STRINGS, *BYTES, *DATES, *ZONED, *TIMES, *SPANS, *CODED, *OTHERS]


def edges(kind: pa.DataType) -> pa.Array:
    """The extremes of a type, and a null; of times those that all finer units hold."""
    if kind in CODED:
        return edges(kind.value_type).dictionary_encode().cast(kind)
    if pa.types.is_integer(kind):
        found = integers(kind)
    elif pa.types.is_floating(kind):
        found = floats(kind)
    elif pa.types.is_decimal(kind):
        found = decimals(kind)
    elif pa.types.is_date32(kind):
        return pa.array([-(10**5), 0, 10**5, None], kind)
    elif pa.types.is_date64(kind):
        return pa.array([-(10**5) * 86_400_000, 0, 86_400_000, None], kind)
    elif pa.types.is_time(kind):
        second = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[kind.unit]
        return (
            pa.array([0, 1, 86_400 * second - 1, None], pa.int64())
            .cast(pa.int32() if kind.bit_width == 32 else pa.int64())
            .cast(kind)
        )
    elif pa.types.is_timestamp(kind) or pa.types.is_duration(kind):
        most = (1 << 63) - 1
        scale = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}[kind.unit]
        return pa.array([-(most // scale), -1, 0, most // scale, None], pa.int64()).cast(kind)
    elif kind in STRINGS:
        found = ["", "a", "longer than twelve bytes", "\U0010ffff"]
    elif kind in BYTES:
        found = [b"", b"\x00\xff", b"longer than twelve bytes"]
    else:
        found = {pa.bool_(): [True, False], pa.binary(4): [b"\x00\xff\x00\xff"]}.get(kind, [])
        if kind == pa.uuid():
            return pa.ExtensionArray.from_storage(kind, pa.array([None], pa.binary(16)))
    return pa.array([*found, None], kind)


PAIRS = list(itertools.permutations(ALL, 2))
WIDENED = [(kind, wider) for kind, wider in PAIRS if kind != pa.null() and fits(kind, wider)]


@pytest.mark.parametrize(("kind", "wider"), WIDENED, ids=lambda kind: str(kind))
def test_casting_back_gives_what_was_there(kind, wider):
    before = edges(kind)
    after = Cast(wider, "a").apply(before)
    assert after.type == wider
    after.validate(full=True)
    if pa.types.is_decimal(kind):  # Arrow refuses to cast some back that it could
        assert after.to_pylist() == before.to_pylist()
        return
    back = after.cast(kind.value_type if pa.types.is_dictionary(kind) else kind)
    whole = before.dictionary_decode() if pa.types.is_dictionary(kind) else before
    assert [repr(one) for one in back.to_pylist()] == [repr(one) for one in whole.to_pylist()]


@pytest.mark.parametrize(("kind", "wider"), WIDENED, ids=lambda kind: str(kind))
def test_a_type_and_a_wider_one_have_the_wider_one_in_common(kind, wider):
    found = common([kind, wider])
    assert found is not None
    assert fits(kind, found)
    assert fits(wider, found)
    assert found == common([wider, kind]) == common([wider, kind, wider])


def names(kinds):
    return {str(one) for one in kinds}


@pytest.mark.parametrize(
    ("kind", "wider"),
    [
        (pa.int8(), {"int16", "int32", "int64", "float", "double"}),
        (pa.int16(), {"int32", "int64", "float", "double"}),
        (pa.int32(), {"int64", "double"}),
        (pa.int64(), set()),
        (pa.uint8(), {"uint16", "uint32", "uint64", "int16", "int32", "int64", "float", "double"}),
        (pa.uint32(), {"uint64", "int64", "double"}),
        (pa.uint64(), set()),
        (pa.float16(), {"float", "double"}),
        (pa.float32(), {"double"}),
        (pa.float64(), set()),
        (pa.string(), {"large_string", "string_view"}),
        (pa.large_string(), {"string_view"}),
        (pa.binary(), {"large_binary", "binary_view"}),
        (pa.date32(), {"date64[ms]", "timestamp[s]", "timestamp[ms]", "timestamp[ns]"}),
        (pa.date64(), set()),
        (pa.time32("s"), {"time32[ms]", "time64[us]", "time64[ns]"}),
        (pa.timestamp("ns"), set()),
        (pa.timestamp("ms", "UTC"), {"timestamp[us, tz=UTC]", "timestamp[ns, tz=UTC]"}),
        (pa.duration("us"), {"duration[ns]"}),
        (pa.bool_(), set()),
        (pa.binary(4), set()),
        (pa.uuid(), set()),
        (CODED[0], names(STRINGS)),
        (CODED[1], {"int16", "int32", "int64", "float", "double"}),
    ],
    ids=lambda one: str(sorted(one) if isinstance(one, (set, frozenset)) else one),
)
def test_what_a_type_fits_into(kind, wider):
    assert names(one for one in ALL if one != kind and fits(kind, one)) == wider


def test_a_null_fits_all_and_nothing_fits_it():
    assert all(fits(pa.null(), kind) for kind in ALL)
    assert not any(fits(kind, pa.null()) for kind in ALL if kind != pa.null())


@pytest.mark.parametrize(
    ("kinds", "found"),
    [
        ([pa.uint8(), pa.int8()], pa.int16()),
        ([pa.uint32(), pa.int8()], pa.int64()),
        ([pa.uint64(), pa.int8()], None),
        ([pa.int16(), pa.uint16(), pa.float32()], pa.float32()),
        ([pa.int32(), pa.float32()], pa.float64()),
        ([pa.int32(), pa.uint32(), pa.float32()], pa.float64()),
        ([pa.int64(), pa.float64()], None),
        ([pa.int8(), pa.float16()], pa.float32()),
        ([pa.decimal128(10, 2), pa.decimal128(12, 6)], pa.decimal128(14, 6)),
        ([pa.decimal32(9, 0), pa.decimal32(9, 9)], pa.decimal64(18, 9)),
        ([pa.decimal128(38, 0), pa.decimal128(38, 38)], pa.decimal256(76, 38)),
        ([pa.decimal256(76, 0), pa.decimal256(76, 1)], None),
        ([pa.decimal128(5, 2), pa.decimal256(5, 2)], pa.decimal256(5, 2)),
        ([pa.decimal128(5, 2), pa.float64()], None),
        ([pa.string(), pa.string_view()], pa.string()),
        ([pa.string_view(), pa.large_string()], pa.large_string()),
        ([pa.binary(), pa.large_binary(), pa.binary_view()], pa.large_binary()),
        ([pa.string(), pa.binary()], None),
        ([pa.binary(4), pa.binary()], None),
        ([pa.binary(4), pa.binary(5)], None),
        ([pa.timestamp("s"), pa.timestamp("ns"), pa.date32()], pa.timestamp("ns")),
        ([pa.timestamp("s"), pa.timestamp("s", "UTC")], None),
        ([pa.timestamp("s", "UTC"), pa.timestamp("s", "+00:00")], None),
        ([pa.date32(), pa.timestamp("s", "UTC")], None),
        ([pa.date64(), pa.timestamp("ms")], None),
        ([pa.time32("ms"), pa.time64("us")], pa.time64("us")),
        ([CODED[0], pa.dictionary(pa.int32(), pa.large_string())], pa.large_string()),
        ([CODED[0], pa.string()], pa.string()),
        ([CODED[0], CODED[0]], CODED[0]),
        ([CODED[0], CODED[1]], None),
        ([pa.null(), pa.null()], pa.null()),
        ([pa.null(), CODED[0], pa.null()], CODED[0]),
        ([pa.bool_(), pa.int8()], None),
    ],
    ids=str,
)
def test_the_type_in_common(kinds, found):
    for order in itertools.permutations(kinds):
        assert common(order) == found


@given(st.lists(st.sampled_from(ALL), min_size=1, max_size=5))
def test_the_type_in_common_holds_all_and_does_not_depend_on_their_order(kinds):
    found = common(kinds)
    assert found == common(kinds[::-1]) == common([*kinds, *kinds])
    if found is not None:
        assert all(fits(kind, found) for kind in kinds)
        return
    one, other = clash(kinds)
    assert one < other
    assert common(kinds[:other]) is not None
    assert common(kinds[: other + 1]) is None
