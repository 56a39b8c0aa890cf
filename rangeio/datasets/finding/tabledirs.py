"""Directories that are tables: which of their files count is told elsewhere than by their names.

Read file by file, they would return rows that were deleted or replaced. They are recognised by
the names of a listing alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import Enum

from rangeio.datasets.finding.globs import hidden
from rangeio.errors import RequestError

TELLTALES = ("_delta_log", ".hoodie", "_versions", "metadata")
"""Folders right below a table's directory that, with what is in them, tell what it is."""


class Kind(Enum):
    """Kinds of tables; the value is how people call one."""

    DELTA = "a Delta table"
    ICEBERG = "an Iceberg table"
    HUDI = "a Hudi table"
    LANCE = "a Lance dataset"
    DORIS = "a tablet of Doris"


_ADVICE = {
    Kind.DELTA: "its files hold rows that were deleted or replaced; read its current files: "
    "rangeio.dataset(deltalake.DeltaTable(url).file_uris())",
    Kind.ICEBERG: "its files hold rows that were deleted or replaced; read its current files, "
    "where none has deletes: rangeio.dataset([task.file.file_path for task in "
    "catalog.load_table(name).scan().plan_files()])",
    Kind.HUDI: "its files hold rows that were deleted or replaced; read its current files: "
    "rangeio.dataset([...]), of the newest slice of each file group",
    Kind.LANCE: "this is a directory inside it; name the dataset itself, of which the current "
    "version is read",
    Kind.DORIS: "a delete bitmap marks rows of its segments as replaced; export the table, or read "
    "single segments by name: rangeio.open(url)",
}

_ICEBERG = re.compile(
    r"(?:v\d+|\d+-[0-9a-fA-F-]{32,36})(?:\.gz)?\.metadata\.json(?:\.gz)?|version-hint\.text"
    r"|snap-\d+-\d+-[0-9a-fA-F-]{32,36}\.avro|[0-9a-fA-F-]{32,36}-m\d+\.avro"
)
_HUDI = ".hoodie_partition_metadata"  # in each folder of a Hudi table that holds files
# Rowsets keep their delete bitmap in the backend's own database, or in the meta service, where no
# listing shows it. Only these are told by names: the bitmap of a rowset on a storage vault, and
# the header of a snapshot's tablet beside segments that are named after their rowset.
_BITMAP = re.compile(r"[0-9a-f]{16,}_delete_bitmap\.db")
_HEADER = re.compile(r"\d+\.hdr")
_SEGMENT = re.compile(r"[0-9a-f]{16,}_\d+\.dat")


@dataclass(frozen=True, slots=True)
class TableDir:
    """A table's directory. at: below the listed root, "" or with a slash at its end."""

    kind: Kind
    at: str

    def refusal(self, url: str) -> RequestError:
        """The error that says what was found at ``url`` (redacted), and what to do instead."""
        return RequestError(f"this is {self.kind.value}: {_ADVICE[self.kind]}", url=url)


@dataclass(frozen=True, slots=True)
class LanceDataset:
    """A Lance dataset, whose manifest tells the files of its current version.

    url: its root, with a slash at its end; opens it, so it may hold secrets. path: below what was
    listed, "" where it is that.
    """

    url: str = field(repr=False)
    path: str = ""


class Tables:
    """The tables that names tell of, as the names come.

    root: the name of what is listed.
    """

    __slots__ = ("_found", "_hints")

    def __init__(self, root: str = "") -> None:
        self._found: dict[str, Kind] = {}
        self._hints: dict[str, set[str]] = {}
        if root.rstrip("/").endswith(".lance"):
            self._hints[""] = {".lance"}

    def see(self, names: Iterable[str]) -> None:
        """Look at paths of files and, with a slash at their end, of folders."""
        for name in names:
            for kind, at in _told(name, self._hints):
                self._found.setdefault(at, kind)

    def found(self) -> list[TableDir]:
        """The outermost tables so far. Those in hidden folders do not count: they are not read."""
        found = dict(self._found)
        for at, seen in self._hints.items():
            if kind := _joined(seen):
                found.setdefault(at, kind)
        tables: list[TableDir] = []
        for at in sorted(found):
            inside = any(at.startswith(one.at) for one in tables)
            if not inside and not any(hidden(part) for part in at.split("/")):
                tables.append(TableDir(found[at], at))
        return tables


def recognise(names: Iterable[str], root: str = "") -> list[TableDir]:
    """The tables among some names; see :class:`Tables`."""
    tables = Tables(root)
    tables.see(names)
    return tables.found()


def _told(name: str, hints: dict[str, set[str]]) -> Iterator[tuple[Kind, str]]:
    """What one name tells for certain; what it tells along with others goes into ``hints``."""
    *folders, file = name.split("/")
    at = ""
    for folder in folders:
        if folder == "_delta_log":
            yield Kind.DELTA, at
        elif folder == ".hoodie":
            yield Kind.HUDI, at
        elif folder in ("_versions", "_transactions", "data"):
            hints.setdefault(at, set()).add(folder)
        above, at = at, f"{at}{folder}/"
        if folder.endswith(".lance"):
            hints.setdefault(at, set()).add(".lance")
    if file:
        yield from _told_by_file(file, folders[-1] if folders else "", at, hints)
        if folders and at and file.endswith(".metadata.json") and folders[-1] == "metadata":
            hints.setdefault(above, set()).add("metadata")


def _told_by_file(
    file: str, folder: str, at: str, hints: dict[str, set[str]]
) -> Iterator[tuple[Kind, str]]:
    above = at[: len(at) - len(folder) - 1] if folder else ""
    if file == "_latest.manifest" or (folder == "_versions" and file.endswith(".manifest")):
        yield Kind.LANCE, at if file == "_latest.manifest" else above
    elif file == _HUDI:
        yield Kind.HUDI, at
    elif folder == "metadata" and _ICEBERG.fullmatch(file):
        yield Kind.ICEBERG, above
    elif _BITMAP.fullmatch(file):
        yield Kind.DORIS, at
    elif _HEADER.fullmatch(file) or _SEGMENT.fullmatch(file):
        hints.setdefault(at, set()).add(file[-4:])


def _joined(seen: set[str]) -> Kind | None:
    # One of no rows has no data.
    for sign in ("_versions", ".lance"):
        if sign in seen and seen & {"data", "_transactions", "_versions"} - {sign}:
            return Kind.LANCE
    if {"data", "metadata"} <= seen:
        return Kind.ICEBERG
    return Kind.DORIS if {".hdr", ".dat"} <= seen else None
