"""The columns of files that carry no names of their own, as segments of Doris: told by an option,
or by what a write of ours left beside them."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pyarrow as pa
import pyspark.sql.types as st

from rangeio.datasets.finding.globs import has_magic, split
from rangeio.errors import NotFound, RequestError
from rangeio.fetching import fetch
from rangeio.spark.options import ReadOptions
from rangeio.spark.types import ROW_METADATA, arrow_schema, nullable, optional

BESIDE = "_rangeio_schema.json"
"""The file beside the data that tells its columns, as Spark's JSON, in the order of their ids."""

_NAMELESS = ".dat"


def nameless(format: str) -> bool:  # noqa: A002 - as in open
    """Whether files of this format carry no names of columns."""
    return format == "doris"


def noted(schema: st.StructType) -> bytes:
    """What such a file holds."""
    return str(schema.json()).encode()


def refuse_others(root: str, storage: Mapping[str, object] | None, schema: st.StructType) -> None:
    """Raise RequestError where files without names are there whose columns are others: what is
    added to them would be read by their names."""
    have = beside(root, storage)
    if have is not None and _columns(_parsed(have.decode())) != _columns(schema):
        raise RequestError(
            "the files that are there have other columns, and theirs carry no names: write "
            "elsewhere, or overwrite",
            url=root,
        )


def declared(options: ReadOptions, urls: list[str]) -> pa.Schema | None:
    """The columns that the files have; None: they say so themselves. Raises RequestError for a
    schema that cannot be read."""
    if options.file_schema is not None:
        return _arrow(_parsed(options.file_schema))
    if not any(one.endswith(_NAMELESS) for one in urls[:1]):
        return None
    told = {_nearest(root, options) for root in dict.fromkeys(map(_root, options.paths))}
    if len(told) > 1:
        raise RequestError(
            "these files have different columns, and theirs carry no names: read them apart, or "
            "give the option fileSchema"
        )
    (found,) = told
    return None if found is None else _arrow(_parsed(found.decode()))


def _root(path: str) -> str:
    """The folder of a path that is sure to be one."""
    found = path if not has_magic(path) else split(path)[0]
    folder = found.rpartition("/")[0] if found.endswith(_NAMELESS) else found
    return folder.rstrip("/")


def _nearest(root: str, options: ReadOptions) -> bytes | None:
    """What is said beside the files, or in a folder above of which theirs are partitions."""
    while True:
        found = beside(root, options.storage)
        above, _, name = root.rpartition("/")
        if found is not None or "=" not in name:
            return found
        root = above


def beside(root: str, storage: Mapping[str, object] | None) -> bytes | None:
    """What the file beside the data says, where there is one."""
    folder = root if not root.endswith(_NAMELESS) else root.rpartition("/")[0]
    try:
        url = f"{folder.rstrip('/')}/{BESIDE}"
        return fetch(url, [(0, None)], storage_options=storage or None)[0]
    except NotFound:
        return None


def _columns(schema: st.StructType) -> list[tuple[str, st.DataType]]:
    """Comments and the like are no other columns."""
    return [(field.name, nullable(field.dataType)) for field in schema]


def _arrow(schema: st.StructType) -> pa.Schema:
    return optional(arrow_schema(schema)).with_metadata({ROW_METADATA: noted(schema)})


def _parsed(text: str) -> st.StructType:
    try:
        if '"udt"' in text:  # it would import what the file names
            raise ValueError("types of users' own are not read")
        return st.StructType.fromJson(json.loads(text))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise RequestError(
            f"fileSchema: a schema of Spark is wanted, as its json() writes it: {error}"
        ) from None
