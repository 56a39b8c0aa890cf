"""The memory range cache: bytes that are here already, by object version and position."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass

from rangeio.engine.lru import SegmentedLRU
from rangeio.engine.spans import Spans
from rangeio.ranges import ByteRange, subtract


@dataclass(frozen=True, slots=True, eq=False)
class _Block:
    version: Hashable
    at: ByteRange
    data: memoryview


class RangeCache:
    """Bytes of object versions, at most ``budget`` of them, last used last dropped.

    Blocks of one version are disjoint. Views that are handed out stay valid after eviction.
    """

    def __init__(self, budget: int) -> None:
        self._lru: SegmentedLRU[int, _Block] = SegmentedLRU(
            budget, lambda b: b.at.size, self._dropped
        )
        self._spans: dict[Hashable, Spans[_Block]] = {}

    @property
    def weight(self) -> int:
        """Bytes held now."""
        return self._lru.weight

    def put(self, version: Hashable, at: ByteRange, data: memoryview) -> None:
        """Keep ``data``, the bytes of ``at``: only the parts that are not held yet.

        A small part of a large buffer is copied, so that it does not pin the rest of it.
        """
        held = [have for have, _ in self.overlapping(version, at)]
        if not held:
            self._keep(_Block(version, at, data))
            return
        for part in subtract(at, held):
            view = data[part.start - at.start : part.stop - at.start]
            if 2 * part.size < at.size:
                view = memoryview(bytes(view))
            self._keep(_Block(version, part, view))

    def find(self, version: Hashable, at: ByteRange, *, used: bool = True) -> memoryview | None:
        """The bytes of ``at`` where one block holds all of them; ``used``: a use that counts."""
        spans = self._spans.get(version)
        entry = spans.covering(at) if spans is not None else None
        if entry is None:
            return None
        have, block = entry
        if used:
            self._lru.get(id(block))
        return block.data[at.start - have.start : at.stop - have.start]

    def overlapping(self, version: Hashable, at: ByteRange) -> list[tuple[ByteRange, memoryview]]:
        """What is held of ``at``, in order, as whole blocks."""
        spans = self._spans.get(version)
        if spans is None:
            return []
        return [(have, block.data) for have, block in spans.overlapping(at)]

    def secure(self, version: Hashable, wants: Iterable[ByteRange]) -> None:
        """Count a use of all blocks that hold bytes of ``wants``."""
        for block in self._of(version, wants):
            self._lru.get(id(block))

    def forgo(self, version: Hashable, wants: Iterable[ByteRange]) -> None:
        """Drop those of them that newcomers would evict before others."""
        for block in self._of(version, wants):
            if not self._lru.lasting(id(block)):
                self._lru.drop(id(block))

    def clear(self) -> None:
        """Drop everything."""
        self._lru.clear()
        self._spans.clear()

    def _of(self, version: Hashable, wants: Iterable[ByteRange]) -> list[_Block]:
        spans = self._spans.get(version)
        if spans is None:
            return []
        return [block for at in wants for _, block in spans.overlapping(at)]

    def _keep(self, block: _Block) -> None:
        self._spans.setdefault(block.version, Spans()).put(block.at, block)
        if not self._lru.put(id(block), block):
            self._dropped(id(block), block)

    def _dropped(self, _: int, block: _Block) -> None:
        spans = self._spans.get(block.version)
        if spans is not None:
            spans.remove(block.at, block)
            if not len(spans):
                del self._spans[block.version]
