"""Reading one file: columns, rows, filters, nested paths, streams, and what they leave behind."""

import pickle
import re
from datetime import date

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from places import oracle, settled, write

import rangeio
from rangeio.errors import (
    BadFilter,
    BadMagic,
    BadRows,
    Closed,
    NoSuchColumn,
    NotFound,
    ObjectChanged,
    RequestError,
)

VERSIONS = ("2.0", "2.1", "2.2")


@pytest.fixture(params=VERSIONS)
def opened(request, files, session):
    path = files.mixed(request.param)
    with rangeio.open(path, session=session) as file:
        yield file, oracle(path)


def test_all_columns_equal_the_reference_reader(opened):
    file, table = opened
    got = file.read()
    assert got.schema == table.schema
    assert got == table
    assert (file.num_rows, file.num_columns) == (table.num_rows, table.num_columns)
    assert file.schema.arrow == table.schema
    assert file.num_leaves == 8
    assert file.format == "lance"


def test_the_files_own_metadata_comes_with_its_tables(tmp_path, session):
    plain = pa.table({"a": [1, 2], "b": ["x", "y"]}).replace_schema_metadata({"who": "me"})
    path = write(tmp_path / "m.lance", plain)
    with rangeio.open(path, session=session) as file:
        assert file.schema.arrow.metadata == {b"who": b"me"}
        for table in (
            file.read(),
            file.read(["a"]),
            file.read(["b"], filters=[("a", "==", 2)]),
            file.scan().read_all(),
            file.scan(["b"], filters=[("a", "==", 2)]).read_all(),
        ):
            assert table.schema.metadata == {b"who": b"me"}


def test_columns_come_in_the_asked_order(opened):
    file, table = opened
    assert file.read(["word", "id"]) == table.select(["word", "id"])
    assert file.read("x") == table.select(["x"])
    assert file.read([]).num_columns == 0
    assert file.read([]).num_rows == table.num_rows


def test_nested_paths_prune_and_flatten(opened):
    file, table = opened
    got = file.read(["v.c.deep", ("v", "a")])
    assert [field.name for field in got.schema.field("v").type] == ["a", "c"]
    v = table["v"].combine_chunks()
    assert got["v"].combine_chunks().field("a") == v.field("a")
    assert got["v"].combine_chunks().field("c") == v.field("c")
    flat = file.read(["id", "v.c.deep", "v.a"], flatten=True)
    assert set(flat.column_names) == {"id", "v.c.deep", "v.a"}
    assert flat["v.a"].combine_chunks() == v.field("a")


def test_globs_patterns_and_ids_select(opened):
    file, table = opened
    assert file.read(["*d*"]).column_names == ["id", "word", "day"]
    assert file.read(re.compile("x|day")).column_names == ["x", "day"]
    word = file.column("word")
    assert file.read([word.unique_id]) == table.select(["word"])
    assert file.read(["WORD"], case_sensitive=False) == table.select(["word"])


ROWS = [
    slice(0, 0),
    slice(0, 1),
    slice(4990, 9999),
    slice(1020, 1030),
    slice(None, None),
    range(10, 20),
    [0, 4999],
    [5, 5, 3, 3, 5],
    np.array([4999, 0, 17]),
    list(range(0, 5000, 7)),
    [],
]


@pytest.mark.parametrize("rows", ROWS, ids=str)
def test_rows_are_chosen_as_python_would(opened, rows):
    file, table = opened
    numbers = np.arange(5000)[rows] if isinstance(rows, slice) else np.asarray(list(rows), int)
    want = table.take(pa.array(numbers, pa.int64()))
    got = file.read(rows=rows)
    assert got.num_rows == len(numbers)
    assert got.combine_chunks() == want.combine_chunks()


@pytest.mark.parametrize("rows", [[5000], [-1], slice(-3, None), slice(0, 10, 2), [1.5], [True]])
def test_bad_rows_say_so(opened, rows):
    with pytest.raises(BadRows):
        opened[0].read(["id"], rows=rows)


FILTERS = [
    ([("x", ">", 0.5)], pc.field("x") > 0.5),
    ([("word", "in", ["word-1", "word-2"])], pc.field("word").isin(["word-1", "word-2"])),
    ([("x", "is null")], pc.field("x").is_null()),
    (
        [[("id", "<", 10)], [("id", ">=", 4990), ("x", "<", 0.5)]],
        (pc.field("id") < 10) | ((pc.field("id") >= 4990) & (pc.field("x") < 0.5)),
    ),
    ([("v.a", "==", 7)], pc.field("v", "a") == 7),
    ([("day", ">", date(2000, 1, 1))], pc.field("day") > date(2000, 1, 1)),
]


