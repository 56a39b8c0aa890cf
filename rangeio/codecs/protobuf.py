"""Protobuf messages from compact tables, in a pool of their own: no generated files.

A table maps a message's name to its fields, ``"number name type"`` separated by commas:
a type is a scalar (``uint64``, ``string``, ...), ``map`` (string to bytes), or a message of the
table; ``*type`` repeats, ``?type`` knows presence, and a name ``kind/flat`` puts the field in the
oneof ``kind``. Enums are read as ``int32``.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
)
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import DecodeError, Message
from google.protobuf.message_factory import GetMessageClass

from rangeio.errors import Corrupt


def define(package: str, tables: Mapping[str, str]) -> Any:
    """The message classes of ``tables`` as attributes of one namespace."""
    file = FileDescriptorProto(name=f"{package}.proto", package=package, syntax="proto3")
    for name, table in tables.items():
        message = file.message_type.add(name=name)
        for line in table.split(","):
            if line.strip():
                number, label, kind = line.split()
                _field(message, f".{package}.{name}", package, int(number), label, kind)
        _presence(message)
    pool = DescriptorPool()
    pool.Add(file)
    found = {n: GetMessageClass(pool.FindMessageTypeByName(f"{package}.{n}")) for n in tables}
    return SimpleNamespace(**found)


def _field(
    message: DescriptorProto, path: str, package: str, number: int, label: str, kind: str
) -> None:
    oneof, _, name = label.rpartition("/")
    field = message.field.add(name=name, number=number, label=FieldDescriptorProto.LABEL_OPTIONAL)
    if kind[0] == "*" or kind == "map":
        field.label = FieldDescriptorProto.LABEL_REPEATED
    field.proto3_optional = kind[0] == "?"
    if oneof:
        field.oneof_index = _oneof(message, oneof)
    kind = kind.lstrip("*?")
    if kind == "map":
        entry = message.nested_type.add(name=f"{name.title().replace('_', '')}Entry")
        entry.options.map_entry = True
        _field(entry, path, package, 1, "key", "string")
        _field(entry, path, package, 2, "value", "bytes")
        field.type, field.type_name = FieldDescriptorProto.TYPE_MESSAGE, f"{path}.{entry.name}"
    elif kind[0].isupper():
        field.type, field.type_name = FieldDescriptorProto.TYPE_MESSAGE, f".{package}.{kind}"
    else:
        field.type = FieldDescriptorProto.Type.Value(f"TYPE_{kind.upper()}")


def _oneof(message: DescriptorProto, name: str) -> int:
    known = [one.name for one in message.oneof_decl]
    if name not in known:
        message.oneof_decl.add(name=name)
        known.append(name)
    return known.index(name)


def _presence(message: DescriptorProto) -> None:
    """Optional scalars live in oneofs of their own, which must follow the real ones."""
    for field in message.field:
        if field.proto3_optional:
            field.oneof_index = len(message.oneof_decl)
            message.oneof_decl.add(name=f"_{field.name}")


def parse(kind: type[Message], data: bytes, what: str, offset: int | None = None) -> Any:
    """A message of ``kind``; Corrupt names ``what`` where the bytes are none.

    Time and memory are linear in the bytes; nesting is limited by the parser.
    """
    try:
        return kind.FromString(data)
    except (DecodeError, ValueError, UnicodeDecodeError, RecursionError):
        raise Corrupt(f"{what} is not a valid message", offset=offset) from None
