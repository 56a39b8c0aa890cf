"""Which files a read is of: listed, chosen by name and time, with their partition values."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import pyarrow as pa
import pyspark.sql.types as st

from rangeio.datasets.fileplan import Way
from rangeio.datasets.finding.globs import Glob, has_magic, split
from rangeio.datasets.finding.manifest import DataFile, Manifest, shown
from rangeio.datasets.finding.partitions import Types, partitions
from rangeio.datasets.resolving import Resolved, resolved
from rangeio.errors import NotFound, RequestError
from rangeio.session import Session
from rangeio.spark.naming import declared
from rangeio.spark.options import ReadOptions
from rangeio.spark.reading.listing import Listing

_COPIED = "._COPYING_"
"""What Hadoop puts behind the names of files that are not whole yet."""


def listing(options: ReadOptions, session: Session, schema: st.StructType | None = None) -> Listing:
    """List the files. schema: that which was asked for, if it is known: what paths say of its
    texts is taken as it stands. Raises NotFound where a path leads nowhere, RequestError,
    StoreError."""
    way = Way(dict(options.storage) or None, None, options.format)
    hive = None if options.flat or options.base is not None else "hive"
    types = {} if schema is None else _texts(schema)
    told = pa.schema(list(types.items()))

    def found(paths: Sequence[str]) -> Resolved:
        target = paths[0] if len(paths) == 1 else list(paths)
        return session.run(resolved(session, target, way, hive, None, told))

    try:
        known = found(options.paths)
    except NotFound as error:
        known = _in_folders(options, error, found, empty=schema is not None)
    made = Listing(known, way, session, options)
    meant = _Meant(options)
    kept = [i for i, one in enumerate(known.files) if meant(one)]
    made = made if len(kept) == len(known.files) else made.only(kept)
    files = _based(made.files, options, types)
    if options.file_column is not None:
        files = _named(files, options.file_column)
    names = declared(options, [one.url for one in files])
    return replace(made, found=Resolved(files, made.found.version), declared=names)


def _texts(schema: st.StructType) -> Types:
    """Columns of text: their names, and in lower case, as Spark has no other."""
    texts = [field.name for field in schema if isinstance(field.dataType, st.StringType)]
    return dict.fromkeys([*texts, *map(str.lower, texts)], pa.string())


def _in_folders(
    options: ReadOptions,
    error: NotFound,
    found: Callable[[Sequence[str]], Resolved],
    *,
    empty: bool,
) -> Resolved:
    """Where no file is found: what globs mean are folders, as of Spark's own sources, or, where
    the schema is given, folders of no file are no rows."""
    if any(map(has_magic, options.paths)):
        return found([f"{path}{{,/}}" if has_magic(path) else path for path in options.paths])
    if empty and all(os.path.isdir(_plain(path)) for path in options.paths):
        return Resolved(Manifest((), root=shown(options.paths[0])))
    raise error


class _Meant:
    """Whether a file is one of those that the options choose."""

    def __init__(self, options: ReadOptions) -> None:
        self._glob = None if options.glob is None else _glob(options.glob)
        self._after, self._before = options.modified

    def __call__(self, file: DataFile) -> bool:
        name = shown(file.url).rpartition("/")[2]
        if name.endswith(_COPIED) or (self._glob is not None and not self._glob.matches([name])):
            return False
        if self._after is None and self._before is None:
            return True
        at = _modified(file)
        return (self._after is None or at > self._after) and (
            self._before is None or at < self._before
        )


def _glob(text: str) -> Glob:
    """Of names, in Hadoop's words: ``{a,b}``, and ``[^a]`` for what others write ``[!a]``."""
    return split(text.replace("[^", "[!"))[1]


def _modified(file: DataFile) -> float:
    if file.modified is None:
        raise RequestError(
            "modifiedAfter and modifiedBefore: nothing tells when this file was written; choose "
            "the files by their names, with pathGlobFilter",
            url=shown(file.url),
        )
    return file.modified


def _based(files: Manifest, options: ReadOptions, types: Types) -> Manifest:
    """With the partitions that stand between basePath and the files."""
    if options.base is None or options.flat:
        return files
    base = _plain(options.base).rstrip("/") + "/"
    paths = [_plain(one.url) for one in files]
    outside = next((path for path in paths if not path.startswith(base)), None)
    if outside is not None:
        raise RequestError(f"the file does not lie in basePath={shown(base)}", url=shown(outside))
    held = partitions([path[len(base) :] for path in paths], types=types)
    return _with(files, held.schema, held.values)


def _named(files: Manifest, column: str) -> Manifest:
    """With the url of each file as one more column. Raises RequestError where there is one."""
    if column in files.partitions.names:
        raise RequestError(f"includeFilePath={column!r}: the paths have a column of this name")
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
