"""Indexed columns: values in pages of their own, found by number, or by value where they ascend."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from rangeio.formats.doris.encodings import encoded
from rangeio.formats.doris.messages import MESSAGES
from rangeio.formats.doris.page import IndexEntries
from rangeio.formats.doris.words import Compression, Encoding, FieldType
from rangeio.formats.doris.writing.dense import binary_of, part
from rangeio.formats.doris.writing.filling import rule_of
from rangeio.formats.doris.writing.outlet import Outlet
from rangeio.formats.doris.writing.pages import data_page, index_page, ordinal_key

PAGE = 1 << 20
"""Bytes of a page of values."""


def write_indexed(
    outlet: Outlet,
    values: Sequence[bytes],
    field: FieldType,
    encoding: Encoding,
    scheme: Compression,
    *,
    by_value: bool = False,
    page_size: int = PAGE,
) -> Any:
    """Write binary values; the IndexedColumn that leads to them.

    by_value: write a value index too; the values then ascend.
    """
    begin = outlet.position
    every = binary_of(values)
    ends = rule_of(encoding, 0, page_size).ends(every)
    edges = [0, *ends, *([len(values)] if ends[-1:] != [len(values)] and values else [])]
    pages = [
        data_page(encoded(encoding, 0, part(every, a, b)), a, b - a, scheme)
        for a, b in pairwise(edges)
    ]
    found = outlet.write_all(pages, [ordinal_key(at) for at in edges[:-1]])
    about = MESSAGES.IndexedColumn(
        data_type=field, encoding=encoding, num_values=len(values), compression=scheme
    )
    about.ordinal_index_meta.CopyFrom(tree(outlet, found, scheme))
    if by_value:
        keys = [values[at] for at in edges[:-1]]
        by_keys = IndexEntries(keys, found.offsets, found.sizes)
        about.value_index_meta.CopyFrom(tree(outlet, by_keys, scheme))
    about.size = outlet.position - begin
    return about


def tree(outlet: Outlet, entries: IndexEntries, scheme: Compression) -> Any:
    """The BTree of these pages: of a single page that page itself, else an index page, written."""
    if len(entries.keys) > 1:
        at = outlet.write(index_page(entries, scheme))
        return MESSAGES.BTree(root_page=at, is_root_data_page=False)
    at = MESSAGES.PagePointer(offset=0, size=0)
    for offset, size in zip(entries.offsets.tolist(), entries.sizes.tolist(), strict=True):
        at = MESSAGES.PagePointer(offset=offset, size=size)
    return MESSAGES.BTree(root_page=at, is_root_data_page=True)
