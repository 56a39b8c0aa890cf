"""``ARROW:schema`` that no writer at hand makes: odd, later, broken and hostile messages."""

from __future__ import annotations

import contextlib
import os
import random
import struct
import tracemalloc

import pyarrow as pa
import pytest
from arrow_fields import COLOURS, TYPES, opened, same, spoiled, wide
from flat_messages import (
    INT,
    STRUCT,
    TIMESTAMP,
    UNION,
    UTF8,
    Numbers,
    String,
    Table,
    Vector,
    encoded,
    field,
    message,
    pair,
    whole,
)

from rangeio.errors import Corrupt, FormatError
from rangeio.formats.parquet.schema.arrowschema import DEPTH, ArrowSchema

FLIPS = 200_000 if os.environ.get("RANGEIO_FUZZ") == "full" else 4_000

SHORT = [struct.pack("<i", 16), b"\1"]  # the slots of int16
PARIS = [struct.pack("<h", 2), String(b"Europe/Paris")]
ODD = {
    "the prefix of old writers": {"old_prefix": True},
    "big endian": {"endianness": 1},
    "metadata of version 4": {"version": 3},
}


@pytest.mark.parametrize("how", ODD.values(), ids=ODD.keys())
def test_messages_of_other_writers(how):
    fields = [field(b"a", INT, SHORT), field(None, TIMESTAMP, PARIS), field(b"c")] * 5
    data = message(fields, **how)
    truth = list(whole(data))
    for k, wanted in enumerate(truth):
        same(ArrowSchema(encoded(data)).fields([k]), [wanted])
    assert truth[1] == pa.field("", pa.timestamp("us", "Europe/Paris"))


def varied() -> list[Table]:
    """A field of each kind of part."""
    note = Vector([pair(b"key", b"value"), pair(b"", b"")])
    index = Table([struct.pack("<q", 1), Table(SHORT), b"\1"])
    members = [field(b"x"), field(b"y", INT, SHORT)]
    return [
        field(b"number", INT, SHORT, metadata=note),
        field(b"time", TIMESTAMP, PARIS),
        field(b"coded", UTF8, dictionary=index),
        field(b"union", UNION, [b"\1", Numbers([7, 9])], members),
        field(b"struct", STRUCT, children=[field(b"child", TIMESTAMP, PARIS, metadata=note)]),
    ]


@pytest.mark.parametrize("gap", [0, 192, 400, 2_000])
def test_parts_far_from_one_another(gap):
    data = message([*varied(), *(field(b"f") for _ in range(80))], gap=gap)
    truth = list(whole(data))
    assert truth[2].type == pa.dictionary(pa.int16(), pa.string(), ordered=True)
    assert truth[3].type.type_codes == [7, 9]
    for k, wanted in enumerate(truth):
        same(ArrowSchema(encoded(data)).fields([k]), [wanted])


@pytest.mark.parametrize("claimed", [4, 9, 65_535])
def test_a_table_that_lies_about_its_size(claimed):
    for gap in range(192, 400, 8):
        liars = varied()
        for liar in liars:
            liar.claimed = liar.slots[3].claimed = claimed
        data = message([*(field(b"f") for _ in range(20)), *liars], gap=gap)
        for k, wanted in enumerate(list(whole(data))[20:]):
            same(ArrowSchema(encoded(data)).fields([20 + k]), [wanted])


def test_a_table_with_more_slots_than_known_has_all_decoded():
    later = field(b"later", INT, SHORT, further=[String(b"of a later version")])
    ballast = field(b"note", metadata=Vector([pair(b"text", b"-" * 20_000)]))
    data = message([*(field(b"f") for _ in range(20)), later, ballast])
    wanted = pa.field("later", pa.int16())
    assert ArrowSchema(encoded(data)).fields([20]) == [wanted]
    far = spoiled(encoded(data), {60})
    assert ArrowSchema(far).fields([19]) == [pa.field("f", pa.null())]
    with pytest.raises(Corrupt, match="base64"):
        ArrowSchema(far).fields([20])


