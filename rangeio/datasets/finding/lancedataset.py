"""The current version of a Lance dataset: which files it is, and whose their columns are.

A file's own schema has the names and ids of the day it was written. Its manifest says which field
of the table lies in which physical column, and that alone tells what a column is now.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import count
from typing import Any
from urllib.parse import quote

import pyarrow as pa

from rangeio.datasets.finding.manifest import shown
from rangeio.datasets.finding.patience import Patient
from rangeio.datasets.finding.tabledirs import LanceDataset
from rangeio.datasets.finding.tree import Found
from rangeio.declared import DEFAULT, UNIQUE_ID
from rangeio.errors import Corrupt, FormatError, NotFound, RequestError, Unsupported
from rangeio.fetching import fetch_async
from rangeio.formats.lance.manifest import DataFile, Fragment, Layout, Manifest, version_of
from rangeio.formats.lance.pages import physical
from rangeio.schema import Column, ColumnId, Schema, rebuilt
from rangeio.session import Session
from rangeio.stores.address import Options
from rangeio.stores.listing import lister_of, walk
from rangeio.stores.store import Listed
from rangeio.transport.budget import RetryBudget

_VERSIONS = "_versions/"
_LATEST = "_latest.manifest"
_PROBE = "k"  # an object's name: only objects have addresses
_READ = ((0, 3), (2, 0), (2, 1), (2, 2))
# Deletions, stable row ids, two that say nothing to readers, other places, no transaction files.
# Each fragment tells for itself whether it has deletions or lies elsewhere.
_KNOWN_FLAGS = 0b111111
_BLOB = "lance.blob.v"
_PYLANCE = "read it with lance.dataset(url)"
_REWRITE = f"write it anew with lance.write_dataset(lance.dataset(url), other_url), or {_PYLANCE}"
_COMPACT = (
    "rewrite it with lance.dataset(url).optimize.compact_files(materialize_deletions_threshold=0), "
    f"or {_PYLANCE}"
)


class FieldIds:
    """Whose the columns of files of one layout are. Files that share it are alike in this.

    layout: the table's field of each physical column. parents: of every field of the current
    version, the one above, or -1.
    """

    def __init__(self, layout: Layout, parents: Mapping[int, int]) -> None:
        self.layout = layout
        self._parents = parents
        self._placed = layout.placed

    @cached_property
    def beyond(self) -> int:
        """The first of the ids that no field has, for columns that belong to none."""
        return 1 + max((*self._parents, *self.layout.fields), default=-1)

    def tops(self, schema: Schema) -> list[int]:
        """The field of each top-level column of a file."""
        found = self._flat(schema)
        if found is None:
            self._complete(schema)
            found = [self.of(column) for column in schema]
        return [self.beyond + i if one is None else one for i, one in enumerate(found)]

    def of(self, column: Column) -> int | None:
        """The field of a column, dropped or not; None of one that belongs to none."""
        index = physical(column).index
        if index >= 0:
            return self._placed.get(index)
        for child in column.children:
            above = self._above(self.of(child))
            if pa.types.is_map(column.type):
                above = self._above(above)  # the entries between a map and its key
            if above is not None:
                return above
        # Nothing that is left below tells. The file's own ids do, if they are the table's.
        own = ((leaf.unique_id, physical(leaf).index) for leaf in column.leaves())
        alike = all(self._placed.get(index) == unique_id for unique_id, index in own)
        return column.unique_id if alike else None

    def _above(self, field: int | None) -> int | None:
        above = -1 if field is None else self._parents.get(field, -1)
        return above if above >= 0 else None

    def _flat(self, schema: Schema) -> list[int | None] | None:
        """The same without building columns, where each has one physical column."""
        last = len(schema) - 1
        if self.layout.columns != tuple(range(last + 1)) or last < 0:
            return None
        # Every column has one at least: if the last one's is the last, no other has two.
        if min(_indexes(schema.at(last)), default=-1) != last:
            return None
        return [self._root(field) for field in self.layout.fields]

    def _root(self, field: int) -> int | None:
        above: int | None = field if field >= 0 else None
        found = None
        while above is not None:
            found, above = above, self._above(above)
        return found

    def _complete(self, schema: Schema) -> None:
        """Corrupt where the file has not all columns that it is said to have."""
        there = {index for column in schema for index in _indexes(column)}
        used = (index for index, field in self._placed.items() if field in self._parents)
        lost = next((index for index in used if index not in there), None)
        if lost is not None:
            raise Corrupt(f"the dataset's manifest places a field in column {lost}, which is none")


@dataclass(frozen=True, slots=True)
class LanceFile:
    """A data file of the current version. rows: -1 where they are not told."""

    found: Found
    rows: int
    ids: FieldIds


@dataclass(frozen=True, slots=True)
class LanceVersion:
    """One version of a Lance dataset, its files in the order of their rows.

    schema: what it declares; the table's field ids are in the metadata of its fields, nested ones
    too, under ``unique_id``.
    """

    version: int
    schema: pa.Schema
    files: tuple[LanceFile, ...]


async def current(
    session: Session,
    dataset: LanceDataset,
    *,
    storage_options: Options | None = None,
    filesystem: Any = None,
) -> LanceVersion:
    """The newest version of a dataset. Runs on the session's loop: ``session.run(current(...))``.

    Raises RequestError, which says what to do instead, where the rows of the version are not just
    those of its files: where some were deleted, or have columns in more than one file. NotFound
    where there is no manifest, FormatError where it is none, and what the store raises.
    """
    loop = asyncio.get_running_loop()
    url, size = await _Search(session, storage_options, filesystem).newest(dataset.url)
    # A suffix, for which every store tells the size of the object too.
    (data,) = await fetch_async(
        url,
        [(-max(size, 0), None)],
        storage_options=storage_options,
        filesystem=filesystem,
        session=session,
    )
    try:
        # In a thread: it may have many fragments.
        return await loop.run_in_executor(None, _version, data, dataset)
    except (FormatError, RequestError) as error:
        at = url if isinstance(error, FormatError) else dataset.url
        raise error.located(shown(at)) from None


def relabelled(schema: Schema, ids: FieldIds) -> Schema:
    """The schema of a Lance data file, its columns under the table's field ids, all declared.

    Names are those of the file; columns are made when they are looked at. Those that were dropped
    since are there too, under ids that the current version has not: unify with the declared schema
    of :class:`LanceVersion`, and they do not appear. Corrupt where the file has not the columns
    that the manifest places in it.
    """
    tops = ids.tops(schema)

    def make(i: int) -> Column:
        return _labelled(schema.at(i), ids, tops[i], count(ids.beyond + len(tops)))

    return Schema(
        schema.names,
        make,
        metadata=schema.metadata,
        ids=tops,
        declared=[True] * len(tops),
        find=lambda name: schema.positions.get(name, []),
        ahead=schema.expect,
    )


def _labelled(column: Column, ids: FieldIds, own: int, fresh: Iterator[int]) -> Column:
    children = []
    for child in column.children:
        field = ids.of(child)
        children.append(_labelled(child, ids, next(fresh) if field is None else field, fresh))
    labelled = ColumnId(own, column.path)
    return replace(column, id=labelled, id_declared=True, children=tuple(children))


def _indexes(column: Column) -> list[int]:
    found = (physical(one).index for one in column.walk())
    return [index for index in found if index >= 0]


# ---- which manifest ------------------------------------------------------------------------------


class _Search:
    """The look-up of the newest manifest."""

    def __init__(self, session: Session, options: Options | None, filesystem: Any) -> None:
        self._session, self._options, self._filesystem = session, options, filesystem
        policy = session.live.engine.transport.policy
        self._patience = policy, RetryBudget(policy, random.Random()), asyncio.Semaphore(1)  # noqa: S311 - jitter

    async def newest(self, root: str) -> tuple[str, int]:
        """The url of the newest manifest, and its size or -1."""
        try:
            found = await self._listed(root)
        except NotFound:
            found = {}
        if found:
            one = found[max(found)]
            return _inside(root, _VERSIONS + one.key.rpartition("/")[2]), one.size
        # Datasets of old keep a copy of the newest at their root.
        url = _inside(root, _LATEST)
        lister, key = await self._lister(url)
        latest = await lister.look(key)
        if latest is None:
            raise NotFound("this Lance dataset has no manifest of any version", url=shown(root))
        return url, latest.size

    async def _listed(self, root: str) -> dict[int, Listed]:
        lister, probe = await self._lister(_inside(root, _VERSIONS + _PROBE))
        found: dict[int, Listed] = {}
        async with aclosing(walk(lister, probe[: -len(_PROBE)], lambda _: False)) as pages:
            async for page in pages:
                for one in page.files:
                    folder, _, name = one.key.rpartition("/")
                    version = version_of(name)
                    if version is not None and folder.endswith(_VERSIONS[:-1]):
                        found[version] = one
        return found

    async def _lister(self, url: str) -> tuple[Patient, str]:
        live, loop = self._session.live, asyncio.get_running_loop()
        find = partial(live.find, url, self._options, self._filesystem)
        store, key, *_ = await loop.run_in_executor(None, find)
        return Patient(lister_of(store), *self._patience), key


def _inside(root: str, path: str) -> str:
    """The url of a path inside a dataset; the root's own may be chained."""
    head, mark, rest = root.partition("://")
    if not mark:
        return f"{root}{path}"
    at, chained, after = rest.partition("::")
    if head in ("http", "https"):
        path = quote(path)
    return f"{head}://{at}{path}{chained}{after}"


