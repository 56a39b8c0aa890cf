"""Where the parts of a footer lie: all scanners against the Thrift tree, and what each refuses."""

from __future__ import annotations

import mmap
import tracemalloc
from collections.abc import Callable
from functools import cache
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from footer_seeds import arrow_footer, doubles, mixed, seeds, texts
from fuzz_footers import CONSTANT, TIMES_INPUT, told

from rangeio.codecs import native, thrift
from rangeio.codecs.thrift import (
    BINARY,
    BYTE,
    DOUBLE,
    I16,
    I32,
    I64,
    LIST,
    MAP,
    SET,
    STRUCT,
    TRUE,
    UUID,
    Struct,
)
from rangeio.errors import Corrupt, FormatError
from rangeio.formats.parquet.footer import runs, scan
from rangeio.formats.parquet.footer.layout import Layout
from rangeio.formats.parquet.footer.locate import scanned

Scanner = Callable[[bytes], Layout]


def by_kernel(templates: bool) -> Scanner:
    def found(data: bytes) -> Layout:
        layout = scanned(memoryview(data), templates=templates, kernels=native.kernels)
        assert layout is not None
        return layout

    return found


def by_runs(data: bytes) -> Layout:
    layout = runs.scan(memoryview(data))
    assert layout is not None
    return layout


SCANNERS: dict[str, Scanner] = {"scan": lambda data: scan.scan(memoryview(data)), "runs": by_runs}
if native.available:
    SCANNERS |= {"generic": by_kernel(False), "templates": by_kernel(True)}

every_scanner = pytest.mark.parametrize("scanner", SCANNERS.values(), ids=SCANNERS)


# ---- against the tree ----------------------------------------------------------------------------


def check(layout: Layout, data: bytes) -> None:
    """Every span is where the tree's parser finds that part, and every number is the tree's."""
    tree, size = thrift.read(data)
    assert layout.size == size
    assert layout.num_rows == tree.integer(3)
    assert layout.fields.tolist() == [list(row) for row in thrift.fields(data)]
    _check_elements(layout, data, tree.list(2) or [])
    groups = tree.list(4) or []
    assert len(layout.groups) == len(layout.chunks) == len(groups)
    for group, row, places in zip(
        groups, layout.groups.tolist(), layout.chunks.tolist(), strict=True
    ):
        start, stop, first, last, rows = row
        assert thrift.read(data, start) == (group, stop)
        assert (rows, last) == (group.integer(3), places[-1])
        assert thrift.skip(data, first, LIST) == last
        spans = list(pairwise(places))
        assert [thrift.read(data, a) for a, _ in spans] == list(
            zip(group.list(1), places[1:], strict=True)
        )


def _check_elements(layout: Layout, data: bytes, elements: list[Struct]) -> None:
    assert len(layout.elements) == len(elements)
    for element, row in zip(elements, layout.elements.tolist(), strict=True):
        start, stop, name, size, *numbers = row
        assert thrift.read(data, start) == (element, stop)
        assert data[name : name + size] == element.binary(4)
        told = [element.integer(i) for i in (5, 1, 3)]
        identity = element.integer(9)
        assert numbers == [
            *(-1 if n is None else n for n in told),
            identity or 0,
            identity is not None,
        ]


@every_scanner
def test_everything_lies_where_the_tree_has_it(scanner):
    refused = 0
    for data in seeds():
        try:
            layout = scanner(data)
        except Corrupt:
            refused += 1
        else:
            check(layout, data)
    # Encrypted footers of parquet-testing are no FileMetaData.
    assert refused < len(seeds()) / 4


@pytest.mark.parametrize(
    "table", [doubles(700, 8), texts(300, 8), mixed(300, 8)], ids=["doubles", "texts", "mixed"]
)
def test_wide_footers_are_compared_and_not_parsed(table):
    """The scanner by runs finds what the others find, whatever differs from chunk to chunk."""
    data = arrow_footer(table, 4)
    found = {name: told(scanner(data)) for name, scanner in SCANNERS.items()}
    assert len(set(found.values())) == 1
    check(by_runs(data), data)


