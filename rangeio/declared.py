"""Names, and types where they are told, for the columns of files that carry none. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa

from rangeio.errors import RequestError
from rangeio.literal import is_binary

UNIQUE_ID, DEFAULT = b"unique_id", b"default"
"""Keys of an Arrow field's metadata: its unique_id, and its value in files that lack it."""

_MOST = (1 << 31) - 1


@dataclass(frozen=True, slots=True)
class Named:
    """One column: its id, its name, and the Arrow field where one was given."""

    unique_id: int
    name: str
    field: pa.Field | None = None


@dataclass(frozen=True)
class Declared:
    """The columns that a caller declares, in their order; no id and no name is there twice."""

    columns: tuple[Named, ...]

    @classmethod
    def of(cls, schema: object) -> Declared:
        """From ``{unique_id: name}``, or from an Arrow schema: a field's id is in its metadata
        under ``unique_id``, else it is its position. Raises RequestError, also for a ``default``
        that is no value of its field's type, whether or not a file lacks the column."""
        if isinstance(schema, Declared):
            return schema
        if isinstance(schema, Mapping):
            columns = tuple(_named(one, name) for one, name in schema.items())
        else:
            fields = _arrow(schema)
            columns = tuple(Named(_id(f, i), f.name, f) for i, f in enumerate(fields))
            for field in fields:
                default_of(field)
        _once("unique_id", [one.unique_id for one in columns])
        _once("name", [one.name for one in columns])
        return cls(columns)

    @cached_property
    def positions(self) -> Mapping[str, int]:
        """Where each name is."""
        return {one.name: i for i, one in enumerate(self.columns)}


def default_of(field: pa.Field) -> pa.Scalar:
    """The value of a field in files that lack it: null without a ``default`` in its metadata.

    That is text, read as Arrow casts text; of bytes it is the bytes themselves. Raises RequestError
    where it is no value of the type.
    """
    text = (field.metadata or {}).get(DEFAULT)
    if text is None:
        return pa.scalar(None, field.type)
    try:
        if is_binary(field.type):
            return pa.scalar(text, field.type)
        return pa.scalar(text.decode(), pa.string()).cast(field.type)
    except (ValueError, pa.ArrowException):
        word = text.decode(errors="backslashreplace")
        raise RequestError(
            f"schema=: the default {word!r} of {field.name!r} is no {field.type}"
        ) from None


def _once(what: str, found: Sequence[object]) -> None:
    twice = next((one for one, count in Counter(found).items() if count > 1), None)
    if twice is not None:
        raise RequestError(f"schema=: the {what} {twice!r} is there twice")


def _named(unique_id: object, name: object) -> Named:
    if not isinstance(unique_id, int) or isinstance(unique_id, bool) or not isinstance(name, str):
        raise RequestError(f"schema= takes {{unique_id: name}}, not {{{unique_id!r}: {name!r}}}")
    return Named(_checked(unique_id), name)


def _checked(unique_id: int) -> int:
    if not 0 <= unique_id <= _MOST:
        raise RequestError(f"schema=: {unique_id} is no unique_id, they are 0 to {_MOST}")
    return unique_id


def _arrow(schema: object) -> pa.Schema:
    if isinstance(schema, pa.Schema):
        return schema
    if hasattr(schema, "__arrow_c_schema__"):
        try:
            return pa.schema(schema)
        except (TypeError, ValueError, pa.ArrowException) as error:
            raise RequestError(f"schema= is no Arrow schema: {error}") from None
    kind = type(schema).__name__
    raise RequestError(f"schema= is {{unique_id: name}} or an Arrow schema, not {kind}")


def _id(field: pa.Field, position: int) -> int:
    word = (field.metadata or {}).get(UNIQUE_ID)
    if word is None:
        return position
    try:
        return _checked(int(word))
    except ValueError:
        raise RequestError(f"schema=: {word!r} is no unique_id ({field.name!r})") from None
