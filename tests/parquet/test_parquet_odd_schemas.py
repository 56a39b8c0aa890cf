"""Schemas that no writer of today makes: annotations, names and repetitions changed at random, and
``ARROW:schema`` of another table. What pyarrow reads of them is read, what it refuses refused."""

from __future__ import annotations

import base64
import os
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from corpus_files import arrow
from parquet_columns import table
from parquet_peer import Peer
from parquet_places import forged, tree_of
from parquet_ways import check

import rangeio
from rangeio.codecs import thrift
from rangeio.codecs.thrift import BINARY, BYTE, FALSE, I32, LIST, STRUCT, TRUE, Struct

SEEDS = range(12_000 if os.environ.get("RANGEIO_FUZZ") == "full" else 120)
NAMES = ["int32", "int64_low", "string", "fixed_3", "records", "list_string", "fixed_16"]
NAMES += ["list_records", "map", "list_list", "decimal128", "map_records"]
WORDS = ["list", "bag", "array", "array_element", "element", "item", "key_value", "map", "tuple"]


def content(name: str) -> pa.Table:
    """A column of 30 rows, without NaN: it must compare as it is."""
    if "records" not in name:
        return table([name], 30)
    kind = pa.struct([("a", pa.int32()), ("b", pa.string()), ("c", pa.struct([("d", pa.int64())]))])
    rows = [{"a": i, "b": str(i), "c": {"d": -i}} if i % 5 else None for i in range(30)]
    if name == "list_records":
        lists = [[row, None][: i % 3] for i, row in enumerate(rows)]
        return pa.table({name: pa.array(lists, pa.list_(kind))})
    if name == "map_records":
        maps = [[(f"k{i}", row)] * (i % 3) for i, row in enumerate(rows)]
        return pa.table({name: pa.array(maps, pa.map_(pa.string(), kind))})
    return pa.table({name: pa.array(rows, kind)})


@cache
def written(name: str, store_schema: bool) -> bytes:
    return arrow(content(name), store_schema=store_schema)


# ---- changes of one schema element -------------------------------------------------------------


def _named(rng: np.random.Generator, element: Struct, at: int) -> None:
    word = WORDS[rng.integers(len(WORDS))]
    element[4] = (BINARY, (word if rng.random() < 0.7 else f"{word}_{at}").encode())


def _repeated(rng: np.random.Generator, element: Struct, at: int) -> None:
    element[3] = (I32, int(rng.integers(0, 3)))


def _converted(rng: np.random.Generator, element: Struct, at: int) -> None:
    element.pop(10, None)
    element[6] = (I32, int(rng.integers(0, 23)))


def _bare(rng: np.random.Generator, element: Struct, at: int) -> None:
    element.pop(6, None)
    element.pop(10, None)


def _logical(rng: np.random.Generator, element: Struct, at: int) -> None:
    kind, inner = int(rng.integers(1, 19)), Struct()
    if kind == 5:
        inner[1] = (I32, int(rng.integers(0, 5)))
        inner[2] = (I32, int(rng.choice([0, 5, 9, 10, 18, 38, 39])))
    elif kind in (7, 8):
        inner[1] = (TRUE, True) if rng.random() < 0.5 else (FALSE, False)
        inner[2] = (STRUCT, Struct({int(rng.integers(1, 4)): (STRUCT, Struct())}))
    elif kind == 10:
        inner[1] = (BYTE, int(rng.choice([8, 16, 32, 64])))
        inner[2] = (TRUE, True) if rng.random() < 0.5 else (FALSE, False)
    element.pop(6, None)
    element[10] = (STRUCT, Struct({kind: (STRUCT, inner)}))


def _decimal(rng: np.random.Generator, element: Struct, at: int) -> None:
    element[7] = (I32, int(rng.integers(0, 5)))
    element[8] = (I32, int(rng.choice([5, 9, 18, 38])))


def _identified(rng: np.random.Generator, element: Struct, at: int) -> None:
    element[9] = (I32, int(rng.integers(-3, 9)))


def _typed(rng: np.random.Generator, element: Struct, at: int) -> None:
    if 1 in element:
        element[1] = (I32, int(rng.integers(0, 9)))


CHANGES: list[Callable[[np.random.Generator, Struct, int], None]] = [
    _named,
    _repeated,
    _converted,
    _bare,
    _logical,
    _decimal,
    _identified,
    _typed,
]


def names_repeat(elements: list[Struct]) -> bool:
    """Whether two children of one group have the same name."""
    open_groups: list[tuple[int, set[bytes]]] = []
    for element in elements:
        if open_groups:
            left, names = open_groups[-1]
            if element.binary(4) in names:
                return True
            names.add(element.binary(4) or b"")
            open_groups[-1] = (left - 1, names)
        open_groups.append((element.integer(5) or 0, set()))
        while open_groups and not open_groups[-1][0]:
            open_groups.pop()
    return False


def nothing_required(elements: list[Struct]) -> bool:
    """Whether a required leaf is of the type null."""
    return any(e.integer(3) == 0 and 11 in (e.struct(10) or ()) for e in elements)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_changed_schema_reads_as_pyarrow_reads_it(seed: int) -> None:
    rng = np.random.default_rng(seed)
    data = written(NAMES[rng.integers(len(NAMES))], bool(rng.integers(2)))
    tree = tree_of(data)
    elements = tree[2][1][1]
    for _ in range(rng.integers(1, 4)):
        at = int(rng.integers(1, len(elements)))
        CHANGES[rng.integers(len(CHANGES))](rng, elements[at], at)
    if not names_repeat(elements) and not nothing_required(elements):
        check(forged(data, tree))


