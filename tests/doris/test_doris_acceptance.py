"""What a user of segments relies on, found missing when each promise was tried by itself."""

from __future__ import annotations

import random

import pyarrow as pa
import pytest
from doris_damage import page_spans, sealed
from doris_parts import Segment, made
from doris_tables import in_memory

import rangeio
from rangeio.errors import Corrupt, FormatError, RequestError
from rangeio.formats.doris.words import FieldType

VERSIONS = pytest.mark.parametrize("version", [2, 3])

TYPES = {
    "CHAR(10)": pa.string(),
    "VARCHAR(50)": pa.string(),
    "JSONB": pa.binary(),
    "HLL": pa.binary(),
    "QUANTILE_STATE": pa.binary(),
    "IPV4": pa.uint32(),
    "IPV6": pa.binary(16),
    "LARGEINT": pa.decimal256(39, 0),
    "DECIMAL": pa.decimal128(27, 9),
    "DATE": pa.date32(),
    "DATETIME": pa.timestamp("s"),
    "TIMEV2": pa.float64(),
}


def typed() -> pa.Schema:
    """A column of each type that Arrow does not tell, and the same inside others."""
    each = [pa.field(f"c{k}", TYPES[w], metadata={"doris.type": w}) for k, w in enumerate(TYPES)]
    inside = [
        pa.field("struct", pa.struct(each)),
        pa.field("list", pa.list_(each[5].with_name("item"))),
        pa.field("map", pa.map_(pa.int32(), each[1].with_name("value"))),
    ]
    return pa.schema([*each, *inside])


def types_of(data: bytes) -> list[tuple[int, int]]:
    """Type and length of all columns."""

    def below(meta):
        yield meta.type, meta.length
        for child in meta.children_columns:
            yield from below(child)

    return [one for meta in Segment(data).metas for one in below(meta)]


@VERSIONS
def test_types_of_doris_survive_a_second_write(tmp_path, version):
    table = typed().empty_table()
    first, second, third = (str(tmp_path / name) for name in ("1.dat", "2.parquet", "3.dat"))
    rangeio.write(table, first, format="doris", version=version)
    rangeio.convert(first, second, format="parquet")
    rangeio.convert(second, third, format="doris", version=5 - version)
    with open(first, "rb") as one, open(third, "rb") as other:
        wanted, found = types_of(one.read()), types_of(other.read())
    assert found == wanted
    with rangeio.open(first) as file:
        schema = file.read().schema
    for k, word in enumerate(TYPES):
        assert schema.field(k).metadata[b"doris.type"] == word.encode()
        assert schema.field("col_12").type.field(k).metadata == {b"doris.type": word.encode()}


@VERSIONS
def test_a_segment_of_char_without_a_size_is_text_again(version):
    field = pa.field("c", pa.string(), metadata={"doris.type": "VARCHAR"})
    data = made(pa.table([["ab"]], schema=pa.schema([field])), version=version)
    assert types_of(data) == [(FieldType.VARCHAR, 65_535)]


def test_a_value_longer_than_its_varchar_is_refused(tmp_path):
    field = pa.field("c", pa.string(), metadata={"doris.type": "VARCHAR(3)"})
    table = pa.table([["abc", None, "é"]], schema=pa.schema([field]))
    rangeio.write(table, tmp_path / "t.dat", format="doris")
    table = pa.table([["abc", "éé"]], schema=pa.schema([field]))
    with pytest.raises(RequestError, match=r"4 bytes for a VARCHAR\(3\)"):
        rangeio.write(table, tmp_path / "t.dat", format="doris")


@VERSIONS
@pytest.mark.parametrize("texts", [["{}", None], [None, None], []])
def test_a_variant_without_paths_is_a_variant(tmp_path, version, texts):
    table = pa.table(
        {"v": pa.array(texts, pa.string()), "k": pa.array(range(len(texts)), pa.int64())}
    )
    first, second = str(tmp_path / "1.dat"), str(tmp_path / "2.dat")
    rangeio.write(table, first, format="doris", version=version, variant="v")
    with rangeio.open(first, schema={0: "v", 1: "k", 2: "none"}) as file:
        assert file.schema["v"].type == pa.struct([pa.field("", pa.binary())])
        assert file.column("v").paths() == []
        for name in ("k", "none"):
            with pytest.raises(RequestError, match="fixed structure"):
                file.column(name).paths()
        roots = [None if text is None else b"" for text in texts]
        assert file.read(["v"])["v"].to_pylist() == [{"": root} for root in roots]
        assert [one["v"] for one in file.scan().read_all().to_pylist()] == [
            {"": root} for root in roots
        ]
        rangeio.convert(file, second, format="doris", variant="v", columns=["v", "k"])
    with open(second, "rb") as out:
        assert Segment(out.read()).metas[0].type == FieldType.VARIANT


def test_a_key_of_json_that_is_no_text_is_refused(tmp_path):
    table = pa.table({"v": ["{}", '{"\\ud800": 1}']})
    with pytest.raises(RequestError, match="row 1 of 'v': a text of JSON cannot be kept"):
        rangeio.write(table, tmp_path / "t.dat", format="doris", variant="v")


@VERSIONS
@pytest.mark.parametrize("kind", ["zone maps", "bloom filters"])
def test_every_flipped_byte_of_an_index_that_is_asked_is_found(version, kind):
    blooms = kind == "bloom filters"
    table = pa.table({"k": pa.array(range(0, 400, 2), pa.int64())})
    words = {"zone_maps": not blooms, "bloom_filter_columns": ["k"] if blooms else []}
    data = made(table, version=version, page_size=256, compression="none", **words)
    plain = made(table, version=version, page_size=256, compression="none", zone_maps=False)
    own = set(page_spans(data)) - set(page_spans(plain))
    filters = [("col_0", "=", 101)]
    assert own
    assert rangeio.open(data).read(filters=filters).num_rows == 0
    rng = random.Random(version)
    for start, stop in sorted(own)[-3:]:
        for at in rng.sample(range(start, stop), min(20, stop - start)):
            changed = bytearray(data)
            changed[at] ^= 1 << rng.randrange(8)
            with pytest.raises(Corrupt, match="crc32c"):
                rangeio.open(bytes(changed)).read(filters=filters)


def test_a_struct_without_fields_is_corrupt():
    """A type that was changed where no checksum covers it: of the keys of a map."""
    table = pa.table({"m": pa.array([[(1, 2)], None], pa.map_(pa.int32(), pa.int64()))})
    data = made(table, version=3)
    segment = Segment(data)
    at = data.index(b"\x18\x05", segment.footer.col_meta_region_start) + 1
    changed = bytearray(data)
    changed[at] = FieldType.STRUCT
    with pytest.raises(FormatError):
        in_memory(sealed(changed, page_spans(data))).read()
