"""A stream of batches, cut into the streams of several files. Pure."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa


class Cut:
    """Hands a stream on in runs of at most ``most`` rows; None: in one. Nothing is held but the
    batch that is being cut."""

    def __init__(self, batches: Iterator[pa.RecordBatch], most: int | None) -> None:
        self._batches = batches
        self._most = most
        self._left: pa.RecordBatch | None = None

    def more(self) -> bool:
        """Whether there are rows that were not handed on."""
        if self._left is None:
            self._left = next(self._batches, None)
        return self._left is not None

    def next(self) -> Iterator[pa.RecordBatch]:
        """The next run; to be used up before the one after it."""
        room = self._most
        while self.more() and (room is None or room > 0):
            assert self._left is not None
            batch, self._left = self._left, None
            if room is not None and batch.num_rows > room:
                batch, self._left = batch.slice(0, room), batch.slice(room)
            if room is not None:
                room -= batch.num_rows
            yield batch
