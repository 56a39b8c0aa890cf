"""What the Parquet writer makes of tables: types, row groups, and how it ends."""

import gc
import io

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from parquet_columns import COLUMNS
from written_files import TABLE, WRITER, made, meta, read

from rangeio.codecs import thrift
from rangeio.errors import RequestError, ServerFault
from rangeio.formats.parquet import writer as writing
from rangeio.formats.parquet.writing.outlet import PIECE, Outlet, footer_of

# ---- types and values ----------------------------------------------------------------------------

TENSOR = pa.fixed_shape_tensor(pa.int32(), [2])
MORE = {
    "list_view": pa.array([[1, 2], None, [], [3]], pa.list_view(pa.int32())),
    "large_list_view": pa.array([["a"], None, []], pa.large_list_view(pa.string())),
    "bool8": pa.ExtensionArray.from_storage(pa.bool8(), pa.array([0, 1, None], pa.int8())),
    "tensor": pa.ExtensionArray.from_storage(
        TENSOR, pa.array([[1, 2], None, [3, 4]], TENSOR.storage_type)
    ),
    "opaque": pa.ExtensionArray.from_storage(
        pa.opaque(pa.int32(), "t", "v"), pa.array([1, None, 2], pa.int32())
    ),
}


@pytest.mark.parametrize("name", [*COLUMNS, *MORE])
def test_every_type_reads_as_it_does_when_pyarrow_writes_it(name):
    rows = 700
    array = MORE[name] if name in MORE else COLUMNS[name](rows, np.random.default_rng(7))
    table = pa.table({"x": array, "n": pa.array(range(len(array)))})
    plain = io.BytesIO()
    pq.write_table(table, plain)
    expected = read(plain.getvalue())
    for data in (table, [table.slice(0, 1), table.slice(1, 400), table.slice(401)]):
        got = read(made(data, row_group_size=300, page_index=True))
        assert got.schema.equals(expected.schema, check_metadata=True)
        assert repr(got.combine_chunks().to_pylist()) == repr(expected.to_pylist())
        assert got.num_rows == table.num_rows


def test_dictionaries_that_differ_from_batch_to_batch():
    batches = [
        pa.table({"d": pa.array(words).dictionary_encode()})
        for words in (["a", "b", "a"], ["c", "a"], [None, "b"])
    ]
    got = read(made(batches))
    assert got["d"].type == pa.dictionary(pa.int32(), pa.string())
    assert got["d"].to_pylist() == ["a", "b", "a", "c", "a", None, "b"]


def test_metadata_and_field_ids_are_kept():
    field = pa.field("a", pa.int32(), False, {"PARQUET:field_id": "7", "unit": "km"})
    schema = pa.schema([field], {"who": "me"})
    data = made(pa.table({"a": pa.array([1, 2], pa.int32())}, schema=schema))
    got = read(data)
    assert got.schema.metadata[b"who"] == b"me"
    assert got.schema.field("a").metadata[b"unit"] == b"km"
    footer, _ = thrift.read(footer_of(data))
    assert footer.list(2)[1].integer(9) == 7


def test_other_readers_read_it(tmp_path):
    path = tmp_path / "t.parquet"
    path.write_bytes(made(TABLE, row_group_size=700, bloom_filters=["id", "word"]))
    assert pl.read_parquet(path).to_arrow()["id"].to_pylist() == list(range(5000))
    asked = f"select count(*), sum(v.a) from '{path}' where word = 'word 3'"
    found = duckdb.sql(asked).fetchall()
    assert found == [(125, pytest.approx(sum(i / 7 for i in range(3, 5000, 40))))]


@pytest.mark.parametrize("tables", [[], [TABLE.slice(0, 0)]])
def test_a_file_of_no_rows(tables):
    data = made(tables, TABLE.schema)
    assert read(data).equals(TABLE.slice(0, 0))
    assert meta(data).num_row_groups == 0
    assert pl.read_parquet(io.BytesIO(data)).height == 0


def test_a_file_of_no_columns():
    assert read(made([], pa.schema([]))).num_rows == 0
    rows = pa.Table.from_batches([pa.record_batch([pa.array([1, 2])], ["a"]).select([])])
    with pytest.raises(RequestError, match="rows of no columns"):
        made([rows])


def test_views_below_structs_stay_views():
    """pyarrow itself writes no more than 1,024 of them."""
    frame = pl.DataFrame({"s": [{"a": f"x{i}", "l": [{"b": str(i)}]} for i in range(3000)]})
    table = pa.table(frame)
    assert pa.types.is_string_view(table.schema.field("s").type.field("a").type)
    got = read(made(table))
    assert got.schema.field("s").type.field("a").type == pa.string_view()
    assert got.to_pylist() == table.to_pylist()
    bare = read(made(table, store_schema=False))
    assert bare.schema.field("s").type.field("a").type == pa.string()


# ---- row groups ----------------------------------------------------------------------------------


def groups(data):
    found = meta(data)
    return [found.row_group(i).num_rows for i in range(found.num_row_groups)]


