"""The files of a read: listed, chosen by name and time, with their partition values."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

import pyarrow as pa

from rangeio.datasets.dataset import Dataset
from rangeio.datasets.fileplan import Way
from rangeio.datasets.finding.manifest import DataFile, Manifest, shown
from rangeio.datasets.finding.partitions import partitions
from rangeio.datasets.resolving import Resolved, resolved
from rangeio.declared import UNIQUE_ID
from rangeio.errors import FormatError, NotFound, RangeIOError, RequestError, StoreError
from rangeio.session import Session
from rangeio.spark.naming import declared
from rangeio.spark.options import ReadOptions


@dataclass(frozen=True, slots=True)
class Listing:
    """The files, how they are reached, and what is done about those that cannot be read.

    declared: the columns of files that carry no names.
    """

    found: Resolved
    way: Way
    session: Session
    options: ReadOptions
    declared: pa.Schema | None = None

    @classmethod
    def of(
        cls, found: Resolved, options: ReadOptions, session: Session, declared: pa.Schema | None
    ) -> Listing:
        """Of files that were listed before."""
        way = Way(dict(options.storage) or None, None, options.format)
        return cls(found, way, session, options, declared)

    @property
    def files(self) -> Manifest:
        """Their urls, versions and partition values."""
        return self.found.files

    def dataset(self) -> Dataset:
        """All of them as one."""
        return Dataset(self.found, self.way, self._whole(), None, self.session)

    def _whole(self) -> pa.Schema | None:
        """What is declared of the files, and the columns that their paths tell, whose ids are none
        that a file would have."""
        schema = self.declared
        if schema is None:
            return None
        for i, field in enumerate(self.files.partitions):
            if field.name not in schema.names:
                named = {UNIQUE_ID: str((1 << 31) - 1 - i).encode()}
                schema = schema.append(field.with_metadata(named))
        return schema

    def only(self, places: Collection[int]) -> Listing:
        """Those at these places of the manifest."""
        version = self.found.version
        if version is not None:
            version = replace(version, files=tuple(version.files[i] for i in places))
        return replace(self, found=Resolved(self.files.select(places), version))

    def sample(self) -> Dataset:
        """What the schema is that of: the first file, or all where mergeSchema is set. What cannot
        be read is passed over where the options say so. RequestError where nothing is left."""
        if self.options.merge and len(self.files):
            return self.readable().dataset()
        for place in range(len(self.files)):
            found = self.only([place]).dataset()
            try:
                _ = found.schema
            except (StoreError, FormatError) as error:
                if not ignored(error, self.options):
                    raise
            else:
                return found
        raise RequestError(
            "no file to infer a schema from: give one, .schema(...)", url=self.files.root
        )

    def rows(self, sample: Dataset) -> int | None:
        """About how many there are, if all files are like the sample; None: nobody knows."""
        known, size, of = self.files.rows, self.files.size, sample.files.size
        if known >= 0:
            return known
        return None if min(size, of) <= 0 else sample.num_rows * size // of

    def readable(self) -> Listing:
        """Without the files that cannot be read, where the options say so."""
        if not (self.options.ignore_corrupt or self.options.ignore_missing):
            return self
        dataset = self.dataset()
        dataset.scan([], on_error="skip").close()  # looks into every file, and reads none
        lost = {one.url for one in dataset.skipped if not _raised(one.error, self.options)}
        kept = [i for i, one in enumerate(self.files) if shown(one.url) not in lost]
        return self if len(kept) == len(self.files) else self.only(kept)


def ignored(error: RangeIOError, options: ReadOptions) -> bool:
    """Whether a file with this error is to be left out: ignoreMissingFiles for one that is gone,
    ignoreCorruptFiles for one whose bytes are not those of its format."""
    if isinstance(error, NotFound):
        return options.ignore_missing
    return isinstance(error, FormatError) and options.ignore_corrupt


def _raised(error: RangeIOError, options: ReadOptions) -> bool:
    if not ignored(error, options):
        raise error
    return False


def listing(options: ReadOptions, session: Session) -> Listing:
    """List the files. Raises NotFound where a path leads nowhere, RequestError, StoreError."""
    way = Way(dict(options.storage) or None, None, options.format)
    target = options.paths[0] if len(options.paths) == 1 else list(options.paths)
    hive = None if options.flat or options.base is not None else "hive"
    found = session.run(resolved(session, target, way, hive, None))
    made = Listing(found, way, session, options)
    kept = [i for i, one in enumerate(found.files) if _meant(one, options)]
    made = made if len(kept) == len(found.files) else made.only(kept)
    files = _based(made.files, options)
    if options.file_column is not None:
        files = _named(files, options.file_column)
    told = declared(options, [one.url for one in files])
    return replace(made, found=Resolved(files, made.found.version), declared=told)


def _meant(file: DataFile, options: ReadOptions) -> bool:
    name = shown(file.url).rpartition("/")[2]
    if options.glob is not None and not fnmatchcase(name, options.glob):
        return False
    after, before = options.modified
    if after is None and before is None:
        return True
    at = _modified(file)
    return (after is None or at > after) and (before is None or at < before)


def _modified(file: DataFile) -> float:
    if file.modified is None:
        raise RequestError(
            "modifiedAfter and modifiedBefore: nothing tells when this file was written; choose "
            "the files by their names, with pathGlobFilter",
            url=shown(file.url),
        )
    return file.modified


def _based(files: Manifest, options: ReadOptions) -> Manifest:
    """With the partitions that stand between basePath and the files."""
    if options.base is None or options.flat:
        return files
    base = _plain(options.base).rstrip("/") + "/"
    paths = [_plain(one.url) for one in files]
    outside = next((path for path in paths if not path.startswith(base)), None)
    if outside is not None:
        raise RequestError(f"the file does not lie in basePath={shown(base)}", url=shown(outside))
    held = partitions([path[len(base) :] for path in paths])
    return _with(files, held.schema, held.values)


def _named(files: Manifest, column: str) -> Manifest:
    """With the url of each file as one more column."""
    schema = files.partitions.append(pa.field(column, pa.string()))
    return _with(files, schema, ((*one.partition, _url(one.url)) for one in files))


def _with(files: Manifest, schema: pa.Schema, values: Iterable[tuple[object, ...]]) -> Manifest:
    placed = zip(files, values, strict=True)
    return Manifest(tuple(replace(f, partition=v) for f, v in placed), schema, files.root)


def _plain(url: str) -> str:
    """A path of the disk without a scheme, absolute; other urls as they are."""
    path = url.removeprefix("file://")
    return url if "://" in path else os.path.abspath(path)


def _url(url: str) -> str:
    """As Spark writes it: redacted, with a scheme."""
    return shown(url) if "://" in url else f"file://{url}"
