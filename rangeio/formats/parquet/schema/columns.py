"""The columns of a footer: their Arrow types are what Arrow makes of the footer's own words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from rangeio.errors import Corrupt, FormatError, Unsupported
from rangeio.formats.parquet.footer.footer import Footer
from rangeio.formats.parquet.footer.tree import Tree
from rangeio.formats.parquet.schema.arrowschema import ArrowSchema, serialized
from rangeio.formats.parquet.schema.surgery import Branch, Origin, Trunk, file_metadata, framed
from rangeio.schema import Column, ColumnId, NameList, Schema

NESTING = 100
"""Groups within one another, at most: Arrow walks them by recursion."""

_NAMESAKE = -(1 << 31)
_FEW = 64  # columns that are all made with the first
_SMALL = 8 << 10  # bytes of an Arrow schema that unfolds to little, whatever it is
LITTLE = 64 << 10  # bytes of a footer that Arrow reads whole sooner than it is cut
_SHARE = 8  # columns of which all are made where one of them is wanted
_ALONE = 8  # columns of more that are made one by one, before blocks of them are
_NUMBERED = re.compile(r"parquet-cpp(-arrow)? version [0-5]\.")  # these gave every field a number


class Names(NameList):
    """Top-level names, each decoded when it is looked at."""

    def __init__(self, footer: Footer, tree: Tree) -> None:
        self._footer = footer
        self._starts = tree.starts[:-1]

    def __len__(self) -> int:
        return len(self._starts)

    def __getitem__(self, i):  # type: ignore[no-untyped-def]
        if isinstance(i, slice):
            return [self[k] for k in range(*i.indices(len(self)))]
        return self._footer.name(int(self._starts[i])).decode(errors="backslashreplace")


class Columns:
    """The top-level columns of a footer, made when they are asked for, in growing blocks."""

    def __init__(self, footer: Footer, size: int) -> None:
        self.footer = footer
        self.tree = Tree(footer.elements)
        self._size = size
        self._fields: dict[int, pa.Field] = {}
        self._trunks: dict[int, Trunk] = {}
        self._made = 0

    @cached_property
    def _arrow(self) -> ArrowSchema | None:
        """The schema that Arrow wrote. It matches by position: of another length, it is none."""
        encoded = self.footer.arrow_schema()
        arrow = None if encoded is None else ArrowSchema(encoded)
        return arrow if arrow is not None and len(arrow) == len(self.tree) else None

    @property
    def numbered(self) -> bool:
        """Whether the writer gave every field a number, whatever its user said."""
        return _NUMBERED.match(self.footer.created_by) is not None

    def schema(self) -> Schema:
        """The schema; a column of a type that Arrow refuses raises where it is made."""
        self._ids, self._declared = identified(self.footer, self.tree)
        return Schema(
            Names(self.footer, self.tree),
            self.column,
            metadata=self.footer.metadata(),
            ids=self._ids,
            declared=self._declared,
            find=self.find,
            ahead=self.ahead,
        )

    def find(self, name: str) -> list[int]:
        """The top-level positions of a name."""
        return self.tree.tops(self.footer.named(name.encode(errors="surrogatepass")))

    def column(self, top: int) -> Column:
        """The top-level column at a position."""
        field = self.field(top)
        leaves = iter(self.tree.leaves(top))
        unique_id = int(self._ids[top])
        declared = bool(self._declared[top])
        try:
            made = _column(field, ColumnId(unique_id, (field.name,)), declared, leaves)
        except StopIteration:
            made = None
        if made is None or next(leaves, None) is not None:
            raise Unsupported(f"column {field.name!r}: {field.type} does not fit its leaves")
        return made

    def field(self, top: int) -> pa.Field:
        """The Arrow field at a position."""
        if top not in self._fields:
            self._made += 1
            count = 1 if self._made <= _ALONE else 1 << min(self._made - _ALONE + 3, 12)
            self.ahead(range(top, min(top + count, len(self.tree))))
        if top not in self._fields:  # Arrow refuses it, or another that it was to be made with
            self._fields[top] = self._converted([top])[0]
        return self._fields[top]

    def ahead(self, tops: Sequence[int]) -> None:
        """Make the fields of many columns together, of all where it is not many more; none where
        Arrow refuses one of them."""
        wanted = [top for top in tops if top not in self._fields]
        if not wanted:
            return
        all_of_them = len(self.tree) <= max(_FEW, _SHARE * len(wanted))
        try:
            if all_of_them:
                made = dict(enumerate(self._all()))
            else:
                made = dict(zip(wanted, self._converted(wanted), strict=True))
        except FormatError:
            return
        self._fields.update(made)  # never another dict: other threads add to this one

    def _all(self) -> list[pa.Field]:
        """What Arrow makes of all fields: the footer's own words, without its row groups."""
        footer, count = self.footer, len(self.tree)
        whole = self.origin.whole
        if whole is not None:
            return _fields(whole.schema.to_arrow_schema, count)
        elements = tuple(footer.element(i) for i in range(1, len(footer.elements.children)))
        branch = Branch(elements, tuple(footer.order(i) for i in range(self.tree.num_leaves)))
        for top in np.flatnonzero(np.diff(self.tree.starts) > NESTING).tolist():
            _shallow(self.tree, top)
        told = None
        if self._arrow is not None:
            if len(footer.arrow_schema() or b"") > _SMALL:
                self._arrow.vet()
            told = bytes(footer.arrow_schema() or b"")
        return _read(file_metadata(self.origin, [branch], told, children=count), count)

    def _converted(self, tops: Sequence[int]) -> list[pa.Field]:
        """What Arrow makes of some fields."""
        trunks = [self.trunk(top) for top in tops]
        branches = [trunk.kept(trunk.orders) for trunk in trunks]
        told = None if self._arrow is None else serialized(self._arrow.fields(tops))
        try:
            return _read(file_metadata(self.origin, branches, told), len(tops))
        except Unsupported as error:
            name = self.footer.name(int(self.tree.starts[tops[0]])).decode(errors="replace")
            raise Unsupported(f"column {name!r}: {error.reason}") from None

    @cached_property
    def origin(self) -> Origin:
        """What all footers that are cut out of this one say alike."""
        footer = self.footer
        groups = tuple(tuple(footer.group(g)) for g in range(len(footer.group_rows)))
        rows = tuple(footer.group_rows.tolist())
        small = bytes(footer.data) if 0 < len(footer.data) <= LITTLE else None
        return Origin(self._size, footer.created_by, footer.element(0), groups, rows, small)

    def trunk(self, top: int) -> Trunk:
        """A top-level field, whole."""
        if top not in self._trunks:
            at, leaves = self.tree.elements(top), self.tree.leaves(top)
            if len(at) == 1:
                order = self.footer.order(leaves.start)
                only = (self.footer.element(at.start),)
                return self._trunks.setdefault(top, Trunk(only, (0,), (order,), leaves.start))
            _shallow(self.tree, top)
            self._trunks[top] = Trunk(
                tuple(self.footer.element(i) for i in at),
                tuple(self.tree.children(i) for i in at),
                tuple(self.footer.order(leaf) for leaf in leaves),
                leaves.start,
            )
        return self._trunks[top]

    def repeated(self, index: int, top: int) -> bool:
        """Whether a leaf, or anything above it, is repeated."""
        elements = self.tree.elements(top)
        if len(elements) == 1:
            return bool(self.footer.elements.repetition[elements.start] == 2)
        return self.trunk(top).repeated(index)