def test_few_alike_chunks_are_given_up():
    """Every chunk has a structure of its own: comparing is of no use."""
    chunks = [Struct({2: (I64, 4), 100 + i: (BINARY, b"")}) for i in range(800)]
    data = made(leaves=800, chunks=chunks)
    assert runs.scan(memoryview(data)) is None
    check(scan.scan(memoryview(data)), data)


TEXT = b"seventeen letters"
ALIKE = Struct({2: (I64, 70), 3: (STRUCT, Struct({4: (I32, 1)})), 6: (BINARY, TEXT)})
# In them a byte of structure differs in some of its bits, and what follows is where it was.
UNLIKE = {
    "another_id": {**ALIKE, 3: (STRUCT, Struct({5: (I32, 1)}))},
    "another_type": {**ALIKE, 3: (STRUCT, Struct({4: (I16, 1)}))},
    "longer_number": {**ALIKE, 3: (STRUCT, Struct({4: (I32, 1 << 20)}))},
    "list": {**ALIKE, 3: (STRUCT, Struct({4: (LIST, (I32, [1] * 20))}))},
    "text_that_looks_like_an_end": {**ALIKE, 6: (BINARY, TEXT + b"\0" + TEXT[:15])},
    "no_text": {i: value for i, value in ALIKE.items() if i != 6},
}


@pytest.mark.parametrize("at", [0, 99, 100, 101, 150, 630, 1498, 1499])
@pytest.mark.parametrize("unlike", UNLIKE)
def test_one_chunk_among_many_that_are_alike_differs(at, unlike):
    chunks = [ALIKE] * 1500
    chunks[at] = Struct(UNLIKE[unlike])
    data = made(leaves=1500, chunks=chunks)
    for scanner in SCANNERS.values():
        check(scanner(data), data)


@every_scanner
@pytest.mark.parametrize("which", [0, 700, 1499])
def test_a_run_is_no_proof_of_what_comes_after_it(scanner, which):
    chunks = [ALIKE] * 1500
    data = bytearray(made(leaves=1500, chunks=chunks))
    places = scan.scan(memoryview(bytes(data))).chunks[0]
    data[places[which] + 4] = 0x10  # a type that does not exist
    with pytest.raises(Corrupt):
        scanner(bytes(data))


# ---- made by hand --------------------------------------------------------------------------------

ROOT = Struct({4: (BINARY, b"root"), 5: (I32, 1)})
LEAF = Struct({1: (I32, 2), 3: (I32, 1), 4: (BINARY, b"a")})
CHUNK = Struct({2: (I64, 4)})


def made(
    elements: list[Struct] | None = None,
    groups: list[Struct] | None = None,
    leaves: int = 1,
    chunks: list[Struct] | None = None,
    **more: tuple[int, object],
) -> bytes:
    """A footer; more: fields by ``f<id>``, None leaves one out."""
    root = Struct(ROOT | {5: (I32, leaves)})
    own = [root] + [LEAF] * leaves if elements is None else elements
    group = Struct({1: (LIST, (STRUCT, chunks or [CHUNK] * leaves)), 3: (I64, 7)})
    tree = {
        1: (I32, 2),
        2: (LIST, (STRUCT, own)),
        3: (I64, 7),
        4: (LIST, (STRUCT, [group] if groups is None else groups)),
    }
    tree |= {int(name[1:]): value for name, value in more.items()}
    return thrift.write(Struct({i: value for i, value in tree.items() if value is not None}))


def parts(*fields: tuple[int, int, bytes]) -> bytes:
    """A struct of encoded fields, in this order, any of them twice."""
    return b"".join(bytes([k]) + thrift.encoded(I64, i) + v for i, k, v in fields) + b"\0"


def field(data: bytes, id_: int) -> tuple[int, int, bytes]:
    """A top-level field of a footer, encoded."""
    (found,) = [(i, k, data[a:b]) for i, k, a, b in thrift.fields(data) if i == id_]
    return found


