"""The Parquet files that are read: written by pyarrow with its defaults, from a fixed seed."""

from __future__ import annotations

import random
import string
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.files import SEED, name
from benchmarks.ground import Ground

GROUP_ROWS = 8
_START = 1_700_000_000_000_000
_LETTERS = string.ascii_letters

# ---- many columns, row groups of 8 rows --------------------------------------------------------

Kind = Callable[["Maker"], pa.Array]


class Maker:
    """Makes columns of 8 rows, one after another."""

    def __init__(self) -> None:
        self.rng = np.random.default_rng(SEED)
        self.picks = random.Random(SEED)

    def doubles(self) -> pa.Array:
        return pa.array(self.rng.standard_normal(GROUP_ROWS))

    def gaps(self) -> pa.Array:
        """Doubles, up to half of them null."""
        missing = self.rng.random(GROUP_ROWS) < self.rng.random() / 2
        return pa.array(self.rng.standard_normal(GROUP_ROWS), mask=missing)

    def longs(self) -> pa.Array:
        top = 10 ** self.picks.randint(1, 15)
        return pa.array(self.rng.integers(0, top, GROUP_ROWS))

    def ints(self) -> pa.Array:
        return pa.array(self.rng.integers(0, 1000, GROUP_ROWS, np.int32))

    def values(self) -> pa.Array:
        """Strings of much the same length."""
        return pa.array([f"value_{n}" for n in self.rng.integers(0, 10**9, GROUP_ROWS)])

    def texts(self) -> pa.Array:
        """Strings of up to 30 letters."""
        longest = self.picks.choice((5, 30))
        sizes = [self.picks.randint(0, longest) for _ in range(GROUP_ROWS)]
        return pa.array(["".join(self.picks.choices(_LETTERS, k=n)) for n in sizes])

    def flags(self) -> pa.Array:
        return pa.array(self.rng.random(GROUP_ROWS) < 0.5)

    def instants(self) -> pa.Array:
        values = pa.array(self.rng.integers(0, 1 << 50, GROUP_ROWS))
        return values.cast(pa.timestamp("us", "UTC"))

    def nothing(self) -> pa.Array:
        return pa.nulls(GROUP_ROWS, pa.float64())

    def lists(self) -> pa.Array:
        """Lists of up to three structs."""
        item = {"a": 1.0, "b": "x" * self.picks.randint(1, 9)}
        return pa.array(
            [[item] * self.picks.randint(0, 3) for _ in range(GROUP_ROWS)],
            pa.list_(pa.struct({"a": pa.float64(), "b": pa.string()})),
        )


DOUBLES: tuple[Kind, ...] = (Maker.doubles,)
STRINGS: tuple[Kind, ...] = (Maker.values,)
MIXED: tuple[Kind, ...] = (
    *(Maker.gaps,) * 8,
    *(Maker.longs,) * 3,
    *(Maker.ints,) * 2,
    *(Maker.texts,) * 4,
    Maker.flags,
    Maker.instants,
    Maker.nothing,
)
NESTED: tuple[Kind, ...] = (*(Maker.gaps,) * 3, Maker.lists, Maker.texts)


def even_names(columns: int) -> list[str]:
    """Names of one length."""
    return [name(i) for i in range(columns)]


def odd_names(columns: int) -> list[str]:
    """Different names of 3 to 30 letters."""
    picks, found = random.Random(SEED), set[str]()
    while len(found) < columns:
        letters = string.ascii_lowercase + "_"
        found.add("".join(picks.choices(letters, k=picks.randint(3, 30))))
    return sorted(found)


def wide(
    path: Path, *, names: Sequence[str], groups: int, kinds: Sequence[Kind], codec: str = "snappy"
) -> None:
    """Columns of ``kinds``, picked at random by their share, in row groups of 8 rows."""
    maker = Maker()
    chosen = [maker.picks.choice(kinds) for _ in names]
    table = pa.table([kind(maker) for kind in chosen], names=list(names))
    with pq.ParquetWriter(path, table.schema, compression=codec) as writer:
        for _ in range(groups):
            writer.write_table(table)
            table = pa.table([kind(maker) for kind in chosen], schema=table.schema)


def doubles(ground: Ground, columns: int, groups: int) -> Path:
    """A file of doubles, with names of one length; written where it is not there yet."""
    write = partial(wide, names=even_names(columns), groups=groups, kinds=DOUBLES)
    return ground.file(f"parquet/double-{columns}x{groups}.parquet", write)


# ---- twenty columns, many rows -----------------------------------------------------------------


def narrow(path: Path, *, rows: int) -> None:
    """20 columns of mixed types, in row groups of pyarrow's own size."""
    pq.write_table(_twenty(rows), path)


def indexed(path: Path, *, rows: int) -> None:
    """The same columns in four row groups, with a page index; ``id`` and ``ts`` ascend."""
    pq.write_table(_twenty(rows), path, row_group_size=-(-rows // 4), write_page_index=True)


def _twenty(rows: int) -> pa.Table:
    rng = np.random.default_rng(SEED)
    return pa.table({**_numbers(rng, rows), **_words(rng, rows)})


def _numbers(rng: np.random.Generator, rows: int) -> dict[str, pa.Array]:
    absent = rng.random(rows) < 0.1
    ascending = _START + np.cumsum(rng.integers(1, 2_000_000, rows))
    ends = np.cumsum(rng.integers(0, 4, rows + 1, np.int32), dtype=np.int32)
    cents = pa.array(rng.integers(0, 10**9, rows)).cast(pa.decimal128(21, 2))
    return {
        "id": pa.array(np.arange(rows)),
        "ts": pa.array(ascending).cast(pa.timestamp("us", "UTC")),
        "user": pa.array(rng.integers(0, 1 << 40, rows)),
        "device": pa.array(rng.integers(0, 5000, rows, np.int32)),
        "size": pa.array(rng.integers(0, 1 << 15, rows, np.int16)),
        "level": pa.array(rng.integers(0, 5, rows, np.uint8)),
        "flag": pa.array(rng.random(rows) < 0.3),
        "price": pa.array(rng.random(rows) * 100),
        "score": pa.array(rng.random(rows, np.float32)),
        "ratio": pa.array(rng.standard_normal(rows), mask=absent),
        "count": pa.array(rng.integers(0, 100, rows), mask=absent),
        "day": pa.array(rng.integers(18_000, 20_000, rows, np.int32)).cast(pa.date32()),
        "amount": cents.cast(pa.decimal128(12, 2)),
        "tags": pa.ListArray.from_arrays(ends - ends[0], rng.integers(0, 100, ends[-1] - ends[0])),
    }


def _words(rng: np.random.Generator, rows: int) -> dict[str, pa.Array]:
    mails = pa.array([f"user-{n:08x}@example.org" for n in rng.integers(0, 1 << 32, rows)])
    cities = pa.array([f"city {n:03d}" for n in range(1000)])
    lands = pa.array(["NZ", "DE", "FR", "BR", "IN", "US", "JP", "ZA"])
    picks = pa.array(rng.integers(0, rows, rows), mask=rng.random(rows) < 0.9)
    noise = pa.py_buffer(rng.bytes(8 * rows))
    return {
        "country": lands.take(pa.array(rng.integers(0, 8, rows))),
        "city": cities.take(pa.array(rng.integers(0, 1000, rows))),
        "mail": mails,
        "note": mails.take(picks),
        "key": pa.Array.from_buffers(pa.binary(8), rows, [None, noise]),
        "state": lands.take(pa.array(rng.integers(0, 8, rows))).dictionary_encode(),
    }
