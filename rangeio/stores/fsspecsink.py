"""New objects through an fsspec filesystem, each kind made so that no part of one is ever seen."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from aiohttp import ClientConnectionError

from rangeio.errors import NotFound, RangeIOError, RequestError, Unreachable
from rangeio.stores.account import credentials_failure
from rangeio.stores.fsspec import refused
from rangeio.stores.refusal import Refusal, RefusedForGood
from rangeio.stores.store import Sink

T = TypeVar("T")

UPLOADED = frozenset({"s3", "s3a", "gs", "gcs"})
"""Protocols of filesystems whose objects are seen when their file is closed, and not before."""


class Upload:
    """An object store's upload, in parts where it is large: closing completes it."""

    def __init__(self, filesystem: Any, key: str, *, overwrite: bool) -> None:
        # "x" makes the store itself refuse, should the object come to be meanwhile. autocommit
        # keeps the upload apart from a transaction that the caller may have begun.
        self._file = filesystem.open(key, "wb" if overwrite else "xb", autocommit=True)

    def write(self, data: memoryview) -> None:
        """Append."""
        self._file.write(data)

    def commit(self) -> None:
        """Complete the upload."""
        self._file.close()

    def abort(self) -> None:
        """Cancel the upload."""
        try:
            self._file.discard()
        finally:
            self._file.closed = True  # or it is completed when it is garbage


class Whole:
    """Bytes that are kept, and given to the filesystem in one call: for those in memory."""

    def __init__(self, filesystem: Any, key: str, *, overwrite: bool) -> None:
        self._filesystem, self._key, self._overwrite = filesystem, key, overwrite
        self._data = bytearray()

    def write(self, data: memoryview) -> None:
        """Append."""
        self._data += data

    def commit(self) -> None:
        """Hand the bytes over."""
        if not self._overwrite:
            _absent(self._filesystem, self._key)
        data, self._data = bytes(self._data), bytearray()
        self._filesystem.pipe_file(self._key, data)

    def abort(self) -> None:
        """Forget the bytes."""
        self._data = bytearray()


class Renamed:
    """A file under a hidden name in the same directory, moved when it is whole.

    Missing directories are made, and stay.
    """

    def __init__(self, filesystem: Any, key: str, *, overwrite: bool) -> None:
        self._filesystem, self._key, self._overwrite = filesystem, key, overwrite
        if filesystem.isdir(key):
            raise IsADirectoryError(key)  # or the file is moved into it
        folder, slash, _ = key.rpartition("/")
        if folder:
            filesystem.makedirs(folder, exist_ok=True)
        self._hidden = f"{folder}{slash}.rangeio-{secrets.token_hex(8)}.part"
        self._file = filesystem.open(self._hidden, "wb", autocommit=True)

    def write(self, data: memoryview) -> None:
        """Append."""
        self._file.write(data)

    def commit(self) -> None:
        """Move the file to its name."""
        self._file.close()
        if not self._overwrite:
            _absent(self._filesystem, self._key)
        self._filesystem.mv(self._hidden, self._key)

    def abort(self) -> None:
        """Remove the file."""
        with contextlib.suppress(Exception):  # what it still held need not arrive
            self._file.close()
        with contextlib.suppress(FileNotFoundError):
            self._filesystem.rm_file(self._hidden)


class FsspecSink:
    """One new object on an fsspec filesystem; raises StoreErrors, without secrets in their words.

    Every call of the filesystem is made in one thread of the sink's own: a caller that is
    interrupted leaves a call running there, and what follows (``abort``) waits for its end, so
    that nothing it was about to make stays behind. overwrite: False raises RequestError where
    there is an object.
    """

    def __init__(self, filesystem: Any, key: str, url: str, *, overwrite: bool = True) -> None:
        self._url = url
        self._overwrite = overwrite
        self._made: Sink | None = None
        self._thread: ThreadPoolExecutor | None = ThreadPoolExecutor(1, "rangeio-write")
        # Who is interrupted while the pool starts its thread would be given a second one for what
        # follows, and nothing would wait for the first.
        self._thread.submit(bool).result()
        try:
            self._call(lambda: self._make(filesystem, key))
        except BaseException:
            self.abort()
            raise

    def write(self, data: memoryview) -> None:
        """Append."""
        self._call(lambda: self._sink.write(data))

    def commit(self) -> None:
        """Make the object visible, whole."""
        self._call(self._commit)
        self._end()

    def abort(self) -> None:
        """Leave nothing behind; does nothing once the object is there."""
        if self._thread is not None:
            try:
                self._call(self._abort)
            finally:
                self._end()

    def __repr__(self) -> str:
        return f"FsspecSink({self._url!r})"

    @property
    def _sink(self) -> Sink:
        assert self._made is not None
        return self._made

    def _make(self, filesystem: Any, key: str) -> None:
        if not self._overwrite:
            _absent(filesystem, key)
        names = protocols(filesystem)
        kind = Upload if names & UPLOADED else Whole if "memory" in names else Renamed
        self._made = kind(filesystem, key, overwrite=self._overwrite)

    def _commit(self) -> None:
        self._sink.commit()
        self._made = None

    def _abort(self) -> None:
        made, self._made = self._made, None
        if made is not None:
            made.abort()

    def _end(self) -> None:
        thread, self._thread = self._thread, None
        if thread is not None:
            thread.shutdown(wait=False)

    def _call(self, work: Callable[[], T]) -> T:
        assert self._thread is not None
        failure: RangeIOError
        try:
            return self._thread.submit(work).result()
        except Exception as error:
            failure = self._failed(error)
        # Raised out here, so that a traceback does not show the inner error and its urls.
        raise failure

    def _failed(self, error: Exception) -> RangeIOError:
        if isinstance(error, FileExistsError) and not self._overwrite:
            return RequestError("there is an object already, and overwrite=False", url=self._url)
        return failed_write(error, self._url)


def failed_write(error: Exception, url: str) -> RangeIOError:
    """What a filesystem's exception means while something is written; url: for people."""
    if isinstance(error, FileNotFoundError):
        return NotFound("no such bucket or directory", url=url)
    if isinstance(error, ClientConnectionError):
        return Unreachable(f"the connection failed: {type(error).__name__}", url=url)
    package = type(error).__module__.partition(".")[0]
    if package == "botocore":
        return _botocore(error).located(url)
    if package == "gcsfs" and str(getattr(error, "code", "")).isdigit():
        return Refusal(int(error.code), {}).error(url)  # type: ignore[attr-defined]
    failure = refused(error, url)
    if isinstance(failure, RefusedForGood) and not isinstance(error, IsADirectoryError):
        said = failure.reason.partition(": ")[2]
        return RefusedForGood(f"the filesystem cannot write this: {said}", url=url)
    return failure


def protocols(filesystem: Any) -> set[str]:
    """The names that a filesystem goes by."""
    named = filesystem.protocol
    return {named} if isinstance(named, str) else set(named)


def _absent(filesystem: Any, key: str) -> None:
    """Raise FileExistsError where there is an object; a listing that is cached does not count."""
    filesystem.invalidate_cache(filesystem._parent(key))
    if filesystem.exists(key):
        raise FileExistsError(key)


def _botocore(error: Exception) -> RangeIOError:
    from botocore.exceptions import ConnectionError as Broken
    from botocore.exceptions import HTTPClientError

    if isinstance(error, Broken | HTTPClientError):
        return Unreachable(f"the connection failed: {type(error).__name__}")
    return credentials_failure(error)