def nested(
    depth: int, kind: int = STRUCT, around: tuple[int, object] = (I32, 1)
) -> tuple[int, object]:
    """Structs, lists or maps within one another, around a value."""
    value = around
    for _ in range(depth):
        value = {
            STRUCT: (STRUCT, Struct({1: value})),
            LIST: (LIST, (value[0], [value[1]])),
            MAP: (MAP, (value[0], BYTE, [(value[1], 1)])),
        }[kind]
    return value


def group(*, chunks: object = ..., rows: object = (I64, 7), **more: tuple[int, object]) -> Struct:
    own = (LIST, (STRUCT, [CHUNK])) if chunks is ... else chunks
    tree = {1: own, 3: rows} | {int(name[1:]): value for name, value in more.items()}
    return Struct({i: value for i, value in tree.items() if value is not None})


PLAIN = made()
F1, F2, F3, F4 = (field(PLAIN, i) for i in (1, 2, 3, 4))


def element(**more: tuple[int, object] | None) -> bytes:
    """A footer whose leaf has other fields."""
    tree = LEAF | {int(name[1:]): value for name, value in more.items()}
    own = Struct({i: value for i, value in tree.items() if value is not None})
    return made([Struct(ROOT), own])


def twice(id_: int, kind: int, value: object) -> bytes:
    """A footer whose leaf has one field two times."""
    leaf = thrift.write(LEAF)[:-1] + parts((id_, kind, thrift.encoded(kind, value)))
    return parts(F1, (2, LIST, thrift.listed(STRUCT, [thrift.write(ROOT), leaf])), F3, F4)


def grouped(*fields: tuple[int, int, bytes]) -> bytes:
    """A footer whose row group has these fields."""
    return parts(F1, F2, F3, (4, LIST, thrift.listed(STRUCT, [parts(*fields)])))


COLUMNS = (1, LIST, thrift.listed(STRUCT, [thrift.write(CHUNK)]))
ROWS = (3, I64, thrift.encoded(I64, 7))

