"""Files of every writer, codec, page version, encoding and type, read as pyarrow reads them."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from corpus_files import CASES, NAMES, ROWS, arrow, made
from parquet_columns import COLUMNS, table
from parquet_peer import Peer, same
from parquet_ways import check

import rangeio
from rangeio.errors import FormatError, RequestError

FULL = os.environ.get("RANGEIO_FUZZ") == "full"
KINDS = ("-type-", "shape-", "small_pages", "row_groups", "version_1", "field_ids")
SETTINGS = ("page_index", "no_arrow_schema", "plain_nested_names", "int96", "decimal_integers")


@pytest.fixture(scope="module")
def session() -> Iterator[rangeio.Session]:
    with rangeio.Session() as one:
        yield one


@pytest.mark.parametrize("name", list(CASES))
def test_a_file_reads_as_pyarrow_reads_it(session: rangeio.Session, name: str) -> None:
    """Columns and leaves are read one by one of every type and shape; of every codec at night."""
    thorough = FULL or any(word in name for word in (*KINDS, *SETTINGS))
    check(made(name), session, thorough=thorough)


# ---- the corpus is what it says ----------------------------------------------------------------


def chunks(data: bytes) -> list[pq.ColumnChunkMetaData]:
    metadata = pq.ParquetFile(pa.BufferReader(data)).metadata
    groups = range(metadata.num_row_groups)
    return [metadata.row_group(g).column(c) for g in groups for c in range(metadata.num_columns)]


@pytest.mark.parametrize(
    "encoding",
    [
        "DELTA_BINARY_PACKED",
        "DELTA_LENGTH_BYTE_ARRAY",
        "DELTA_BYTE_ARRAY",
        "BYTE_STREAM_SPLIT",
        "RLE",
        "PLAIN",
    ],
)
def test_the_files_have_the_encodings_that_they_are_named_after(encoding: str) -> None:
    for pages in ("1.0", "2.0"):
        found = chunks(made(f"pyarrow-encoding-{encoding}-{pages}"))
        assert found
        assert all(encoding in chunk.encodings for chunk in found)
        assert not any(chunk.has_dictionary_page for chunk in found)


def test_the_files_have_the_codecs_that_they_are_named_after() -> None:
    for writer, codec, wanted in (
        ("pyarrow", "brotli-2.0", "BROTLI"),
        ("pyarrow", "lz4-1.0", "LZ4"),
        ("polars", "zstd", "ZSTD"),
        ("duckdb", "lz4_raw", "LZ4"),
        ("arrow_rs", "brotli(1)", "BROTLI"),
        ("duckdb", "gzip", "GZIP"),
    ):
        assert {c.compression for c in chunks(made(f"{writer}-codec-{codec}"))} == {wanted}


def test_the_files_have_the_pages_indexes_and_filters_that_they_are_named_after() -> None:
    assert all(c.has_offset_index for c in chunks(made("pyarrow-setting-page_index")))
    assert any(c.bloom_filter_offset for c in chunks(made("pyarrow-setting-bloom")))
    types = {c.physical_type for c in chunks(made("pyarrow-setting-int96"))}
    assert "INT96" in types
    assert "INT96" not in {c.physical_type for c in chunks(made("pyarrow-setting-millis"))}


def test_the_columns_are_varied() -> None:
    content = table([n for n in COLUMNS if n != "null"], ROWS)
    for name, column in zip(content.column_names, content.columns, strict=True):
        assert 0 < column.null_count < ROWS // 2, name


# ---- what a file says of itself ----------------------------------------------------------------


def test_metadata_of_the_file_comes_with_its_tables_and_the_arrow_schema_does_not() -> None:
    data = made("shape-metadata")
    written = dict(Peer(data).file.metadata.metadata)
    assert b"ARROW:schema" in written
    with rangeio.open(data) as file:
        got = file.read(["int32"]).schema.metadata
        assert got == {k: v for k, v in written.items() if k != b"ARROW:schema"}
        assert file.schema.arrow.metadata == got


def test_metadata_of_fields_comes_with_them() -> None:
    data = made("shape-field_ids")
    wanted = Peer(data).read()
    assert wanted is not None
    with rangeio.open(data) as file:
        assert file.read().schema.equals(wanted.schema, check_metadata=True)
        assert file.read(["z"]).schema.field("z").metadata[b"unit"] == b"words"


def test_field_ids_are_declared_ids_and_select_columns() -> None:
    with rangeio.open(made("shape-field_ids")) as file:
        ids = {c.name: c.unique_id for c in file.schema}
        assert ids == {"a": 900, "s": 5, "l": 2, "z": 100_000}
        assert all(column.id_declared for column in file.schema)
        assert file.read([900]).column_names == ["a"]
        assert file.read([31]).schema.field("s").type == pa.struct([("x", pa.int32())])


def test_without_field_ids_columns_are_numbered_and_not_declared() -> None:
    with rangeio.open(made("shape-required")) as file:
        assert not any(column.id_declared for column in file.schema)
        for column in file.schema:
            assert file.read([column.unique_id]).column_names == [column.name]


def test_repeated_names_are_asked_for_by_id() -> None:
    with rangeio.open(made("shape-repeated_names")) as file:
        wanted = Peer(made("shape-repeated_names")).read()
        assert wanted is not None
        with pytest.raises(RequestError):
            file.read(["same"])
        ids = [column.unique_id for column in file.schema]
        assert len(set(ids)) == 4
        for at, one in enumerate(ids):
            same(file.read([one]), wanted.select([at]), f"column {at}")


def test_names_with_dots_are_exact_names_first() -> None:
    data = made("shape-names")
    wanted = Peer(data).read()
    assert wanted is not None
    with rangeio.open(data) as file:
        for name in NAMES:
            same(file.read([name]), wanted.select([NAMES.index(name)]), repr(name))
        inner = file.read([("a", "b")]).column("a").combine_chunks()
        assert inner.type.num_fields == 1
        assert inner.field("b").to_pylist() == list(range(9))
        inner = file.read([("a", "b.c")]).column("a").combine_chunks()
        assert inner.field("b.c").to_pylist() == [str(i) for i in range(9)]


# ---- structs are pruned, maps and extensions are not -------------------------------------------


def test_leaves_of_structs_come_alone_and_in_the_order_of_the_struct() -> None:
    content = table(["struct", "list_struct", "struct_views"], 300)
    with rangeio.open(arrow(content, row_group_size=300)) as file:
        got = file.read(["struct.c.d", "struct.a"]).column("struct").combine_chunks()
        whole = content.column("struct").combine_chunks()
        assert [f.name for f in got.type] == ["a", "c"]
        assert got.is_null().equals(whole.is_null())
        for name in ("a", "c"):
            assert pc.struct_field(got, name).equals(pc.struct_field(whole, name)) or name == "c"
        kind = file.read(["list_struct.y"]).schema.field("list_struct").type
        assert kind == pa.list_(pa.field("element", pa.struct([("y", pa.string())])))
        for name in ("a", "b", "c"):
            kind = file.read([f"struct_views.{name}"]).schema.field("struct_views").type
            assert kind.field(0).type == content.schema.field("struct_views").type.field(name).type


def test_a_struct_is_opened_into_its_leaves() -> None:
    content = table(["struct", "int32"], 90)
    with rangeio.open(arrow(content)) as file:
        flat = file.read(flatten=True)
        assert flat.column_names == ["struct.a", "struct.b", "struct.c.d", "int32"]
        assert flat.column("int32").equals(content.column("int32"))


# ---- what is in another file, or is cut --------------------------------------------------------


def test_chunks_of_another_file_are_refused() -> None:
    """A ``_metadata`` file: the footer of its neighbours, without their data."""
    sink = pa.BufferOutputStream()
    data = arrow(table(["int32", "string"], 50))
    metadata = pq.ParquetFile(pa.BufferReader(data)).metadata
    metadata.set_file_path("part-0.parquet")
    metadata.write_metadata_file(sink)
    with rangeio.open(sink.getvalue().to_pybytes()) as file:
        assert file.num_rows == 50
        assert list(file.schema.names) == ["int32", "string"]
        with pytest.raises(FormatError):
            file.read(["int32"])


def test_sessions_with_little_room_read_the_same() -> None:
    content = table(["string", "list_struct", "category", "double"], 3000)
    data = arrow(content, row_group_size=500, data_page_size=1000, write_page_index=True)
    wanted = Peer(data).read()
    assert wanted is not None
    with (
        rangeio.Session(max_buffer=1 << 16, memory_cache=0, column_cache=1 << 10) as session,
        rangeio.open(data, session=session) as file,
    ):
        same(file.read(), wanted, "little room")
        same(file.scan(batch_rows=70).read_all(), wanted, "little room")
        same(file.read(rows=slice(480, 1020)), wanted.slice(480, 540), "little room")
