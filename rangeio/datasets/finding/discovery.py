"""From what a user names to the files of a dataset, over any store.

What may be named: a file, a directory, a glob, or a list of these. Names below a root that begin
with ``_`` or ``.`` are passed over, unless the glob or the user names them, and so are empty files
that nobody named.
"""

from __future__ import annotations

import asyncio
import os
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from rangeio.datasets.finding.above import Above, local_table
from rangeio.datasets.finding.manifest import DataFile, Manifest
from rangeio.datasets.finding.partitions import NO_TYPES, Partitioning, Types, partitions
from rangeio.datasets.finding.patience import Patient
from rangeio.datasets.finding.places import Place, place_of
from rangeio.datasets.finding.tabledirs import LanceDataset
from rangeio.datasets.finding.tree import Found, Tree
from rangeio.errors import NotFound, RequestError
from rangeio.session import Session
from rangeio.stores.address import Options
from rangeio.stores.listing import IN_FLIGHT, lister_of, walk
from rangeio.stores.listlocal import LocalLister, look
from rangeio.stores.store import Listed, Lister
from rangeio.transport.budget import RetryBudget

Named: TypeAlias = "str | os.PathLike[str]"
Progress: TypeAlias = Callable[[int], object]
"""Called on the session's loop with the number of files found so far."""

_PROBE = "k"  # an object's name: only objects have addresses


@dataclass(frozen=True, slots=True)
class Discovered:
    """What was found, in order. root: what was named, redacted, for people."""

    entries: tuple[Found | LanceDataset, ...]
    root: str

    @property
    def files(self) -> tuple[Found, ...]:
        """The files, without Lance datasets."""
        return tuple(one for one in self.entries if isinstance(one, Found))

    @property
    def lance(self) -> tuple[LanceDataset, ...]:
        """The Lance datasets, whose files only their manifests tell."""
        return tuple(one for one in self.entries if isinstance(one, LanceDataset))


def manifest(
    found: Discovered, partitioning: Partitioning = "hive", types: Types = NO_TYPES
) -> Manifest:
    """The files with their partition values; rows are not known. As :func:`partitions`, and raises
    what that does.

    RequestError where there are Lance datasets too: resolve these first.
    """
    if found.lance:
        raise RequestError("a Lance dataset's files are told by its own manifest", url=found.root)
    held = partitions([one.path for one in found.files], partitioning, types)
    files = (
        DataFile(one.url, one.size, one.tag, partition=values, modified=one.modified)
        for one, values in zip(found.files, held.values, strict=True)
    )
    return Manifest(tuple(files), held.schema, found.root)


async def discover(
    session: Session,
    target: Named | Sequence[Named],
    *,
    storage_options: Options | None = None,
    filesystem: Any = None,
    progress: Progress | None = None,
    in_flight: int = IN_FLIGHT,
) -> Discovered:
    """The files that ``target`` names. Runs on the session's loop: ``session.run(discover(...))``.

    A directory's and a glob's files come in the order of their paths, as listings sort them; a
    list keeps its own order, and a file that it names twice is there twice. A file of the local
    disk that exists is meant literally, whatever characters its name has. In a list, a name with
    an extension is believed to be a file: of a url nothing is asked, and one that is not there is
    told when it is opened. A directory or glob inside a table is refused, on every store that
    lists; files that are named one by one are read.

    Partitions are read from what lies below a directory. Where a glob, or files that are named one
    by one, have ``key=value`` folders of their own, these count as well.

    Raises NotFound where nothing is found, RequestError for the directory of a table (a Lance
    dataset is an entry), and what the store raises.
    """
    one = isinstance(target, str | os.PathLike)
    named = [target] if one else target
    if not isinstance(named, Iterable) or isinstance(named, bytes | bytearray | memoryview):
        raise RequestError(f"a dataset is a url, a path or a list of them, not {_kind(target)}")
    texts = list(_texts(named))
    if not texts:
        raise RequestError("the list of files is empty")
    loop = asyncio.get_running_loop()
    # In a thread: the disk is asked what is there.
    places = await loop.run_in_executor(None, lambda: [place_of(t, filesystem) for t in texts])
    work = _Discovery(session, storage_options, filesystem, progress, in_flight, alone=one)
    return await work.run(places)


def _texts(named: Iterable[object]) -> Iterator[str]:
    for name in named:
        if not isinstance(name, str | os.PathLike):
            raise RequestError(f"a dataset's file is a url or a path, not {_kind(name)}")
        text = os.fspath(name)
        if not isinstance(text, str) or not text:
            raise RequestError("cannot read an empty path" if not text else "a path must be text")
        yield text


def _kind(value: object) -> str:
    return f"a {type(value).__name__}"


