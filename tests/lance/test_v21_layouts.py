"""Pages put together by hand: layouts that no writer chooses, refusals by name, and lies."""

from __future__ import annotations

import resource
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from rangeio.engine.drive import drive
from rangeio.errors import Corrupt, FormatError, Unsupported
from rangeio.formats.lance.pages import LanceMeta, Page, Physical
from rangeio.formats.lance.v21 import PAGES
from rangeio.formats.lance.v21.layouts import URL, parse
from rangeio.formats.lance.v21.messages import MESSAGES as M
from rangeio.formats.lance.v21.messages import TABLES
from rangeio.plan import Piece, Query, Rows
from rangeio.ranges import ByteRange, CostModel
from rangeio.schema import Column, ColumnId
from rangeio.steps import Need

NEAR = CostModel(latency_s=0.0, bytes_per_s=1e9)


def encoding(**kind: Any) -> Any:
    """A CompressiveEncoding."""
    return M.CompressiveEncoding(**kind)


def flat(bits: int) -> Any:
    return encoding(flat=M.Flat(bits_per_value=bits))


def mini(values: Any, items: int, layers: Sequence[int] = (1,), **more: Any) -> Any:
    """A mini-block page with small chunks."""
    more = {"num_buffers": 1, "has_large_chunk": True, **more}
    layout = M.MiniBlockLayout(value_compression=values, num_items=items, layers=layers, **more)
    return M.PageLayout(mini_block_layout=layout)


def chunk(
    *buffers: bytes, rep: bytes | None = None, defs: bytes | None = None, levels: int = 0
) -> bytes:
    """One large chunk: its head and its buffers, each padded to 8 bytes."""
    out = levels.to_bytes(2, "little")
    parts = [x for x in (rep, defs) if x is not None]
    out += b"".join(len(x).to_bytes(2, "little") for x in parts)
    out += b"".join(len(x).to_bytes(4, "little") for x in buffers)
    for part in (b"", *parts, *buffers):
        out += part
        out += b"\xfe" * (-len(out) % 8)
    return out


