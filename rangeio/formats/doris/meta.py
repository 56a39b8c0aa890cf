"""The metadata of a column, parsed: where its pages and indexes lie, and its children."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rangeio.codecs.protobuf import parse
from rangeio.errors import Corrupt, Unsupported
from rangeio.formats.doris.messages import MESSAGES
from rangeio.formats.doris.paths import relative
from rangeio.formats.doris.words import Compression, FieldType, IndexType, worded
from rangeio.ranges import ByteRange
from rangeio.schema import ColumnId

LEAST_PAGE = 8
_LEAST: dict[int, int] = {FieldType.ARRAY: 2, FieldType.MAP: 3, FieldType.STRUCT: 1}
_BYTES = (FieldType.TINYINT, FieldType.UTINYINT)
_FAR = 1 << 62
_DEEPEST = 64  # Doris nests 9 deep; every level is a call here


@dataclass(frozen=True, slots=True)
class Root:
    """Where an index begins: at a leaf page of index entries, or at the only data page itself."""

    at: ByteRange
    is_page: bool


@dataclass(frozen=True, slots=True)
class Indexed:
    """An IndexedColumn: values by ordinal, and by value where they are sorted. Roots are None where
    it has no values."""

    type: int
    encoding: int
    compression: Compression
    count: int
    ordinal: Root | None
    value: Root | None


@dataclass(frozen=True, slots=True)
class Zones:
    """Zone maps: that of the whole column, serialized, and those of its pages."""

    whole: bytes
    pages: Indexed | None


@dataclass(frozen=True, slots=True)
class Blooms:
    """Bloom filters of the pages, and how they were made."""

    strategy: int
    algorithm: int
    pages: Indexed


@dataclass(frozen=True, slots=True)
class Node:
    """One column with pages, or a nested one without.

    rows: -1 where it is not said. ordinal: None where it has no page. size: compressed bytes, for
    people, -1 where it is not said. children: see :attr:`fields`, :attr:`offsets`, :attr:`nulls`.
    A Variant's are columns that hold many of its paths, and columns of single ones; sparse: all
    paths of which an older root has metadata, also those whose values lie in the root itself.
    path: of a Variant's sub-column, without the root's name.
    """

    type: int
    encoding: int
    compression: Compression
    nullable: bool
    rows: int
    precision: int
    frac: int
    length: int
    size: int
    ordinal: Root | None
    dictionary: ByteRange | None
    zones: Zones | None
    blooms: Blooms | None
    names: tuple[str, ...]
    path: str
    children: tuple[Node, ...]
    sparse: tuple[str, ...] = ()

    @property
    def fields(self) -> int:
        """How many of the children, from the first, hold data: items, keys and values, fields."""
        if self.type == FieldType.ARRAY:
            return 1
        if self.type == FieldType.MAP:
            return 2
        return len(self.children) - self.nullable if self.type == FieldType.STRUCT else 0

    @property
    def offsets(self) -> int:
        """Which child holds where the items of each row begin; -1: none."""
        return self.fields if self.type in (FieldType.ARRAY, FieldType.MAP) else -1

    @property
    def nulls(self) -> int:
        """Which child says what is null; -1: none."""
        if not self.nullable or self.type not in (FieldType.ARRAY, FieldType.MAP, FieldType.STRUCT):
            return -1
        return self.fields + (self.type != FieldType.STRUCT)

    def below(self, steps: tuple[int, ...]) -> Node:
        """The node that a path of child numbers leads to."""
        node = self
        for step in steps:
            node = node.children[step]
        return node


@dataclass(frozen=True, slots=True)
class DorisMeta:
    """A column's metadata: what the caches keep. It holds no byte of a page.

    position: in the directory. weight: bytes of memory, roughly.
    """

    column: ColumnId
    position: int
    node: Node
    weight: int


def meta_of(
    column: ColumnId, position: int, data: memoryview, offset: int, limit: int
) -> DorisMeta:
    """The metadata in ``data``, which lies at ``offset``; pages lie before ``limit``."""
    found = parse(MESSAGES.ColumnMeta, bytes(data), f"the metadata of {column.name!r}", offset)
    try:
        node = _node(found, limit, _DEEPEST)
    except Corrupt as error:
        raise Corrupt(f"{column.name!r}: {error.reason}", offset=offset) from None
    return DorisMeta(column, position, node, 600 + 8 * len(data))


def indexed(found: Any, limit: int) -> Indexed | None:
    """An IndexedColumn message; None where its pages cannot be there."""
    try:
        scheme = _scheme(found.compression if found.HasField("compression") else Compression.NONE)
        ordinal = _root(found.ordinal_index_meta, limit)
        value = _root(found.value_index_meta, limit)
    except (Corrupt, Unsupported):
        return None
    count = found.num_values
    if count < 0 or (count and ordinal is None and value is None):
        return None
    return Indexed(found.data_type, found.encoding, scheme, count, ordinal, value)


def _node(found: Any, limit: int, depth: int) -> Node:
    if not depth:
        raise Corrupt("nested too deep")
    if found.num_rows > _FAR:
        raise Corrupt(f"a column of {found.num_rows} rows")
    parts = {one.type: one for one in reversed(found.indexes)}
    ordinal = parts.get(IndexType.ORDINAL)
    sparse = found.sparse_columns if found.type == FieldType.VARIANT else ()
    below = [*found.children_columns, *filter(_stored, sparse)]
    node = Node(
        type=found.type,
        encoding=found.encoding,
        compression=_scheme(found.compression),
        nullable=found.is_nullable,
        rows=found.num_rows if found.HasField("num_rows") else -1,
        precision=found.precision,
        frac=found.frac,
        length=found.length,
        size=found.compressed_data_bytes if found.HasField("compressed_data_bytes") else -1,
        ordinal=_root(ordinal.ordinal_index.root_page, limit) if ordinal is not None else None,
        dictionary=_page(found.dict_page, limit) if found.HasField("dict_page") else None,
        zones=_zones(parts.get(IndexType.ZONE_MAP), limit),
        blooms=_blooms(parts.get(IndexType.BLOOM_FILTER), limit),
        names=tuple(found.children_column_names),
        path=_path(found),
        children=tuple(_node(child, limit, depth - 1) for child in below),
        sparse=tuple(filter(None, map(_path, sparse))),
    )
    _complete(node)
    return node


def _path(found: Any) -> str:
    return relative(found.column_path_info) if found.HasField("column_path_info") else ""


def _stored(found: Any) -> bool:
    """Whether a column has pages, at least below it."""
    return bool(found.children_columns) or any(
        one.type == IndexType.ORDINAL and one.ordinal_index.root_page.root_page.size
        for one in found.indexes
    )


def _complete(node: Node) -> None:
    """Raise Corrupt where a nested column lacks one of its children, or has pages of its own."""
    least = _LEAST.get(node.type)
    if least is None:
        return
    kind = worded(FieldType, node.type)
    if len(node.children) < least + node.nullable:
        raise Corrupt(f"a column of type {kind} with {len(node.children)} children")
    if node.rows < 0 and node.type != FieldType.STRUCT and node.children[node.offsets].rows < 0:
        raise Corrupt(f"a column of type {kind} that does not say how many rows it has")
    if node.nulls >= 0 and node.children[node.nulls].type not in _BYTES:
        own = worded(FieldType, node.children[node.nulls].type)
        raise Corrupt(f"a column of type {kind} whose nulls are of type {own}")


def _zones(found: Any, limit: int) -> Zones | None:
    """Zone maps; None of an index that is broken, for a read does not depend on it."""
    if found is None or not found.HasField("zone_map_index"):
        return None
    own = found.zone_map_index
    return Zones(own.segment_zone_map.SerializeToString(), indexed(own.page_zone_maps, limit))


def _blooms(found: Any, limit: int) -> Blooms | None:
    if found is None or not found.HasField("bloom_filter_index"):
        return None
    own = found.bloom_filter_index
    pages = indexed(own.bloom_filter, limit)
    return None if pages is None else Blooms(own.hash_strategy, own.algorithm, pages)


def _root(found: Any, limit: int) -> Root | None:
    """The root of an index, None of one without pages."""
    if not found.root_page.size:
        return None
    return Root(_page(found.root_page, limit), found.is_root_data_page)


def _page(found: Any, limit: int) -> ByteRange:
    if found.size < LEAST_PAGE or found.offset > limit - found.size:
        raise Corrupt(f"a page at {found.offset} of {found.size} bytes, all lie before {limit}")
    return ByteRange(found.offset, found.offset + found.size)


def _scheme(number: int) -> Compression:
    try:
        return Compression(number)
    except ValueError:
        raise Unsupported(f"the compression {number}") from None
