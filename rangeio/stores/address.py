"""From what a user names to the store that reads it."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import astuple, dataclass, field
from typing import Any, TypeAlias
from urllib.parse import quote

from rangeio.errors import RangeIOError, RequestError
from rangeio.stores.extra import extra, known
from rangeio.stores.identity import Identity
from rangeio.stores.options import HttpOptions, http_options
from rangeio.stores.store import Store
from rangeio.stores.url import redact

Target: TypeAlias = "str | os.PathLike[str] | bytes | bytearray | memoryview"
Options: TypeAlias = Mapping[str, object]

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_CHAIN = re.compile(r"[A-Za-z][A-Za-z0-9+._-]*(://[^:]*)?::")
_LIKE_S3 = frozenset({"abfs", "abfss", "adl", "az", "cosn", "oci", "oss", "tos"})


@dataclass(frozen=True, slots=True)
class Address:
    """One object and how to reach it; nothing is connected yet.

    key: the object's name in its store. url: for people, redacted. profile: name of the store's
    cost profile. identity: equal for addresses whose objects one store may serve. key and make
    may hold secrets and stay out of the repr.
    """

    key: str = field(repr=False)
    url: str
    profile: str
    identity: Identity
    make: Callable[[], Store] = field(repr=False, compare=False)


def resolve(
    target: Target,
    storage_options: Options | None = None,
    filesystem: Any = None,
    stores: MutableMapping[Identity, Store] | None = None,
) -> tuple[Store, str, str, str]:
    """The store of ``target``, its key there, its url for people, and its cost profile's name.

    A store found in ``stores`` is used again, a new one is put there. Raises RequestError, in one
    line, for an unknown scheme, a missing package, or an address that cannot be. No socket is
    opened for schemes that rangeio reads itself; another fsspec filesystem may do so when made.
    """
    at = locate(target, storage_options, filesystem)
    if stores is None:
        return at.make(), at.key, at.url, at.profile
    store = stores.get(at.identity)
    if store is None:
        store = stores[at.identity] = at.make()
    return store, at.key, at.url, at.profile


def identity(
    target: Target, storage_options: Options | None = None, filesystem: Any = None
) -> Identity:
    """A hashable key, equal for all that one store may serve; no secret shows in its repr."""
    return locate(target, storage_options, filesystem).identity


def locate(
    target: Target, storage_options: Options | None = None, filesystem: Any = None
) -> Address:
    """The address of ``target``; see :func:`resolve` for what it raises."""
    options = dict(storage_options or {})
    if isinstance(target, bytes | bytearray | memoryview):
        return _bytes(target)
    try:
        text = os.fspath(target)
    except TypeError:
        raise RequestError(
            f"cannot read a {type(target).__name__}: give a url, a path or bytes"
        ) from None
    if not isinstance(text, str) or not text:
        raise RequestError("cannot read an empty path" if not text else "a path must be text")
    if filesystem is not None:
        if options:
            raise RequestError("give either filesystem or storage_options, not both")
        return _given(text, filesystem)
    if _CHAIN.match(text) and not os.path.exists(text):
        return _other(text, options)
    found = _SCHEME.match(text)
    if found is None:
        return _local(text)
    return _by_scheme(found.group(1).lower(), text, text[found.end() :], options)


def local(target: Target) -> str | None:
    """The absolute path of what is surely a file of the local disk; None of anything else."""
    if isinstance(target, bytes | bytearray | memoryview):
        return None
    try:
        text = os.fspath(target)
    except TypeError:
        return None
    if not isinstance(text, str) or not text or ":" in text:
        return None
    return _local(text).key


def _by_scheme(scheme: str, text: str, rest: str, options: dict[str, object]) -> Address:
    if scheme in ("s3", "s3a", "s3n"):
        return _s3(rest, options)
    if scheme in ("gs", "gcs"):
        return _gcs(rest, options)
    if scheme in ("http", "https"):
        return _http(text, options)
    if scheme in ("file", "local"):
        return _local(rest)
    return _other(text, options)


def _bytes(target: bytes | bytearray | memoryview) -> Address:
    def make() -> Store:
        from rangeio.stores.memory import MemoryStore

        store = MemoryStore()
        store.put("bytes", target)
        return store

    size = memoryview(target).nbytes
    return Address("bytes", f"<{size} bytes>", "memory", Identity("bytes", target), make)


def _local(path: str) -> Address:
    def make() -> Store:
        from rangeio.stores.local import LocalStore

        return LocalStore()

    path = os.path.abspath(os.path.expanduser(path))
    return Address(path, path, "file", Identity("file"), make)


def _http(url: str, options: dict[str, object]) -> Address:
    # What is legal stays as it is, for a signature may cover it; the fragment is never sent.
    url = quote(url.partition("#")[0], safe="%/:?[]@!$&'()*+,;=~")
    mapped = http_options(options, url)
    if mapped is None:
        return _other(url, options)
    return Address(
        url, redact(url), "http", Identity("http", *astuple(mapped)), _http_store(mapped)
    )


def _http_store(mapped: HttpOptions) -> Callable[[], Store]:
    def make() -> Store:
        from rangeio.stores.http import HttpStore

        return HttpStore(headers=dict(mapped.headers), connect=mapped.connect)

    return make


def _s3(path: str, options: dict[str, object], filesystem: Any = None) -> Address:
    if filesystem is None:
        extra("s3fs", "s3")

    def make() -> Store:
        from rangeio.stores.s3 import S3Store

        return S3Store(options, filesystem=filesystem)

    key, url = _object("s3", path)
    profile = "s3express" if key.partition("/")[0].endswith("--x-s3") else "s3"
    return Address(key, url, profile, Identity("s3", options, filesystem), make)


def _gcs(path: str, options: dict[str, object], filesystem: Any = None) -> Address:
    if filesystem is None:
        extra("gcsfs", "gs")

    def make() -> Store:
        from rangeio.stores.gcs import GcsStore

        return GcsStore(options, filesystem=filesystem)

    session = options.get("session_kwargs") if filesystem is None else filesystem.session_kwargs
    if not isinstance(session, Mapping):
        session = {}
    if http_options(session, "https://storage.googleapis.com") is None:
        # A connector, say, that only gcsfs' own session can use.
        return (
            _other(f"gs://{path}", options)
            if filesystem is None
            else _fsspec(filesystem, path, redact(f"gs://{path}"))
        )
    key, url = _object("gs", path)
    return Address(key, url, "gs", Identity("gs", options, filesystem), make)


def _object(scheme: str, path: str) -> tuple[str, str]:
    """``bucket/key``, and the url to show; every character of the key counts."""
    bucket, _, key = path.lstrip("/").partition("/")
    if "@" in bucket:
        raise RequestError(
            "credentials in the url are not read: pass them as storage_options",
            url=f"{scheme}://{bucket.rpartition('@')[2]}/{key}",
        )
    if not bucket or not key:
        raise RequestError(f"the url names no object: {scheme}://bucket/key is wanted",
                           url=f"{scheme}://{bucket}")  # fmt: skip
    return f"{bucket}/{key}", f"{scheme}://{bucket}/{key}"


def _other(url: str, options: dict[str, object]) -> Address:
    """Any other fsspec url, chained ones included."""
    from fsspec.core import url_to_fs

    for part in url.split("::"):
        known(part.partition("://")[0] if "://" in part else _protocol(part))
    shown = "::".join(redact(part) for part in url.split("::"))
    failure: RangeIOError
    try:
        filesystem, path = url_to_fs(url, **options)
    except (ImportError, TypeError, ValueError) as error:
        kind = type(error).__name__
        failure = RequestError(f"these storage_options do not fit: {kind}", url=shown)
    except Exception as error:
        from rangeio.stores.fsspec import refused

        failure = refused(error, shown)
    else:
        return _made(filesystem, path, shown, url.partition("::")[2])
    raise failure


def _made(filesystem: Any, path: str, shown: str, inner: str) -> Address:
    # fsspec makes one instance a thread, so what it was made from counts, not the instance.
    made_from = (inner, filesystem.storage_args, filesystem.storage_options)
    return _fsspec(filesystem, path, shown, Identity(type(filesystem).__name__, *made_from))


def _protocol(part: str) -> str:
    """A link of a chain without ``://`` names a filesystem, or is a path of the disk."""
    return part if re.fullmatch(r"[A-Za-z][A-Za-z0-9_+.-]*", part) else "file"


