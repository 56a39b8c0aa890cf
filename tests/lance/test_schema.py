from __future__ import annotations

import time
from pathlib import Path

import lance
import pyarrow as pa
import pytest
from corpus import DATA, Corpus, expected, params, quiet, write
from lance.file import LanceFileReader

from rangeio.errors import Corrupt, FormatError, Unsupported
from rangeio.formats import named, sniff
from rangeio.formats.lance.fields import descriptor
from rangeio.formats.lance.format import Lance
from rangeio.formats.lance.messages import MESSAGES
from rangeio.formats.lance.pages import physical
from rangeio.formats.lance.types import leaf
from rangeio.schema import Column, Schema
from rangeio.testing.formats import InMemory


def opened(path: Path) -> tuple[InMemory, object, Schema]:
    memory = InMemory(Lance(), path.read_bytes())
    table = memory.open()
    return memory, table, memory.run(memory.format.schema(table))


@pytest.mark.parametrize(("name", "version", "rows"), params(rows=(1,)))
def test_every_type_is_what_pylance_says(
    corpus: Corpus, name: str, version: str, rows: int
) -> None:
    path = corpus.path(name, version, rows)
    memory, table, schema = opened(path)
    wanted = expected(path).schema
    assert schema.arrow.equals(wanted, check_metadata=True), f"{schema.arrow} is not {wanted}"
    assert memory.run(memory.format.num_rows(table)) == rows
    assert table.num_columns == 1


@pytest.mark.parametrize(("name", "version", "rows"), params(rows=(1,)))
def test_every_physical_column_belongs_to_a_field(
    corpus: Corpus, name: str, version: str, rows: int
) -> None:
    path = corpus.path(name, version, rows)
    _, table, schema = opened(path)
    with quiet():
        count = len(LanceFileReader(str(path)).metadata().columns)
    found = [physical(c).index for top in schema for c in top.walk()]
    assert sorted(i for i in found if i >= 0) == list(range(count))
    assert len(table.offsets) == count


def test_indexes_of_nested_fields_per_version(corpus: Corpus, tmp_path: Path) -> None:
    kind = pa.schema(
        [
            ("a", pa.struct([("x", pa.int32())])),
            ("b", pa.int32()),
            ("y", pa.struct([("z", pa.int8()), ("c", pa.int8()), ("w", pa.int8())])),
            ("l", pa.list_(pa.int32())),
        ]
    )
    row = {"a": {"x": 1}, "b": 2, "y": {"z": 1, "c": 2, "w": 3}, "l": [4]}
    content = pa.Table.from_pylist([row], kind)
    wanted = {"2.0": list(range(9)), "2.1": [-1, 0, 1, -1, 2, 3, 4, -1, 5]}
    for version, indexes in wanted.items():
        write(tmp_path / version, content, version)
        _, _, schema = opened(tmp_path / version)
        assert [physical(c).index for top in schema for c in top.walk()] == indexes
        inner = [physical(c).inner for top in schema for c in top.walk()]
        assert inner == [False] * 8 + [True]


def test_columns_are_made_when_looked_at(corpus: Corpus) -> None:
    _, _, schema = opened(corpus.path("struct", "2.1", 1))
    assert schema.names == ["c"]
    assert schema["c"] is schema.at(0)
    assert [c.path for c in schema["c"].walk()] == [("c",), ("c", "a"), ("c", "b")]
    assert not schema.at(0).id_declared


def test_blobs_of_a_dataset_are_refused_by_name_and_harm_no_other(tmp_path: Path) -> None:
    with quiet():
        field, blobs = lance.blob_field("c"), lance.blob_array([b"abc", None, b""])
        content = pa.table([blobs, pa.array([1, 2, 3])], pa.schema([field, ("n", pa.int64())]))
        lance.write_dataset(content, tmp_path / "ds", data_storage_version="2.2")
    (path,) = (tmp_path / "ds" / "data").glob("*.lance")
    memory, _, schema = opened(path)
    assert schema.names == ["c", "n"]
    with pytest.raises(Unsupported, match="'c' holds blobs of a dataset"):
        schema["c"]
    assert memory.read(lambda s: [s["n"]]).to_pydict() == {"n": [1, 2, 3]}


def test_metadata_of_the_schema(tmp_path: Path) -> None:
    content = pa.table({"a": [1]}).replace_schema_metadata({"who": "me"})
    write(tmp_path / "x", content, "2.1")
    _, _, schema = opened(tmp_path / "x")
    assert schema.metadata == {b"who": b"me"}
    assert schema.arrow.metadata == expected(tmp_path / "x").schema.metadata


def encoded(*fields: dict[str, object], rows: int = 1) -> memoryview:
    schema = MESSAGES.Schema()
    for i, one in enumerate(fields):
        given = {"name": f"f{i}", "id": i, "parent_id": -1, "logical_type": "int64"} | one
        schema.fields.add(**given)
    whole = MESSAGES.FileDescriptor(schema=schema.SerializeToString(), length=rows)
    return memoryview(whole.SerializeToString())


