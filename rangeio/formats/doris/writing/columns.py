"""Arrow fields as columns to write."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pyarrow as pa

from rangeio.errors import RequestError
from rangeio.formats.doris.types import METADATA_TYPE, Declared, field_of, size_of
from rangeio.formats.doris.words import Encoding, FieldType
from rangeio.formats.doris.writing.choice import named
from rangeio.formats.doris.writing.column import About, ColumnWriter, Setup, Wanted
from rangeio.formats.doris.writing.leaf import Leaf
from rangeio.formats.doris.writing.nested import Repeated, Struct
from rangeio.literal import plain

UNIQUE_ID = b"unique_id"
_LISTS = frozenset({FieldType.ARRAY, FieldType.MAP})
_MOST_ID = (1 << 31) - 1


@dataclass(frozen=True, slots=True)
class Asked:
    """What was asked for one top-level column."""

    encoding: Encoding | None = None
    zone_maps: bool = False
    blooms: bool = False


def declared_of(field: pa.Field, name: str) -> Declared:
    """The Doris type of a field; RequestError names the field that has none."""
    try:
        if is_list_view(field.type):
            return field_of(pa.list_(field.type.value_field))
        return field_of(field.type, (field.metadata or {}).get(METADATA_TYPE, b""))
    except RequestError as error:
        raise RequestError(f"{name!r}: {error.reason}") from None


def is_list_view(kind: pa.DataType) -> bool:
    """Whether the type is one of Arrow's views of lists."""
    return bool(pa.types.is_list_view(kind) or pa.types.is_large_list_view(kind))


def unique_id_of(field: pa.Field, position: int) -> int:
    """The id that the field declares, else its position."""
    word = (field.metadata or {}).get(UNIQUE_ID)
    if word is None:
        return position
    text = word.decode(errors="replace")
    if not (text.isascii() and text.isdecimal() and len(text) < 11 and int(text) <= _MOST_ID):
        raise RequestError(f"the unique_id of {field.name!r} is no whole number: {text!r}")
    return int(text)


def writer_of(field: pa.Field, about: About, setup: Setup, asked: Asked) -> ColumnWriter:
    """What writes a column of this field."""
    if about.declared.field in (*_LISTS, FieldType.STRUCT):
        if asked.encoding is not None or asked.blooms:
            word = "encoding" if asked.encoding is not None else "bloom filter"
            raise RequestError(f"{about.name!r} is {about.declared.field.name}: it has no {word}")
        return _nested(field, about, setup)
    return leaf_of(about, setup, asked)


def leaf_of(about: About, setup: Setup, asked: Asked) -> Leaf:
    """What writes a scalar column."""
    chosen = None
    kind = about.declared.field
    if asked.encoding is not None:
        chosen = named(kind, size_of(kind), setup.version, asked.encoding, about.name)
    return Leaf(about, setup, Wanted(chosen, asked.zone_maps, asked.blooms))


def _nested(field: pa.Field, about: About, setup: Setup) -> ColumnWriter:
    kind = plain(field.type)
    if pa.types.is_struct(kind):
        fields = list(kind)
        if not fields:
            raise RequestError(f"{about.name!r} is a struct without fields, which Doris has not")
        below = [_child(one, about, setup, k + 1) for k, one in enumerate(fields)]
        return Struct(about, setup, below, [one.name for one in fields])
    sides = [kind.key_field, kind.item_field] if pa.types.is_map(kind) else [kind.value_field]
    return Repeated(about, setup, [_child(s, about, setup, k + 1) for k, s in enumerate(sides)])


def _child(field: pa.Field, parent: About, setup: Setup, position: int) -> ColumnWriter:
    """A column below another one, whose place in the schema it repeats."""
    name = f"{parent.name}.{field.name}"
    about = replace(
        parent,
        name=name,
        declared=declared_of(field, name),
        unique_id=unique_id_of(field, position),
        nullable=field.nullable,
        path=None,
    )
    return writer_of(field, about, setup, Asked())