def words(*chunks: bytes, log: int = 0) -> bytes:
    """The chunk metadata: all but the last of ``1 << log`` items."""
    last = len(chunks) - 1
    each = ((len(c) // 8 - 1) << 4 | (log if i < last else 0) for i, c in enumerate(chunks))
    return b"".join(w.to_bytes(4, "little") for w in each)


def read(
    kind: pa.DataType, layout: Any, buffers: Sequence[bytes], rows: int, wanted: Rows | None = None
) -> pa.Array:
    """The rows of a file of one page: buffers one after the other, from byte 0."""
    data = b"".join(buffers)
    edges = np.cumsum([0, *map(len, buffers)]).tolist()
    at = tuple(ByteRange(a, b) for a, b in pairwise(edges))
    raw = layout if isinstance(layout, bytes) else layout.SerializeToString()
    column = Column(ColumnId(0, ("c",)), kind, payload=Physical(0, (2, 2), "none"))
    page = Page(at, rows, 0, raw, URL)
    metas = {column.id: LanceMeta(column, (page,), 0, limit=len(data))}
    rows_wanted = Rows.span(0, rows) if wanted is None else wanted

    def answer(need: Need) -> list[memoryview]:
        return [memoryview(data)[r.start : r.stop] for r in need.ranges]  # type: ignore[union-attr]

    plan = drive(PAGES.plan(metas, Query((column,), rows_wanted), NEAR), answer)
    shared = {one.key: drive(PAGES.load(one, metas), answer)[0] for one in plan.shared}
    pieces = [Piece(u.rows, drive(PAGES.decode(u, metas, shared), answer)) for u in plan.units]
    found = PAGES.assemble(column, rows_wanted, {column.id: pieces})
    assert len(found) == rows_wanted.count
    return found


# ---- layouts that pylance does not choose ------------------------------------------------------


def test_bit_packed_chunks_of_fewer_values() -> None:
    packed = (0).to_bytes(4, "little")
    chunks = [chunk(packed), chunk(packed), chunk(packed)]
    layout = mini(
        encoding(inline_bitpacking=M.InlineBitpacking(uncompressed_bits_per_value=32)), 20
    )
    buffers = [words(*chunks, log=3), b"".join(chunks)]
    assert read(pa.int32(), layout, buffers, 20).to_pylist() == [0] * 20
    assert len(read(pa.int32(), layout, buffers, 20, Rows.span(7, 17))) == 10


def test_levels_that_one_value_stands_for() -> None:
    same = encoding(constant=M.Constant(value=b"\1\0"))
    one = chunk(np.arange(5, dtype="<i8").tobytes(), defs=b"", levels=5)
    layout = mini(flat(64), 5, (3,), def_compression=same)
    assert read(pa.int64(), layout, [words(one), one], 5).null_count == 5


def test_a_dictionary_of_fixed_size_lists_is_refused_not_misread() -> None:
    one = chunk(bytes([1, 0, 1]))
    lists = encoding(fixed_size_list=M.FixedSizeList(items_per_value=2, values=flat(16)))
    layout = mini(flat(8), 3, dictionary=lists, num_dictionary_items=2)
    buffers = [words(one), one, np.arange(4, dtype="<i2").tobytes()]
    with pytest.raises(Unsupported, match="FixedLists"):
        read(pa.list_(pa.int16(), 2), layout, buffers, 3)


def test_a_column_of_a_registered_struct_type() -> None:
    values = np.arange(12, dtype="<i4").tobytes()
    one = chunk(values)
    packed = M.PackedStruct(bits_per_value=[32, 32], values=flat(64))
    layout = mini(encoding(packed_struct=packed), 6)
    kind = pa.struct([("x", pa.int32()), ("y", pa.int32())])
    found = read(kind, layout, [words(one), one], 6)
    assert found.to_pylist()[5] == {"x": 10, "y": 11}


def test_nulls_of_full_zip_values_keep_their_bytes() -> None:
    entries = b"".join(bytes([i % 2]) + i.to_bytes(4, "little") for i in range(6))
    layout = M.FullZipLayout(
        bits_def=1,
        bits_per_value=32,
        num_items=6,
        num_visible_items=6,
        layers=[3],
        value_compression=flat(32),
    )
    found = read(pa.int32(), M.PageLayout(full_zip_layout=layout), [entries], 6, Rows.span(1, 5))
    assert found.to_pylist() == [None, 2, None, 4]


# ---- refusals by name --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "named"),
    [
        ({"range": M.Opaque()}, "range"),
        ({"delta": M.Opaque()}, "delta"),
        ({"dictionary": M.Dictionary()}, "dictionary"),
        ({}, "unknown"),
        ({"flat": M.Flat(bits_per_value=8, data=M.BufferCompression(scheme=1))}, "compressed"),
        ({"general": M.General(compression=M.BufferCompression(scheme=9))}, "scheme 9"),
        ({"rle": M.Rle(values=flat(1), run_lengths=flat(8))}, "run values"),
        ({"rle": M.Rle(values=flat(8), run_lengths=flat(16))}, "run lengths"),
        ({"fsst": M.Fsst(values=flat(8))}, "FSST"),
        ({"variable": M.Variable(offsets=flat(16))}, "offsets"),
        ({"flat": M.Flat(bits_per_value=3)}, "Flat"),
        ({"variable_packed_struct": M.VariablePackedStruct()}, "PackedVariable"),
    ],
)
def test_unknown_encodings_are_named(values: dict[str, Any], named: str) -> None:
    one = chunk(b"\0" * 64, b"\0" * 64)
    layout = mini(encoding(**values), 1, num_buffers=2)
    with pytest.raises(Unsupported, match=named):
        read(pa.int8(), layout, [words(one), one], 1)


def test_unknown_layouts_are_named() -> None:
    with pytest.raises(Unsupported, match="sparse"):
        parse(M.PageLayout(sparse_layout=M.Opaque()).SerializeToString())
    with pytest.raises(Unsupported, match="unknown"):
        parse(b"")
    with pytest.raises(Unsupported, match="depth 2"):
        parse(mini(flat(8), 1, repetition_index_depth=2).SerializeToString())


def test_an_older_page_message_is_refused_by_its_url() -> None:
    from rangeio.formats.lance.v21.layouts import layout_of

    with pytest.raises(Unsupported, match=r"/lance\.encodings\.PageLayout"):
        layout_of(Page((), 1, 0, b"", "/lance.encodings.PageLayout"))


def test_every_message_is_known() -> None:
    assert {name for name in TABLES if hasattr(M, name)} == set(TABLES)


# ---- lies --------------------------------------------------------------------------------------

HUGE = 1 << 60


@pytest.fixture
def bounded() -> Iterator[None]:
    """512 MiB more than the process has, and no more."""
    with open("/proc/self/statm") as file:
        pages = int(file.read().split()[0])
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    room = pages * resource.getpagesize() + (512 << 20)
    resource.setrlimit(resource.RLIMIT_AS, (room, hard))
    yield
    resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def constant(**fields: Any) -> Any:
    return M.PageLayout(constant_layout=M.ConstantLayout(**{"layers": [3], **fields}))


@pytest.mark.parametrize(
    ("kind", "layout", "buffers", "rows"),
    [
        (pa.int64(), constant(), [], HUGE),
        (pa.int64(), constant(inline_value=b"\7" * 8), [], 1 << 45),
        (pa.list_(pa.float32(), (1 << 31) - 1), constant(), [], 100),
        (pa.list_(pa.list_(pa.float32(), 1 << 30), 1 << 30), constant(), [], 100),
        (pa.int64(), constant(layers=[3, 6]), [], 5),
        (pa.int64(), constant(layers=[6]), [], 5),
        (pa.int64(), constant(layers=[9]), [], 5),
        (pa.int64(), constant(layers=[]), [], 5),
        (pa.int64(), constant(layers=[3, 3]), [], 5),
        (pa.int64(), constant(inline_value=b"\7"), [], 5),
        (pa.string(), constant(), [b"\1\0\0\0\x40\0\0\0abc"], 5),
        (pa.string(), constant(), [b"\xff\xff\xff\xff"], 5),
        (pa.int64(), constant(num_def_values=1 << 40, def_compression=flat(16)), [b"", b"\1\0"], 5),
        (
            pa.int64(),
            constant(
                num_def_values=1 << 40,
                def_compression=encoding(
                    out_of_line_bitpacking=M.OutOfLineBitpacking(
                        uncompressed_bits_per_value=16, values=flat(0)
                    )
                ),
            ),
            [b"", b"\1\0"],
            5,
        ),
        (pa.int64(), mini(flat(64), HUGE), [b"\0\0\0\0", b"\0" * 8], HUGE),
        (pa.int64(), mini(flat(64), 1 << 40), [b"\0\0\0\0", b"\0" * 8], 1 << 40),
        (pa.int64(), mini(flat(64), 5), [], 5),
        (pa.int64(), mini(flat(64), 5), [b"", b""], 5),
        (pa.int64(), mini(flat(64), 5), [b"\0\0\0", b"\0" * 8], 5),
        (pa.int64(), mini(flat(64), 5), [b"\xff\xff\xff\xff", b"\0" * 8], 5),
        (pa.int64(), mini(flat(64), 5, num_buffers=1 << 40), [b"\0\0\0\0", b"\0" * 8], 5),
        (pa.int64(), mini(flat(32), 1), [words(chunk(b"\0" * 8)), chunk(b"\0" * 8)], 1),
        (pa.string(), mini(flat(64), 1), [words(chunk(b"\0" * 8)), chunk(b"\0" * 8)], 1),
        (
            pa.int64(),
            mini(
                encoding(
                    fixed_size_list=M.FixedSizeList(
                        items_per_value=1 << 31, values=encoding(constant=M.Constant())
                    )
                ),
                1,
            ),
            [words(chunk(b"")), chunk(b"")],
            1,
        ),
        (
            pa.string(),
            mini(
                flat(8),
                8,
                dictionary=encoding(variable=M.Variable(offsets=flat(32))),
                num_dictionary_items=1 << 40,
            ),
            [words(chunk(b"\0" * 8)), chunk(b"\0" * 8), b"\x20\0\0\0\xff\xff\xff\xff"],
            8,
        ),
    ],
)
@pytest.mark.parametrize("wanted", [None, Rows.span(0, 1)])
@pytest.mark.usefixtures("bounded")
def test_lies_are_found_before_they_cost_memory(
    kind: pa.DataType, layout: Any, buffers: list[bytes], rows: int, wanted: Rows | None
) -> None:
    try:
        found = read(kind, layout, buffers, rows, wanted)
    except FormatError:
        return
    # One row of a page that merely claims many is a row.
    assert wanted is not None
    assert len(found) == 1


@pytest.mark.usefixtures("bounded")
def test_a_dictionary_blown_up_beyond_bounds() -> None:
    """32,768 times a megabyte from a few bytes of indices."""
    item = b"x" * (1 << 20)
    head = (32).to_bytes(4, "little") + (16).to_bytes(4, "little")
    block = head + (0).to_bytes(4, "little") + len(item).to_bytes(4, "little") + item
    one = chunk(b"\0" * (1 << 15))
    layout = mini(
        flat(8),
        1 << 15,
        dictionary=encoding(variable=M.Variable(offsets=flat(32))),
        num_dictionary_items=1,
    )
    with pytest.raises(FormatError):
        read(pa.large_string(), layout, [words(one), one, block], 1 << 15)


def test_an_index_beyond_the_dictionary() -> None:
    head = (32).to_bytes(4, "little") + (16).to_bytes(4, "little")
    block = head + (0).to_bytes(4, "little") + (1).to_bytes(4, "little") + b"a"
    one = chunk(bytes([0, 1, 0]))
    text = encoding(variable=M.Variable(offsets=flat(32)))
    layout = mini(flat(8), 3, dictionary=text, num_dictionary_items=1)
    for kind in (pa.string(), pa.dictionary(pa.int8(), pa.string())):
        with pytest.raises(Corrupt, match="index 1"):
            read(kind, layout, [words(one), one, block], 3)


def test_a_blob_outside_the_data() -> None:
    packed = M.PackedStruct(bits_per_value=[64, 64], values=flat(128))
    for position, count in ((1 << 40, 8), (0, 1 << 40), ((1 << 64) - 8, 16), (40, 1000)):
        one = chunk(position.to_bytes(8, "little") + count.to_bytes(8, "little"))
        inner = mini(encoding(packed_struct=packed), 1)
        layout = M.PageLayout(blob_layout=M.BlobLayout(inner_layout=inner, layers=[3]))
        with pytest.raises(Corrupt):
            read(pa.large_binary(), layout, [words(one), one], 1)
