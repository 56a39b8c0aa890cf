"""From what a user names to the sink that writes it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from rangeio.errors import RequestError
from rangeio.stores.address import Address, Options, locate
from rangeio.stores.localfolder import LocalFolder
from rangeio.stores.store import Folder, Sink


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
    if str(os.fspath(target)).endswith("/"):
        raise RequestError("a name that ends in a slash is a directory's", url=at.url)
    if at.identity.scheme == "file":
        from rangeio.stores.localsink import LocalSink

        return LocalSink(at.key, overwrite=overwrite), at.url
    from rangeio.stores.fsspecsink import FsspecSink

    found = _writable(at, os.fspath(target), dict(storage_options or {}), filesystem)
    return FsspecSink(found, at.key, at.url, overwrite=overwrite), at.url


def open_folder(
    target: str | os.PathLike[str], storage_options: Options | None = None, filesystem: Any = None
) -> Folder:
    """All that lies below a name, to be listed, moved and removed. Raises as :func:`open_sink`."""
    text = os.fspath(target).rstrip("/") or "/"
    at = locate(text, storage_options, filesystem)
    if at.identity.scheme == "file":
        return LocalFolder(at.key)
    from rangeio.stores.folder import FsspecFolder

    found = _writable(at, text, dict(storage_options or {}), filesystem)
    return FsspecFolder(found, at.key, at.url)


def _writable(at: Address, url: str, options: dict[str, object], given: Any) -> Any:
    from rangeio.stores.fsspecsink import protocols

    if at.identity.scheme == "http":
        raise _only_read(at)
    found = _filesystem(at, url, options, given)
    if protocols(found) & {"http", "https"}:
        raise _only_read(at)
    if at.identity.scheme == "s3" and "?versionId=" in at.key:
        raise RequestError("a version of an object cannot be written", url=at.url)
    return found


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
