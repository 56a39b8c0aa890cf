"""The rows of a task divided by partition columns, into folders named as Hive names them."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import IO, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyspark.sql.types as st

from rangeio.datasets.finding.globs import hidden
from rangeio.datasets.finding.partitions import NULL
from rangeio.errors import RequestError
from rangeio.spark.conforming import places

_SPECIAL = frozenset("\"#%'*/:=?\\\x7f{[]^" + "".join(map(chr, range(1, 32))))
"""What Hive writes in hexadecimal in the names of folders."""

_KINDS = (st.IntegralType, st.StringType, st.BooleanType, st.DateType, st.DecimalType)


@dataclass(frozen=True, slots=True)
class Keys:
    """The partition columns, by their places in the rows of a DataFrame."""

    names: tuple[str, ...]
    at: tuple[int, ...]

    @classmethod
    def of(cls, asked: Sequence[str], schema: st.StructType) -> Self:
        """Those that were asked for. Raises RequestError for one that is not there, or twice, or
        whose values name no folders, and where no column is left for the files."""
        at = places(asked, schema.names)
        for name, place in zip(asked, at, strict=True):
            if place is None:
                raise RequestError(f"partitionBy: no column is called {name!r}")
            if hidden(name):
                raise RequestError(f"partitionBy: readers pass over folders that begin as {name!r}")
            kind = schema.fields[place].dataType
            if not isinstance(kind, _KINDS):
                raise RequestError(
                    f"partitionBy: {name!r} is {kind.simpleString()}, whose values name no "
                    "folders: cast it to a string or a date"
                )
        known = tuple(place for place in at if place is not None)
        if len(set(known)) < len(known):
            raise RequestError("partitionBy: a column is named twice")
        if known and len(known) == len(schema.fields):
            raise RequestError("partitionBy: no column is left for the files")
        return cls(tuple(schema.names[place] for place in known), known)

    def left(self, schema: st.StructType) -> st.StructType:
        """The columns that the files hold."""
        return st.StructType([f for i, f in enumerate(schema.fields) if i not in self.at])

    def parts(self, batch: pa.RecordBatch) -> Iterator[tuple[str, pa.RecordBatch]]:
        """The rows of each folder, without the columns that its name tells."""
        rest = [i for i in range(batch.num_columns) if i not in self.at]
        codes, texts = _coded([batch.column(place) for place in self.at])
        order = np.argsort(codes, kind="stable")
        firsts = np.flatnonzero(np.diff(codes[order], prepend=-1))
        for start, stop in zip(firsts, [*firsts[1:], len(order)], strict=True):
            rows = order[start:stop]
            values = (column[int(rows[0])].as_py() for column in texts)
            yield self.folder(values), batch.select(rest).take(pa.array(rows))

    def folder(self, texts: Iterator[str | None] | Sequence[str | None] = ()) -> str:
        """Where rows of these values lie; of none given: of nulls."""
        values = list(texts) or [None] * len(self.names)
        pairs = zip(self.names, values, strict=True)
        return "/".join(f"{_quoted(name)}={_quoted(text or NULL)}" for name, text in pairs)


class Spilled:
    """Rows on the local disk, told apart by a word, until they are asked for; in one file without
    a name, which is gone with the process, however that ends."""

    def __init__(self, schema: pa.Schema) -> None:
        self._schema = schema
        self._file: IO[bytes] = tempfile.TemporaryFile(prefix="rangeio-")  # noqa: SIM115 - see __exit__
        self._at: dict[str, list[int]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def add(self, word: str, batch: pa.RecordBatch) -> None:
        """Put some rows by."""
        self._at.setdefault(word, []).append(self._file.tell())
        self._file.write(batch.serialize())

    def each(self) -> Iterator[tuple[str, Iterator[pa.RecordBatch]]]:
        """All rows by their words, in the order in which they came."""
        for word in sorted(self._at):
            yield word, self._rows(word)

    def _rows(self, word: str) -> Iterator[pa.RecordBatch]:
        for place in self._at[word]:
            self._file.seek(place)
            yield pa.ipc.read_record_batch(pa.ipc.read_message(self._file), self._schema)


def _coded(columns: Sequence[pa.Array]) -> tuple[np.ndarray, list[pa.Array]]:
    """A number for each row, equal where all values are; and the values as texts."""
    codes: np.ndarray = np.zeros(len(columns[0]), np.int64)
    texts = []
    for column in columns:
        text = pc.cast(column, pa.string())
        found = text.dictionary_encode(null_encoding="encode")
        codes = codes * len(found.dictionary) + found.indices.to_numpy(zero_copy_only=False)
        _, codes = np.unique(codes, return_inverse=True)
        texts.append(text)
    return codes, texts


def _quoted(text: str) -> str:
    return "".join(f"%{ord(one):02X}" if one in _SPECIAL else one for one in text)