GOOD: dict[str, bytes] = {
    "plain": PLAIN,
    "bytes_after_it": PLAIN + b"\xff" * 28,
    "fields_in_any_order": parts(F4, F3, F2, F1),
    "row_groups_first": parts(F4, F1, F2, F3),
    "long_ids": parts(F1, F2, F3, F4),
    "negative_id": parts((-5, I32, b"\x02"), F2, F3, F4),
    "id_beyond_i16": parts((1 << 20, I32, b"\x02"), F2, F3, F4),
    "ids_that_end_alike": parts(F2, F3, F4, (2 + (1 << 16), I32, b"\x02"), (-(1 << 31), TRUE, b"")),
    "farthest_id": parts(F2, F3, F4, (1 << 31, TRUE, b"")),
    "most_fields": parts(F2, F3, F4, *[(9, TRUE, b"")] * 1021),
    "the_same_unknown_field_twice": parts(F1, F1, F2, F3, F4),
    "no_row_groups": made(groups=[]),
    "no_row_groups_of_any_type": parts(F1, F2, F3, (4, LIST, b"\x05")),
    "no_row_groups_of_no_type": parts(F1, F2, F3, (4, LIST, b"\x00")),
    "no_leaves": made([Struct({4: (BINARY, b"root")})], [group(chunks=(LIST, (BYTE, [])))]),
    "no_leaves_told": made([Struct({4: (BINARY, b""), 5: (I32, 0)})], []),
    "rows_as_i16": made(f3=(I16, 7)),
    "no_name": element(f4=(BINARY, b"")),
    "long_name": element(f4=(BINARY, b"x" * 5000)),
    "lowest_id": element(f9=(I32, -(1 << 31))),
    "highest_id": element(f9=(I16, (1 << 31) - 1)),
    "highest_type": element(f1=(I32, (1 << 31) - 1)),
    "zero_children": element(f5=(I32, 0)),
    "unknown_field_of_an_element": element(f30=nested(3)),
    "groups_within_groups": made(
        [ROOT, Struct(ROOT | {5: (I32, 1)}), Struct(ROOT | {5: (I32, 1)}), LEAF]
    ),
    "columns_last": grouped((2, I64, b"\x02"), ROWS, COLUMNS),
    "columns_between": grouped(ROWS, (9, BINARY, b"\x03abc"), COLUMNS, (5, I64, b"\x04")),
    "unknown_fields_of_a_group": grouped(
        COLUMNS, ROWS, (40, UUID, b"u" * 16), (41, DOUBLE, b"d" * 8)
    ),
    "empty_chunk": made(chunks=[Struct()]),
    "ten_bytes": parts(F2, (3, I64, b"\x8e" + b"\x80" * 8 + b"\0"), F4),
    "ten_bytes_that_lose_bits": parts(F2, (3, I64, b"\x8e" + b"\x80" * 8 + b"\x7e"), F4),
    "ten_bytes_of_a_size": parts(F2, F3, F4, (9, BINARY, b"\x81" + b"\x80" * 8 + b"\0x")),
    "long_list_head": parts(F1, F2, F3, (4, LIST, b"\xfc\x01" + F4[2][1:])),
    "longest_list_head": parts(F1, F2, F3, (4, LIST, b"\xfc\x81\x80\0" + F4[2][1:])),
    "empty_map": parts(F2, F3, F4, (9, MAP, b"\0")),
    "empty_map_of_two_bytes": parts(F2, F3, F4, (9, MAP, b"\x80\0")),
    "map": made(f9=(MAP, (BINARY, TRUE, [(b"k", True), (b"", False)]))),
    "set": made(f9=(SET, (DOUBLE, [1.0, 2.0]))),
    "booleans": made(f9=(LIST, (TRUE, [True, False, True]))),
    "odd_booleans": parts(F2, F3, F4, (9, LIST, b"\x31\x00\x55\xff")),
    "empty_list_of_an_unknown_type": parts(F2, F3, F4, (9, LIST, b"\x0f")),
    "empty_list_of_no_type": parts(F2, F3, F4, (9, LIST, b"\x00")),
    **{f"deepest_{k}": made(f9=nested(25, k)) for k in (STRUCT, LIST, MAP)},
    "deepest_empty_list": made(f9=nested(24, around=(LIST, (STRUCT, [])))),
    "deepest_of_an_element": element(f30=nested(23)),
    "deepest_of_a_group": made(groups=[group(f30=nested(23, LIST))]),
    "deepest_of_a_chunk": made(chunks=[Struct({30: nested(21, MAP)})]),
}
BAD: dict[str, bytes] = {
    "nothing": b"",
    "a_stop_byte": b"\0",
    "no_schema": parts(F1, F3, F4),
    "no_rows": parts(F1, F2, F4),
    "no_groups": parts(F1, F2, F3),
    "schema_twice": parts(F2, F2, F3, F4),
    "rows_twice": parts(F2, F3, F3, F4),
    "groups_twice": parts(F2, F3, F4, F4),
    "groups_twice_before_the_schema": parts(F4, F4, F2, F3),
    "groups_before_and_after_the_schema": parts(F4, F2, F3, F4),
    "schema_as_set": parts((2, SET, F2[2]), F3, F4),
    "groups_as_set": parts(F2, F3, (4, SET, F4[2])),
    "groups_as_set_before_the_schema": parts((4, SET, F4[2]), F2, F3),
    "schema_of_numbers": made(f2=(LIST, (I32, [1, 2, 3]))),
    "groups_of_numbers": made(f4=(LIST, (I32, [1, 2, 3]))),
    "groups_of_numbers_before_the_schema": parts((4, LIST, b"\x35\x02\x02\x02"), F2, F3),
    "no_elements": made([]),
    "no_elements_of_any_type": parts((2, LIST, b"\x05"), F3, F4),
    "rows_as_byte": made(f3=(BYTE, 7)),
    "rows_as_text": made(f3=(BINARY, b"7")),
    "fewer_than_no_rows": made(f3=(I64, -1)),
    "farther_than_the_farthest_id": parts(F2, F3, F4, ((1 << 31) + 1, TRUE, b"")),
    "farther_than_the_farthest_id_below": parts(F2, F3, F4, (-(1 << 31) - 1, TRUE, b"")),
    "farther_by_a_short_head": parts(F2, F3, F4, (1 << 31, TRUE, b""))[:-1] + b"\x11\0",
    "too_far_an_id_of_an_element": element(f3000000000=(I32, 1)),
    "too_far_an_id_of_a_group": made(groups=[group(f3000000000=(I32, 1))]),
    "too_many_fields": parts(F2, F3, F4, *[(9, TRUE, b"")] * 1022),
    "element_without_a_name": element(f4=None),
    "name_as_list": element(f4=(LIST, (BYTE, []))),
    "name_beyond_the_end": parts((2, LIST, b"\x1c\x48\x7fabc"), F3, F4),
    **{f"element_{i}_as_byte": element(**{f"f{i}": (BYTE, 0)}) for i in (1, 3, 5, 9)},
    **{f"element_{i}_as_flag": element(**{f"f{i}": (TRUE, True)}) for i in (1, 3, 5, 9)},
    **{f"element_{i}_twice": twice(i, I32, 0) for i in (1, 3)},
    "element_5_twice": parts(
        F1,
        (
            2,
            LIST,
            thrift.listed(
                STRUCT, [thrift.write(ROOT)[:-1] + b"\x05\x0a\x02\0", thrift.write(LEAF)]
            ),
        ),
        F3,
        F4,
    ),
    "element_9_twice": parts(
        (
            2,
            LIST,
            thrift.listed(
                STRUCT, [thrift.write(ROOT), thrift.write(LEAF)[:-1] + b"\x05\x12\0\x05\x12\0\0"]
            ),
        ),
        F3,
        F4,
    ),
    "element_4_twice": twice(4, BINARY, b"a"),
    **{f"element_{i}_below_0": element(**{f"f{i}": (I32, -1)}) for i in (1, 3, 5)},
    **{f"element_{i}_too_high": element(**{f"f{i}": (I64, 1 << 31)}) for i in (1, 3, 5, 9)},
    "field_id_too_low": element(f9=(I64, -(1 << 31) - 1)),
    "more_elements_than_due": made([ROOT, LEAF, LEAF]),
    "more_elements_than_none": made([Struct({4: (BINARY, b"root")}), LEAF]),
    "more_elements_that_make_room": made([ROOT, LEAF, Struct(ROOT | {5: (I32, 2)}), LEAF]),
    "fewer_elements_than_due": made([Struct(ROOT | {5: (I32, 2)}), LEAF]),
    "children_without_end": made([Struct(ROOT | {5: (I32, (1 << 31) - 1)}), LEAF]),
    "no_columns": made(groups=[group(chunks=None)]),
    "columns_twice": grouped(COLUMNS, ROWS, COLUMNS),
    "columns_as_set": made(groups=[group(chunks=(SET, (STRUCT, [CHUNK])))]),
    "columns_of_numbers": made(groups=[group(chunks=(LIST, (I32, [1])))]),
    "more_columns": made(groups=[group(chunks=(LIST, (STRUCT, [CHUNK, CHUNK])))]),
    "fewer_columns": made(groups=[group(chunks=(LIST, (STRUCT, [])))]),
    "no_rows_of_a_group": made(groups=[group(rows=None)]),
    "rows_of_a_group_twice": grouped(COLUMNS, ROWS, ROWS),
    "rows_of_a_group_below_0": made(groups=[group(rows=(I64, -1))]),
    "rows_of_a_group_as_byte": made(groups=[group(rows=(BYTE, 1))]),
    "eleven_bytes": parts(F2, F3, F4, (9, I64, b"\x80" * 10 + b"\0")),
    "eleven_bytes_of_rows": parts(F2, (3, I64, b"\x80" * 10 + b"\0"), F4),
    "eleven_bytes_of_an_id": parts(F2, F3, F4)[:-1] + b"\x05" + b"\x80" * 10 + b"\0\0\0",
    "size_of_more_than_64_bits": parts(F2, F3, F4, (9, BINARY, b"\x81" + b"\x80" * 8 + b"\x02x")),
    "count_of_more_than_64_bits": parts(
        F2, F3, F4, (9, LIST, b"\xf3\x81" + b"\x80" * 8 + b"\x02x")
    ),
    **{f"type_{k}": parts(F2, F3, F4, (9, k, b"\0")) for k in (14, 15)},
    "type_0": parts(F2, F3, F4)[:-1] + b"\x10\0",
    "list_of_type_15": parts(F2, F3, F4, (9, LIST, b"\x1f\0")),
    "list_longer_than_the_bytes": parts(F2, F3, F4, (9, LIST, b"\xf3\x7f")),
    "map_longer_than_the_bytes": parts(F2, F3, F4, (9, MAP, b"\x7f\x33")),
    "groups_longer_than_the_bytes": parts(F2, F3, (4, LIST, b"\xfc\xff\xff\x03")),
    **{f"too_deep_{k}": made(f9=nested(26, k)) for k in (STRUCT, LIST, MAP)},
    "too_deep_an_empty_list": made(f9=nested(25, around=(LIST, (STRUCT, [])))),
    "too_deep_an_empty_map": made(f9=nested(25, around=(MAP, (STRUCT, STRUCT, [])))),
    "too_deep_for_an_element": element(f30=nested(24)),
    "too_deep_for_a_group": made(groups=[group(f30=nested(24, LIST))]),
    "too_deep_for_a_chunk": made(chunks=[Struct({30: nested(22, MAP)})]),
}


