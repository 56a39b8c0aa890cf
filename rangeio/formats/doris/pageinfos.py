"""The pages of a column, for people: as far as its metadata tells, without its indexes."""

from __future__ import annotations

from collections.abc import Iterator

from rangeio.formats.doris.columns import field_names, parts
from rangeio.formats.doris.meta import DorisMeta, Node
from rangeio.formats.doris.words import Compression, Encoding, FieldType, worded
from rangeio.formats.format import PageInfo
from rangeio.schema import ColumnId

UNKNOWN = -1


def page_infos(meta: DorisMeta) -> list[PageInfo]:
    """An entry for all data pages and the dictionary of each column of pages at or below a column.

    Offsets and null maps of a nested one are its own. Where the size of one of them is not known
    and that of all together is, one entry for all.
    """
    return list(_infos(meta.column, meta.node))


def _infos(column: ColumnId, node: Node) -> Iterator[PageInfo]:
    if node.type not in (FieldType.ARRAY, FieldType.MAP, FieldType.STRUCT):
        root = node.type == FieldType.VARIANT  # which is a field without a name
        yield _own(_below(column, "") if root else column, node)
        for i, child in enumerate(node.children):  # of a Variant
            yield from _infos(_below(column, *parts(child.path or f"{i}")), child)
        return
    found = list(_nested(column, node))
    if node.size >= 0 and any(one.size < 0 for one in found):
        words = dict.fromkeys(one.encoding for one in found)
        found = [PageInfo(column, (0, max(node.rows, 0)), node.size, "; ".join(words), UNKNOWN)]
    yield from found


def _nested(column: ColumnId, node: Node) -> Iterator[PageInfo]:
    for name, below in zip(field_names(node), node.children, strict=False):
        yield from _infos(_below(column, name), below)
    for child in (node.offsets, node.nulls):
        if child >= 0:
            yield _own(column, node.children[child])


def _below(column: ColumnId, *names: str) -> ColumnId:
    return ColumnId(column.unique_id, (*column.path, *names))


def _own(column: ColumnId, node: Node) -> PageInfo:
    """The pages of one column of pages."""
    words = f"{worded(Encoding, node.encoding)}, {worded(Compression, node.compression)}"
    size, count = _measured(node)
    return PageInfo(column, (0, max(node.rows, 0)), size, words.lower(), count)


def _measured(node: Node) -> tuple[int, int]:
    """Bytes and data pages."""
    dictionary = 0 if node.dictionary is None else node.dictionary.size
    if node.ordinal is None:
        return (dictionary, 0) if not node.rows else (UNKNOWN, UNKNOWN)
    if node.ordinal.is_page:
        return node.ordinal.at.size + dictionary, 1
    # What a writer says of all pages has its dictionary in it.
    return (node.size if node.size > dictionary else UNKNOWN), UNKNOWN
