"""The extension at a footer's end: who reads the file, what is found in it, what is refused."""

from __future__ import annotations

import sys
from functools import cache

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from corpus_files import made
from flat_files import everything, extended_file, flatbuffer_of, footer_of, parquet, with_footer

from rangeio.codecs import thrift
from rangeio.errors import Corrupt, RequestError
from rangeio.formats.parquet.flatbuffer import container
from rangeio.formats.parquet.flatbuffer.container import Codec, found, payload
from rangeio.formats.parquet.flatbuffer.footer import FlatFooter
from rangeio.formats.parquet.flatbuffer.writer import extended

# ---- other readers -----------------------------------------------------------------------------


@cache
def shared() -> tuple[bytes, pa.Table]:
    """A file with the extension that every reader understands, and what it holds."""
    content = pa.table(
        {"i": range(500), "s": [f"w{i % 7}" for i in range(500)], "f": np.arange(500) / 3}
    )
    return extended_file(parquet(content, row_group_size=100)), content


@pytest.mark.parametrize("header", container.HEADERS, ids=["conforming", "proposed"])
def test_other_readers_read_the_file_in_both_spellings(header, tmp_path):
    file, content = shared()
    assert file.count(container.HEADERS[0]) == 1
    path = tmp_path / "f.parquet"
    path.write_bytes(file.replace(container.HEADERS[0], header))
    assert flatbuffer_of(path.read_bytes()) == flatbuffer_of(file)
    assert pq.read_table(path).equals(content)
    assert pl.read_parquet(path).to_arrow().cast(content.schema).equals(content)
    assert pl.scan_parquet(path).select("s").collect().to_arrow()["s"].to_pylist()[:2] == [
        "w0",
        "w1",
    ]
    found = duckdb.sql(f"select * from '{path}'").to_arrow_table()
    assert found.cast(content.schema).equals(content)


@pytest.mark.filterwarnings("ignore:unclosed file", "ignore:Exception ignored in")
def test_fastparquet_reads_the_file(tmp_path):
    fastparquet = pytest.importorskip("fastparquet")
    file, content = shared()
    (tmp_path / "f.parquet").write_bytes(file)
    found = fastparquet.ParquetFile(str(tmp_path / "f.parquet")).to_pandas()
    assert found["s"].tolist() == content["s"].to_pylist()


def test_arrow_rs_reads_the_file(tmp_path):
    arro3 = pytest.importorskip("arro3.io")
    file, content = shared()
    (tmp_path / "f.parquet").write_bytes(file)
    found = pa.table(arro3.read_parquet(str(tmp_path / "f.parquet")).read_all())
    assert found.cast(content.schema).equals(content)


# ---- the container -----------------------------------------------------------------------------


def parts() -> tuple[bytes, int, int]:
    file = shared()[0]
    return file, len(file) - 8 - len(footer_of(file)), len(file) - 8


def test_the_extension_ends_the_footer_as_the_proposal_has_it():
    file, start, stop = parts()
    extension = found(memoryview(file), start, stop)
    assert extension.codec is Codec.LZ4_RAW
    assert extension.raw_size >= 1.2 * extension.size
    assert extension.at.stop == stop - 1 - 16 - 16
    assert file[stop - 17 : stop - 1] == container.UUID
    assert file[extension.at.stop - 1] == 7
    fields = [(i, b - a) for i, _, a, b in thrift.fields(file[start:stop])]
    assert fields[-1][0] == 32767
    read = thrift.read(file[start:stop])[0]
    assert read.binary(32767)[: extension.size] == file[extension.at.start : extension.at.stop - 1]
    del read[32767]
    assert thrift.write(read) == footer_of(parquet_of_shared())


def parquet_of_shared() -> bytes:
    return parquet(shared()[1], row_group_size=100)


def test_any_tail_that_reaches_the_trailer_tells_it():
    file, start, stop = parts()
    whole = found(memoryview(file), start, stop)
    for size in (*range(42, 80), whole.size + 30, whole.size + 60, len(file)):
        assert found(memoryview(file)[-size:], start, stop) == whole
    for size in (0, 8, 9, 41):
        assert found(memoryview(file)[len(file) - size :], start, stop) is None


def test_what_does_not_compress_is_not_compressed():
    names = [np.random.default_rng(i).bytes(400).hex()[:700] for i in range(2)]
    blob = np.random.default_rng(3).bytes(60_000)
    read = thrift.read(footer_of(parquet(pa.table({n: [1] for n in names}), store_schema=False)))
    pair = thrift.Struct({1: (thrift.BINARY, b"blob"), 2: (thrift.BINARY, blob)})
    read[0][5] = (thrift.LIST, (thrift.STRUCT, [pair]))
    file = with_footer(parquet(pa.table({"a": [1]})), extended(thrift.write(read[0])))
    extension = found(memoryview(file), 0, len(file) - 8)
    assert extension.codec is Codec.UNCOMPRESSED
    data = memoryview(file)[extension.at.start : extension.at.stop]
    assert FlatFooter(payload(extension, data)).metadata() == {b"blob": blob}


