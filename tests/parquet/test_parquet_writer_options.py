"""Every option of the Parquet writer, found in the bytes; and options that cannot be."""

import io

import polars as pl
import pyarrow as pa
import pytest
from written_files import (
    DATA_PAGE,
    DATA_PAGE_V2,
    DICTIONARY_PAGE,
    LEAVES,
    TABLE,
    WRITER,
    chunks,
    made,
    meta,
    offset_index,
    pages,
    read,
)

from rangeio.codecs import thrift
from rangeio.errors import NoSuchColumn, RequestError
from rangeio.formats.parquet.writing.options import arrow_words
from rangeio.formats.parquet.writing.outlet import footer_of


def test_the_page_index_is_there_unless_it_is_not_wanted():
    data = made(TABLE, row_group_size=2000)
    for group in range(3):
        for chunk in chunks(data, group).values():
            assert all(chunk.integer(field) > 0 for field in (4, 5, 6, 7))
            at = chunk.integer(6)
            _, stop = thrift.read(data, at)
            assert stop - at == chunk.integer(7)
    for chunk in chunks(made(TABLE, page_index=False)).values():
        assert not {4, 5, 6, 7} & set(chunk)


def test_pages_end_at_so_many_rows_or_bytes():
    data = made(TABLE, max_rows_per_page=100)
    firsts = [page.integer(3) for page in offset_index(data, chunks(data)["v.b.list.element"])]
    assert firsts == list(range(0, 5000, 100))
    many = made(TABLE, data_page_size=2000, dictionary=False)
    assert len(offset_index(many, chunks(many)["id"])) == 5  # it looks every 1,024 values
    assert len(offset_index(made(TABLE), chunks(made(TABLE))["id"])) == 1


def bitsets(data):
    """The size of each leaf's bloom filter, its header's word for it."""
    found = {}
    for path, chunk in chunks(data).items():
        at = chunk.struct(3).integer(14)
        if at is not None:
            header, stop = thrift.read(data, at)
            found[path] = header.integer(1)
            assert chunk.struct(3).integer(15) == stop - at + found[path]
    return found


def test_bloom_filters():
    assert bitsets(made(TABLE)) == {}
    fitting = bitsets(made(TABLE, bloom_filters="id"))
    assert bitsets(made(TABLE, bloom_filters=["id"])) == fitting
    assert bitsets(made(TABLE, bloom_filters={"id": True, "word": False})) == fitting
    assert list(fitting) == ["id"]
    given = bitsets(made(TABLE, bloom_filters={"id": {"ndv": 100}, "v": {"fpp": 0.5}}))
    assert list(given) == ["id", "v.a", "v.b.list.element"]
    assert given["id"] < fitting["id"] / 20
    assert bitsets(made(TABLE, bloom_filters={"v": True}))["v.a"] > given["v.a"]
    assert bitsets(made(TABLE, bloom_filters="id", row_group_size=600))["id"] < fitting["id"]


def test_a_bloom_filter_makes_room_for_the_rows_of_a_row_group():
    def asked(filters, rows):
        words = arrow_words(WRITER.options({"bloom_filters": filters}), TABLE.schema, rows)
        return words["bloom_filter_options"]

    assert asked("id", 5000) == {"id": {"ndv": 5000}}
    assert asked({"id": {"fpp": 0.1}}, 0) == {"id": {"ndv": 1, "fpp": 0.1}}
    assert asked({"v.a": {"ndv": 7}}, 5000) == {"v.a": {"ndv": 7}}


def codecs(data):
    found = meta(data)
    return [found.row_group(0).column(i).compression for i in range(len(LEAVES))]


def test_compression():
    assert codecs(made(TABLE)) == ["SNAPPY"] * 4
    assert codecs(made(TABLE, compression="zstd")) == ["ZSTD"] * 4
    assert codecs(made(TABLE, compression=None)) == ["UNCOMPRESSED"] * 4
    some = made(TABLE, compression={"v": "gzip", "id": "none"})
    assert codecs(some) == ["UNCOMPRESSED", "SNAPPY", "GZIP", "GZIP"]
    quick, dense = (made(TABLE, compression="gzip", compression_level=n) for n in (1, 9))
    assert len(dense) < len(quick)
    both = made(TABLE, compression={"v.a": "zstd"}, compression_level={"v.a": 19})
    assert codecs(both) == ["SNAPPY", "SNAPPY", "ZSTD", "SNAPPY"]


def dictionaries(data):
    found = chunks(data)
    return [p for p, c in found.items() if pages(data, c)[0].integer(1) == DICTIONARY_PAGE]


