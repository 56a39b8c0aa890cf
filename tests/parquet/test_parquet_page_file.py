"""Chosen pages as a file of one column: pyarrow decodes them to slices of the whole column."""

from __future__ import annotations

import io
import random
from dataclasses import replace
from typing import Any

import polars
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from page_files import DATA, Taken, column, encoded, shared
from page_tables import GROUP, PAGE, table, written

from rangeio.codecs import thrift
from rangeio.codecs.thrift import Struct
from rangeio.errors import Corrupt, Unsupported
from rangeio.formats.parquet.leaf import Fact
from rangeio.formats.parquet.pages.file import Pages
from rangeio.formats.parquet.pages.header import PageType, data_pages, page_header
from rangeio.ranges import ByteRange


def slices(of: pa.ChunkedArray, before: int, rows: list[tuple[int, int]]) -> pa.ChunkedArray:
    """Rows of a group that begins at the row ``before``."""
    chunks = [c for a, b in rows for c in of.slice(before + a, b - a).chunks]
    return pa.chunked_array(chunks, of.type)


def plain(of: pa.ChunkedArray) -> pa.ChunkedArray:
    """Without dictionaries, whose order depends on the pages that were read."""
    return of.cast(of.type.value_type) if pa.types.is_dictionary(of.type) else of


def chosen_rows(cuts: list[int], seed: int) -> list[list[tuple[int, int]]]:
    """The first page, the last, all, and some with gaps between them."""
    pages = [(cuts[k], cuts[k + 1]) for k in range(len(cuts) - 1)]
    some = [page for page in pages if random.Random(f"{seed} {page}").random() < 0.4]
    return [pages[:1], pages[-1:], [(0, cuts[-1])], some or pages]


OPTIONS = [
    *({"compression": c} for c in ("none", "snappy", "gzip", "zstd", "lz4", "brotli")),
    *({"compression": c, "data_page_version": "2.0"} for c in ("none", "snappy", "zstd", "lz4")),
    {"use_dictionary": False},
    {"use_dictionary": False, "data_page_version": "2.0", "compression": "gzip"},
    {"dictionary_pagesize_limit": 256},
    {"write_page_checksum": True, "write_statistics": False},
    {"store_schema": False},
    {"version": "1.0", "use_deprecated_int96_timestamps": True},
]


def words(options: dict[str, Any]) -> str:
    return " ".join(f"{k}={v}" for k, v in options.items())


@pytest.mark.parametrize("options", OPTIONS, ids=words)
def test_chosen_pages_are_slices_of_the_column(options: dict[str, Any]) -> None:
    file = written(**options)
    whole = pq.read_table(io.BytesIO(file.data))
    for k, name in enumerate(whole.schema.names):
        for group, before in enumerate((0, GROUP)):
            cuts = file.cuts(k, group)
            assert len(cuts) > 5, (name, "pages were not cut where they should be")
            for rows in chosen_rows(cuts, k):
                got = file.decoded(k, group, rows)
                want = slices(whole.column(k), before, rows)
                assert got.type == want.type, name
                assert plain(got).equals(plain(want)), (name, group, rows)
                got.validate(full=True)


@pytest.mark.parametrize("name", ["alltypes_tiny_pages", "alltypes_tiny_pages_plain"])
def test_tiny_pages_of_another_writer(name: str) -> None:
    file = Taken(shared(name))
    whole = pq.read_table(io.BytesIO(file.data))
    assert whole.num_columns == 13
    for k in range(13):
        for rows in chosen_rows(file.cuts(k, 0), k):
            assert file.decoded(k, 0, rows).equals(slices(whole.column(k), 0, rows)), (k, rows)


def test_all_pages_of_files_that_have_an_index() -> None:
    taken = set()
    for path in sorted(DATA.glob("*.parquet")):
        file = Taken(path.read_bytes())
        for k in range(len(file.fields)):
            leaves = file.leaves(k)
            for group in range(len(file.groups)):
                if any(meta.fact(group, Fact.OFFSET_INDEX) <= 0 for meta in leaves):
                    continue
                got = file.decoded(k, group, [(0, int(file.group_rows[group]))])
                want = pq.ParquetFile(path).read_row_group(group).column(k)
                assert got.type == want.type
                # Two NaN are equal as text only.
                assert str(got.to_pylist()) == str(want.to_pylist()), (path.name, k, group)
                taken.add(path.name)
    if not DATA.exists():
        pytest.skip("the files of parquet-testing are not here")
    assert len(taken) > 10


@pytest.mark.parametrize("options", [{}, {"data_page_version": "2.0"}], ids=words)
def test_other_readers_take_the_file_for_one(options: dict[str, Any]) -> None:
    file = written(**options)
    names = table().schema.names
    for name in ("int64", "few_strings", "bool", "decimal", "list", "structs"):
        data = b"".join(file.chosen(names.index(name), 1, [(0, PAGE), (3 * PAGE, 4 * PAGE)]))
        got = polars.read_parquet(data, use_pyarrow=False).to_series()
        assert got.name == name
        assert got.to_list() == column(data).to_pylist()


def test_no_pages_are_no_rows() -> None:
    file = written()
    for k, kind in enumerate(pq.read_schema(io.BytesIO(file.data)).types):
        got = file.decoded(k, 0, [])
        assert (len(got), got.type) == (0, kind)


