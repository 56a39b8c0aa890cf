"""From what a user names to the files of a dataset, and to the table that they may be of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import pyarrow as pa

from rangeio.datasets.fileplan import Way
from rangeio.datasets.finding.discovery import Named, Progress, common, discover, manifest
from rangeio.datasets.finding.lancedataset import LanceVersion, current
from rangeio.datasets.finding.manifest import DataFile, Manifest, shown
from rangeio.datasets.finding.partitions import Partitioning, Types, partitions
from rangeio.errors import RequestError
from rangeio.session import Session

Target: TypeAlias = "Named | Manifest | Sequence[Named] | Sequence[DataFile]"


@dataclass(frozen=True, slots=True)
class Resolved:
    """The files, and the version of the Lance dataset that they make, if they do."""

    files: Manifest
    version: LanceVersion | None = None


async def resolved(
    session: Session,
    target: Target,
    way: Way,
    partitioning: Partitioning,
    told: Progress | None,
    declared: pa.Schema | None = None,
) -> Resolved:
    """List the files, unless they are told: then nothing is asked about them.

    declared: columns whose types are given; what paths say of them is read as such. Runs on the
    session's loop; raises as ``discover`` and ``current`` do, and RequestError for a Lance dataset
    beside other files: its rows are its manifest's alone.
    """
    types = {} if declared is None else {field.name: field.type for field in declared}
    if isinstance(target, Manifest):
        return Resolved(target, target.table)
    if isinstance(target, (list, tuple)) and any(isinstance(one, DataFile) for one in target):
        return Resolved(_told(target, partitioning, types))
    named: Any = target
    found = await discover(
        session,
        named,
        storage_options=way.storage_options,
        filesystem=way.filesystem,
        progress=told,
    )
    if not found.lance:
        return Resolved(manifest(found, partitioning, types))
    if len(found.entries) > 1:
        raise RequestError(
            "a Lance dataset is read by itself, not with other files", url=found.root
        )
    version = await current(
        session, found.lance[0], storage_options=way.storage_options, filesystem=way.filesystem
    )
    files = tuple(
        DataFile(one.found.url, one.found.size, one.found.tag, one.rows, ())
        for one in version.files
    )
    schema = partitions([], None).schema
    return Resolved(Manifest(files, schema, found.root, version), version)


def _told(files: Sequence[object], partitioning: Partitioning, types: Types) -> Manifest:
    """The manifest of files that somebody knows already; partitions are read off their urls."""
    known = [one for one in files if isinstance(one, DataFile)]
    if len(known) < len(files):
        raise RequestError("a list of files is of DataFile or of urls, not of both")
    paths = [shown(one.url).rpartition("://")[2] for one in known]
    start = common(paths)
    held = partitions([path[start:] for path in paths], partitioning, types)
    placed = zip(known, held.values, strict=True)
    root = shown(known[0].url) + (" and others" if len(known) > 1 else "")
    return Manifest(tuple(replace(one, partition=row) for one, row in placed), held.schema, root)
