"""Chosen fields of ``ARROW:schema`` are those that Arrow reads from the whole message."""

from __future__ import annotations

import base64
import io
import random
from collections.abc import Iterator

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from arrow_fields import (
    CHARACTERS,
    COLOURS,
    SCALARS,
    TYPES,
    opened,
    random_field,
    read_back,
    same,
    spoiled,
    wide,
)
from flat_messages import encoded, whole

from rangeio.errors import Corrupt, Unsupported
from rangeio.formats.parquet.schema.arrowschema import ArrowSchema, serialized


class Degrees(pa.ExtensionType):
    """An extension type of the user's, with a parameter that may be unreadable."""

    def __init__(self, unit: str) -> None:
        self.unit = unit
        super().__init__(pa.float64(), "test.degrees")

    def __arrow_ext_serialize__(self) -> bytes:
        return self.unit.encode()

    @classmethod
    def __arrow_ext_deserialize__(cls, storage: pa.DataType, data: bytes) -> Degrees:
        if data == b"broken":
            raise KeyError("no such unit")
        return cls(data.decode())


@pytest.fixture
def _degrees() -> Iterator[None]:
    pa.register_extension_type(Degrees("celsius"))
    yield
    pa.unregister_extension_type("test.degrees")


def with_ballast(wanted: pa.Field) -> memoryview:
    """A field behind nine others, and a stretch between them that is no base64."""
    note = pa.field("note", pa.int8(), metadata={"text": "-" * 20_000})
    fields = [note, *(pa.field(f"other{k}", pa.int8()) for k in range(8)), wanted]
    value = encoded(pa.schema(fields).serialize().to_pybytes())
    at = bytes(value).index(base64.b64encode(b"-" * 1_200)) // CHARACTERS + 1
    return spoiled(value, set(range(at, at + 4)))


# ---- whatever the types, the number of fields and the positions ---------------------------------


@pytest.mark.parametrize("count", [1, 2, 50, 3_000])
@pytest.mark.parametrize("asked", [1, 2, 7, 400])
def test_fields_at_random_positions(count, asked):
    schema = wide(count, seed=asked)
    truth, found = list(read_back(schema)), opened(schema)
    rng = random.Random(count + asked)
    for _ in range(20):
        positions = [rng.randrange(count) for _ in range(min(asked, count))]
        same(found.fields(positions), [truth[k] for k in positions])
    assert len(found) == count


def test_all_fields_of_a_wide_schema_and_none():
    schema = wide(3_000)
    same(opened(schema).fields(range(3_000)), list(read_back(schema)))
    assert opened(schema).fields([]) == []
    assert opened(pa.schema([])).fields([]) == []
    assert len(opened(pa.schema([]))) == 0


@pytest.mark.parametrize("kind", TYPES, ids=str)
def test_a_type_is_read_without_the_rest_of_the_message(kind):
    wanted = pa.field(
        "wanted",
        kind,
        nullable=kind == pa.null(),
        metadata={"a": "b", "PARQUET:field_id": "7"},
    )
    same(ArrowSchema(with_ballast(wanted)).fields([9]), list(read_back(pa.schema([wanted]))))


def test_the_ballast_is_noticed_by_who_decodes_it():
    found = ArrowSchema(with_ballast(pa.field("wanted", pa.int8())))
    with pytest.raises(Corrupt, match="base64"):
        found.fields([0])
    with pytest.raises(Corrupt, match="base64"):
        found.fields(range(1, 10))  # so many that all is decoded


def test_two_of_3000_fields_take_a_few_blocks():
    schema = wide(3_000)
    value, truth = encoded(schema.serialize().to_pybytes()), list(read_back(schema))
    positions = [17, 2_900]
    wanted = [truth[k] for k in positions]

    def missed(blocks: set[int]) -> bool:
        try:
            same(ArrowSchema(spoiled(value, blocks)).fields(positions), wanted)
        except Corrupt:
            return True
        return False

    count = len(value) // CHARACTERS + 1
    groups = [set(range(k, min(k + 64, count))) for k in range(0, count, 64)]
    needed = {block for group in groups if missed(group) for block in group if missed({block})}
    assert 5 < len(needed) <= 20 < count // 100
    assert not missed(set(range(count)) - needed)


def test_types_within_types():
    rng, read = random.Random(11), 0
    for _ in range(300):
        schema = pa.schema([random_field(rng, 4) for _ in range(rng.randint(1, 12))])
        try:
            truth = list(read_back(schema))
        except pa.ArrowException:
            continue  # no message holds a dictionary within a dictionary
        positions = rng.sample(range(len(truth)), rng.randint(1, len(truth)))
        same(opened(schema).fields(positions), [truth[k] for k in positions])
        read += 1
    assert read > 200