def test_dictionaries():
    assert dictionaries(made(TABLE)) == LEAVES
    assert dictionaries(made(TABLE, dictionary=False)) == []
    assert dictionaries(made(TABLE, dictionary="word")) == ["word"]
    assert dictionaries(made(TABLE, dictionary=["v.b", "id"])) == ["id", "v.b.list.element"]


def described(data):
    return [path for path, chunk in chunks(data).items() if chunk.struct(3).struct(12) is not None]


def test_statistics():
    assert described(made(TABLE)) == LEAVES
    assert described(made(TABLE, statistics=False)) == []
    assert described(made(TABLE, statistics=["v.a", "id"])) == ["id", "v.a"]


def test_page_checksums():
    headers = pages(data := made(TABLE, page_checksums=True), chunks(data)["word"])
    assert all(4 in header for header in headers)
    headers = pages(data := made(TABLE), chunks(data)["word"])
    assert not any(4 in header for header in headers)


@pytest.mark.parametrize(("version", "kind"), [("1.0", DATA_PAGE), ("2.0", DATA_PAGE_V2)])
def test_the_version_of_data_pages(version, kind):
    data = made(TABLE, data_page_version=version)
    assert pages(data, chunks(data)["id"])[-1].integer(1) == kind
    assert read(data).equals(TABLE)


def test_the_arrow_schema_is_stored_unless_it_is_not_wanted():
    table = pa.table({"d": pa.array([1, 2], pa.duration("us"))})
    assert read(made(table)).schema == table.schema
    assert read(made(table, store_schema=False)).schema.field("d").type == pa.int64()


def test_the_flatbuffer_footer_is_added_and_read_by_all():
    pytest.importorskip("flatbuffers")
    plain = made(TABLE, row_group_size=600, bloom_filters="id")
    data = made(TABLE, row_group_size=600, bloom_filters="id", flatbuffer_footer=True)
    longer, footer = footer_of(data), footer_of(plain)
    assert longer[: len(footer) - 1] == footer[:-1]
    assert len(longer) > len(footer) + 100
    assert data[: -8 - len(longer)] == plain[: -8 - len(footer)]
    assert read(data).equals(TABLE)
    assert pl.read_parquet(io.BytesIO(data)).height == 5000


# ---- refusals ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"compresion": "zstd"}, "'compresion' is no option.*did you mean compression.*page_index"),
        ({"compression": "rot13"}, "cannot be written as Parquet: Unsupported compression"),
        ({"compression": "snappy", "compression_level": 3}, "support setting a compression level"),
        ({"data_page_version": "3.0"}, "data page version"),
        ({"row_group_size": 0}, "row_group_size= must be"),
        ({"row_group_size": True}, "row_group_size= must be"),
        ({"row_group_size": (1 << 26) + 1}, "at most 67,108,864"),
        ({"max_rows_per_page": 0}, "max_rows_per_page= must be"),
        ({"data_page_size": -1}, "data_page_size= must be"),
        ({"data_page_size": 10.5}, "data_page_size= must be"),
        ({"page_index": 1}, "page_index= must be"),
        ({"bloom_filters": {"id": {"ndx": 3}}}, "takes ndv and fpp"),
        ({"bloom_filters": {"id": 1000}}, "takes ndv and fpp"),
        ({"bloom_filters": {"id": {"ndv": -1}}}, "ndv"),
        ({"bloom_filters": {"id": {"fpp": 1.5}}}, "fpp"),
        ({"bloom_filters": 7}, "cannot be written as Parquet"),
        ({"bloom_filters": "flag"}, "cannot be written as Parquet: .*boolean"),
    ],
)
def test_options_that_cannot_be(words, said):
    table = TABLE.append_column("flag", pa.array([True] * 5000))
    with pytest.raises(RequestError, match=said):
        made(table, **words)


@pytest.mark.parametrize(
    "words",
    [
        {"bloom_filters": ["idd"]},
        {"dictionary": ["v.c"]},
        {"statistics": "v.b.item"},
        {"compression": {"": "zstd"}},
        {"dictionary": [7]},
    ],
)
def test_columns_that_are_not_there(words):
    with pytest.raises(NoSuchColumn, match="no column is called"):
        made(TABLE, **words)


@pytest.mark.parametrize(
    "kind",
    [
        pa.month_day_nano_interval(),
        pa.dense_union([pa.field("a", pa.int32())]),
        pa.run_end_encoded(pa.int32(), pa.int32()),
        pa.struct([]),
    ],
    ids=str,
)
def test_types_that_parquet_has_not_are_refused_before_a_byte_is_written(kind):
    took = []
    with pytest.raises(RequestError, match="cannot be written as Parquet"):
        WRITER.encoder(pa.schema([("a", kind)]), WRITER.options({}), took.append, None)
    assert took == []
