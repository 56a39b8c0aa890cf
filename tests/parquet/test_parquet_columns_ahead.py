"""Columns that are asked for together are made together, whatever words name them."""

import io
import re

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import rangeio
from rangeio.formats.parquet.schema.columns import Columns

COUNT = 3000
ASKED = range(5, COUNT, 71)
TABLE = pa.table(
    {f"c.{i}" if i in ASKED else f"n{i}": pa.array([{"x": i}, {"x": -i}]) for i in range(COUNT)}
)
NAMES = [TABLE.schema.names[i] for i in ASKED]
WORDS = {
    "names": NAMES,
    "paths": [(name,) for name in NAMES],
    "leaves": [(name, "x") for name in NAMES],
    "dotted": [f"{name}.x" for name in NAMES],
    "ids": list(ASKED),
    "glob": "c.*",
    "pattern": re.compile(r"c\.\d+"),
}


@pytest.fixture(scope="module")
def data():
    out = io.BytesIO()
    pq.write_table(TABLE, out, use_dictionary=False)
    return out.getvalue()


@pytest.mark.parametrize("words", WORDS.values(), ids=WORDS.keys())
def test_many_columns_are_made_at_once_and_no_others(data, words, monkeypatch):
    made = []
    converted = Columns._converted

    def counted(self, tops):
        made.append(list(tops))
        return converted(self, tops)

    monkeypatch.setattr(Columns, "_converted", counted)
    with rangeio.open(data) as file:
        found = file.read(words)
    assert made == [list(ASKED)]
    assert found.equals(TABLE.select(list(ASKED)))


def test_what_another_thread_made_meanwhile_is_kept(data, monkeypatch):
    """Arrow works without the lock of the interpreter, so others look at the columns meanwhile."""
    converted = Columns._converted
    with rangeio.open(data) as file:
        columns = file._handle.table.columns

        def crowded(self, tops):
            self.ahead(range(COUNT))
            return converted(self, tops)

        monkeypatch.setattr(Columns, "_converted", crowded)
        columns.ahead([3, 4])
        assert len(columns._fields) == COUNT
        assert file.schema.arrow.equals(TABLE.schema)