@pytest.mark.parametrize("name", ["map", "map_records"])
@pytest.mark.parametrize("inner", ["key_value", "bag", "array", "element", "map_tuple"])
def test_a_leaf_of_a_two_level_list_of_structs(name: str, inner: str) -> None:
    """A repeated group of one child alone would be taken for the list's own level."""
    data = written(name, False)
    tree = tree_of(data)
    elements = tree[2][1][1]
    elements[1].pop(10, None)
    elements[1][6] = (I32, 3)
    elements[2][4] = (BINARY, inner.encode())
    data = forged(data, tree)
    assert pa.types.is_list(Peer(data).schema.field(0).type)
    check(data)


def test_a_required_column_of_nothing() -> None:
    """pyarrow reads ``null not null``, which Arrow lets nobody else make."""
    field = pa.field("a", pa.int32(), False)
    data = arrow(
        pa.table([pa.array([1, 2], pa.int32())], schema=pa.schema([field])), store_schema=False
    )
    tree = tree_of(data)
    tree[2][1][1][1][10] = (STRUCT, Struct({11: (STRUCT, Struct())}))
    with rangeio.open(forged(data, tree)) as file:
        assert file.read(["a"])["a"].equals(pa.chunked_array([pa.nulls(2)]))


# ---- two children of one name ------------------------------------------------------------------


def test_a_struct_with_two_children_of_one_name() -> None:
    struct = pa.StructArray.from_arrays([pa.array([1, 2]), pa.array(["x", "y"])], ["a", "a"])
    data = arrow(pa.table({"s": struct, "n": [1, 2]}))
    with rangeio.open(data) as file:
        assert file.read().equals(Peer(data).read())
        assert (
            file.read(["s"], rows=[1, 0]).column("s").combine_chunks().equals(struct.take([1, 0]))
        )
        assert file.read(["n"])["n"].to_pylist() == [1, 2]


# ---- ARROW:schema that does not fit ------------------------------------------------------------

BASE = table(["int32", "string", "int64_low", "list_string"], 50)
FIELDS = list(BASE.schema)
OTHERS: dict[str, list[pa.Field]] = {
    "fewer": FIELDS[:1],
    "none": [],
    "more": [*FIELDS, pa.field("x", pa.int8())],
    "reordered": FIELDS[::-1],
    "renamed": [field.with_name(f"z{field.name}") for field in FIELDS],
    "required": [field.with_nullable(False) for field in FIELDS],
    "described": [field.with_metadata({"k": "v"}) for field in FIELDS],
    "durations": [FIELDS[0].with_type(pa.duration("s")), *FIELDS[1:]],
    "dictionaries": [FIELDS[0], pa.field("string", pa.dictionary(pa.int8(), pa.string()))],
    "views": [FIELDS[0], pa.field("string", pa.string_view()), *FIELDS[2:]],
    "large": [*FIELDS[:3], pa.field("list_string", pa.large_list(pa.large_string()))],
    "fixed_lists": [*FIELDS[:3], pa.field("list_string", pa.list_(pa.string(), 2))],
    "list_views": [*FIELDS[:3], pa.field("list_string", pa.list_view(pa.string()))],
    "maps": [*FIELDS[:3], pa.field("list_string", pa.map_(pa.string(), pa.string()))],
    "structs": [*FIELDS[:3], pa.field("list_string", pa.struct([("a", pa.int8())]))],
    "nulls": [pa.field("int32", pa.null()), pa.field("string", pa.null()), *FIELDS[2:]],
    "uuids": [pa.field("int32", pa.uuid()), pa.field("string", pa.json_()), *FIELDS[2:]],
    "runs": [pa.field("int32", pa.run_end_encoded(pa.int32(), pa.int32())), *FIELDS[1:]],
    "stamps": [*FIELDS[:2], pa.field("int64_low", pa.timestamp("s", "UTC")), FIELDS[3]],
    "times": [*FIELDS[:2], pa.field("int64_low", pa.time64("ns")), FIELDS[3]],
}


def described(value: bytes) -> bytes:
    """The file of ``BASE`` with another value of ``ARROW:schema``."""
    data = arrow(BASE, row_group_size=30)
    tree = tree_of(data)
    for pair in tree[5][1][1]:
        if pair.binary(1) == b"ARROW:schema":
            pair[2] = (BINARY, value)
    return forged(data, tree)


@pytest.mark.parametrize("name", list(OTHERS))
def test_an_arrow_schema_of_another_table(name: str) -> None:
    fields: Any = OTHERS[name]
    message = pa.schema(fields, metadata={"whose": "another's"}).serialize().to_pybytes()
    check(described(base64.b64encode(message)))


def test_an_arrow_schema_that_is_none() -> None:
    message = base64.b64encode(BASE.schema.serialize().to_pybytes())
    for value in (b"", b"!!!!", message[:40], message[:100] + b"\n" + message[100:], b"A" * 4000):
        check(described(value))


def test_a_key_without_a_value() -> None:
    data = arrow(BASE)
    tree = tree_of(data)
    tree[5] = (LIST, (STRUCT, [Struct({1: (BINARY, b"alone")})]))
    check(forged(data, tree))
    assert thrift.write(tree)
