"""Whether a directory lies inside a table: what the folders above it hold.

A table's files lie below it, in folders whose own listing tells nothing of the table.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from typing import NamedTuple

from rangeio.datasets.finding.places import Place
from rangeio.datasets.finding.tabledirs import TELLTALES, TableDir, recognise
from rangeio.errors import Denied, FormatError, NotFound, RequestError, StoreError
from rangeio.stores.store import Lister, Page

MOST = 8
"""Folders above a root that are asked about, where asking is a request."""


class _Folder(NamedTuple):
    """A folder above: its key, with a slash at its end, and the name below it on the way."""

    key: str
    name: str

    @property
    def telltales(self) -> list[str]:
        """The folders that would tell of a table. All that a Lance dataset has is in its data."""
        return [one for one in TELLTALES if one != "_versions" or self.name == "data"]


class Above:
    """What one look-up asks about the folders above its roots: each folder once, all at once.

    Runs on one loop; close it there.
    """

    def __init__(self) -> None:
        self._asked: dict[tuple[str, str, _Folder], asyncio.Task[list[str]]] = {}

    async def table(self, place: Place, lister: Lister, key: str) -> TableDir | None:
        """The table that a place's root lies in, the nearest; key: of the root in its store.

        Costs three or four small listings for each of at most MOST folders, of a web server one
        page each. Where a store does not permit to list a folder, it tells nothing.
        """
        folders = list(_folders(key, place.depth))[:MOST]
        # Shielded: others may ask for the same.
        asked = [asyncio.shield(self._names(place, lister, folder)) for folder in folders]
        for folder, names in zip(folders, await asyncio.gather(*asked), strict=True):
            if (found := _told(folder, names)) is not None:
                return found
        return None

    def _names(self, place: Place, lister: Lister, folder: _Folder) -> asyncio.Task[list[str]]:
        data = folder.name if folder.name == "data" else ""
        known = (place.before, place.after, folder._replace(name=data))
        if known not in self._asked:
            look = _paged if place.web else _held
            self._asked[known] = asyncio.ensure_future(look(lister, folder))
        return self._asked[known]

    async def close(self) -> None:
        """End what is still asked."""
        for task in self._asked.values():
            task.cancel()
        await asyncio.gather(*self._asked.values(), return_exceptions=True)


def _folders(key: str, depth: int) -> Iterator[_Folder]:
    """The folders above a root, the nearest first. depth: of its folders, without the bucket."""
    parts = key.removesuffix("/").split("/")
    for n in range(1, min(depth, len(parts)) + 1):
        rest, name = parts[:-n], parts[-n]
        if name in TELLTALES or not any(parts[-n:]):
            return  # what lies in there is the table's own, and was named as such
        yield _Folder("".join(f"{one}/" for one in rest), name)


def _told(folder: _Folder, names: list[str]) -> TableDir | None:
    # A dataset's "_versions" counts beside its data, which is where the root then lies.
    beside = ["data/"] if folder.name == "data" else []
    tables = recognise([*names, *beside], folder.key)
    return tables[0] if tables and not tables[0].at else None


async def _held(lister: Lister, folder: _Folder) -> list[str]:
    """The telltales that there are, and what is in them."""
    pages = await asyncio.gather(*(_page(lister, f"{folder.key}{t}/") for t in folder.telltales))
    return [name for t, page in zip(folder.telltales, pages, strict=True) for name in _in(t, page)]


async def _paged(lister: Lister, folder: _Folder) -> list[str]:
    """The same of a web server, which may answer whatever it is asked: its page is to name them."""
    page = await _page(lister, folder.key)
    links = {one.removesuffix("/").rpartition("/")[2] for one in page.folders}
    known = [one for one in folder.telltales if one in links]
    pages = await asyncio.gather(*(_page(lister, f"{folder.key}{t}/") for t in known))
    return [name for t, page in zip(known, pages, strict=True) for name in (f"{t}/", *_in(t, page))]


def _in(telltale: str, page: Page) -> list[str]:
    """A folder and the files in it; an object store has no folder in which nothing is."""
    names = [f"{telltale}/{one.key.rpartition('/')[2]}" for one in page.files]
    return [f"{telltale}/", *names] if names or page.folders else []


async def _page(lister: Lister, folder: str) -> Page:
    """The first page of a folder, empty where it may not be listed, or where a store that is no
    object store does not know how."""
    try:
        return await lister.list(folder)
    except (NotFound, Denied, RequestError, FormatError):
        return Page()
    except StoreError:
        if lister.deep:
            raise
        return Page()


# ---- the local disk -----------------------------------------------------------------------------


async def local_table(root: str) -> TableDir | None:
    """The table that a local directory lies in, however deep; a few checks of names."""
    return await asyncio.get_running_loop().run_in_executor(None, _local_table, root)


def _local_table(root: str) -> TableDir | None:
    for folder in _folders(root, len(root)):
        names: list[str] = []
        for one in folder.telltales:
            if os.path.isdir(f"{folder.key}{one}"):
                names += [f"{one}/", *_listed(folder.key, one)]
        if (found := _told(folder, names)) is not None:
            return found
    return None


def _listed(folder: str, telltale: str) -> list[str]:
    try:
        return [f"{telltale}/{one}" for one in os.listdir(f"{folder}{telltale}")]
    except OSError:
        return []
