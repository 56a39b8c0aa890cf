"""From what a user names to the files of a dataset, and to the table that they may be of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rangeio.datasets.fileplan import Way
from rangeio.datasets.finding.discovery import Named, Progress, discover, manifest
from rangeio.datasets.finding.lancedataset import LanceVersion, current
from rangeio.datasets.finding.manifest import DataFile, Manifest
from rangeio.datasets.finding.partitions import Partitioning, partitions
from rangeio.errors import RequestError
from rangeio.session import Session


@dataclass(frozen=True, slots=True)
class Resolved:
    """The files, and the version of the Lance dataset that they make, if they do."""

    files: Manifest
    version: LanceVersion | None = None


async def resolved(
    session: Session,
    target: Named | Sequence[Named],
    way: Way,
    partitioning: Partitioning,
    told: Progress | None,
) -> Resolved:
    """List the files. Runs on the session's loop; raises as ``discover`` and ``current`` do, and
    RequestError for a Lance dataset beside other files: its rows are its manifest's alone."""
    found = await discover(
        session,
        target,
        storage_options=way.storage_options,
        filesystem=way.filesystem,
        progress=told,
    )
    if not found.lance:
        return Resolved(manifest(found, partitioning))
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
    return Resolved(Manifest(files, partitions([], None).schema, found.root), version)
