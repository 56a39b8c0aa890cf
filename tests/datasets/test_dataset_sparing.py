"""Datasets of formats whose schema is made of metadata: that of the asked columns alone is read."""

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import rangeio
from rangeio.errors import NoSuchColumn

ROWS, FILES = 20, 3


@pytest.fixture(params=[2, 3], scope="module")
def folder(request, tmp_path_factory):
    root = tmp_path_factory.mktemp("sparing")
    for wide in (40, 4000):
        place = root / str(wide)
        place.mkdir()
        for k in range(FILES):
            rangeio.write(table(wide, k), place / f"{k}.dat", format="doris", version=request.param)
    return root


def table(columns: int, start: int) -> pa.Table:
    values = pa.array(range(start * 100, start * 100 + ROWS), pa.int32())
    return pa.table({f"c{i}": pc.add(values, i) for i in range(columns)})


def whole(columns: int) -> pa.Table:
    return pa.concat_tables([table(columns, k) for k in range(FILES)])


@pytest.mark.parametrize(
    ("words", "filters"),
    [
        (["col_1", "col_30"], None),
        (["col_30"], [("col_7", ">", 120)]),
        ("col_3?", pc.field("col_0") < 110),
        ([5, 12], None),
    ],
)
def test_what_is_read_equals_the_whole(folder, words, filters):
    dataset = rangeio.dataset(folder / "40")
    found = dataset.read(words, filters=filters)
    everything = dataset.read(filters=filters)
    assert everything.num_columns == 40
    assert found.equals(everything.select(found.schema.names))
    if filters is None:
        names = [name.replace("col_", "c") for name in found.schema.names]
        assert [c.to_pylist() for c in found.columns] == [
            c.to_pylist() for c in whole(40).select(names).columns
        ]


def test_the_metadata_of_other_columns_is_not_read(folder):
    read = {}
    for wide in (40, 4000):
        dataset = rangeio.dataset(folder / str(wide), session=rangeio.Session())
        dataset.read(["col_1", "col_30"], filters=[("col_2", ">", 0)])
        metas = [get for get in dataset.trace if get.why == "doris.column_meta"]
        read[wide] = sum(get.stop - get.start for get in metas)
        assert dataset.count([("col_1", "<", 100)]) == ROWS
        assert dataset.max("col_3") == 200 + ROWS + 2
    assert read[4000] < read[40] + 4096


def test_a_column_that_is_not_there(folder):
    with pytest.raises(NoSuchColumn, match="nope"):
        rangeio.dataset(folder / "40").read(["nope"])
