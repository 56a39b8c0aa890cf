"""The metadata of columns: what makes it corrupt, and what of it a read does not depend on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest
from doris_parts import Segment, made

from rangeio.errors import Corrupt, Unsupported
from rangeio.formats.doris.columns import top
from rangeio.formats.doris.messages import MESSAGES
from rangeio.formats.doris.meta import DorisMeta, meta_of
from rangeio.formats.doris.words import Compression, FieldType, IndexType
from rangeio.schema import ColumnId

LIMIT = 1000
ID = ColumnId(4, ("c",))


def message(kind: FieldType = FieldType.INT, **words: Any) -> Any:
    found = MESSAGES.ColumnMeta(type=kind, encoding=2, compression=7, num_rows=9, **words)
    index = found.indexes.add(type=IndexType.ORDINAL)
    index.ordinal_index.root_page.root_page.offset = 10
    index.ordinal_index.root_page.root_page.size = 20
    index.ordinal_index.root_page.is_root_data_page = True
    return found


def parsed(found: Any) -> DorisMeta:
    return meta_of(ID, 3, memoryview(found.SerializeToString()), 77, LIMIT)


def test_a_scalar():
    found = parsed(message(is_nullable=True, length=4))
    assert (found.column, found.position) == (ID, 3)
    assert found.node.ordinal is not None
    assert (found.node.ordinal.at.start, found.node.ordinal.is_page) == (10, True)
    assert (found.node.rows, found.node.nulls, found.node.offsets) == (9, -1, -1)
    assert found.node.compression is Compression.ZSTD
    assert 500 < found.weight < 2000


@pytest.mark.parametrize(
    ("kind", "nullable", "children", "offsets", "nulls"),
    [
        (FieldType.ARRAY, True, 3, 1, 2),
        (FieldType.ARRAY, False, 2, 1, -1),
        (FieldType.MAP, True, 4, 2, 3),
        (FieldType.STRUCT, True, 3, -1, 2),
        (FieldType.STRUCT, False, 3, -1, -1),
    ],
)
def test_nested(kind, nullable, children, offsets, nulls):
    made = message(kind, is_nullable=nullable)
    made.children_columns.extend([message(FieldType.TINYINT) for _ in range(children)])
    node = parsed(made).node
    assert (node.offsets, node.nulls) == (offsets, nulls)
    assert node.fields == len(top(parsed(made)).children)
    if kind is not FieldType.STRUCT:
        del made.children_columns[-1]
        with pytest.raises(Corrupt, match="children"):
            parsed(made)


def broken(change: Callable[[Any], None]) -> Any:
    found = message()
    change(found)
    return found


def page(offset: int, size: int) -> Callable[[Any], None]:
    def change(found: Any) -> None:
        root = found.indexes[0].ordinal_index.root_page.root_page
        root.offset, root.size = offset, size

    return change


@pytest.mark.parametrize(
    "change",
    [page(10, 7), page(990, 11), page((1 << 64) - 1, 100), page(1001, 8)],
    ids=["small", "beyond", "far", "after"],
)
def test_pages_lie_before_the_footer(change):
    with pytest.raises(Corrupt, match="'c': a page at") as caught:
        parsed(broken(change))
    assert caught.value.offset == 77


def test_numbers_that_cannot_be():
    with pytest.raises(Corrupt, match="rows"):
        parsed(broken(lambda one: setattr(one, "num_rows", 1 << 63)))
    with pytest.raises(Unsupported, match="compression 77"):
        parsed(broken(lambda one: setattr(one, "compression", 77)))
    with pytest.raises(Corrupt, match="not a valid message"):
        meta_of(ID, 0, memoryview(b"\xff\xff"), 5, LIMIT)


def test_nesting_is_bounded():
    made = message(FieldType.STRUCT)
    for _ in range(70):
        outer = message(FieldType.STRUCT)
        outer.children_columns.append(made)
        made = outer
    with pytest.raises(Corrupt):
        parsed(made)


def test_a_broken_zone_map_or_filter_is_none():
    made = message()
    zone = made.indexes.add(type=IndexType.ZONE_MAP).zone_map_index
    zone.page_zone_maps.num_values = 4
    zone.page_zone_maps.ordinal_index_meta.root_page.offset = 5000
    zone.page_zone_maps.ordinal_index_meta.root_page.size = 50
    bloom = made.indexes.add(type=IndexType.BLOOM_FILTER).bloom_filter_index
    bloom.bloom_filter.num_values = 4
    made.indexes.add(type=99)
    node = parsed(made).node
    assert node.zones is not None
    assert node.zones.pages is None
    assert node.blooms is None


def test_types_without_values_are_refused_when_they_are_looked_at():
    with pytest.raises(Unsupported, match="'c'"):
        top(parsed(message(FieldType.NONE)))
    with pytest.raises(Corrupt, match="'c'"):
        top(parsed(message(FieldType.DECIMAL64, precision=40)))


@pytest.mark.parametrize("kind", [FieldType.BOOL, FieldType.INT, FieldType.STRING])
def test_nulls_of_another_type_are_corrupt(kind):
    """They are read as bytes, and nothing protects the metadata that says so."""
    table = pa.table({"l": [[1], None]})
    meta = Segment(made(table)).metas[0]
    assert meta.children_columns[2].type == FieldType.TINYINT
    meta.children_columns[2].type = kind
    raw = memoryview(meta.SerializeToString())
    with pytest.raises(Corrupt, match=f"'l': .* ARRAY whose nulls are of type {kind.name}"):
        meta_of(ColumnId(0, ("l",)), 0, raw, 0, 1 << 30)