@pytest.mark.parametrize(("filters", "expression"), FILTERS, ids=str)
def test_filters_are_exact(opened, filters, expression):
    file, table = opened
    want = table.filter(expression).select(["id", "word"])
    assert file.read(["id", "word"], filters=filters).combine_chunks() == want.combine_chunks()
    assert file.read(["id", "word"], filters=expression).combine_chunks() == want.combine_chunks()
    stream = file.scan(["id", "word"], filters=filters, batch_rows=999).read_all()
    assert stream.combine_chunks() == want.combine_chunks()


def test_rows_are_chosen_before_filters_apply(opened):
    file, _ = opened
    got = file.read(["id"], rows=[9, 8, 7, 6], filters=[("id", ">", 7)])
    assert got["id"].to_pylist() == [9, 8]


def test_a_filter_on_a_sibling_leaf_leaves_no_trace_in_the_result(opened):
    file, table = opened
    got = file.read(["v.b"], filters=[("v.a", "==", 7), ("v.c.deep", "<", 0.5)])
    assert [f.name for f in got.schema.field("v").type] == ["b"]
    v = table["v"].combine_chunks()
    mask = pc.and_(pc.equal(v.field("a"), 7), pc.less(v.field("c").field("deep"), 0.5))
    assert got["v"].combine_chunks().field("b") == v.field("b").filter(mask)


@pytest.mark.parametrize("batch_rows", [1, 777, 65536])
def test_scan_streams_the_same_in_order(opened, batch_rows):
    file, table = opened
    part = slice(0, 40) if batch_rows == 1 else slice(100, 4000)
    reader = file.scan(["tags", "v", "word"], rows=part, batch_rows=batch_rows)
    batches = list(reader)
    assert all(b.num_rows == batch_rows for b in batches[:-1])
    whole = pa.Table.from_batches(batches, reader.schema)
    want = table.select(["tags", "v", "word"]).slice(part.start, part.stop - part.start)
    assert whole.combine_chunks() == want.combine_chunks()


def test_a_dropped_scan_leaves_nothing_running(files, session):
    with rangeio.open(files.mixed(), session=session) as file:
        reader = file.scan(batch_rows=100)
        assert next(iter(reader)).num_rows == 100
        del reader
        assert settled(session)


def test_a_file_is_an_arrow_stream(opened):
    file, table = opened
    assert pa.table(file) == table


def test_a_column_reader_is_thin_and_reads(opened):
    file, table = opened
    column = file.column("v.a")
    assert (column.path, column.name, column.type) == (("v", "a"), "v.a", pa.int64())
    assert column.read() == pc.struct_field(table["v"], "a")
    assert (
        column.to_numpy(slice(3, 6)).tolist()
        == table["v"].combine_chunks().field("a")[3:6].to_pylist()
    )
    assert sum(page.size for page in file.column("id").pages) > 0
    assert file.column("id").pages[0].rows[0] == 0


def test_words_that_name_nothing_offer_what_is_near(opened):
    file, _ = opened
    with pytest.raises(NoSuchColumn, match=r"'wrod'.*'word'"):
        file.read(["wrod"])
    with pytest.raises(BadFilter):
        file.read(["id"], filters=[("id", "~", 1)])
    with pytest.raises(RequestError, match="batch_rows"):
        file.scan(["id"], batch_rows=0)


def test_a_closed_file_says_so(files, session):
    file = rangeio.open(files.mixed(), session=session)
    file.close()
    with pytest.raises(Closed):
        file.read(["id"])
    assert "closed" in repr(file)


def test_what_is_no_file_of_a_known_format_says_so(tmp_path, session):
    path = tmp_path / "notes.txt"
    path.write_bytes(b"hello, these are notes and not columns at all")
    with pytest.raises(BadMagic, match=r"notes\.txt"):
        rangeio.open(path, session=session)
    with pytest.raises(NotFound, match="absent"):
        rangeio.open(tmp_path / "absent.lance", session=session)
    (tmp_path / "empty.lance").write_bytes(b"")
    with pytest.raises(rangeio.FormatError):
        rangeio.open(tmp_path / "empty.lance", session=session)


def test_a_file_pickles_and_opens_elsewhere_at_the_same_version(files, tmp_path):
    path = tmp_path / "copy.lance"
    path.write_bytes(files.mixed().read_bytes())
    file = rangeio.open(path)
    again = pickle.loads(pickle.dumps(file))
    assert again.read(["id"]) == file.read(["id"])
    packed = pickle.dumps(file)
    path.write_bytes(files.mixed("2.0").read_bytes())
    with pytest.raises(ObjectChanged):
        pickle.loads(packed)


def test_a_file_that_changes_underneath_is_noticed(files, tmp_path):
    path = tmp_path / "changing.lance"
    path.write_bytes(files.mixed().read_bytes())
    with rangeio.Session(profile="file") as session, rangeio.open(path, session=session) as file:
        file.schema  # noqa: B018 - read for what it fetches
        path.write_bytes(files.mixed("2.0").read_bytes())
        with pytest.raises(ObjectChanged):
            file.read(["word"])