def of_chunks(chunks: list[bytes]) -> bytes:
    """A footer of one row group with these chunks, which are encoded already."""
    columns = (1, LIST, thrift.listed(STRUCT, chunks))
    schema = field(made(leaves=len(chunks)), 2)
    return parts(schema, F3, (4, LIST, thrift.listed(STRUCT, [parts(columns, ROWS)])))


def chunk(number: bytes, text: bytes) -> bytes:
    return b"\x28" + thrift.encoded(BINARY, text) + b"\x26" + number + b"\0"


@every_scanner
@pytest.mark.parametrize("texts_vary", [False, True])
def test_a_number_among_chunks_has_ten_bytes_at_most(scanner, texts_vary):
    """Where they are compared as well: those of one size, and those of any."""
    chunks = [chunk(b"\x02", TEXT + TEXT[: i % 9 if texts_vary else 0]) for i in range(400)]
    for size, good in ((2, True), (9, True), (10, True), (11, False), (12, False)):
        chunks[302] = chunk(b"\x80" * (size - 1) + b"\0", TEXT)
        data = of_chunks(chunks)
        if good:
            check(scanner(data), data)
        else:
            with pytest.raises(Corrupt):
                scanner(data)


@every_scanner
@pytest.mark.parametrize("texts_vary", [False, True])
@pytest.mark.parametrize("size", [b"\xff\xff\x07", b"\xff" * 9 + b"\x01", b"\x80" * 10 + b"\0"])
def test_a_text_among_chunks_ends_within_the_bytes(scanner, texts_vary, size):
    chunks = [chunk(b"\x02", TEXT + TEXT[: i % 9 if texts_vary else 0]) for i in range(400)]
    chunks[302] = b"\x28" + size + TEXT + b"\x26\x02\0"
    with pytest.raises(Corrupt):
        scanner(of_chunks(chunks))