def test_forty_lists_within_one_another():
    kind = pa.int8()
    for level in range(40):
        kind = pa.list_(pa.field(f"level{level}", kind))
    same(ArrowSchema(with_ballast(pa.field("deep", kind))).fields([9]), [pa.field("deep", kind)])


def test_metadata_keeps_its_order_and_its_repeated_keys():
    metadata = pa.KeyValueMetadata([("k", "1"), ("a", "\0\xff"), ("k", "2"), ("", "")])
    schema = pa.schema([pa.field("f", pa.int8(), metadata=metadata), pa.field("g", pa.int8())])
    [found] = opened(schema).fields([0])
    assert found.equals(read_back(schema).field(0), check_metadata=True)
    assert found.metadata[b"a"] == "\0\xff".encode()
    assert sorted(found.metadata) == [b"", b"a", b"k"]


# ---- extension types -----------------------------------------------------------------------------


@pytest.mark.usefixtures("_degrees")
def test_a_users_extension_type_is_resolved():
    wanted = pa.field("t", pa.list_(Degrees("kelvin")), metadata={"x": "y"})
    [found] = ArrowSchema(with_ballast(wanted)).fields([9])
    assert isinstance(found.type.value_type, Degrees)
    assert found.type.value_type.unit == "kelvin"
    assert found.metadata == {b"x": b"y"}


def test_an_unknown_extension_type_keeps_its_metadata():
    keys = {"ARROW:extension:name": "nobody.knows", "ARROW:extension:metadata": "{}", "own": "1"}
    wanted = pa.field("t", pa.binary(), metadata=keys)
    same(ArrowSchema(with_ballast(wanted)).fields([9]), [wanted])


@pytest.mark.usefixtures("_degrees")
def test_an_extension_type_that_cannot_be_made_is_a_format_error():
    found = opened(pa.schema([pa.field("t", Degrees("broken")), pa.field("u", pa.int8())]))
    with pytest.raises(Corrupt, match="no such unit"):
        found.fields([0])
    assert found.fields([1]) == [pa.field("u", pa.int8())]


# ---- what writers write --------------------------------------------------------------------------


def value_of(file: io.BytesIO) -> bytes:
    return pq.read_metadata(file).metadata[b"ARROW:schema"]


def test_a_file_of_arrow_and_the_value_written_back():
    refused = {pa.decimal64(18, -3), pa.month_day_nano_interval()}
    plain = pa.schema([f for f in wide(200) if f.type in set(SCALARS) - refused])
    file = io.BytesIO()
    pq.write_table(plain.empty_table(), file)
    same(ArrowSchema(memoryview(value_of(file))).fields(range(len(plain))), list(plain))
    assert serialized(list(plain)) == value_of(file)


def test_the_value_of_chosen_fields_reads_as_these_fields():
    schema = wide(300)
    chosen = opened(schema).fields([5, 250, 17])
    value = serialized(chosen)
    same(list(whole(base64.b64decode(value, validate=True))), chosen)
    same(ArrowSchema(memoryview(value)).fields([2, 0]), [chosen[2], chosen[0]])


def test_fields_that_no_message_holds():
    inner = pa.dictionary(pa.int8(), pa.struct([("colour", COLOURS)]))
    with pytest.raises(Unsupported, match="Dictionary field not found"):
        serialized([pa.field("f", pa.dictionary(pa.int32(), inner))])


def test_a_file_of_polars():
    frame = pl.DataFrame(
        {
            "i": [1],
            "s": ["x"],
            "l": [[1.5]],
            "st": [{"a": 1, "b": ["y"]}],
            "c": pl.Series(["q"], dtype=pl.Categorical),
            "e": pl.Series(["q"], dtype=pl.Enum(["q", "r"])),
            "d": pl.Series([1], dtype=pl.Datetime("ns", "Europe/Oslo")),
            "a": pl.Series([[1, 2]], dtype=pl.Array(pl.Int8, 2)),
            "dec": pl.Series(["1.25"]).str.to_decimal(scale=2),
            **{f"more{k}": [k] for k in range(200)},
        }
    )
    file = io.BytesIO()
    frame.write_parquet(file)
    value = value_of(file)
    truth = list(whole(base64.b64decode(value)))
    assert len(truth) == len(frame.columns)
    for k, wanted in enumerate(truth):
        same(ArrowSchema(memoryview(value)).fields([k]), [wanted])


@pytest.mark.parametrize("length", range(3))
def test_padding_may_be_absent(length):
    data = pa.schema([pa.field("f", pa.int8())]).serialize().to_pybytes() + bytes(length)
    padded, bare = encoded(data), memoryview(base64.b64encode(data).rstrip(b"="))
    assert (len(padded) > len(bare)) == (len(data) % 3 > 0)
    assert ArrowSchema(bare).fields([0]) == ArrowSchema(padded).fields([0])
