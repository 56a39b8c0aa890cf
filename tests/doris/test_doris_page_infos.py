"""What ``rangeio columns`` and ``ColumnReader.pages`` say of pages: right, or nothing."""

from __future__ import annotations

import json
from dataclasses import replace

import pyarrow as pa
import pytest
from doris_parts import Segment, index
from doris_tables import documents, in_memory, made, table

import rangeio
from rangeio.cli.main import main
from rangeio.formats.doris.pageinfos import UNKNOWN, page_infos
from rangeio.formats.doris.words import IndexType
from rangeio.schema import ColumnId

VERSIONS = pytest.mark.parametrize("version", [2, 3])


def stored(segment: Segment, meta) -> int:
    """The bytes of all data pages and dictionaries at and below a column, from its indexes."""
    found = meta.dict_page.size if meta.HasField("dict_page") else 0
    if index(meta, IndexType.ORDINAL) is not None:
        found += sum(page.size for page in segment.pages(meta))
    return found + sum(stored(segment, child) for child in meta.children_columns)


def shown(path, capsys) -> dict[str, dict]:
    assert main(["columns", str(path), "--json"]) == 0
    return {".".join(one["path"]): one for one in json.loads(capsys.readouterr().out)}


@VERSIONS
@pytest.mark.parametrize("page_size", [200, 65536], ids=["many", "one"])
def test_the_bytes_of_every_column(version, page_size, tmp_path, capsys):
    data = made(table(300), version=version, page_size=page_size)
    (tmp_path / "a.dat").write_bytes(data)
    found = shown(tmp_path / "a.dat", capsys)
    segment = Segment(data)
    for k, meta in enumerate(segment.metas):
        assert found[f"col_{k}"]["bytes"] == stored(segment, meta) > 0
        pages = index(meta, IndexType.ORDINAL)
        if pages is not None:
            one = pages.ordinal_index.root_page.is_root_data_page
            assert found[f"col_{k}"]["pages"] == (1 if one else None)
    items = segment.metas[3].children_columns[0]
    assert found["col_3.item"]["bytes"] == stored(segment, items)
    entries = segment.metas[5].children_columns
    assert found["col_5.key"]["bytes"] == stored(segment, entries[0])
    assert found["col_5.value"]["bytes"] == stored(segment, entries[1])
    assert found["col_6.b.c"]["bytes"] > 0


@VERSIONS
def test_the_bytes_of_a_variant(version, tmp_path, capsys):
    words = {"version": version, "variant": ["v"], "variant_max_subcolumns": 2}
    data = made(documents(50), **words)
    (tmp_path / "a.dat").write_bytes(data)
    found, segment = shown(tmp_path / "a.dat", capsys), Segment(data)
    assert found["col_1"]["bytes"] == sum(stored(segment, meta) for meta in segment.metas[1:])
    sparse = segment.metas[1].children_columns[0] if version == 3 else segment.metas[-1]
    assert found["col_1.__DORIS_VARIANT_SPARSE__"]["bytes"] == stored(segment, sparse)
    root = segment.pages(segment.metas[1])
    assert found["col_1."]["bytes"] == root[0].size + segment.metas[1].dict_page.size
    assert found["col_1."]["pages"] == len(root) == 1


@VERSIONS
def test_a_path_that_is_a_value_and_an_object(version, tmp_path, capsys):
    data = made(documents(50), version=version, variant=["v"])
    (tmp_path / "a.dat").write_bytes(data)
    found, segment = shown(tmp_path / "a.dat", capsys), Segment(data)
    sizes = {one.column_path_info.path: stored(segment, one) for one in segment.metas[1:]}
    assert found["col_1.a"]["bytes"] == sizes["v.a"] + sizes["v.a.b"]
    assert found["col_1.a.b"]["bytes"] == sizes["v.a.b"]
    # The value's own pages are told with all that is below it, not apart.
    assert found["col_1.a."]["bytes"] is None
    assert found["col_1.a."]["pages"] is None
    assert main(["columns", str(tmp_path / "a.dat"), "--like", "col_1.a.*"]) == 0


def test_what_is_not_known_is_shown_as_nothing(tmp_path, capsys):
    (tmp_path / "a.dat").write_bytes(made(table(300), page_size=200))
    assert main(["columns", str(tmp_path / "a.dat"), "--like", "col_0"]) == 0
    cells = capsys.readouterr().out.splitlines()[1].split()
    assert cells[:4] == ["0", "col_0", "int32", "-"]


def test_a_column_that_the_segment_lacks_has_no_bytes():
    with rangeio.open(made(table(9)), schema={90: "new"}) as file:
        assert file.column("new").pages == []


def parsed(data: bytes, position: int):
    file = in_memory(data)
    opened = file.open()
    schema = file.run(file.format.schema(opened))
    metas = file.run(file.format.columns(opened, file.format.needed(schema.at(position))))
    return next(iter(metas.values()))


def unsaid(node):
    """The node of a writer that says nothing of its bytes."""
    return replace(node, size=-1, children=tuple(map(unsaid, node.children)))


def test_what_only_the_index_knows():
    texts = pa.table({"t": [f"{k % 7}" * 9 for k in range(300)], "l": [[k] for k in range(300)]})
    many, one = (parsed(made(texts, page_size=size), 0) for size in (100, 1 << 16))
    (found,) = page_infos(replace(many, node=unsaid(many.node)))
    assert (found.size, found.count) == (UNKNOWN, UNKNOWN)
    (found,) = page_infos(replace(one, node=unsaid(one.node)))
    assert found.size == one.node.ordinal.at.size + one.node.dictionary.size
    lists = parsed(made(texts, page_size=100), 1)
    node = unsaid(lists.node)
    assert {page.size for page in page_infos(replace(lists, node=node))} >= {UNKNOWN}
    (found,) = page_infos(replace(lists, node=replace(node, size=777)))
    assert (found.column, found.size) == (ColumnId(1, ("col_1",)), 777)


def test_no_ordinal_index():
    node = parsed(made(table(9)), 0).node
    meta = parsed(made(table(0)), 0)
    (none,) = page_infos(meta)
    assert (none.size, none.count) == (0, 0)
    (lost,) = page_infos(replace(meta, node=replace(node, ordinal=None)))
    assert (lost.size, lost.count) == (UNKNOWN, UNKNOWN)