@every_scanner
@pytest.mark.parametrize("texts_vary", [False, True])
def test_a_map_among_chunks_is_compared_byte_by_byte(scanner, texts_vary):
    """One of a longer key, in which lies what the other chunks end with."""
    tail = b"\x2b\x01\x81\x02ab\x01\0"
    chunks = [chunk(b"\x02", TEXT + TEXT[: i % 9 if texts_vary else 0]) for i in range(400)]
    chunks = [one[:-1] + tail for one in chunks]
    chunks[302] = chunk(b"\x02", TEXT)[:-1] + b"\x2b\x01\x81\x05ab\x01\0z\x01\0"
    data = of_chunks(chunks)
    check(scanner(data), data)


@every_scanner
@pytest.mark.parametrize("texts_vary", [False, True])
def test_the_last_of_many_chunks_reaches_beyond_the_end(scanner, texts_vary):
    chunks = [chunk(b"\x02", TEXT + TEXT[: i % 9 if texts_vary else 0]) for i in range(400)]
    data = of_chunks(chunks)
    last = scan.scan(memoryview(data)).chunks[0, -2]
    for stop in range(last, len(data)):
        with pytest.raises(Corrupt):
            scanner(data[:stop])


# A tree has a field once, and is parsed to one level less.
NO_TREE = ("twice", "most_fields", "deepest")


