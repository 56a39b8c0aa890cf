"""The dictionary of a column that is written: words in the order in which they came."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from rangeio.formats.doris.encodings import Binary
from rangeio.formats.doris.words import Encoding
from rangeio.formats.doris.writing.dense import binary_of
from rangeio.formats.doris.writing.filling import BySize, rule_of, varint_size

Codes = npt.NDArray[np.int32]


class Dictionary:
    """Words and their codes, until an estimate of the page of words exceeds its size.

    full: whether it did; the values that follow get no codes.
    """

    def __init__(self, encoding: Encoding, page_size: int) -> None:
        rule = rule_of(encoding, 0, page_size)
        assert isinstance(rule, BySize)
        self._rule = rule
        self._size = rule.begin
        self._codes: dict[bytes, int] = {}
        self._words: list[bytes] = []
        self.full = False

    def codes(self, values: Binary) -> Codes:
        """The codes of the values up to the one whose word fills the dictionary, that included."""
        if self.full or not len(values):
            return np.empty(0, np.int32)
        found = as_arrow(values).dictionary_encode()
        local = found.indices.to_numpy()
        words = found.dictionary.to_pylist()
        mine = np.empty(len(words), np.int32)
        for k, word in enumerate(words):
            mine[k] = self._code(word)
            if self.full:
                # Local codes count words in the order in which they first come.
                local = local[: int(np.argmax(local == k)) + 1]
                break
        codes: Codes = mine[local]
        return codes

    def words(self) -> Binary:
        """All words, by code."""
        return binary_of(self._words)

    def used(self, codes: Codes) -> Binary:
        """The words of these codes, each once."""
        return binary_of(self._words[code] for code in np.unique(codes).tolist())

    def _code(self, word: bytes) -> int:
        known = self._codes.get(word)
        if known is not None:
            return known
        code = self._codes[word] = len(self._words)
        self._words.append(word)
        self._size += len(word) + (varint_size(len(word)) if self._rule.counted else 4)
        self.full = self._size > self._rule.page_size
        return code


def as_arrow(values: Binary) -> pa.Array:
    """The values as an Arrow array, without a copy."""
    offsets = np.ascontiguousarray(values.offsets, np.int64)
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(np.ascontiguousarray(values.data))]
    return pa.Array.from_buffers(pa.large_binary(), len(values), buffers)
