"""PREFIX values of any size: each without what it shares with the one before.

After them come their number, how many share in a row, where each row begins, and the rows' number.
"""

from __future__ import annotations

from rangeio.codecs import prefixed
from rangeio.errors import Corrupt, Truncated
from rangeio.formats.doris.encodings.values import Binary, as_bytes

INTERVAL = 16
_WORD = 4


def decoded(body: memoryview, count: int) -> Binary:
    """``count`` values in buffers of their own."""
    if len(body) < _WORD:
        raise Truncated(f"prefixed values in {len(body)} bytes")
    rows = int.from_bytes(body[-_WORD:], "little")
    end = len(body) - _WORD * (rows + 2) - 1
    if end < 0:
        raise Corrupt(f"{rows} rows of prefixed values in {len(body)} bytes")
    found, interval = int.from_bytes(body[end : end + _WORD], "little"), body[end + _WORD]
    if found != count or not interval or rows != -(-count // interval):
        raise Corrupt(f"{found} prefixed values in {rows} rows of {interval}, not {count}")
    return Binary(*prefixed.decode(as_bytes(body[:end]), count, interval))


def encoded(values: Binary) -> bytes:
    """The values and where every sixteenth begins."""
    data, whole = prefixed.encode(values.offsets, values.data, INTERVAL)
    count, rows = len(values).to_bytes(_WORD, "little"), len(whole).to_bytes(_WORD, "little")
    return b"".join((data, count, bytes((INTERVAL,)), whole.astype("<u4").tobytes(), rows))
