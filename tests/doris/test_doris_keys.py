from __future__ import annotations

import struct
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from doris_cases import CASES, NAMES, Case
from hypothesis import given, settings
from hypothesis import strategies as st

from rangeio.errors import RequestError
from rangeio.formats.doris.encodings.values import Binary, Fixed, Values
from rangeio.formats.doris.keys import KeyColumn, encoded, key, row_keys
from rangeio.formats.doris.types import arrow_type, field_of
from rangeio.formats.doris.values import from_arrow
from rangeio.formats.doris.words import FieldType as F
from rangeio.literal import order_of

NO_KEYS = ("TIMEV2", "JSONB", "HLL")
KEYS = [
    (case, name)
    for case, name in zip(CASES, NAMES, strict=True)
    if case[1] not in NO_KEYS and field_of(case[0], case[1]).field != F.BITMAP
]


def words(values: Values) -> list[bytes]:
    if isinstance(values, Fixed):
        return [one.tobytes() for one in values.data]
    edges = values.offsets.tolist()
    return [values.data[a:b].tobytes() for a, b in pairwise(edges)]


@pytest.mark.parametrize("case", [c for c, _ in KEYS], ids=[n for _, n in KEYS])
@settings(deadline=None, max_examples=40)
@given(data=st.data())
def test_keys_are_in_the_order_of_the_values(case: Case, data: st.DataObject) -> None:
    kind, word, values = case
    rows = data.draw(st.lists(values, min_size=2, max_size=20))
    declared = field_of(kind, word)
    read = arrow_type(declared.field, declared.precision, declared.frac)
    dense, _ = from_arrow(pa.array(rows, kind), declared)
    found = words(encoded(declared.field, dense))
    assert found == [key(declared.field, raw) for raw in words(dense)]
    orders = [order_of(one, read) for one in pa.array(rows, kind).to_pylist()]
    for a, left in zip(orders, found, strict=True):
        for b, right in zip(orders, found, strict=True):
            if a != b or repr(a) == repr(b):  # zeros have two signs, and two keys
                assert (a < b, a == b) == (left < right, left == right)


@pytest.mark.parametrize(
    ("field", "raw", "expected"),
    [
        (F.INT, struct.pack("<i", 1), "80000001"),
        (F.INT, struct.pack("<i", -1), "7fffffff"),
        (F.UINT, struct.pack("<I", 1), "00000001"),
        (F.TINYINT, b"\xff", "7f"),
        (F.BOOL, b"\1", "01"),
        (F.DATE, b"\1\2\3", "030201"),
        (F.DATETIME, struct.pack("<q", 1), "8000000000000001"),
        (F.DATETIMEV2, struct.pack("<Q", 1), "0000000000000001"),
        (F.DECIMAL, struct.pack("<qi", -1, -5), "7fffffffffffffff7ffffffb"),
        (F.FLOAT, struct.pack("<f", 1.0), "bf800000"),
        (F.FLOAT, struct.pack("<f", -1.0), "407fffff"),
        (F.FLOAT, bytes.fromhex("0100c0ff"), "ffc00000"),
        (F.DOUBLE, bytes.fromhex("010000000000f8ff"), "fff8000000000000"),
        (F.VARCHAR, b"ab\0", "616200"),
    ],
)
def test_known_keys(field: F, raw: bytes, expected: str) -> None:
    assert key(field, raw).hex() == expected


def test_the_values_stay_as_they_were() -> None:
    data = np.frombuffer(b"\1\2\3", np.uint8).reshape(3, 1).copy()
    encoded(F.TINYINT, Fixed(data))
    assert data.ravel().tolist() == [1, 2, 3]


@pytest.mark.parametrize("field", [F.JSONB, F.BITMAP, F.TIMEV2, F.ARRAY, 777])
def test_types_that_are_no_keys(field: int) -> None:
    texts = Binary(np.zeros(2, np.int64), np.zeros(0, np.uint8))
    for values in (Fixed(np.zeros((1, 8), np.uint8)), texts):
        with pytest.raises(RequestError, match="no key"):
            encoded(field, values)


def test_row_keys_mark_null_and_cut_strings() -> None:
    numbers, nulls = from_arrow(pa.array([1, None, 3], pa.int8()), field_of(pa.int8()))
    texts, _ = from_arrow(pa.array(["abcdef", "", "xy"]), field_of(pa.string()))
    found = row_keys([KeyColumn(F.TINYINT, numbers, nulls), KeyColumn(F.VARCHAR, texts, size=3)])
    assert found == [b"\2\x81\2abc", b"\1\2", b"\2\x83\2xy"]