def test_an_extension_that_begins_before_the_footer_is_none():
    file, _, stop = parts()
    extension = found(memoryview(file), 0, stop)
    assert found(memoryview(file)[-100:], extension.at.start - 7, stop) is not None
    assert found(memoryview(file)[-100:], extension.at.start - 1, stop) is None


@pytest.mark.parametrize("raw_size", [0, 1, "less", "more", "most", (1 << 31) - 1, 1 << 31])
def test_a_wrong_size_of_the_flatbuffer_is_noticed(raw_size):
    file, start, stop = parts()
    right = found(memoryview(file), start, stop)
    near = {"less": right.raw_size - 1, "more": right.raw_size + 1, "most": 16 * right.size}
    raw_size = near.get(raw_size, raw_size)
    data = bytes(file[right.at.start : right.at.stop])
    forged = with_trailer(file, right, data, raw_size)
    extension = found(memoryview(forged), start, stop)
    if raw_size > 16 * right.size:
        assert extension is None
    else:
        assert payload(extension, memoryview(data)) is None


def with_trailer(file: bytes, extension: container.Extension, data: bytes, raw_size: int) -> bytes:
    """The file with other bytes for payload and codec, and a trailer that fits them."""
    sizes = extension.size.to_bytes(4, "little") + raw_size.to_bytes(4, "little")
    crcs = [zlib_crc(data), zlib_crc(sizes)]
    tail = data + crcs[0] + sizes + crcs[1] + file[-25:]
    return file[: extension.at.start] + tail


def zlib_crc(data: bytes) -> bytes:
    """A CRC-32 that is not the reader's: bit by bit."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0xEDB88320 if crc & 1 else 0)
    return (crc ^ 0xFFFFFFFF).to_bytes(4, "little")


def test_an_unknown_codec_is_none():
    file, start, stop = parts()
    right = found(memoryview(file), start, stop)
    for codec in (1, 5, 6, 8, 255):
        data = file[right.at.start : right.at.stop - 1] + bytes([codec])
        forged = with_trailer(file, right, data, right.raw_size)
        assert found(memoryview(forged), start, stop) is None


def test_files_without_an_extension_have_none():
    for case in ("pyarrow-setting-page_index", "polars-codec-zstd", "duckdb-codec-zstd"):
        assert flatbuffer_of(made(case)) is None
    assert found(memoryview(bytes(100)), 0, 92) is None


# ---- what the writer refuses -------------------------------------------------------------------


def changed(**fields: object) -> bytes:
    """A footer with other fields at its top."""
    read = thrift.read(footer_of(parquet(pa.table({"a": [1], "b": ["x"]}))))[0]
    read.update({int(k[1:]): v for k, v in fields.items()})
    return thrift.write(read)


def test_the_package_is_named_where_it_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "flatbuffers", None)
    with pytest.raises(RequestError, match=r"pip install 'rangeio\[flatbuffers\]'"):
        extended(footer_of(parquet(pa.table({"a": [1]}))))


def test_reading_needs_no_package(monkeypatch):
    file = extended_file(everything())
    monkeypatch.setitem(sys.modules, "flatbuffers", None)
    told = FlatFooter(memoryview(flatbuffer_of(file)))
    assert told.num_rows == 300


def test_encrypted_files_are_refused():
    algorithm = thrift.Struct({1: (thrift.STRUCT, thrift.Struct())})
    for footer in (changed(_8=(thrift.STRUCT, algorithm)), changed(_9=(thrift.BINARY, b"key"))):
        with pytest.raises(RequestError, match="encrypted"):
            extended(footer)


@pytest.mark.parametrize("field", [1, 8, 9])
def test_chunks_elsewhere_and_encrypted_ones_are_refused(field):
    read = thrift.read(changed())[0]
    values = {1: (thrift.BINARY, b"other"), 8: (thrift.STRUCT, thrift.Struct())}
    read.list(4)[0].list(1)[1][field] = values.get(field, (thrift.BINARY, b"hidden"))
    with pytest.raises(RequestError, match="another file" if field == 1 else "encrypted"):
        extended(thrift.write(read))


def test_an_unknown_logical_type_is_refused():
    read = thrift.read(changed())[0]
    unknown = thrift.Struct({40: (thrift.STRUCT, thrift.Struct())})
    read.list(2)[1][10] = (thrift.STRUCT, unknown)
    with pytest.raises(RequestError, match="logical type 40"):
        extended(thrift.write(read))


def test_a_second_extension_is_refused():
    with pytest.raises(RequestError, match="already"):
        extended(extended(changed()))


@pytest.mark.parametrize("field", [2, 3, 4])
def test_a_footer_that_lacks_what_it_must_have_is_corrupt(field):
    read = thrift.read(changed())[0]
    del read[field]
    with pytest.raises(Corrupt):
        extended(thrift.write(read))


def test_footers_that_are_none_are_corrupt():
    footer = changed()
    for broken in (b"", b"\0", footer[:-1], footer + b"\0", footer[: len(footer) // 2]):
        with pytest.raises(Corrupt):
            extended(broken)
    for step in range(0, len(footer), 7):
        flipped = footer[:step] + bytes([footer[step] ^ 0xFF]) + footer[step + 1 :]
        try:
            extended(flipped)
        except (Corrupt, RequestError):
            continue