def _read(metadata: bytes, count: int) -> list[pa.Field]:
    """The Arrow fields of a footer of ``count`` columns."""
    return _fields(lambda: pq.read_schema(pa.BufferReader(framed(metadata))), count)


def _fields(read: Callable[[], pa.Schema], count: int) -> list[pa.Field]:
    """The ``count`` fields of a schema that Arrow reads, their names looked at."""
    try:
        fields = list(read())
        for field in fields:
            _ = field.name
    except (pa.ArrowException, OSError, ValueError) as error:
        raise Unsupported(str(error)) from None
    if len(fields) != count:
        raise Corrupt(f"Arrow makes {len(fields)} fields of {count} Parquet columns")
    return fields


def identified(footer: Footer, tree: Tree) -> tuple[list[int], list[bool]]:
    """The unique_id of every top-level column, and whether the file declares it.

    A field_id is declared, where the writer had it from its user. A column without one is known
    by its position: by a number below zero where others have a field_id, which it might equal.
    """
    tops = tree.starts[:-1]
    ids = footer.elements.ids[tops]
    has = footer.elements.identified[tops]
    given = ids[has]
    if not len(given) or len(np.unique(given)) < len(given) or (given < 0).any():
        return list(range(len(tops))), [False] * len(tops)
    found = np.where(has, ids, -1 - np.arange(len(tops)))
    declared = has & (_NUMBERED.match(footer.created_by) is None)
    return found.tolist(), declared.tolist()


def _shallow(tree: Tree, top: int) -> None:
    """Raise Unsupported for a field whose groups are nested too deep."""
    elements = tree.elements(top)
    if len(elements) <= NESTING:
        return
    left: list[int] = []
    for at in elements:
        left.append(tree.children(at))
        if len(left) > NESTING:
            raise Unsupported(f"groups nested more than {NESTING} deep")
        while left and not left[-1]:
            left.pop()
            if left:
                left[-1] -= 1


def _column(field: pa.Field, own: ColumnId, declared: bool, leaves: Iterator[int]) -> Column:
    """A column of an Arrow field; its leaves take their ordinals in order."""
    below = _children(field.type)
    metadata = field.metadata or {}
    if not below:
        return Column(own, field.type, field.nullable, declared, (), metadata, payload=next(leaves))
    children = []
    names = set[str]()
    for i, child in enumerate(below):
        told = (child.metadata or {}).get(b"PARQUET:field_id")
        unique_id = int(told) if told is not None and told.isdigit() else own.unique_id
        if child.name in names:  # its path tells nobody which it is
            unique_id = _NAMESAKE - i
        names.add(child.name)
        children.append(
            _column(child, ColumnId(unique_id, (*own.path, child.name)), declared, leaves)
        )
    return Column(own, field.type, field.nullable, declared, tuple(children), metadata)


def _children(kind: pa.DataType) -> list[pa.Field]:
    """The fields below a nested type; a map has its key and its value."""
    if isinstance(kind, pa.BaseExtensionType):
        return _children(kind.storage_type)
    if pa.types.is_map(kind):
        return [kind.key_field, kind.item_field]
    if pa.types.is_dictionary(kind):
        return []
    return [kind.field(i) for i in range(kind.num_fields)]
