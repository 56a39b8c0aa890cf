"""Where the parts of a Thrift footer lie: found by the kernel, or by one of its twins."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np

from rangeio.codecs import native, thrift
from rangeio.errors import Corrupt, NoSuchColumn
from rangeio.formats.parquet.footer import runs, scan
from rangeio.formats.parquet.footer.footer import Footer, Part, Tabled
from rangeio.formats.parquet.footer.layout import Layout
from rangeio.formats.parquet.footer.tree import Tree

ARROW_SCHEMA = b"ARROW:schema"
_SMALL = 200 << 10  # bytes of an irregular footer that the plain scanner reads faster than Arrow


def scanned(
    data: memoryview, *, templates: bool = True, kernels: native.Kernels | None = native.kernels
) -> Layout | None:
    """The layout of a FileMetaData that begins at the first byte; Corrupt where it is none.

    None: without the kernels, a large footer of no regular structure is better left to Arrow.
    """
    if kernels is not None:
        found = kernels.scan_footer(np.frombuffer(data, np.uint8), templates)
        if found is None:
            raise Corrupt("the footer is no Parquet FileMetaData")
        fields, elements, groups, chunks, rows, size = found
        return Layout(np.array(fields, np.int64), elements, groups, chunks, rows, size)
    return runs.scan(data) or (scan.scan(data) if len(data) <= _SMALL else None)


class ThriftFooter:
    """A footer as the file has it: its bytes, and where everything lies in them."""

    def __init__(self, data: memoryview, layout: Layout) -> None:
        self.data = data
        self.layout = layout
        table = layout.elements
        self.elements = Tabled(table)
        self.num_rows = layout.num_rows
        self.group_rows = np.ascontiguousarray(layout.groups[:, 4])
        held = layout.chunks.nbytes + layout.groups.nbytes + 2 * table.nbytes
        self.weight = len(data) + held

    @cached_property
    def _fields(self) -> dict[int, tuple[int, int, int]]:
        return {i: (kind, start, stop) for i, kind, start, stop in self.layout.fields.tolist()}

    @cached_property
    def created_by(self) -> str:
        """Which writer, "" where it does not say."""
        kind, start, _ = self._fields.get(6, (0, 0, 0))
        if kind != thrift.BINARY:
            return ""
        size, at = thrift.varint(self.data, start)
        return bytes(self.data[at : at + size]).decode(errors="replace")

    def name(self, element: int) -> bytes:
        """The name of a schema element."""
        start, size = self.layout.elements[element, 2:4].tolist()
        return bytes(self.data[start : start + size])

    def named(self, name: bytes) -> Sequence[int]:
        """The elements of this name, but for the root."""
        table = self.layout.elements
        if native.kernels is not None:
            wanted = np.frombuffer(name, np.uint8)
            return native.kernels.same_names(np.frombuffer(self.data, np.uint8), table, wanted)
        alike = (np.flatnonzero(table[1:, 3] == len(name)) + 1).tolist()
        return [i for i in alike if self.name(i) == name]

    def element(self, element: int) -> bytes:
        """A SchemaElement as a Thrift struct."""
        start, stop = self.layout.elements[element, :2].tolist()
        return bytes(self.data[start:stop])

    def described(self) -> Iterable[bytes | memoryview]:
        """The bytes of field 2, and what Arrow says of them."""
        _, start, stop = self._fields[2]
        return self.data[start:stop], self.arrow_schema() or b""

    def chunk(self, group: int, leaf: int) -> bytes:
        """A ColumnChunk as a Thrift struct."""
        start, stop = self.layout.chunks[group, leaf : leaf + 2].tolist()
        return bytes(self.data[start:stop])

    def group(self, group: int) -> Sequence[Part]:
        """The fields of a RowGroup, but for its columns (1) and sorting_columns (4)."""
        start, stop, first, last, _ = self.layout.groups[group].tolist()
        # The columns are cut out: walking over them would cost what the scan has saved.
        kept = bytes(self.data[start:first]) + b"\x0c" + bytes(self.data[last:stop])
        return [
            (field, kind, kept[a:b])
            for field, kind, a, b in thrift.fields(kept)
            if field not in (1, 4)
        ]

    def order(self, leaf: int) -> int:
        """Which member of the union ColumnOrder a leaf has, 0 for none."""
        return self._orders[leaf] if leaf < len(self._orders) else 0

    @cached_property
    def _orders(self) -> list[int]:
        """The members of the unions of field 7, in order; none where they are not as expected."""
        kind, at, stop = self._fields.get(7, (0, 0, 0))
        if kind != thrift.LIST:
            return []
        data = bytes(self.data[at:stop])
        try:
            count, element, at = thrift.sized(data, 0)
            if element != thrift.STRUCT:
                return []
            if data[at:] == data[at : at + 3] * count and count:  # all alike, as writers have it
                return [next(thrift.fields(data[at : at + 3]))[0]] * count
            found = []
            for _ in range(count):
                union, at = thrift.read(data, at)
                found.append(next(iter(union), 0))
        except (Corrupt, StopIteration):
            return []
        return found

    def metadata(self) -> dict[bytes, bytes]:
        """key_value_metadata without ``ARROW:schema``."""
        return {k: bytes(v) for k, v in self._pairs.items() if k != ARROW_SCHEMA}

    def arrow_schema(self) -> memoryview | None:
        """The value of ``ARROW:schema``, base64, where there is one."""
        return self._pairs.get(ARROW_SCHEMA)

    @cached_property
    def _pairs(self) -> dict[bytes, memoryview]:
        kind, at, _ = self._fields.get(5, (0, 0, 0))
        found: dict[bytes, memoryview] = {}
        if kind != thrift.LIST:
            return found
        count, element, at = thrift.sized(self.data, at)
        for _ in range(count if element == thrift.STRUCT else 0):
            key, value = b"", self.data[:0]
            for field, kind, start, stop in thrift.fields(self.data, at):
                at = stop
                if kind == thrift.BINARY and field in (1, 2):
                    size, start = thrift.varint(self.data, start)
                    text = self.data[start : start + size]
                    key, value = (bytes(text), value) if field == 1 else (key, text)
            at += 1
            found.setdefault(key, value)
        return found


def located(
    data: memoryview, names: Sequence[str], *, templates: bool = True
) -> list[tuple[list[bytes], list[list[bytes]]]]:
    """Top-level columns by name: of each its schema elements, and for every row group the
    ColumnChunk structs of its leaves. Raises NoSuchColumn and Corrupt.
    """
    layout = scanned(data, templates=templates)
    if layout is None:
        raise Corrupt("without the native kernels this footer is left to Arrow")
    footer: Footer = ThriftFooter(data, layout)
    tree = Tree(footer.elements)
    found = []
    for name in names:
        tops = tree.tops(footer.named(name.encode()))
        if not tops:
            raise NoSuchColumn(f"no column {name!r}")
        elements = [footer.element(i) for i in tree.elements(tops[0])]
        leaves = tree.leaves(tops[0])
        groups = range(len(footer.group_rows))
        found.append((elements, [[footer.chunk(g, leaf) for leaf in leaves] for g in groups]))
    return found