def test_a_type_of_a_later_version_is_refused_where_it_is_asked():
    data = message([field(b"a", 27), *(field(b"b", INT, SHORT) for _ in range(20))])
    found = ArrowSchema(encoded(data))
    assert found.fields([3]) == [pa.field("b", pa.int16())]
    with pytest.raises(Corrupt, match="Unrecognized type"):
        found.fields([0])
    with pytest.raises(Corrupt, match="base64"):
        ArrowSchema(spoiled(encoded(data), {8})).fields([0])


# ---- hostile bytes -------------------------------------------------------------------------------


def read_all(value: memoryview) -> list[pa.Field] | None:
    """Every field alone and all together; None where any is refused."""
    found, fields = ArrowSchema(value), None
    try:
        fields = found.fields(range(len(found)))
        for got in (*fields, *(found.fields([k])[0] for k in range(min(len(found), 8)))):
            assert isinstance(got.name + str(got.type), str)
            assert got.equals(got, check_metadata=True)
    except FormatError:
        return None
    return fields


SMALL = pa.schema(
    [
        pa.field("a", pa.timestamp("us", "UTC"), metadata={"PARQUET:field_id": "1"}),
        pa.field("b", pa.struct([pa.field("c", COLOURS), pa.field("d", pa.uuid())])),
    ]
)


def test_a_value_cut_anywhere_is_refused():
    value = bytes(encoded(SMALL.serialize().to_pybytes()))
    for size in range(len(value.rstrip(b"="))):
        for positions in ([0], [1], [0, 1]):
            with pytest.raises(FormatError):
                ArrowSchema(memoryview(value[:size])).fields(positions)


def test_a_message_cut_anywhere_is_refused_or_whole():
    data = SMALL.serialize().to_pybytes()
    for size in range(8, len(data)):
        cut = data[:4] + struct.pack("<I", size - 8) + data[8:size]
        found = read_all(encoded(cut))
        assert found is None or found == list(whole(cut))


