"""FlatBuffers made with the package of that name: tables of numbers, and of what came before."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from struct import Struct as Size
from typing import Any, NewType, TypeAlias

from rangeio.errors import Corrupt, RequestError
from rangeio.formats.parquet.flatbuffer.buffers import I8, I16, I32, I64, U8, U32, U64

Built = NewType("Built", int)
"""A table, vector or string that is in the buffer already."""

Field: TypeAlias = Built | tuple[int, Size]
"""What a slot holds: one of these, or a number and its size."""

_METHODS = {I8: "Int8", I16: "Int16", I32: "Int32", I64: "Int64"} | {
    U8: "Uint8",
    U32: "Uint32",
    U64: "Uint64",
}


class Building:
    """A FlatBuffer in the making: what is referred to comes first, the root last.

    Raises RequestError where the package is missing.
    """

    def __init__(self) -> None:
        try:
            package = importlib.import_module("flatbuffers")
        except ImportError as error:
            raise RequestError(
                "a FlatBuffer footer is written with the package flatbuffers, which cannot be "
                "imported: pip install 'rangeio[flatbuffers]'"
            ) from error
        self._builder: Any = package.Builder(1 << 16)
        self._put = {
            size: getattr(self._builder, f"Prepend{name}Slot") for size, name in _METHODS.items()
        }
        self._nothing = self.table({})

    @property
    def nothing(self) -> Built:
        """A table without fields, one for all that need it."""
        return self._nothing

    def table(self, fields: Mapping[int, Field]) -> Built:
        """A table of the fields by slot; numbers are kept even where they are the default.

        Raises Corrupt for a number that its size does not hold.
        """
        builder = self._builder
        builder.StartObject(max(fields, default=-1) + 1)
        # The widest first, so that none needs padding.
        for slot, field in sorted(fields.items(), key=_width):
            if not isinstance(field, tuple):
                builder.PrependUOffsetTRelativeSlot(slot, field, 0)
                continue
            try:
                self._put[field[1]](slot, field[0], None)
            except TypeError as error:
                raise Corrupt(f"a number that no FlatBuffer footer has room for: {error}") from None
        return Built(builder.EndObject())

    def tables(self, items: Sequence[Built]) -> Built:
        """A vector of tables."""
        builder = self._builder
        builder.StartVector(4, len(items), 4)
        for item in reversed(items):
            builder.PrependUOffsetTRelative(item)
        return Built(builder.EndVector())

    def text(self, value: bytes) -> Built:
        """A string, of equal ones only one."""
        return Built(self._builder.CreateSharedString(value))

    def binary(self, value: bytes) -> Built:
        """A vector of bytes."""
        return Built(self._builder.CreateByteVector(value))

    def finished(self, root: Built) -> bytes:
        """All of it."""
        self._builder.Finish(root)
        return bytes(self._builder.Output())


def _width(item: tuple[int, Field]) -> int:
    field = item[1]
    return -(field[1].size if isinstance(field, tuple) else 4)