@every_scanner
@pytest.mark.parametrize("name", GOOD)
def test_a_footer_that_is_one(scanner, name):
    layout = scanner(GOOD[name])
    if not any(word in name for word in NO_TREE):
        check(layout, GOOD[name])
    assert told(layout) == told(scan.scan(memoryview(GOOD[name])))


@every_scanner
@pytest.mark.parametrize("name", BAD)
def test_a_footer_that_is_none(scanner, name):
    with pytest.raises(Corrupt):
        scanner(BAD[name])


@every_scanner
@pytest.mark.parametrize("data", [PLAIN, arrow_footer(mixed(3, 6), 2)], ids=["small", "mixed"])
def test_a_footer_cut_at_any_length(scanner, data):
    for stop in range(len(data)):
        with pytest.raises(Corrupt):
            scanner(data[:stop])


@every_scanner
def test_groups_without_end_need_no_stack(scanner):
    """30,000 groups, each in the one before it."""
    inner = Struct({4: (BINARY, b"g"), 5: (I32, 1)})
    data = made([ROOT, *[inner] * 30_000, LEAF])
    check(scanner(data), data)


@every_scanner
def test_more_bytes_than_an_int32_counts(scanner):
    with mmap.mmap(-1, 1 << 31) as nothing, pytest.raises(Corrupt):
        scanner(nothing)


# ---- memory --------------------------------------------------------------------------------------


@cache
def greedy(name: str) -> bytes:
    """Footers whose tables are as large as they can be for their bytes."""
    count = 60_000
    if name == "elements":
        root = Struct({4: (BINARY, b""), 5: (I32, count)})
        return made([root, *[Struct({4: (BINARY, b"")})] * count], [])
    if name == "chunks":
        return made(leaves=count, chunks=[Struct()] * count)
    if name == "groups":
        rows = group(chunks=(LIST, (STRUCT, [])), rows=(I64, 0))
        return made([Struct({4: (BINARY, b"")})], [rows] * count)
    if name == "fields":
        return parts(F2, F3, F4, *[(9, TRUE, b"")] * 1021)
    if name == "groups_first":
        data = greedy("chunks")
        return parts(*(field(data, i) for i in (4, 3, 2)))
    if name == "a_count":
        return parts((2, LIST, b"\xfc\xff\xff\xff\x07"), F3, F4) + bytes(1 << 16)
    if name == "a_count_of_elements":
        return parts((2, LIST, b"\xfc" + thrift.unsigned(1 << 16)), F3, F4) + bytes(1 << 16)
    if name == "a_count_of_groups":
        return parts(F2, F3, (4, LIST, b"\xfc" + thrift.unsigned(1 << 16))) + bytes(1 << 16)
    return arrow_footer(doubles(2000, 4), 2)


@every_scanner
@pytest.mark.parametrize(
    "name",
    [
        "elements",
        "chunks",
        "groups",
        "fields",
        "groups_first",
        "a_count",
        "a_count_of_elements",
        "a_count_of_groups",
        "doubles",
    ],
)
def test_memory_is_in_proportion_to_the_bytes(scanner, name):
    data = greedy(name)
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        try:
            scanner(data)
        except FormatError:
            assert name.startswith("a_count")
        peak = tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()
    assert peak < TIMES_INPUT * len(data) + 5 * CONSTANT


def test_tables_have_the_types_of_a_layout():
    for scanner in SCANNERS.values():
        layout = scanner(PLAIN)
        kinds = [t.dtype for t in (layout.fields, layout.elements, layout.groups, layout.chunks)]
        assert kinds == [np.int64, np.int32, np.int64, np.uint32]


def test_a_table_of_many_columns_without_row_groups():
    data = arrow_footer(pa.table({f"c{i}": pa.array([], pa.int32()) for i in range(300)}))
    for scanner in SCANNERS.values():
        check(scanner(data), data)
