"""A segmented LRU by bytes: one pass over many things does not evict what is used again."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from typing import Generic, TypeVar

from cachetools import LRUCache

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

_PROTECTED = 0.8  # the share of the budget for what was asked for twice, as caches of the trade do


class SegmentedLRU(Generic[K, V]):
    """Keeps at most ``budget`` bytes by ``weigh``: newcomers on probation, the rest protected.

    A value that weighs more than the budget's probation is not kept. ``dropped`` is told of every
    value that leaves. Not safe across threads: it lives on one loop.
    """

    def __init__(
        self,
        budget: int,
        weigh: Callable[[V], int],
        dropped: Callable[[K, V], None] | None = None,
    ) -> None:
        self.budget = budget
        self._weigh = weigh
        self._dropped = dropped
        self._new: _Segment[K, V] = _Segment(budget, weigh, self._left)
        self._hot: _Segment[K, V] = _Segment(int(budget * _PROTECTED), weigh, self._cooled)

    @property
    def weight(self) -> int:
        """Bytes held now."""
        return int(self._new.currsize + self._hot.currsize)

    def __len__(self) -> int:
        return len(self._new) + len(self._hot)

    def __iter__(self) -> Iterator[K]:
        yield from self._new
        yield from self._hot

    def __contains__(self, key: K) -> bool:
        return key in self._new or key in self._hot

    def get(self, key: K) -> V | None:
        """The value, moved to the protected side; None where there is none."""
        if key in self._hot:
            return self._hot[key]
        if key not in self._new:
            return None
        value: V = self._new[key]
        if self._weigh(value) <= self._hot.maxsize:
            self._new.take(key)
            self._hot[key] = value
            self._make_room()
        return value

    def lasting(self, key: K) -> bool:
        """Whether it is on the protected side: no newcomer that is used once evicts it."""
        return key in self._hot

    def put(self, key: K, value: V) -> bool:
        """Keep a value; whether it was kept."""
        if key in self:
            self.drop(key)
        if self._weigh(value) > self.budget:
            return False
        self._new[key] = value
        if self.weight > self.budget:
            self._make_room()
        return key in self

    def drop(self, key: K) -> None:
        """Forget a value."""
        for segment in (self._new, self._hot):
            if key in segment:
                value = segment.take(key)
                self._left(key, value)

    def clear(self) -> None:
        """Forget all."""
        for key in list(self):
            self.drop(key)

    def _make_room(self) -> None:
        while self.weight > self.budget and len(self._new):
            self._new.popitem()
        while self.weight > self.budget and len(self._hot):
            key, value = LRUCache.popitem(self._hot)
            self._left(key, value)

    def _cooled(self, key: K, value: V) -> None:
        """What leaves the protected side goes back on probation."""
        self._new[key] = value

    def _left(self, key: K, value: V) -> None:
        if self._dropped is not None:
            self._dropped(key, value)


class _Segment(LRUCache[K, V]):
    """A cachetools LRU that says what it evicts."""

    def __init__(
        self, size: int, weigh: Callable[[V], int], evicted: Callable[[K, V], None]
    ) -> None:
        super().__init__(size, getsizeof=weigh)
        self._evicted = evicted

    def popitem(self) -> tuple[K, V]:
        """Evict the least recently used, and say so."""
        key, value = super().popitem()
        self._evicted(key, value)
        return key, value

    def take(self, key: K) -> V:
        """Remove without counting as an eviction."""
        value: V = super().pop(key)
        return value
