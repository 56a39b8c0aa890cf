"""Tables of many files, read at once and handed on in the order of the files."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Iterator
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import pyarrow as pa

from rangeio.engine.core import Engine

Tables: TypeAlias = AsyncGenerator[pa.Table, None]
Claim: TypeAlias = Callable[[int], Awaitable[None]]
"""Waits until a file may hold so many bytes while it is read; the oldest file need never wait."""
Read: TypeAlias = Callable[[int, Claim], Tables]
"""Makes the tables of one file, whose number it is given. It claims what it will hold before it
begins."""


@dataclass(frozen=True, slots=True)
class Reach:
    """How far ahead of what is handed on files are read.

    files: at once, at most. first: at first; it doubles with every file that is done. bytes: of
    files that are being read, and of tables that wait for their turn. ordered: whether tables keep
    the order of the files.
    """

    files: int
    first: int
    bytes: int
    ordered: bool = True


class Window:
    """Use :meth:`tables` once; closing it ends everything it started."""

    def __init__(self, engine: Engine, read: Read, files: Iterable[int], reach: Reach) -> None:
        self._engine = engine
        self._read = read
        self._files: Iterator[int] = iter(files)
        self._reach = reach
        self._most = reach.first
        self._turns: deque[_Turn] = deque()
        self._held = 0  # bytes that files claim, and of tables that nobody took yet
        self._moved = asyncio.Condition()

    async def tables(self) -> Tables:
        """All tables; an error is raised in the place of the table that it came for."""
        try:
            while self._started():
                turn = await self._next()
                if turn is None:
                    continue
                table = turn.tables.popleft()
                self._held -= table.nbytes
                yield table
                del table
                await self._tell()
        finally:
            await self._end()

    def _started(self) -> bool:
        """Start files up to the limits; whether any is under way."""
        while len(self._turns) < self._most and (not self._turns or self._held < self._reach.bytes):
            index = next(self._files, None)
            if index is None:
                break
            turn = _Turn()
            self._turns.append(turn)
            turn.task = self._engine.spawn(self._run(index, turn))
        return bool(self._turns)

    async def _next(self) -> _Turn | None:
        """A file with a table to hand on; None where one has ended, and another may be begun."""
        async with self._moved:
            while True:
                near = self._turns if not self._reach.ordered else [self._turns[0]]
                for turn in near:
                    if turn.tables:
                        return turn
                    if turn.ended:
                        self._turns.remove(turn)
                        self._most = min(self._most * 2, self._reach.files)
                        if turn.error is not None:
                            raise turn.error
                        return None
                self._moved.notify_all()  # another is the oldest now: it may go on
                await self._moved.wait()

    async def _run(self, index: int, turn: _Turn) -> None:
        """Read one file; it waits where too much is read ahead, unless it is the oldest."""
        try:
            async with aclosing(self._read(index, partial(self._claim, turn))) as tables:
                async for table in tables:
                    turn.tables.append(table)
                    self._held += table.nbytes
                    del table
                    async with self._moved:
                        self._moved.notify_all()
                        while self._waits(turn):
                            await self._moved.wait()
        except BaseException as error:
            turn.error = error
            if not isinstance(error, Exception):
                raise
        finally:
            turn.ended = True
            self._held -= turn.claimed
            await self._tell()

    async def _claim(self, turn: _Turn, size: int) -> None:
        async with self._moved:
            while self._held + size > self._reach.bytes and not self._oldest(turn):
                await self._moved.wait()
            turn.claimed = size
            self._held += size

    def _waits(self, turn: _Turn) -> bool:
        return self._held >= self._reach.bytes and not (self._oldest(turn) and not turn.tables)

    def _oldest(self, turn: _Turn) -> bool:
        return bool(self._turns) and turn is self._turns[0]

    async def _tell(self) -> None:
        async with self._moved:
            self._moved.notify_all()

    async def _end(self) -> None:
        tasks = [turn.task for turn in self._turns if turn.task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._turns.clear()


class _Turn:
    """One file under way."""

    def __init__(self) -> None:
        self.tables: deque[pa.Table] = deque()
        self.task: asyncio.Task[None] | None = None
        self.claimed = 0
        self.ended = False
        self.error: BaseException | None = None
