"""The values of a variant's paths, held until all rows are known: only then are their types."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from rangeio.codecs.bounds import Offsets
from rangeio.errors import RequestError
from rangeio.formats.doris.writing.jsontext import array_of, as_is, common, kind_of, paths

LOOSE = 1 << 18
"""Values that are held as objects before they become arrays."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some values of a path. values: of their kind, or, where that changes one, each as JSON: other
    values may yet make text of all, which must not depend on where chunks end."""

    kind: str
    values: pa.Array
    as_json: bool

    @classmethod
    def of(cls, values: Sequence[Any]) -> Chunk:
        """The chunk of these values."""
        kind = common(map(kind_of, values))
        if all(as_is(one, kind) for one in values):
            return cls(kind, array_of(values, kind), as_json=False)
        texts = [json.dumps(one, ensure_ascii=False) for one in values]
        return cls(kind, pa.array(texts, pa.string()), as_json=True)

    def fitted(self, kind: str) -> pa.Array:
        """The values as those of a kind that holds them."""
        if self.as_json:
            return array_of([json.loads(one) for one in self.values.to_pylist()], kind)
        return self.values if kind == self.kind else array_of(self.values.to_pylist(), kind)


class Path:
    """The values of one path, as arrays of the kinds that came, and their rows."""

    def __init__(self) -> None:
        self.count = 0
        self._rows: list[Offsets] = []
        self._chunks: list[Chunk] = []
        self._loose_rows: list[int] = []
        self._loose: list[Any] = []

    def add(self, row: int, value: Any) -> None:
        """The value of a row; rows ascend."""
        self.count += 1
        self._loose_rows.append(row)
        self._loose.append(value)

    def pack(self) -> None:
        """Make an array of what is held as objects."""
        if self._loose:
            self._chunks.append(Chunk.of(self._loose))
            self._rows.append(np.array(self._loose_rows, np.int64))
            self._loose, self._loose_rows = [], []

    def kind(self) -> str:
        """The kind of all values."""
        self.pack()
        return common([one.kind for one in self._chunks])

    def values(self) -> tuple[Offsets, pa.Array]:
        """The rows that have a value, and all values as one array; they are let go."""
        kind = self.kind()
        chunks = [one.fitted(kind) for one in self._chunks]
        rows = np.concatenate(self._rows)
        self._chunks, self._rows = [], []
        return rows, pa.concat_arrays(chunks)


class Collected:
    """All paths of one variant."""

    def __init__(self) -> None:
        self.paths: dict[str, Path] = {}
        self._loose = 0

    def add(self, row: int, value: Mapping[str, Any]) -> None:
        """The object of a row. RequestError where two of its values have one path."""
        seen: set[str] = set()
        for path, one in paths(value):
            if not path:
                raise RequestError("a key of an object is empty, and has no path")
            if path in seen:
                raise RequestError(f"two values of one object have the path {path!r}")
            seen.add(path)
            found = self.paths.get(path)
            if found is None:
                found = self.paths[_encoded(path)] = Path()
            found.add(row, one)
        self._loose += len(seen)
        if self._loose >= LOOSE:
            self._loose = 0
            for each in self.paths.values():
                each.pack()


def _encoded(path: str) -> str:
    """The path; RequestError where it is no text that can be encoded, as halves of surrogates."""
    try:
        path.encode()
    except UnicodeEncodeError:
        raise RequestError(f"a path of JSON cannot be kept, it is no text: {path!r}") from None
    return path