def test_flipped_bytes_are_refused_or_read_as_arrow_reads_them():
    schema = wide(len(TYPES), seed=3)
    data, rng = schema.serialize().to_pybytes(), random.Random(5)
    alike = 0
    for _ in range(FLIPS):
        changed = bytearray(data)
        for _ in range(rng.choice((1, 1, 2, 4))):
            at = rng.randrange(8, len(changed))
            if rng.random() < 0.7:
                changed[at] = rng.choice((0, 1, 4, 8, 127, 255, rng.randrange(256)))
            else:
                word = rng.choice((0, 1, len(data) - at, rng.randrange(4 * len(data)), 2**32 - 1))
                struct.pack_into("<I", changed, min(at // 4 * 4, len(data) - 4), word)
        found = ArrowSchema(encoded(bytes(changed)))
        k = rng.randrange(len(TYPES))
        try:
            [alone] = found.fields([k])
        except FormatError:
            continue
        try:
            truth = whole(bytes(changed))
        except (pa.ArrowException, OSError, ValueError):
            continue  # another field is bad
        assert alone.equals(truth.field(k), check_metadata=True)
        alike += 1
    assert alike > FLIPS // 20


def test_characters_that_are_not_base64():
    value = bytes(encoded(SMALL.serialize().to_pybytes()))
    for at in range(len(value)):
        for letter in b"!=\n\xff":
            assert read_all(memoryview(value[:at] + bytes([letter]) + value[at + 1 :])) is None
    assert read_all(memoryview(b"\n" + value)) is None
    assert read_all(memoryview(value + b"====")) is None
    assert read_all(memoryview(b"")) is None
    for extra in range(3):  # none, two, one character of padding
        padded = bytes(encoded(SMALL.serialize().to_pybytes() + bytes(extra)))
        assert read_all(memoryview(padded)) == list(SMALL)
        assert read_all(memoryview(padded + b"\n")) is None
        assert read_all(memoryview(padded.rstrip(b"=") + b"\n")) is None


def test_a_position_without_a_field():
    found = opened(SMALL)
    for positions in ([2], [0, 2], [-1], [2**70]):
        with pytest.raises(Corrupt, match="has 2 fields"):
            found.fields(positions)


def test_the_count_of_fields_is_checked_against_the_bytes():
    data = bytearray(message([field(b"a")] * 3))
    at = data.index(struct.pack("<I", 3), 40)
    struct.pack_into("<I", data, at, 2**31)
    found = ArrowSchema(encoded(bytes(data)))
    with pytest.raises(Corrupt, match="leads out of"):
        len(found)


@pytest.mark.parametrize(
    "bad",
    [
        field(b"\xff\xfe"),
        field(b"s", STRUCT, children=[field(b"\xc3")]),
        field(b"t", TIMESTAMP, [struct.pack("<h", 1), String(b"\x80")]),
    ],
    ids=["name", "name of a child", "zone"],
)
def test_text_that_is_not_utf8(bad):
    found = ArrowSchema(encoded(message([bad, *(field(b"good") for _ in range(20))])))
    with pytest.raises(Corrupt, match="UTF-8"):
        found.fields([0])
    assert found.fields([1]) == [pa.field("good", pa.null())]


def test_no_schema_at_all():
    for data in (
        message([field()], kind=3),
        message([field()], version=1),
        bytes(64),
        b"\xff" * 64,
    ):
        assert read_all(encoded(data)) is None
    with pytest.raises(Corrupt, match="no list of fields"):
        len(ArrowSchema(encoded(message(None))))


def many_times(part: Table, count: int) -> Vector:
    return Vector([part] * count)


def doubled(levels: int) -> Table:
    """A tree of 2^levels fields in a few bytes a level."""
    child = field(b"")
    for _ in range(levels):
        child = field(b"", STRUCT, children=[child, child])
    return child


BOMBS = {
    "a pair of metadata": lambda: field(metadata=many_times(pair(b"k", b"v" * 50_000), 10_000)),
    "a text": lambda: field(
        metadata=Vector([Table([s, s]) for s in [String(b"t" * 50_000)] for _ in range(5_000)])
    ),
    "children": lambda: field(kind=STRUCT, children=many_times(field(b"n" * 5_000), 20_000)),
    "children of children": lambda: doubled(60),
}


@pytest.mark.parametrize("bomb", BOMBS.values(), ids=BOMBS.keys())
def test_parts_that_many_offsets_share(bomb):
    found = ArrowSchema(encoded(message([bomb(), *(field(b"good") for _ in range(20))])))
    with pytest.raises(Corrupt, match="unfolds"):
        found.fields([0])
    assert found.fields([1]) == [pa.field("good", pa.null())]


def test_top_level_fields_that_are_all_one():
    found = ArrowSchema(encoded(message([field(b"n")] * 50_000)))
    assert found.fields([0, 49_999])[1].name == "n"
    with pytest.raises(Corrupt, match="unfolds"):
        found.fields(range(len(found)))


@pytest.mark.parametrize("make", [*BOMBS.values(), lambda: Table([])], ids=[*BOMBS, "nothing"])
def test_memory_keeps_in_proportion_to_the_bytes(make):
    value = encoded(message([make(), *(field(b"own layouts") for _ in range(2_000))]))
    found = ArrowSchema(value)
    tracemalloc.start()
    try:
        with contextlib.suppress(Corrupt):
            found.fields(range(len(found)))
        assert tracemalloc.get_traced_memory()[1] < 16 * len(value)
    finally:
        tracemalloc.stop()


def test_nesting_has_an_end():
    def nested(levels: int) -> Table:
        child = field(b"leaf", INT, SHORT)
        for _ in range(levels - 1):
            child = field(b"", STRUCT, children=[child])
        return child

    assert read_all(encoded(message([nested(100)]))) == list(whole(message([nested(100)])))
    for levels in (DEPTH, DEPTH + 1, 20 * DEPTH):
        with pytest.raises(Corrupt):
            ArrowSchema(encoded(message([nested(levels)]))).fields([0])
