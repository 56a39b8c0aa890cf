"""The files of a read, and what is done about those that cannot be read."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

import pyarrow as pa

from rangeio.datasets.dataset import Dataset
from rangeio.datasets.fileplan import Way
from rangeio.datasets.finding.manifest import Manifest, shown
from rangeio.datasets.resolving import Resolved
from rangeio.declared import UNIQUE_ID
from rangeio.errors import FormatError, NotFound, RangeIOError, RequestError, StoreError
from rangeio.schema import Schema
from rangeio.session import Session
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

    @property
    def told(self) -> tuple[str, ...]:
        """The column of the files' names, where one was asked for."""
        column = self.options.file_column
        return () if column is None else (column,)

    def dataset(self) -> Dataset:
        """All of them as one."""
        return Dataset(self.found, self.way, self._whole(), None, self.session)

    def schema(self) -> Schema:
        """The columns of all files; names that differ in case alone from file to file are one."""
        return self.dataset().unified(case_sensitive=False)

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
            only = self.only([place])
            found = only.dataset()
            try:
                _ = found.schema
                only._refuse_twins()
            except (StoreError, FormatError) as error:
                if not ignored(error, self.options):
                    raise
            else:
                return found
        raise RequestError(
            "no file to infer a schema from: give one, .schema(...)", url=self.files.root
        )

    def _refuse_twins(self) -> None:
        """Raise RequestError where a file has a column of the name that its own name is to have."""
        if not self.told:
            return
        files = self.files
        bare = (replace(one, partition=one.partition[:-1]) for one in files)
        kept = Manifest(tuple(bare), files.partitions.remove(len(files.partitions) - 1), files.root)
        own = replace(self, found=Resolved(kept, self.found.version)).dataset().schema
        if self.told[0].casefold() in map(str.casefold, own.names):
            raise RequestError(f"includeFilePath={self.told[0]!r}: there is a column of this name")

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