def made(*fields: dict[str, object], columns: int) -> Schema:
    return descriptor(encoded(*fields), 64, (2, 1), columns).schema


def test_ids_may_be_arbitrary() -> None:
    schema = made(
        {"id": 70, "logical_type": "struct"}, {"id": 9, "parent_id": 70}, {"id": 3}, columns=2
    )
    assert [c.unique_id for top in schema for c in top.walk()] == [70, 9, 3]
    assert [physical(c).index for top in schema for c in top.walk()] == [-1, 0, 1]


@pytest.mark.parametrize(
    ("fields", "columns", "error"),
    [
        (({"parent_id": 7},), 1, Corrupt),
        (({}, {}), 3, Corrupt),
        (({"logical_type": "qubit"},), 1, Unsupported),
        (({"logical_type": "fixed_size_list:float:-4"},), 1, Corrupt),
        (({"logical_type": "fixed_size_list:float:99999999999"},), 1, Corrupt),
        (({"logical_type": "fixed_size_list:" * 5000},), 1, Unsupported),
        (({"logical_type": "decimal:128:99:2"},), 1, Corrupt),
        (({"logical_type": "decimal:128:9"},), 1, Corrupt),
        (({"logical_type": "timestamp:parsec:-"},), 1, Corrupt),
        (({"logical_type": "dict:string"},), 1, Corrupt),
        (({"logical_type": "dict:string:string:false"},), 1, Corrupt),
        (({"logical_type": "int64"}, {"parent_id": 0}), 1, Corrupt),
        (({"logical_type": "fixed_size_list:struct:x"}, {"parent_id": 0}), 1, Corrupt),
        (({"name": "a", "id": 1}, {"name": "a", "id": 1}), 2, Corrupt),
        (({"logical_type": "map"}, {"parent_id": 0}), 1, Corrupt),
        (({"logical_type": "list"}, {"parent_id": 0}, {"parent_id": 0}), 2, Corrupt),
        (
            tuple({"parent_id": i - 1, "logical_type": "struct"} for i in range(5000)),
            1,
            Unsupported,
        ),
    ],
)
def test_schemas_that_contradict_themselves(
    fields: tuple[dict[str, object], ...], columns: int, error: type[FormatError]
) -> None:
    with pytest.raises(error) as raised:
        list(made(*fields, columns=columns))
    assert raised.value.offset == 64


def test_10_000_columns_cost_no_object_each(tmp_path: Path) -> None:
    fields = [{"logical_type": "float" if i % 2 else "int64"} for i in range(10_000)]
    data = encoded(*fields)
    best = min(_timed(data) for _ in range(5))
    # Ten times what it takes on an idle core: a column object each would be far slower.
    assert best < 0.1
    schema = descriptor(data, 0, (2, 1), 10_000).schema
    assert physical(schema["f7777"]).index == 7777
    assert schema["f7777"].type == pa.float32()
    assert len(schema._made) == 1


def _timed(data: memoryview) -> float:
    start = time.perf_counter()
    descriptor(data, 0, (2, 1), 10_000)
    return time.perf_counter() - start


def test_nested_fixed_size_lists_and_dictionaries_of_types() -> None:
    assert leaf("fixed_size_list:fixed_size_list:int16:2:3") == pa.list_(pa.list_(pa.int16(), 2), 3)
    assert leaf("dict:decimal:128:5:2:int8:true") == pa.dictionary(
        pa.int8(), pa.decimal128(5, 2), True
    )
    assert leaf("timestamp:us:+02:00") == pa.timestamp("us", "+02:00")


def test_the_registry_finds_lance_by_name_and_magic(corpus: Corpus) -> None:
    assert named("lance").name == "lance"
    data = corpus.path("f64", "2.0", 1).read_bytes()
    assert sniff(memoryview(data)[-40:]).name == "lance"


@pytest.mark.skipif(not DATA.exists(), reason="no sample files beside the repository")
def test_sample_files_have_pylance_s_schema_or_are_refused() -> None:
    for path in sorted(DATA.rglob("*.lance")):
        legacy = path.name.startswith(("v0.1__", "v0.2__"))
        if legacy or "v2.3" in path.name:
            with pytest.raises(Unsupported, match="legacy Lance v1" if legacy else r"2\.3"):
                opened(path)
            continue
        _, _, schema = opened(path)
        assert schema.arrow.equals(told(path), check_metadata=True), path.name


def told(path: Path) -> pa.Schema:
    with quiet():
        return LanceFileReader(str(path)).metadata().schema


def leaves(column: Column) -> list[str]:
    return [c.id.name for c in column.leaves()]


def test_children_are_what_arrow_has(corpus: Corpus) -> None:
    wanted = {
        "map": ["c.key", "c.value"],
        "list_struct": ["c.item.a", "c.item.b"],
        "fsl768": ["c"],
        "fsl_struct": ["c.item.x", "c.item.y"],
        "packed": ["c"],
        "blob": ["c"],
        "dict_int8_string": ["c"],
    }
    for name, found in wanted.items():
        _, _, schema = opened(corpus.path(name, "2.2", 1))
        assert leaves(schema.at(0)) == found
