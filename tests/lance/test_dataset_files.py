"""The data files of Lance datasets: fragments, columns added, dropped and renamed."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from corpus import lance_file, quiet
from ways import equal

import rangeio
from rangeio.errors import Unsupported

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    lance = pytest.importorskip("lance")

VERSIONS = ["2.0", "2.1", "2.2"]


def table(rows: int, start: int = 0) -> pa.Table:
    """Scalars, a list of structs and a struct, with nulls."""
    numbers = range(start, start + rows)
    items = [None if i % 9 == 0 else [{"a": i, "t": f"t{i}"}] * (i % 4) for i in numbers]
    return pa.table(
        {
            "id": pa.array(numbers),
            "t": pa.array([None if i % 5 == 0 else f"row {i}" for i in numbers]),
            "l": pa.array(items, pa.list_(pa.struct([("a", pa.int64()), ("t", pa.string())]))),
            "s": pa.array([{"x": i / 3, "y": [i]} for i in numbers]),
        }
    )


def files(folder: Path) -> Iterator[Path]:
    found = sorted((folder / "data").rglob("*.lance"))
    assert found
    yield from found


@pytest.mark.parametrize("version", VERSIONS)
def test_files_after_the_schema_changed(tmp_path: Path, version: str) -> None:
    with quiet():
        made = lance.write_dataset(
            table(900), tmp_path, data_storage_version=version, max_rows_per_file=300
        )
        made.add_columns({"twice": "id * 2", "word": "concat(t, '!')"})
        made.drop_columns(["t"])
        made.alter_columns({"path": "l", "name": "renamed"})
        more = table(100, 900).rename_columns(["id", "t", "renamed", "s"]).drop_columns(["t"])
        more = more.append_column("twice", more["id"]).append_column("word", table(100)["t"])
        lance.write_dataset(more, tmp_path, mode="append")
    seen = 0
    for path in files(tmp_path):
        with quiet():
            wanted = lance_file.LanceFileReader(str(path)).read_all(batch_size=4096).to_table()
        with rangeio.open(str(path)) as file:
            found = file.read()
            assert found.schema.equals(wanted.schema)
            equal(found, wanted, path.name)
            for column in file.schema:
                by_id = file.read([column.unique_id], rows=[7, 3, 3])
                rows = [wanted.slice(at, 1) for at in (7, 3, 3)]
                equal(by_id, pa.concat_tables(rows).select([column.name]), column.name)
        seen += 1
    assert seen == 7  # three fragments with what was added to each, and what was appended


@pytest.mark.parametrize("nested", [False, True])
def test_blobs_of_a_dataset_do_not_hide_other_columns(tmp_path: Path, nested: bool) -> None:
    blob = pa.field("b", pa.large_binary(), metadata={"lance-encoding:blob": "true"})
    kind = pa.struct([pa.field("a", pa.int8()), blob, pa.field("z", pa.int8())])
    field = pa.field("c", kind) if nested else blob.with_name("c")
    values = [b"x" * 10, None, b""] * 5
    rows = [{"a": 1, "b": one, "z": 2} for one in values] if nested else values
    content = pa.table(
        [pa.array(rows, field.type), pa.array(range(15))],
        schema=pa.schema([field, pa.field("k", pa.int64())]),
    )
    with quiet():
        lance.write_dataset(content, tmp_path, data_storage_version="2.2")
    for path in files(tmp_path):
        with rangeio.open(str(path)) as file:
            equal(file.read("k"), content.select(["k"]), "beside")
            with pytest.raises(Unsupported, match="holds blobs of a dataset"):
                file.read("c")
