"""Arrow's types as Spark's, and what Spark takes batches in."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from inspect import signature

import pyarrow as pa
import pyspark.sql.types as st
from pyspark.sql.pandas.types import to_arrow_schema

from rangeio.errors import RequestError

ROW_METADATA = b"org.apache.spark.sql.parquet.row.metadata"
"""Where Spark notes its own schema in a Parquet file."""

_DIGITS = 38
_SIMPLE: dict[pa.DataType, st.DataType] = {
    pa.null(): st.NullType(),
    pa.bool_(): st.BooleanType(),
    pa.int8(): st.ByteType(),
    pa.int16(): st.ShortType(),
    pa.int32(): st.IntegerType(),
    pa.int64(): st.LongType(),
    pa.uint8(): st.ShortType(),
    pa.uint16(): st.IntegerType(),
    pa.uint32(): st.LongType(),
    pa.uint64(): st.DecimalType(20, 0),
    pa.float16(): st.FloatType(),
    pa.float32(): st.FloatType(),
    pa.float64(): st.DoubleType(),
    pa.string(): st.StringType(),
    pa.large_string(): st.StringType(),
    pa.string_view(): st.StringType(),
    pa.binary(): st.BinaryType(),
    pa.large_binary(): st.BinaryType(),
    pa.binary_view(): st.BinaryType(),
    pa.date32(): st.DateType(),
    pa.date64(): st.DateType(),
}


def spark_schema(arrow: pa.Schema, without: Collection[str] = ()) -> st.StructType:
    """Spark's schema for these columns; all may be null, as of any files in Spark.

    Where Spark wrote the files, the types that it noted count, except of the columns ``without``:
    it keeps intervals as numbers. Raises RequestError, with the column, for a type it has not.
    """
    found = _noted(arrow.metadata or {})
    noted = {name: kind for name, kind in found if name not in without}
    fields = []
    for field in arrow:
        kind = spark_type(field.type, field.name)
        fields.append(st.StructField(field.name, nullable(noted.get(field.name, kind))))
    made = st.StructType(fields)
    arrow_schema(made)
    return made


def spark_type(kind: pa.DataType, name: str) -> st.DataType:
    """Spark's type for one of Arrow's: wider where there is none as wide. name: for errors."""
    simple = _SIMPLE.get(kind)
    if simple is not None:
        return simple
    if pa.types.is_decimal(kind):
        return _decimal(kind, name)
    if pa.types.is_timestamp(kind):
        return st.TimestampNTZType() if kind.tz is None else st.TimestampType()
    if pa.types.is_time(kind) and hasattr(st, "TimeType"):
        return st.TimeType(6)
    if pa.types.is_duration(kind):
        return st.DayTimeIntervalType()
    if pa.types.is_fixed_size_binary(kind):
        return st.BinaryType()
    return _nested(kind, name)


def arrow_schema(schema: st.StructType) -> pa.Schema:
    """What Spark wants the batches of a schema to be, to the letter. Raises RequestError."""
    for field in schema:
        if any(isinstance(one, st.YearMonthIntervalType) for one in _walk(field.dataType)):
            raise _refused(field.name, "an interval of months", "Spark takes none from Python")
    # Spark 4.0 knows no other zone than this one, and takes none.
    zone = {"timezone": "UTC"} if "timezone" in signature(to_arrow_schema).parameters else {}
    found: pa.Schema = to_arrow_schema(schema, **zone)  # type: ignore[arg-type]
    return found


def optional(schema: pa.Schema) -> pa.Schema:
    """Of which everything may be null but the keys of maps: below a null all is."""
    return pa.schema([_optional(field) for field in schema])


def _optional(field: pa.Field) -> pa.Field:
    return pa.field(field.name, _inner(field.type))


def _inner(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_struct(kind):
        return pa.struct([_optional(one) for one in kind])
    if pa.types.is_map(kind):
        return pa.map_(_inner(kind.key_type), _inner(kind.item_type))
    return pa.list_(_inner(kind.value_type)) if pa.types.is_list(kind) else kind


def nullable(kind: st.DataType) -> st.DataType:
    """The type, of which everything may be null."""
    if isinstance(kind, st.StructType):
        return st.StructType([st.StructField(f.name, nullable(f.dataType)) for f in kind])
    if isinstance(kind, st.ArrayType):
        return st.ArrayType(nullable(kind.elementType))
    if isinstance(kind, st.MapType):
        return st.MapType(nullable(kind.keyType), nullable(kind.valueType))
    return kind


def _decimal(kind: pa.DataType, name: str) -> st.DataType:
    if kind.precision > _DIGITS or not 0 <= kind.scale <= kind.precision:
        raise _refused(name, str(kind), f"Spark's decimals have at most {_DIGITS} digits")
    return st.DecimalType(kind.precision, kind.scale)


def _nested(kind: pa.DataType, name: str) -> st.DataType:
    if pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
        return spark_type(kind.value_type, name)
    if isinstance(kind, pa.BaseExtensionType):
        return spark_type(kind.storage_type, name)
    if pa.types.is_map(kind):
        return st.MapType(spark_type(kind.key_type, name), spark_type(kind.item_type, name))
    if pa.types.is_struct(kind):
        inner = [(one.name, spark_type(one.type, f"{name}.{one.name}")) for one in kind]
        return st.StructType([st.StructField(*one) for one in inner])
    if hasattr(kind, "value_type"):  # lists of all kinds
        return st.ArrayType(spark_type(kind.value_type, name))
    raise _refused(name, str(kind), "Spark has no such type")


def _refused(name: str, kind: str, why: str) -> RequestError:
    return RequestError(
        f"column {name!r} is {kind}: {why}; name the others in the option columns, "
        "or give a schema without it"
    )


def _noted(metadata: Mapping[bytes, bytes]) -> Iterator[tuple[str, st.DataType]]:
    """The columns that Spark itself noted in a file."""
    try:
        found = json.loads(metadata.get(ROW_METADATA, b"{}"))
        fields = found.get("fields", []) if isinstance(found, dict) else []
        for field in fields:
            # A type of the user's own would import what the file names.
            if '"udt"' not in json.dumps(field):
                one = st.StructField.fromJson(field)
                yield one.name, one.dataType
    except (ValueError, TypeError, KeyError, AttributeError):
        return  # what else wrote it; Arrow's types are good enough


def _walk(kind: st.DataType) -> Iterator[st.DataType]:
    yield kind
    if isinstance(kind, st.StructType):
        for field in kind:
            yield from _walk(field.dataType)
    elif isinstance(kind, st.ArrayType):
        yield from _walk(kind.elementType)
    elif isinstance(kind, st.MapType):
        yield from _walk(kind.keyType)
        yield from _walk(kind.valueType)
