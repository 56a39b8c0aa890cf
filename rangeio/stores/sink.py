"""From what a user names to the sink that writes it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from rangeio.errors import RequestError
from rangeio.stores.address import Address, Options, locate
from rangeio.stores.store import Sink


def open_sink(
    target: str | os.PathLike[str],
    storage_options: Options | None = None,
    filesystem: Any = None,
    *,
    overwrite: bool = True,
) -> tuple[Sink, str]:
    """A new object under this name, nothing of it visible yet, and its url for people.

    Raises RequestError for an address that cannot be written, or that is taken where ``overwrite``
    is False; StoreError where the store refuses.
    """
    if not isinstance(target, str | os.PathLike):
        raise RequestError(f"cannot write to a {type(target).__name__}: give a url or a path")
    at = locate(target, storage_options, filesystem)
    kind = at.identity.scheme
    if str(os.fspath(target)).endswith("/"):
        raise RequestError("a name that ends in a slash is a directory's", url=at.url)
    if kind == "file":
        from rangeio.stores.localsink import LocalSink

        return LocalSink(at.key, overwrite=overwrite), at.url
    if kind == "http":
        raise _only_read(at)
    from rangeio.stores.fsspecsink import FsspecSink, protocols

    found = _filesystem(at, os.fspath(target), dict(storage_options or {}), filesystem)
    if protocols(found) & {"http", "https"}:
        raise _only_read(at)
    if kind == "s3" and "?versionId=" in at.key:
        raise RequestError("a version of an object cannot be written", url=at.url)
    return FsspecSink(found, at.key, at.url, overwrite=overwrite), at.url


def _only_read(at: Address) -> RequestError:
    return RequestError("http and https urls are read, never written", url=at.url)


def _filesystem(at: Address, url: str, options: dict[str, object], given: Any) -> Any:
    """A filesystem that may be called from any thread."""
    from rangeio.stores.fsspec import apart

    if given is not None:
        return apart(given)
    if at.identity.scheme == "s3":
        from s3fs import S3FileSystem

        # Of our own reading, not of s3fs.
        ours = ("query_auth", "url_life_s")
        return _made(S3FileSystem, {k: v for k, v in options.items() if k not in ours})
    if at.identity.scheme == "gs":
        # The plain kind, which looks no bucket up.
        from gcsfs.core import GCSFileSystem

        return _made(GCSFileSystem, options)
    from fsspec.core import url_to_fs

    return apart(url_to_fs(url, **options)[0])


def _made(kind: type, options: Mapping[str, object]) -> Any:
    failure = ""
    try:
        return kind(**{**options, "asynchronous": False, "loop": None})
    except Exception as error:  # of credentials too, which gcsfs looks up at once
        failure = f"these storage_options do not fit {kind.__name__}: {type(error).__name__}"
    raise RequestError(failure)
