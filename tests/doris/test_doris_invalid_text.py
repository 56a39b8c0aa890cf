"""Text that is not UTF-8: refused when it is written, and when it is read."""

from __future__ import annotations

import pyarrow as pa
import pytest
from doris_damage import page_spans, sealed
from doris_parts import made

import rangeio
from rangeio.errors import Corrupt, RequestError

BYTES = [b"a", None, b"\xff\xfe"]
BAD = pa.array(BYTES, pa.binary()).view(pa.string())
KINDS = [
    BAD,
    pa.array(BYTES, pa.large_binary()).view(pa.large_string()),
    pa.array(BYTES, pa.binary_view()).view(pa.string_view()),
    pa.DictionaryArray.from_arrays(pa.array([0, 2, 1], pa.int32()), BAD),
]
WORDS = ["STRING", "VARCHAR(9)", "CHAR(9)"]


def named(array: pa.Array, word: str) -> pa.Table:
    field = pa.field("x", array.type, metadata={b"doris.type": word.encode()})
    return pa.table([array], pa.schema([field]))


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("array", KINDS, ids=lambda array: str(array.type))
def test_text_of_a_column_is_refused(array, word):
    with pytest.raises(RequestError, match="'x': text that is not UTF-8"):
        made(named(array, word))
    assert made(named(array.slice(0, 1), word))


NESTED = {
    "x.item": pa.ListArray.from_arrays(pa.array([0, 3], pa.int32()), BAD),
    "x.key": pa.MapArray.from_arrays(pa.array([0, 1], pa.int32()), BAD[2:], BAD[:1]),
    "x.y": pa.StructArray.from_arrays([BAD], ["y"]),
}


@pytest.mark.parametrize("name", NESTED)
def test_text_inside_a_column_is_refused(name):
    with pytest.raises(RequestError, match=f"'{name}': text that is not UTF-8"):
        made(pa.table({"x": NESTED[name]}))


@pytest.mark.parametrize("most", [0, 1])
def test_text_of_a_variant_is_refused(most):
    packed = pa.MapArray.from_arrays(pa.array([0, 1], pa.int32()), BAD[2:], pa.array([b"\0"]))
    sparse = pa.StructArray.from_arrays([packed], ["__DORIS_VARIANT_SPARSE__"])
    for array in (BAD, NESTED["x.y"], sparse):
        with pytest.raises(RequestError, match=r"'x.*': text that is not UTF-8"):
            made(pa.table({"x": array}), variant="x", variant_max_subcolumns=most)


def test_nothing_is_left_behind(tmp_path):
    with pytest.raises(RequestError, match="'x'"):
        rangeio.write(pa.table({"x": BAD}), tmp_path / "a.dat", format="doris")
    assert not list(tmp_path.iterdir())


def test_bytes_under_a_null_are_not_looked_at():
    array = pa.Array.from_buffers(
        pa.string(), 3, [pa.py_buffer(b"\x03"), *BAD.buffers()[1:]], null_count=1
    )
    with rangeio.open(made(pa.table({"x": array}))) as file:
        assert file.read()["col_0"].to_pylist() == ["a", "", None]


def test_keys_in_views_make_a_short_key():
    texts = pa.array([f"k{row:05}" for row in range(3000)])
    views = named(texts.cast(pa.string_view()), "VARCHAR(9)")
    assert made(views) == made(named(texts, "VARCHAR(9)"))


def spoiled(data: bytes, *words: bytes) -> bytes:
    """The segment with these words, which it has once each, as bytes that are no text."""
    out, spans = bytearray(data), page_spans(data)
    for word in words:
        at = data.index(word)
        out[at : at + 2] = b"\xff\xfe"
    return sealed(out, spans)


@pytest.mark.parametrize("word", WORDS)
def test_text_of_others_is_refused_with_its_column(word):
    data = made(named(pa.array(["a", "zz"]), word), compression="none", zone_maps=False)
    with rangeio.open(spoiled(data, b"zz"), schema={0: "x"}) as file:
        with pytest.raises(Corrupt, match="'x': text that is not UTF-8") as caught:
            file.read()
        assert caught.value.offset is not None


def test_text_of_others_inside_a_column():
    rows = pa.table({"l": [["zz"]], "s": [{"y": "yy"}]})
    data = spoiled(made(rows, compression="none", zone_maps=False), b"zz", b"yy")
    with rangeio.open(data, schema={0: "l", 1: "s"}) as file:
        for column, name in (("l", r"l\.item"), ("s", r"s\.y")):
            with pytest.raises(Corrupt, match=f"'{name}': text that is not UTF-8"):
                file.read(column)
