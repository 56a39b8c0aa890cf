"""A footer told in Thrift, put into a FlatBuffer and told again, is the same to every reader."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from corpus_files import CASES, made
from flat_files import (
    KEPT,
    as_thrift,
    chunk_of,
    everything,
    extended_file,
    flat,
    flatbuffer_of,
    footer_of,
    leaves,
    parquet,
    streamed,
    with_footer,
)

from rangeio.codecs import thrift
from rangeio.errors import RequestError

DATA = Path(__file__).parents[2].parent / "shared" / "data" / "parquet-testing"


def plain(file: bytes) -> list[thrift.Struct]:
    """The row groups of a Thrift footer."""
    groups = thrift.read(footer_of(file))[0].list(4)
    assert groups is not None
    return groups


# ---- what is told again ------------------------------------------------------------------------


def test_elements_are_the_same_bytes():
    told = flat(everything())
    elements = thrift.read(footer_of(everything()))[0].list(2)
    assert [told.element(i) for i in range(len(elements))] == [thrift.write(e) for e in elements]
    assert told.elements.children.tolist() == [e.integer(5) or 0 for e in elements]
    physical = [-1 if e.integer(1) is None else e.integer(1) for e in elements]
    assert told.elements.physical.tolist() == physical
    assert told.elements.repetition.tolist() == [e.integer(3) for e in elements]
    assert not told.elements.identified.any()


def test_field_ids_are_kept_negative_and_absent_ones_too():
    file = made("shape-field_ids")
    told = flat(file)
    elements = thrift.read(footer_of(file))[0].list(2)
    assert told.elements.identified.tolist() == [9 in e for e in elements]
    assert told.elements.ids.tolist() == [e.integer(9) or 0 for e in elements]
    assert [thrift.read(told.element(i))[0].integer(9) for i in range(len(elements))] == [
        e.integer(9) for e in elements
    ]


def test_chunks_say_what_readers_need():
    told = flat(everything())
    seen = set()
    for g, group in enumerate(plain(everything())):
        for leaf, original in enumerate(group.list(1)):
            chunk = chunk_of(told, g, leaf)
            ours, theirs = chunk.struct(3), original.struct(3)
            assert {f: ours.get(f) for f in KEPT} == {f: theirs.get(f) for f in KEPT}
            assert set(chunk) == {2, 3}
            seen |= set(ours)
    assert seen >= {*KEPT, 12, 13} - {10}


def test_whether_all_pages_are_dictionary_encoded_is_kept():
    words = [f"{i}" * 20 for i in range(2000)]
    content = pa.table({"few": ["a", "b"] * 1000, "fallen": words, "none": range(2000)})
    told = flat(parquet(content, dictionary_pagesize_limit=400, use_dictionary=["few", "fallen"]))
    pages = [chunk_of(told, 0, leaf).struct(3).list(13) for leaf in range(3)]
    assert [[dict(p) for p in one] if one else None for one in pages] == [
        [{1: (5, 2), 2: (5, 0), 3: (5, 1)}, {1: (5, 0), 2: (5, 8), 3: (5, 1)}],
        None,
        None,
    ]


def test_row_groups_say_the_same_but_for_their_columns_and_order():
    told = flat(everything())
    for g, group in enumerate(plain(everything())):
        parts = [
            (field, kind, thrift.encoded(kind, value))
            for field, (kind, value) in sorted(group.items())
            if field not in (1, 4)
        ]
        assert told.group(g) == parts
    assert told.group_rows.tolist() == [120, 120, 60]
    assert told.num_rows == 300


def test_the_rest_of_the_footer():
    told = flat(everything())
    original = pq.read_metadata(io.BytesIO(everything()))
    expected = dict(original.metadata)
    assert bytes(told.arrow_schema()) == expected.pop(b"ARROW:schema")
    assert told.metadata() == expected
    assert told.created_by == original.created_by
    assert [told.order(i) for i in range(leaves(told))] == [1] * original.num_columns
    assert told.weight > len(flatbuffer_of(extended_file(everything())))


def test_of_equal_keys_the_first_counts_and_a_value_may_be_missing():
    read = thrift.read(footer_of(parquet(pa.table({"a": [1]}), store_schema=False)))[0]
    pairs = [(b"k", b"1"), (b"k", b"2"), (b"none", None)]
    structs = [
        thrift.Struct({1: (8, k)} if v is None else {1: (8, k), 2: (8, v)}) for k, v in pairs
    ]
    read[5] = (thrift.LIST, (thrift.STRUCT, structs))
    told = flat(with_footer(parquet(pa.table({"a": [1]})), thrift.write(read)))
    assert told.metadata() == {b"k": b"1", b"none": b""}
    assert told.arrow_schema() is None


def test_names_are_found_wherever_they_are():
    told = flat(made("shape-repeated_names"))
    assert list(told.named(b"same")) == [1, 2, 3]
    assert list(told.named(b"x")) == [4]
    assert list(told.named(b"sam")) == list(told.named(b"")) == list(told.named(b"samf")) == []
    assert told.name(5) == b"other"
    for name in (b"schema", b"root"):  # the root is no column
        assert 0 not in told.named(name)
    hard = flat(made("shape-names"))
    assert [hard.name(i) for i in hard.named(b"")] == [b""] * 2


def test_wide_schemas_make_no_object_of_every_element():
    file = parquet(pa.table({f"column_{i:05}": [1] for i in range(3000)}))
    told = flat(file)
    assert list(told.named(b"column_02999")) == [3000]
    assert all(isinstance(a, np.ndarray) for a in (told.elements.ids, told.elements.children))
    assert len(told.elements.ids) == 3001


@pytest.mark.parametrize("case", CASES)
def test_arrow_reads_every_file_by_what_the_flatbuffer_tells(case):
    file = made(case)
    footer = as_thrift(flat(file))
    try:
        expected = pq.ParquetFile(io.BytesIO(file)).read()
    except (pa.ArrowException, OSError) as error:  # pyarrow cannot read all of other writers
        with pytest.raises(type(error)):
            pq.ParquetFile(io.BytesIO(with_footer(file, footer))).read()
        return
    found = pq.ParquetFile(io.BytesIO(with_footer(file, footer))).read()
    assert found.schema.equals(expected.schema, check_metadata=True)
    assert streamed(found) == streamed(expected)


SAMPLES = sorted(DATA.glob("*/*.parquet"))


@pytest.mark.skipif(not SAMPLES, reason="needs ../shared/data/parquet-testing")
def test_arrow_makes_the_same_schema_of_every_sample():
    told, refused = 0, []
    for path in SAMPLES:
        file = path.read_bytes()
        try:
            expected = pq.ParquetFile(io.BytesIO(file))
        except (pa.ArrowException, OSError):
            continue
        try:
            footer = as_thrift(flat(file))
        except RequestError as error:
            refused.append((path.name, str(error)))
            continue
        ours = pq.ParquetFile(io.BytesIO(with_footer(file, footer)))
        assert ours.schema_arrow.equals(expected.schema_arrow), path.name
        assert ours.metadata.num_rows == expected.metadata.num_rows
        told += 1
    assert told >= 50
    assert refused == []


# ---- statistics --------------------------------------------------------------------------------


def test_bounds_of_fixed_size_have_their_size():
    sizes = {1: 4, 2: 8, 3: 12, 4: 4, 5: 8}
    told, seen = flat(everything()), set()
    for leaf, element in enumerate(told._schema.leaves.tolist()):
        size = told._schema.type_length(element) or sizes.get(told.elements.physical[element])
        stats = chunk_of(told, 0, leaf).struct(3).struct(12)
        if size and stats and 5 in stats:
            assert len(stats.binary(5)) == len(stats.binary(6)) == size
            seen.add(size)
    assert seen >= {2, 3, 4, 8}


def test_statistics_are_the_same_or_wider():
    # Arrow ends the process where a bound of fixed size is shorter: what follows would not say so.
    test_bounds_of_fixed_size_have_their_size()
    theirs = pq.read_metadata(io.BytesIO(everything()))
    footer = with_footer(everything(), as_thrift(flat(everything())))
    ours = pq.read_metadata(io.BytesIO(footer))
    exact = 0
    for g in range(theirs.num_row_groups):
        for leaf in range(theirs.num_columns):
            a, b = theirs.row_group(g).column(leaf), ours.row_group(g).column(leaf)
            if a.physical_type == "BOOLEAN":
                assert not b.statistics.has_min_max
                continue
            assert (a.statistics is None) == (b.statistics is None)
            if a.statistics is None:
                continue
            assert b.statistics.null_count == a.statistics.null_count
            assert b.statistics.distinct_count == a.statistics.distinct_count
            if b.statistics.has_min_max:
                assert b.statistics.min_raw <= a.statistics.min_raw
                assert b.statistics.max_raw >= a.statistics.max_raw
                exact += (b.statistics.min, b.statistics.max) == (
                    a.statistics.min,
                    a.statistics.max,
                )
    assert exact >= 100


def test_long_strings_keep_bounds_of_fifteen_bytes_beyond_what_they_share():
    words = ["prefix-" + "a" * 30, "prefix-" + "z" * 30]
    meta = chunk_of(flat(parquet(pa.table({"s": words}))), 0, 0).struct(3)
    bounds = meta.struct(12)
    assert (bounds.binary(6), bounds.flag(8)) == (b"prefix-" + b"a" * 15, False)
    assert (bounds.binary(5), bounds.flag(7)) == (b"prefix-" + b"z" * 14 + b"{", False)


def test_other_column_orders_are_no_order():
    read = thrift.read(footer_of(parquet(pa.table({"a": [1.0], "b": [2.0]}))))[0]
    ieee = thrift.Struct({2: (thrift.STRUCT, thrift.Struct())})
    read[7][1][1][1] = ieee
    told = flat(with_footer(parquet(pa.table({"a": [1.0]})), thrift.write(read)))
    assert [told.order(0), told.order(1)] == [1, 0]
    del read[7]
    told = flat(with_footer(parquet(pa.table({"a": [1.0]})), thrift.write(read)))
    assert [told.order(0), told.order(1)] == [0, 0]