def test_pages_are_not_copied_before_they_are_joined() -> None:
    file = written()
    parts = file.chosen(0, 0, [(0, PAGE), (2 * PAGE, 4 * PAGE)])
    views = [part for part in parts if isinstance(part, memoryview)]
    assert len(views) == 3  # the dictionary page and two runs
    assert all(view.obj is file.data for view in views)
    index = file.offset_index(file.metas[0], 0)
    assert index is not None
    assert len(views[1]) == index.sizes[0]
    assert len(views[2]) == index.sizes[2:4].sum()


def test_the_footer_says_what_is_there_and_no_more() -> None:
    numbers = pa.table({"x": pa.array(range(1000), pa.int32())})
    file = Taken(encoded(numbers, max_rows_per_page=100, bloom_filter_options={"x": True}))
    data = b"".join(file.chosen(0, 0, [(100, 200), (500, 700)]))
    found = pq.read_metadata(io.BytesIO(data))
    chunk = found.row_group(0).column(0)
    before = pq.read_metadata(io.BytesIO(file.data)).row_group(0).column(0)
    assert before.statistics is not None
    assert before.bloom_filter_offset is not None
    assert before.has_offset_index
    assert (found.num_rows, found.num_row_groups, chunk.num_values) == (300, 1, 300)
    assert found.created_by == pq.read_metadata(io.BytesIO(file.data)).created_by
    assert chunk.statistics is None
    assert chunk.bloom_filter_offset is None
    assert not chunk.has_offset_index
    assert not chunk.has_column_index
    assert chunk.dictionary_page_offset == 4
    head = page_header(memoryview(data), 4)
    assert chunk.data_page_offset == 4 + head.head + head.size
    assert chunk.total_compressed_size == len(data) - 8 - 4 - len(footer(data)[0])
    pages = data_pages(memoryview(data)[chunk.data_page_offset : 4 + chunk.total_compressed_size])
    sizes = head.head + head.uncompressed + sum(p.head + p.uncompressed for p in pages)
    assert chunk.total_uncompressed_size == sizes
    assert found.row_group(0).total_byte_size == sizes
    (group,) = footer(data)[1].list(4) or []
    (kept,) = group.list(1)
    assert sorted(kept) == [2, 3]
    assert sorted(kept.struct(3)) == [1, 2, 3, 4, 5, 6, 7, 9, 11]


def footer(data: bytes) -> tuple[bytes, Struct]:
    """The footer's bytes and what they say."""
    size = int.from_bytes(data[-8:-4], "little")
    return data[-8 - size : -8], thrift.read(data[-8 - size : -8])[0]


def test_unknown_fields_are_kept() -> None:
    file = Taken(shared("column_chunk_key_value_metadata"))
    chunk = thrift.read(file.metas[0].chunks[0])[0]
    assert chunk.struct(3).list(8)  # type: ignore[union-attr]
    chunk[3][1][-3] = (thrift.TRUE, True)
    chunk[32_767] = (thrift.BINARY, b"an extension")
    chunk[2] = (thrift.I64, 12_345)
    meta = replace(file.metas[0], chunks=(thrift.write(chunk),))
    root = file.elements[0]
    root[32_767] = (thrift.LIST, (thrift.I32, [1, 2, 3]))
    index = file.offset_index(meta, 0)
    assert index is None  # the file has none: its pages are found by their headers
    pages = first_chunk(file)
    rows = int(file.group_rows[0])
    parts = file.parts(0, [replace(pages, meta=meta)], rows, thrift.write(root))
    data = b"".join(parts)
    kept = footer(data)[1]
    now = kept.list(4)[0].list(1)[0]  # type: ignore[index]
    assert now.binary(32_767) == b"an extension"
    assert now.integer(2) == 0  # file_offset: its metadata lies in the footer only
    assert now.struct(3).flag(-3) is True
    assert now.struct(3).list(8) == chunk.struct(3).list(8)  # type: ignore[union-attr]
    assert kept.list(2)[0].list(32_767) == [1, 2, 3]  # type: ignore[index]
    assert column(data).equals(pq.read_table(io.BytesIO(file.data)).column(0))


def first_chunk(file: Taken) -> Pages:
    """All pages of a file's first chunk."""
    meta = file.metas[0]
    places = [meta.fact(0, fact) for fact in (Fact.DICTIONARY_PAGE, Fact.DATA_PAGE)]
    start = min(place for place in places if place > 0)
    every = file.part(ByteRange(start, start + meta.fact(0, Fact.COMPRESSED)))
    head = page_header(every)
    first = head.head + head.size if head.kind == PageType.DICTIONARY else 0
    return Pages(meta, 0, every[:first], [every[first:]], int(file.group_rows[0]))


# ---- chunks that have no pages to choose ---------------------------------------------------------


def test_encrypted_columns_are_refused_by_name() -> None:
    path = DATA / "encrypt_columns_plaintext_footer.parquet.encrypted"
    if not path.exists():
        pytest.skip(f"{path.name} is not here")
    file = Taken(path.read_bytes())
    refused = []
    for k in range(len(file.fields)):
        leaves = [Pages(meta, 0, None, [], 0) for meta in file.leaves(k)]
        try:
            file.parts(k, leaves, 0)
        except Unsupported as error:
            refused.append(str(error))
    assert refused == [f"the column {n} is encrypted" for n in ("float_field", "double_field")]


def test_a_chunk_without_metadata() -> None:
    file = written()
    for chunk in (Struct({2: (thrift.I64, 4)}), Struct({3: (thrift.I32, 4)})):
        meta = replace(file.metas[0], chunks=(thrift.write(chunk),))
        with pytest.raises(Corrupt, match="a chunk of int64 without ColumnMetaData"):
            file.parts(0, [Pages(meta, 0, None, [], 0)], 0)
