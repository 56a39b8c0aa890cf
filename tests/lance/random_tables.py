"""Random Arrow tables from a seed: types of any nesting, values and nulls of every texture.

:func:`schema` draws the columns, :func:`batches` their rows. Arrays are built from buffers, so
what lies under a null (values below a null struct, items of a null list) is random as well.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise

import numpy as np
import pyarrow as pa

Rng = np.random.Generator
Bytes = bytes | np.ndarray

MOST_ITEMS = 40_000
"""Items below one column of one batch, so that nesting does not multiply without end."""
MOST_BYTES = 1 << 20
"""Bytes, roughly, of the values of one column of one batch."""

SCALARS: tuple[pa.DataType, ...] = (
    *(pa.int8(), pa.int16(), pa.int32(), pa.int64()),
    *(pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()),
    *(pa.float16(), pa.float32(), pa.float64(), pa.bool_(), pa.bool_(), pa.null()),
    *(pa.date32(), pa.date64(), pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns")),
    *(pa.timestamp(u, z) for u in ("s", "ms", "us", "ns") for z in (None, "UTC", "Asia/Kolkata")),
    *(pa.duration(unit) for unit in ("s", "ms", "us", "ns")),
    *(pa.decimal128(9, 2), pa.decimal128(38, 10), pa.decimal256(40, 3), pa.decimal256(76, 0)),
    *(pa.binary(width) for width in (1, 3, 8, 16, 33, 300)),
)
TEXTS = (pa.string(), pa.string(), pa.large_string(), pa.binary(), pa.large_binary())
FIXED = (pa.float16(), pa.float32(), pa.float64(), pa.uint8(), pa.int16(), pa.int64(), pa.bool_())
OPTIONS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("compression", ("zstd", "lz4", "none", "fsst")),
    ("structural-encoding", ("fullzip", "miniblock")),
    ("rle-threshold", ("0.0", "0.3", "0.9", "1.0")),
    ("bss", ("on", "off", "auto")),
    ("dict-size-ratio", ("0.1", "0.8", "1.0")),
    ("dict-divisor", ("1", "100")),
    ("dict-values-compression", ("zstd", "lz4", "none")),
)
ROWS = (0, 1, 2, 7, 8, 9, 255, 256, 1023, 1024, 1025, 2048, 4095, 4096, 4097, 8192, 12_289)
DAYS = 86_400


# ---- types -------------------------------------------------------------------------------------


def schema(rng: Rng, version: str, columns: int, depth: int = 4) -> pa.Schema:
    """``columns`` random fields named ``c0``, ``c1``, ... of at most ``depth`` nested levels."""
    fields = [field(rng, f"c{i}", version, int(rng.integers(0, depth + 1))) for i in range(columns)]
    return pa.schema(fields)


def field(rng: Rng, name: str, version: str, depth: int, listed: bool = False) -> pa.Field:
    """A field with a random type and, at times, words to Lance's writer in its metadata.

    listed: whether it lies in a list, where pylance writes blobs that nobody can read again.
    """
    kind = _type(rng, version, depth, listed)
    metadata = _options(rng, kind)
    if listed:
        metadata.pop("lance-encoding:blob", None)
    nullable = bool(rng.random() < 0.85) or pa.types.is_null(kind)
    return pa.field(name, kind, nullable, metadata=metadata or None)


def _type(rng: Rng, version: str, depth: int, listed: bool) -> pa.DataType:
    if depth == 0 or rng.random() < 0.15:
        return _flat_type(rng)
    draw = rng.random()
    below = partial(field, rng, version=version, depth=depth - 1, listed=listed or draw >= 0.35)
    if draw < 0.35:
        return pa.struct([below(f"f{i}") for i in range(rng.integers(1, 4))])
    if draw < 0.75 or version != "2.2":
        return (pa.large_list if draw < 0.15 + 0.3 else pa.list_)(below("item"))
    if draw < 0.9:
        key = (pa.string(), pa.int32(), pa.int64(), pa.large_string())[rng.integers(4)]
        return pa.map_(pa.field("key", key, False), below("value"))
    return pa.list_(below("item"), int(rng.integers(1, 5)))


def _flat_type(rng: Rng) -> pa.DataType:
    draw = rng.random()
    if draw < 0.55:
        return SCALARS[rng.integers(len(SCALARS))]
    if draw < 0.85:
        return TEXTS[rng.integers(len(TEXTS))]
    if draw < 0.92:
        size = int(rng.choice([1, 2, 3, 4, 8, 17, 100, 768]))
        item = pa.list_(FIXED[rng.integers(len(FIXED))], size)
        return pa.list_(item, int(rng.integers(1, 4))) if rng.random() < 0.15 else item
    index = (pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16())
    value = (pa.string(), pa.string(), pa.large_string(), pa.int64(), pa.float64())
    return pa.dictionary(index[rng.integers(len(index))], value[rng.integers(len(value))])


def _options(rng: Rng, kind: pa.DataType) -> dict[str, str]:
    found: dict[str, str] = {}
    if rng.random() < 0.35:
        for at in rng.choice(len(OPTIONS), rng.integers(1, 3), replace=False):
            key, words = OPTIONS[at]
            found[f"lance-encoding:{key}"] = words[rng.integers(len(words))]
    if pa.types.is_struct(kind) and rng.random() < 0.15:
        found["lance-encoding:packed"] = "true"
    if pa.types.is_large_binary(kind) and rng.random() < 0.25:
        found["lance-encoding:blob"] = "true"
    return found


# ---- rows --------------------------------------------------------------------------------------


def row_count(rng: Rng, fields: pa.Schema) -> int:
    """Any number of rows up to 50,000, small ones and the edges of chunks more often."""
    most = min(50_000, 2 * MOST_BYTES // max((heft(one.type) for one in fields), default=8))
    if rng.random() < 0.5:
        return min(int(rng.choice(ROWS)), most)
    return int(np.exp(rng.uniform(0, np.log(most))))


def heft(kind: pa.DataType) -> int:
    """Bytes of a value, roughly: what keeps tables of wide types short."""
    if pa.types.is_fixed_size_list(kind):
        return kind.list_size * heft(kind.value_type)
    if pa.types.is_nested(kind):
        return 8 + sum(heft(one.type) for one in _children(kind))
    return kind.byte_width if pa.types.is_fixed_size_binary(kind) else 8


def batches(rng: Rng, fields: pa.Schema, rows: int, version: str) -> list[pa.RecordBatch]:
    """Batches of ``rows`` rows in all. Some are slices of a larger one, others own their rows."""
    makers = [Maker(rng, one, version) for one in fields]
    pieces = int(rng.integers(1, 9)) if rows > 1 and rng.random() < 0.6 else 1
    cuts = np.unique([0, *rng.integers(0, rows + 1, pieces - 1), rows])
    if rng.random() < 0.5 or len(cuts) < 2:
        whole = pa.RecordBatch.from_arrays([m.column(rows) for m in makers], schema=fields)
        pairs = pairwise(cuts)
        return [whole.slice(a, b - a) for a, b in pairs] or [whole]
    return [
        pa.RecordBatch.from_arrays([m.column(int(n)) for m in makers], schema=fields)
        for n in np.diff(cuts)
    ]


class Maker:
    """Makes the arrays of one field, and keeps to one dictionary through all its batches."""

    def __init__(self, rng: Rng, of: pa.Field, version: str, share: float | None = None) -> None:
        self.rng = rng
        self.type = of.type
        self.structs_have_nulls = version != "2.0"
        densities = [0.0, 0.0, 0.02, 0.3, 0.9, 1.0]
        self.nulls = float(rng.choice(densities)) if of.nullable else 0.0
        if pa.types.is_struct(of.type) and not self.structs_have_nulls:
            self.nulls = 0.0
        self.clustered = rng.random() < 0.3
        self.texture = int(rng.integers(7))
        self.below = [Maker(rng, child, version) for child in _children(of.type)]
        self.words: pa.Array | None = None

    def column(self, rows: int) -> pa.Array:
        """``rows`` values."""
        kind = self.type
        if pa.types.is_null(kind):
            return pa.nulls(rows)
        if isinstance(kind, pa.DictionaryType):
            return self._dictionary(rows)
        if pa.types.is_struct(kind):
            children = [one.column(rows) for one in self.below]
            return pa.Array.from_buffers(kind, rows, [self._validity(rows)], children=children)
        if pa.types.is_fixed_size_list(kind):
            child = self.below[0].column(rows * kind.list_size)
            return pa.Array.from_buffers(kind, rows, [self._validity(rows)], children=[child])
        if pa.types.is_nested(kind):
            return self._lists(rows)
        if kind in TEXTS:
            return self._texts(rows)
        return self._scalars(rows)

    def _validity(self, rows: int) -> pa.Buffer | None:
        if not self.nulls:
            return None
        if self.nulls == 1:
            valid = np.zeros(rows, bool)
        elif self.clustered:
            runs = self.rng.random(rows // 50 + 1) >= self.nulls
            valid = np.repeat(runs, 50)[:rows]
        else:
            valid = self.rng.random(rows) >= self.nulls
        return pa.py_buffer(np.packbits(valid, bitorder="little"))

    def _lists(self, rows: int) -> pa.Array:
        lengths = self._lengths(rows)
        large = pa.types.is_large_list(self.type)
        offsets = np.zeros(rows + 1, np.int64 if large else np.int32)
        np.cumsum(lengths, out=offsets[1:])
        items = int(offsets[-1])
        if pa.types.is_map(self.type):
            entries = pa.struct([self.type.key_field, self.type.item_field])
            both = [one.column(items) for one in self.below]
            child = pa.Array.from_buffers(entries, items, [None], children=both)
        else:
            child = self.below[0].column(items)
        edges = pa.py_buffer(offsets)
        return pa.Array.from_buffers(
            self.type, rows, [self._validity(rows), edges], children=[child]
        )

    def _lengths(self, rows: int) -> np.ndarray:
        rng, form = self.rng, self.texture
        if form == 0:
            lengths = np.zeros(rows, np.int64)
        elif form == 1:
            lengths = np.ones(rows, np.int64)
        elif form == 2:  # now and then a long one among short ones
            lengths = np.where(rng.random(rows) < 3 / (rows + 1), 6000, rng.integers(0, 3, rows))
        elif form == 3:
            lengths = rng.integers(0, 200, rows)
        else:
            lengths = rng.integers(0, 5, rows)
        most = min(MOST_ITEMS, MOST_BYTES // sum(heft(one.type) for one in self.below))
        return np.where(np.cumsum(lengths) > most, 0, lengths)

    def _scalars(self, rows: int) -> pa.Array:
        kind = self.type
        if pa.types.is_boolean(kind):
            flags = self._numbers(rows, 0, 2).astype(bool)
            data: Bytes = np.packbits(flags, bitorder="little")
        elif pa.types.is_decimal(kind):
            data = self._limbs(rows)
        elif pa.types.is_fixed_size_binary(kind):
            data = self._numbers(rows * kind.byte_width, 0, 256).astype(np.uint8)
        elif pa.types.is_floating(kind):
            data = self._floats(rows)
        else:
            data = self._integers(rows)
        return pa.Array.from_buffers(kind, rows, [self._validity(rows), pa.py_buffer(data)])

    def _numbers(self, count: int, low: int, high: int) -> np.ndarray:
        """Integers in [low, high) of the column's texture."""
        rng, span = self.rng, min(high - low, (1 << 63) - 1)
        few = min(span, int(rng.choice([2, 5, 90, 1000])))
        draw: tuple[Callable[[], np.ndarray], ...] = (
            lambda: np.full(count, rng.integers(span)),
            lambda: np.repeat(rng.integers(0, span, count // 40 + 1), 40)[:count],
            lambda: np.sort(rng.integers(0, span, count)),
            lambda: rng.choice(rng.integers(0, span, few), count),
            lambda: rng.integers(0, few, count),
            lambda: np.arange(count) % span,
            lambda: rng.integers(0, span, count),
        )
        return draw[self.texture]() + low

    def _integers(self, rows: int) -> np.ndarray:
        width = self.type.bit_width
        signed = np.dtype(f"i{width // 8}")
        low, high = -(1 << (width - 1)), (1 << (width - 1)) - 1
        if pa.types.is_time(self.type):
            low, high = 0, DAYS * {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[self.type.unit]
        elif self.type == pa.date64():
            return self._numbers(rows, -20_000, 20_000).astype("i8") * (DAYS * 1000)
        elif self.rng.random() < 0.5:
            low, high = 0, min(high, int(self.rng.choice([2, 100, 1 << 20])))
        elif width == 64:
            low = self.rng.choice([-100, -(1 << 62)])
        return self._numbers(rows, int(low), high).astype(signed)

    def _floats(self, rows: int) -> np.ndarray:
        width = self.type.bit_width // 8
        if self.rng.random() < 0.3:  # any bits at all: NaNs with payloads, infinities, -0.0
            return self._numbers(rows * width, 0, 256).astype(np.uint8)
        found = (self._numbers(rows, -1000, 1000) / 8).astype(f"f{width}")
        found[self.rng.random(rows) < 0.05] = np.nan
        return found

    def _limbs(self, rows: int) -> np.ndarray:
        """Little-endian integers within the precision of the decimal type."""
        words = self.type.bit_width // 64
        low = self._numbers(rows, -(10**8), 10**8)
        limbs = np.repeat(low >> 63, words).reshape(rows, words)
        limbs[:, 0] = low
        if self.type.precision in (38, 76):
            limbs[:, words - 1] = self.rng.integers(-(1 << 58), 1 << 58, rows)
        return limbs

    def _texts(self, rows: int) -> pa.Array:
        words = min(rows, int(self.rng.choice([1, 20, 300]))) if self.texture < 3 else rows
        lengths = self._text_lengths(words, MOST_BYTES * words // max(rows, 1))
        wide = pa.types.is_large_string(self.type) or pa.types.is_large_binary(self.type)
        edges = np.zeros(words + 1, np.int64 if wide else np.int32)
        np.cumsum(lengths, out=edges[1:])
        binary = pa.types.is_binary(self.type) or pa.types.is_large_binary(self.type)
        least, most = (0, 256) if binary and self.rng.random() < 0.5 else (97, 97 + 26)
        most = least + 3 if self.rng.random() < 0.3 else most
        data = self.rng.integers(least, most, int(edges[-1])).astype(np.uint8)
        parts = [None, pa.py_buffer(edges), pa.py_buffer(data)]
        found = pa.Array.from_buffers(self.type, words, parts)
        if words < rows:
            picks = self.rng.integers(0, max(words, 1), rows)
            found = found.take(pa.array(np.sort(picks) if self.clustered else picks))
        validity = self._validity(rows)
        return pa.Array.from_buffers(self.type, rows, [validity, *found.buffers()[1:]])

    def _text_lengths(self, rows: int, most: int) -> np.ndarray:
        rng = self.rng
        forms: tuple[Callable[[], np.ndarray], ...] = (
            lambda: np.zeros(rows, np.int64),
            lambda: rng.integers(0, 4, rows),
            lambda: rng.integers(0, 30, rows),
            lambda: rng.integers(200, 600, rows),
            lambda: np.where(rng.random(rows) < 2 / (rows + 1), 70_000, rng.integers(0, 9, rows)),
            lambda: np.where(rng.random(rows) < 0.5, rng.integers(30_000, 40_000, rows), 1),
            lambda: np.full(rows, 12),
        )
        lengths = forms[rng.integers(len(forms))]()
        return np.where(np.cumsum(lengths) > most, lengths % 3, lengths)

    def _dictionary(self, rows: int) -> pa.Array:
        kind = self.type
        if self.words is None:
            count = int(self.rng.choice([1, 2, 20, 120]))
            one = pa.field("", kind.value_type, bool(self.rng.random() < 0.3))
            self.words = Maker(self.rng, one, "2.0").column(count)
        picks = self.rng.integers(0, len(self.words), rows)
        indices = picks.astype(kind.index_type.to_pandas_dtype())
        parts = [self._validity(rows), pa.py_buffer(indices)]
        chosen = pa.Array.from_buffers(kind.index_type, rows, parts)
        return pa.DictionaryArray.from_arrays(chosen, self.words)


def _children(kind: pa.DataType) -> Sequence[pa.Field]:
    if pa.types.is_map(kind):
        return (kind.key_field, kind.item_field)
    return [kind.field(i) for i in range(kind.num_fields)]
