"""What a walk sees below one root, and what of it is meant. No I/O."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from rangeio.datasets.finding.globs import ANYTHING, Glob
from rangeio.datasets.finding.places import Place
from rangeio.datasets.finding.tabledirs import Kind, LanceDataset, Tables
from rangeio.errors import NotFound
from rangeio.stores.store import Listed, Page


@dataclass(frozen=True, slots=True)
class Found:
    """A file. url: opens it, as the user wrote it, so it may hold secrets. path: below its root,
    for partitions. size: -1, tag: "", and modified (seconds since 1970): None, where they are not
    known."""

    url: str = field(repr=False)
    path: str
    size: int = -1
    tag: str = ""
    modified: float | None = None


class Tree:
    """The files and Lance datasets of one directory or glob.

    key: of the root in its store. seen: names that were listed.
    """

    def __init__(self, place: Place, key: str) -> None:
        self._place = place
        self._glob: Glob = place.glob or ANYTHING
        self.key = key
        self._start = len(key.lstrip("/"))
        self._found: list[Found] = []
        self.seen = 0
        self._tables = Tables(place.root)
        self._lance: set[str] = set()

    def enters(self, folder: str) -> bool:
        """Whether a folder's pages are wanted: those that can match, but no Lance dataset's."""
        path = self._path(folder)
        if any(path.startswith(at) for at in self._lance):
            return False
        parts = path.rstrip("/").split("/")
        if self._glob.enters(parts):
            return True
        # What is in it tells whether it is a dataset, or belongs to an Iceberg table.
        dataset = parts[-1].endswith(".lance") and self._glob.matches(parts)
        return dataset or parts[-1] == "metadata"

    def take(self, page: Page) -> int:
        """Keep what counts of a page; how many files. Raises for a table at the root at once."""
        names = [self._path(one.key) for one in page.files]
        folders = [self._path(one) for one in page.folders]
        kept = [
            self._file(path, one)
            for path, one in zip(names, page.files, strict=True)
            if one.size != 0 and self._glob.matches(path.split("/"))
        ]
        self.seen += len(names) + len(folders)
        self._tables.see(names)
        self._tables.see(folders)
        for table in self._tables.found():
            if table.kind is Kind.LANCE:
                self._lance.add(table.at)
            elif not table.at:
                raise table.refusal(self._place.shown)
        self._found += kept
        return len(kept)

    def entries(self) -> list[Found | LanceDataset]:
        """The files and Lance datasets, in the order of their paths."""
        tables = self._tables.found()
        out: dict[str, Found | LanceDataset] = {}
        for one in self._found:
            table = next((t for t in tables if one.path.startswith(t.at)), None)
            if table is None:
                out[one.path] = one
            elif table.kind is not Kind.LANCE:
                raise table.refusal(f"{self._place.shown_root}{table.at}")
        for table in tables:
            if table.kind is Kind.LANCE and self._means(table.at):
                url = self._place.url(self._place.escaped(table.at))
                out[table.at] = LanceDataset(url, table.at)
        if not out:
            raise self._nothing()
        ordered = [out[path] for path in sorted(out)]
        return [self._placed(one) for one in ordered] if self._place.keys else ordered

    def _means(self, at: str) -> bool:
        """Whether a Lance dataset is meant: itself, or what lies in it."""
        parts = at.rstrip("/").split("/") if at else []
        inside = any(one.path.startswith(at) for one in self._found)
        return not parts or inside or self._glob.matches(parts)

    def _path(self, key: str) -> str:
        return self._place.decoded(key.lstrip("/")[self._start :])

    def _file(self, path: str, one: Listed) -> Found:
        url = one.key if self._place.absolute else self._place.url(path)
        return Found(url, path, one.size, one.tag, one.modified)

    def _placed(self, one: Found | LanceDataset) -> Found | LanceDataset:
        """With the partitions that the glob itself names."""
        return replace(one, path=f"{self._place.keys}{one.path}")

    def _nothing(self) -> NotFound:
        shown, count = self._place.shown, self.seen
        if self._place.glob is not None:
            return NotFound(f"no file matches; {count} names were seen", url=shown)
        if not count:
            return NotFound("no such file or directory, or nothing is in it", url=shown)
        words = "no file to read: every name begins with _ or ., or the file is empty"
        return NotFound(words, url=shown)