def _fsspec(filesystem: Any, path: str, shown: str, same: Identity | None = None) -> Address:
    protocol = filesystem.protocol
    names = {protocol} if isinstance(protocol, str) else set(protocol)
    profile = "memory" if "memory" in names else "s3" if names & _LIKE_S3 else "http"

    def make() -> Store:
        from rangeio.stores.fsspec import FsspecStore

        return FsspecStore(filesystem, profile=profile)

    return Address(path, shown, profile, same or Identity("fsspec", filesystem), make)


def _given(text: str, filesystem: Any) -> Address:
    """An object of a filesystem that the caller has; ours read it where they know the kind."""
    bare = _SCHEME.sub("", text, count=1)
    if _is(filesystem, "s3fs.core", "S3FileSystem"):
        return _s3(bare, {}, filesystem)
    if _is(filesystem, "gcsfs.core", "GCSFileSystem"):
        return _gcs(bare, {}, filesystem)
    if _is(filesystem, "fsspec.implementations.local", "LocalFileSystem"):
        return _local(bare)
    if _is(filesystem, "fsspec.implementations.http", "HTTPFileSystem"):
        url = text if _SCHEME.match(text) else f"https://{text}"
        mapped = http_options(filesystem.storage_options, url)
        if mapped is not None and not filesystem.storage_args:
            return _http(url, dict(filesystem.storage_options))
        return _fsspec(filesystem, url, redact(url))
    if not hasattr(filesystem, "cat_file"):
        raise RequestError(f"a {type(filesystem).__name__} is not an fsspec filesystem")
    path = filesystem._strip_protocol(text)
    return _fsspec(filesystem, path, redact(text))


def _is(filesystem: Any, module: str, name: str) -> bool:
    # An instance exists only where its module was imported, so nothing is imported to ask.
    kind = getattr(sys.modules.get(module), name, None)
    return kind is not None and isinstance(filesystem, kind)
