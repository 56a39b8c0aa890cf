"""The sub-columns of a Variant, found by path: O(log n) in V3's index, in memory for V2."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from rangeio.codecs.protobuf import parse
from rangeio.errors import Corrupt
from rangeio.formats.doris.footer import Footer
from rangeio.formats.doris.indexed import Leaf, Leaves, leaf, leaves
from rangeio.formats.doris.messages import MESSAGES
from rangeio.formats.doris.meta import Indexed, indexed
from rangeio.formats.doris.paths import SubColumns, extra, spans
from rangeio.ranges import ByteRange
from rangeio.steps import Steps, needs

_WHY = "doris.variant_keys"


@dataclass(frozen=True, slots=True, eq=False)
class Variants:
    """The Variants of one segment that have sub-columns.

    roots: unique_id to position in the directory. trees: of each whose paths were all read; what is
    put there twice is the same.
    """

    footer: Footer
    roots: Mapping[int, int]
    trees: dict[int, SubColumns] = field(default_factory=dict)

    @classmethod
    def of(cls, footer: Footer) -> Variants:
        """From what the footer says of them."""
        found = {root: footer.directory.find(root) for root in (*footer.keys, *footer.paths)}
        roots = {root: at for root, at in found.items() if root >= 0 and at >= 0}
        if -1 in footer.keys and not roots:  # an older writer: of the only Variant there was
            at = footer.directory.first_without_id() - 1
            if at >= 0:
                roots[int(footer.directory.ids[at])] = at
        return cls(footer, roots, dict(footer.paths))

    def below(self, root: int, paths: Iterable[str]) -> Steps[SubColumns]:
        """The sub-columns at and below each of the paths ("" is the root); none is no error.

        Costs a hop for an index page, where there is more than one page of keys, and one for keys.
        """
        wanted = [path.encode(errors="replace") for path in paths]
        if b"" in wanted or root in self.trees:
            whole = yield from self.whole(root)
            return whole if b"" in wanted else whole.at_or_below(wanted)
        index = self._index(root)
        pages = yield from leaves(index, index.value, self.footer.at.start, _WHY)
        asked = [span for path in wanted for span in spans(path)]
        chosen = {i for low, high in asked for i in pages.between(low, high)}
        found: dict[bytes, int] = {}
        for one in (yield from _read(index, pages, sorted(chosen))):
            for low, high in asked:
                found.update(one.between(low, high))
        return self._placed(root, found)

    def whole(self, root: int) -> Steps[SubColumns]:
        """All sub-columns; read once."""
        if root not in self.trees:
            index = self._index(root)
            pages = yield from leaves(index, index.ordinal, self.footer.at.start, _WHY)
            found: dict[bytes, int] = {}
            for one in (yield from _read(index, pages, range(len(pages.ranges)))):
                found.update(one.between(b"", None))
            if len(found) != index.count:
                at = self.footer.at.start
                raise Corrupt(f"{len(found)} paths in an index of {index.count}", offset=at)
            self.trees[root] = self._placed(root, found)
        return self.trees[root]

    def prefixed(self, root: int, prefix: str) -> Steps[list[str]]:
        """The paths that begin with some text, sorted as bytes."""
        low = prefix.encode(errors="replace")
        high = _after(low)
        if root in self.trees:
            every = (path for path in self.trees[root].paths if path.startswith(low))
            return [path for path in map(_text, every) if not extra(path)]
        index = self._index(root)
        pages = yield from leaves(index, index.value, self.footer.at.start, _WHY)
        chosen = pages.between(low, high) if pages.ranges else range(0)
        read = yield from _read(index, pages, chosen)
        found = (_text(path) for one in read for path, _ in one.between(low, high))
        return [path for path in found if not extra(path)]

    def _index(self, root: int) -> Indexed:
        data = self.footer.keys.get(root, self.footer.keys.get(-1, b""))
        what = f"the index of the paths of column {root}"
        found = indexed(parse(MESSAGES.IndexedColumn, data, what), self.footer.at.start)
        if found is None:
            raise Corrupt(f"{what} is broken", offset=self.footer.at.start)
        if found.count > len(self.footer.directory):
            raise Corrupt(f"{what} has {found.count} of them", offset=self.footer.at.start)
        return found

    def _placed(self, root: int, found: Mapping[bytes, int]) -> SubColumns:
        """Ordinals of keys become positions: they follow the root in the order of their paths."""
        first, directory = self.roots[root] + 1, self.footer.directory
        paths = sorted(found)
        positions = [first + found[path] for path in paths]
        for position in positions:
            if position >= len(directory) or int(directory.ids[position]) >= 0:
                raise Corrupt(f"column {position} is no sub-column of {root}")
        return SubColumns(paths, positions)


def _read(index: Indexed, pages: Leaves, chosen: Iterable[int]) -> Steps[list[Leaf]]:
    """The values of some pages; one hop."""
    ranges: list[ByteRange] = [pages.ranges[i] for i in chosen if i < len(pages.ranges)]
    replies = yield from needs(ranges, _WHY)
    return [leaf(index, data, at) for data, at in zip(replies, ranges, strict=True)]


def _after(prefix: bytes) -> bytes | None:
    """The least text above all that begin with ``prefix``; None where there is none."""
    kept = prefix.rstrip(b"\xff")
    return kept[:-1] + bytes([kept[-1] + 1]) if kept else None


def _text(path: bytes) -> str:
    return path.decode(errors="replace")
