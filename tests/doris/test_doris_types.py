from __future__ import annotations

import pyarrow as pa
import pytest

from rangeio.errors import Corrupt, RequestError, Unsupported
from rangeio.formats.doris.types import Declared, arrow_type, field_of, is_text, metadata, size_of
from rangeio.formats.doris.words import FieldType as F

NESTED = (F.STRUCT, F.ARRAY, F.MAP)
SCALAR = [one for one in F if one not in (*NESTED, F.UNKNOWN, F.NONE)]
OPAQUE = (F.HLL, F.BITMAP, F.QUANTILE_STATE, F.JSONB, F.VARIANT, F.AGG_STATE)


@pytest.mark.parametrize("field", SCALAR, ids=lambda one: one.name)
def test_scalar_types_find_themselves_again(field: F) -> None:
    kind = arrow_type(field, 7, 2)
    words = metadata(field, 7, 2, 22)
    if field in (F.VARIANT, F.AGG_STATE):
        assert words == {}
        return
    assert field_of(kind, words.get(b"doris.type", b"")).field is field


@pytest.mark.parametrize("field", OPAQUE, ids=lambda one: one.name)
def test_opaque_types_are_bytes(field: F) -> None:
    assert arrow_type(field) == pa.binary()
    assert size_of(field) == 0


def test_types_that_are_not_known_are_bytes() -> None:
    assert arrow_type(777) == pa.binary()
    assert size_of(777) == 0
    assert metadata(777) == {}
    assert not is_text(777)


def test_sizes() -> None:
    sizes = {F.DATE: 3, F.DECIMAL: 12, F.LARGEINT: 16, F.DECIMAL256: 32, F.IPV6: 16, F.CHAR: 0}
    assert {field: size_of(field) for field in sizes} == sizes


@pytest.mark.parametrize("field", NESTED, ids=lambda one: one.name)
def test_nested_types_have_no_values(field: F) -> None:
    with pytest.raises(Corrupt):
        size_of(field)
    with pytest.raises(Unsupported):
        arrow_type(field)
    assert metadata(field) == {}


@pytest.mark.parametrize(
    ("field", "precision", "frac"),
    [
        *((F.DECIMAL32, 10, 0), (F.DECIMAL64, 0, 0), (F.DECIMAL128I, 39, 2)),
        *((F.DECIMAL256, 5, 6), (F.DECIMAL32, 5, -1), (F.DECIMAL256, 77, 0), (F.DECIMAL64, -3, 0)),
    ],
)
def test_impossible_digits_are_corrupt(field: F, precision: int, frac: int) -> None:
    with pytest.raises(Corrupt):
        arrow_type(field, precision, frac)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (pa.uint32(), Declared(F.UINT, length=4)),
        (pa.float16(), Declared(F.FLOAT, length=4)),
        (pa.date64(), Declared(F.DATEV2, length=4)),
        (pa.timestamp("s"), Declared(F.DATETIMEV2, length=8)),
        (pa.timestamp("ns"), Declared(F.DATETIMEV2, frac=6, length=8)),
        (pa.timestamp("ms", "Asia/Tokyo"), Declared(F.TIMESTAMPTZ, frac=3, length=8)),
        (pa.decimal128(9, 4), Declared(F.DECIMAL32, 9, 4, 4)),
        (pa.decimal128(10, 4), Declared(F.DECIMAL64, 10, 4, 8)),
        (pa.decimal128(38, 0), Declared(F.DECIMAL128I, 38, 0, 16)),
        (pa.decimal256(5, 0), Declared(F.DECIMAL256, 5, 0, 32)),
        (pa.large_string(), Declared(F.STRING, length=2**31 - 1)),
        (pa.string_view(), Declared(F.STRING, length=2**31 - 1)),
        (pa.binary(16), Declared(F.BITMAP, length=2**31 - 1)),
        (pa.dictionary(pa.int8(), pa.string()), Declared(F.STRING, length=2**31 - 1)),
        (pa.list_(pa.int8()), Declared(F.ARRAY, length=65535)),
        (pa.large_list(pa.int8()), Declared(F.ARRAY, length=65535)),
        (pa.map_(pa.string(), pa.int8()), Declared(F.MAP, length=65535)),
        (pa.struct([("a", pa.int8())]), Declared(F.STRUCT, length=65535)),
    ],
    ids=str,
)
def test_arrow_types_have_doris_types(kind: pa.DataType, expected: Declared) -> None:
    assert field_of(kind) == expected


@pytest.mark.parametrize(
    "kind",
    [
        *(pa.null(), pa.time64("us"), pa.duration("s"), pa.month_day_nano_interval()),
        *(pa.decimal128(5, -2), pa.decimal128(3, 5)),
    ],
    ids=str,
)
def test_what_has_no_doris_type_is_named(kind: pa.DataType) -> None:
    with pytest.raises(RequestError, match="Doris"):
        field_of(kind)


@pytest.mark.parametrize(
    ("kind", "word", "expected"),
    [
        (pa.string(), "CHAR(10)", Declared(F.CHAR, length=10)),
        (pa.string(), " varchar(20) ", Declared(F.VARCHAR, length=22)),
        (pa.large_string(), "VARCHAR", Declared(F.VARCHAR, length=65535)),
        (pa.string(), "STRING", Declared(F.STRING, length=2**31 - 1)),
        (pa.decimal256(39, 0), "LARGEINT", Declared(F.LARGEINT, length=16)),
        (pa.decimal128(20, 0), "LARGEINT", Declared(F.LARGEINT, length=16)),
        (pa.decimal128(9, 2), "DECIMAL64", Declared(F.DECIMAL64, 9, 2, 8)),
        (pa.decimal128(9, 2), "DECIMAL", Declared(F.DECIMAL, 27, 9, 12)),
        (pa.timestamp("ns"), "DATETIME", Declared(F.DATETIME, length=8)),
        (pa.uint32(), "IPV4", Declared(F.IPV4, length=4)),
        (pa.binary(16), "IPV6", Declared(F.IPV6, length=16)),
        (pa.binary(), "JSONB", Declared(F.JSONB, length=2**31 - 1)),
    ],
)
def test_types_by_name(kind: pa.DataType, word: str, expected: Declared) -> None:
    assert field_of(kind, word) == expected
    assert field_of(kind, word.encode()) == expected


@pytest.mark.parametrize(
    ("kind", "word"),
    [
        (pa.string(), "CHAR"),
        (pa.string(), "CHAR(0)"),
        (pa.string(), "CHAR(256)"),
        (pa.string(), "VARCHAR(65534)"),
        (pa.string(), "STRING(4)"),
        (pa.int32(), "CHAR(4)"),
        (pa.int32(), "INT(4)"),
        (pa.int64(), "INT"),
        (pa.int64(), "LARGEINT"),
        (pa.decimal128(20, 2), "LARGEINT"),
        (pa.decimal128(27, 10), "DECIMAL"),
        (pa.decimal128(10, 0), "DECIMAL32"),
        (pa.timestamp("us", "UTC"), "DATETIMEV2"),
        (pa.timestamp("us"), "TIMESTAMPTZ"),
        (pa.binary(15), "IPV6"),
        (pa.string(), "JSONB"),
        (pa.string(), "NO_TYPE"),
        (pa.string(), "\N{SNOWMAN}"),
    ],
)
def test_types_that_cannot_hold_the_values(kind: pa.DataType, word: str) -> None:
    with pytest.raises(RequestError):
        field_of(kind, word)


def test_a_word_that_is_not_utf8() -> None:
    with pytest.raises(RequestError):
        field_of(pa.string(), b"\xff\xfe")