# ---- what it says --------------------------------------------------------------------------------


def _version(data: bytes, dataset: LanceDataset) -> LanceVersion:
    manifest = Manifest.parse(data)
    unknown = manifest.flags & ~_KNOWN_FLAGS
    if unknown:
        raise RequestError(
            f"this Lance dataset needs features that are not known here (flags {unknown:#x}): "
            f"{_PYLANCE}"
        )
    ids: dict[Layout, FieldIds] = {}
    files = []
    for fragment in manifest.fragments:
        one = _only(fragment)
        alike = ids.get(one.layout) or FieldIds(one.layout, manifest.parents)
        ids[one.layout] = alike
        path = f"data/{one.path}"
        found = Found(_inside(dataset.url, path), f"{dataset.path}{path}", one.size)
        files.append(LanceFile(found, fragment.rows, alike))
    return LanceVersion(manifest.version, _declared(manifest.schema), tuple(files))


def _only(fragment: Fragment) -> DataFile:
    """The file whose rows are those of the fragment. Raises RequestError where none is that."""
    what = f"fragment {fragment.id} of this Lance dataset"
    if fragment.deleted is not None:
        raise RequestError(f"{what} has deleted rows, which are still in its file: {_COMPACT}")
    if fragment.overlaid:
        raise RequestError(f"{what} has values in overlay files: {_REWRITE}")
    if not fragment.files:
        raise RequestError(f"{what} has rows and no data file, since its columns were dropped")
    if len(fragment.files) > 1:
        raise RequestError(
            f"{what} has its columns in {len(fragment.files)} data files, since some were added "
            f"or changed: {_REWRITE}"
        )
    (one,) = fragment.files
    if one.base is not None:
        raise RequestError(f"{what} lies outside of it, in base path {one.base}: {_REWRITE}")
    if one.version < _READ[0]:
        raise RequestError(f"{what} is a legacy Lance v1 file: {_REWRITE}")
    if one.version not in _READ:
        words = ".".join(map(str, one.version))
        raise RequestError(f"{what} is a file of Lance {words}, not of 2.0 to 2.2: {_PYLANCE}")
    return one