@pytest.mark.parametrize("sizes", [[5000], [1] * 2500, [999, 2, 1500, 1, 2498], [1000] * 5])
def test_row_groups_do_not_depend_on_the_batches(sizes):
    at, tables = 0, []
    for size in sizes:
        tables.append(TABLE.slice(at, size))
        at += size
    data = made(tables, row_group_size=1000)
    assert read(data).equals(TABLE.slice(0, at))
    assert groups(data) == [min(1000, at - i) for i in range(0, at, 1000)]
    assert groups(made(tables)) == [at]


def test_small_batches_are_joined():
    encoder = WRITER.encoder(TABLE.schema, WRITER.options({}), bytearray().extend, None)
    for i in range(2 * writing.LOOSE + 1):
        encoder.write(TABLE.slice(i, 1))
    assert [table.num_rows for table in encoder._joined] == [writing.LOOSE] * 2
    assert len(encoder._loose) == 1
    encoder.drop()


def test_a_table_is_cut_by_rows_alone():
    table = pa.table({"a": np.zeros(2 * writing.ROWS + 5, "i1")})
    assert groups(made(table)) == [writing.ROWS, writing.ROWS, 5]
    assert groups(made(table, row_group_size=writing.ROWS * 2)) == [writing.ROWS * 2, 5]


def test_batches_are_held_up_to_a_number_of_bytes(monkeypatch):
    monkeypatch.setattr(writing, "GROUP", 100_000)
    batches = [pa.table({"a": np.arange(1000.0)})] * 40
    assert groups(made(batches)) == [13_000, 13_000, 13_000, 1000]
    assert groups(made(batches, row_group_size=30_000)) == [30_000, 10_000]


def test_a_long_stream_is_written_in_bounded_memory():
    """128 MB of rows in row groups of 3.2 MB: what Arrow holds stays near two of them."""
    step, count, peak, largest, size = 20_000, 200, 0, 0, 0

    def out(data):
        nonlocal peak, largest, size
        peak = max(peak, pa.total_allocated_bytes() - before)
        largest, size = max(largest, len(data)), size + len(data)

    gc.collect()
    before = pa.total_allocated_bytes()
    schema = pa.schema([(f"c{i}", pa.float64()) for i in range(4)])
    words = WRITER.options({"row_group_size": 5 * step, "dictionary": False})
    encoder = WRITER.encoder(schema, words, out, None)
    for _ in range(count):
        encoder.write(pa.table([pc.random(step) for _ in range(4)], schema))
    encoder.finish()
    assert size > count * step * 4 * 8
    assert peak < 4 * 5 * step * 4 * 8
    assert largest < 2 * PIECE


# ---- ends ----------------------------------------------------------------------------------------


class Taker:
    """Takes bytes until it is told to fail."""

    def __init__(self, fails_at, error):
        self.fails_at, self.error, self.size = fails_at, error, 0

    def __call__(self, data):
        if self.size + len(data) > self.fails_at:
            raise self.error
        self.size += len(data)


def through(encoder, table):
    encoder.write(table)
    encoder.finish()


@pytest.mark.parametrize("error", [ServerFault("full"), KeyboardInterrupt(), OSError("x")])
@pytest.mark.parametrize("fails_at", [0, 3 << 20])
def test_what_the_taker_raises_comes_out_as_it_is(error, fails_at):
    taker = Taker(fails_at, error)
    table = pa.table({"a": np.random.default_rng(0).random(1 << 20)})
    encoder = WRITER.encoder(table.schema, WRITER.options({"dictionary": False}), taker, None)
    with pytest.raises(type(error)) as caught:
        through(encoder, table)
    assert caught.value is error
    taker.fails_at = 1 << 40
    before = taker.size
    encoder.drop()
    del encoder, caught
    gc.collect()
    assert taker.size == before


def test_a_dropped_encoder_hands_out_nothing_more():
    out = bytearray()
    encoder = WRITER.encoder(TABLE.schema, WRITER.options({"row_group_size": 10}), out.extend, None)
    encoder.write(TABLE)
    encoder.drop()
    del encoder
    gc.collect()
    assert len(out) == 0 or not out.endswith(b"PAR1")


def test_a_dropped_outlet_hands_nothing_on():
    took = []
    outlet = Outlet(took.append)
    outlet.write(bytes(100))
    outlet.drop()
    assert outlet.write(bytes(3 * PIECE)) == 3 * PIECE
    outlet.pass_on()
    assert took == []


def test_a_footer_is_replaced_however_long_it_is():
    out = bytearray()
    outlet = Outlet(out.extend)
    outlet.write(b"PAR1 and rows")
    outlet.hold()
    outlet.write(b"indexes")
    for size in (2 * PIECE, 8):
        outlet.write(bytes(size))
    footer = 2 * PIECE + 8
    outlet.write(footer.to_bytes(4, "little") + b"PAR1")
    outlet.replace_footer(lambda old: b"new" + old[-2:])
    outlet.pass_on()
    assert out == b"PAR1 and rowsindexesnew\0\0" + (5).to_bytes(4, "little") + b"PAR1"


def test_an_outlet_gathers_small_writes():
    took = []
    outlet = Outlet(lambda data: took.append(len(data)))
    for _ in range(3 * PIECE // 1000):
        outlet.write(bytes(1000))
    outlet.pass_on()
    assert len(took) == 3
    assert sum(took) == 3 * PIECE // 1000 * 1000