class _Discovery:
    """One look-up. alone: what was named stands for itself, not in a list."""

    def __init__(
        self,
        session: Session,
        options: Options | None,
        filesystem: Any,
        progress: Progress | None,
        in_flight: int,
        *,
        alone: bool,
    ) -> None:
        self._session = session
        self._options, self._filesystem = options, filesystem
        self._progress, self._count = progress, 0
        self._in_flight = in_flight
        self._alone = alone
        self._here: dict[str, Listed | None] = {}
        self._gate = asyncio.Semaphore(in_flight)
        self._above = Above()
        self._beside = asyncio.Semaphore(in_flight)  # what is asked above keeps no page waiting
        self._policy = session.live.engine.transport.policy
        self._budget = RetryBudget(self._policy, random.Random())  # noqa: S311 - jitter

    async def run(self, places: Sequence[Place]) -> Discovered:
        """All that the places name."""
        local = [place.text for place in places if place.local and place.file]
        loop = asyncio.get_running_loop()
        # All in one thread: a task for each takes ten times as long as the disk.
        self._here = await loop.run_in_executor(None, lambda: {one: look(one) for one in local})
        tasks = [asyncio.ensure_future(self._one(place)) for place in places]
        try:
            found = await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await self._above.close()
        entries = tuple(_rooted(found))
        root = places[0].shown if len(places) == 1 else f"{places[0].shown} and others"
        return Discovered(entries, root)

    async def _one(self, place: Place) -> Found | list[Found | LanceDataset]:
        """What one name stands for; a file's path is its whole one until all are known."""
        believed = place.believed and not self._alone
        if believed and not place.local:
            return self._counted(Found(place.text, place.path))
        listed = await self._looked(place) if place.file else None
        if listed is not None:
            told = listed.size, listed.tag, listed.modified
            return self._counted(Found(place.text, place.path, *told))
        if believed:
            return self._counted(Found(place.text, place.path))
        return await self._below(place)

    async def _looked(self, place: Place) -> Listed | None:
        if place.local:
            return self._here[place.text]
        lister, key = await self._lister(place, place.text)
        return await lister.look(key)

    async def _below(self, place: Place) -> list[Found | LanceDataset]:
        """The files of a directory or a glob, in order."""
        lister, probe = await self._lister(place, place.url(_PROBE))
        tree = Tree(place, probe[: -len(_PROBE)])
        # Beside the listing, which is not kept waiting.
        above = asyncio.ensure_future(self._refused_above(place, tree.key))
        try:
            await self._walked(tree, lister, above)
            await above
        except NotFound:
            if place.file and not tree.seen:
                raise NotFound("no such file or directory", url=place.shown) from None
            raise
        finally:
            above.cancel()
            await asyncio.gather(above, return_exceptions=True)
        return tree.entries()

    async def _walked(self, tree: Tree, lister: Lister, above: asyncio.Future[None]) -> None:
        steps = walk(lister, tree.key, tree.enters, in_flight=self._in_flight)
        async with aclosing(steps) as pages:
            async for page in pages:
                self._tell(tree.take(page))
                if above.done():
                    await above  # a refusal need not wait for the last page

    async def _refused_above(self, place: Place, key: str) -> None:
        """Raise RequestError for a root inside a table."""
        if place.local:
            found = await local_table(place.root)
        else:
            lister, _ = await self._lister(place, place.url(_PROBE), self._beside)
            found = await self._above.table(place, lister, key)
        if found is not None:
            raise found.refusal(place.shown)

    async def _lister(
        self, place: Place, text: str, gate: asyncio.Semaphore | None = None
    ) -> tuple[Lister, str]:
        """What lists the store of a url, and the url's key there."""
        gate = gate or self._gate
        if place.local:
            return Patient(LocalLister(), self._policy, self._budget, gate), text
        live, loop = self._session.live, asyncio.get_running_loop()
        store, key, *_ = await loop.run_in_executor(
            None, live.find, text, self._options, self._filesystem
        )
        return Patient(lister_of(store), self._policy, self._budget, gate), key

    def _counted(self, found: Found) -> Found:
        self._tell(1)
        return found

    def _tell(self, more: int) -> None:
        self._count += more
        if self._progress is not None:
            self._progress(self._count)


def _rooted(
    found: Sequence[Found | list[Found | LanceDataset]],
) -> Iterator[Found | LanceDataset]:
    """The entries; the paths of files that were named one by one are cut to what partitions may
    say: they have a common folder, and of it what follows the first ``key=value`` is kept."""
    start = common([one.path for one in found if isinstance(one, Found)])
    for one in found:
        if isinstance(one, Found):
            yield replace(one, path=one.path[start:])
        else:
            yield from one


def common(paths: Sequence[str]) -> int:
    """The length of the folder that all of these lie in, without any that is ``key=value``."""
    if not paths:
        return 0
    first, last = min(paths).split("/")[:-1], max(paths).split("/")[:-1]
    size = 0
    for one, other in zip(first, last, strict=False):
        if one != other or "=" in one:
            break
        size += len(one) + 1
    return size