def _declared(schema: Schema) -> pa.Schema:
    """The version's columns. Raises RequestError for one that files cannot give."""
    try:
        columns = [_numbered(column) for column in schema]
    except Unsupported as error:
        raise RequestError(f"in this Lance dataset {error.reason}: {_PYLANCE}") from None
    return pa.schema([one.arrow for one in columns], metadata=schema.metadata or None)


def _numbered(column: Column) -> Column:
    """With its id in the metadata, and so all that is below it."""
    if physical(column).packed:
        raise Unsupported(f"column {column.id.name!r} is a packed struct")
    if _extension(column).startswith(_BLOB):
        raise Unsupported(f"column {column.id.name!r} holds blobs, which may lie in other files")
    children = tuple(_numbered(child) for child in column.children)
    kind = column.type
    if pa.types.is_map(kind):
        kind = pa.map_(children[0].arrow.with_nullable(False), children[1].arrow)
    elif children and not isinstance(kind, pa.BaseExtensionType):
        kind = rebuilt(kind, children)
    # A default of its own means nothing to Lance: where a column is missing, it is null.
    metadata = {k: v for k, v in column.metadata.items() if k != DEFAULT}
    metadata[UNIQUE_ID] = str(column.unique_id).encode()
    return replace(column, type=kind, children=children, metadata=metadata)


def _extension(column: Column) -> str:
    """The name of a column's extension type, whether or not that is registered."""
    if isinstance(column.type, pa.BaseExtensionType):
        return str(column.type.extension_name)
    return column.metadata.get(b"ARROW:extension:name", b"").decode(errors="replace")
