"""Arrow's types as Spark's, and what Spark takes batches in."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from inspect import signature

import pyarrow as pa
import pyspark.sql.types as st
from pyspark.sql.pandas.types import to_arrow_schema

from rangeio.errors import RequestError
from rangeio.spark.widening import misfit

ROW_METADATA = b"org.apache.spark.sql.parquet.row.metadata"
"""Where Spark notes its own schema in a Parquet file."""

OURS = "rangeio."
"""What begins so in the metadata of a column is said to the Java half, of one read alone."""

_SPARKS = "__CHAR_VARCHAR_TYPE_STRING"
"""What a table's column is padded or checked to; Spark's own sources read such files as text."""

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

    Where Spark wrote the files, what it noted counts: comments and other metadata, and the types
    that hold what is there, for it keeps intervals as numbers. Of the columns ``without``, of which
    a part is read, no type is noted. Raises RequestError, with the column, for a type that Spark
    has not, and for variants that are shredded.
    """
    noted = {one.name: one for one in _noted(arrow.metadata or {})}
    fields = []
    for field in arrow:
        one = noted.get(field.name)
        kind = None if one is None or field.name in without else _told(one, field)
        kind = spark_type(field.type, field.name) if kind is None else kind
        told = None if one is None else one.metadata
        fields.append(_optioned(st.StructField(field.name, kind, True, told)))
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
        return st.StructType([_optioned(one) for one in kind])
    if isinstance(kind, st.ArrayType):
        return st.ArrayType(nullable(kind.elementType))
    if isinstance(kind, st.MapType):
        return st.MapType(nullable(kind.keyType), nullable(kind.valueType))
    return kind


def _optioned(field: st.StructField) -> st.StructField:
    """The field, of which everything may be null, with what is said of it for every read."""
    told = field.metadata or {}
    kept = {k: v for k, v in told.items() if not k.startswith(OURS) and k != _SPARKS}
    return st.StructField(field.name, nullable(field.dataType), True, kept)


def _told(noted: st.StructField, field: pa.Field) -> st.DataType | None:
    """The type that Spark noted, where it holds what is there: others may have rewritten the file
    since, and of several files it is that of one. Raises RequestError for a shredded variant."""
    (asked,) = arrow_schema(st.StructType([noted]))
    found = misfit(field.type, asked.type, field.name)
    if found is not None and found.shredded:
        raise RequestError(f"{found}; or name the other columns in the option columns")
    return noted.dataType if found is None else None


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


def _noted(metadata: Mapping[bytes, bytes]) -> Iterator[st.StructField]:
    """The columns that Spark itself noted in a file."""
    try:
        found = json.loads(metadata.get(ROW_METADATA, b"{}"))
        fields = found.get("fields", []) if isinstance(found, dict) else []
        for field in fields:
            # A type of the user's own would import what the file names.
            if '"udt"' not in json.dumps(field):
                yield st.StructField.fromJson(field)
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
