"""New files of the local disk."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat

from rangeio.errors import Denied, NotFound, RequestError, ServerFault, StoreError
from rangeio.stores.refusal import RefusedForGood

_KINDS: dict[int, tuple[type[StoreError], str]] = {
    errno.EACCES: (Denied, "no permission to write here"),
    errno.EPERM: (Denied, "no permission to write here"),
    errno.EROFS: (Denied, "this filesystem is read-only"),
    errno.ENOENT: (NotFound, "the directory is gone"),
    errno.ENOTDIR: (NotFound, "a part of the path is no directory"),
    errno.ENAMETOOLONG: (RefusedForGood, "the name is too long"),
    errno.ENOSPC: (RefusedForGood, "the disk is full"),
    errno.EDQUOT: (RefusedForGood, "the disk quota is used up"),
    errno.EFBIG: (RefusedForGood, "the file is too large for this filesystem"),
}
_NO_LINKS = frozenset({errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EXDEV})


class LocalSink:
    """A file under a hidden name in the same directory, renamed when it is whole.

    Missing directories are made. A file of that name is replaced in one step, and keeps its
    permissions; one that a symbolic link names is replaced where it lies. The bytes are on the
    disk before the name is; the name itself may be lost with the machine, and then the old file
    is there, whole. overwrite: False raises RequestError where there is a file.
    """

    def __init__(self, path: str, *, overwrite: bool = True) -> None:
        self._shown = path
        self._overwrite = overwrite
        self._made: list[str] = []
        self._fd = -1
        self._path = self._temporary = ""
        try:
            self._path = os.path.realpath(path)
            mode = self._mode()
            self._directories(os.path.dirname(self._path))
            self._temporary = os.path.join(
                os.path.dirname(self._path), f".rangeio-{secrets.token_hex(8)}.part"
            )
            self._fd = os.open(
                self._temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666
            )
            if mode is not None:
                with contextlib.suppress(OSError):  # somebody else's file, or a FAT disk
                    os.fchmod(self._fd, mode)
        except BaseException as error:
            self.abort()
            if isinstance(error, OSError):
                raise self._refused(error) from error
            if type(error) is ValueError:
                raise NotFound("the name holds a null byte", url=path) from error
            raise

    def write(self, data: memoryview) -> None:
        """Append."""
        left = data
        try:
            while left:
                left = left[os.write(self._fd, left) :]
        except OSError as error:
            raise self._refused(error) from error

    def commit(self) -> None:
        """Give the file its name."""
        try:
            os.fsync(self._fd)
            fd, self._fd = self._fd, -1
            os.close(fd)
            self._rename()
        except OSError as error:
            raise self._refused(error) from error
        self._temporary, self._made = "", []

    def abort(self) -> None:
        """Remove the file, and the directories that were made for it."""
        fd, self._fd = self._fd, -1
        if fd >= 0:
            with contextlib.suppress(OSError):
                os.close(fd)
        name, self._temporary = self._temporary, ""
        if name:
            with contextlib.suppress(OSError):
                os.unlink(name)
        while self._made:
            with contextlib.suppress(OSError):  # somebody else may use it by now
                os.rmdir(self._made.pop())

    def __repr__(self) -> str:
        return f"LocalSink({self._shown!r})"

    def _mode(self) -> int | None:
        """The permissions of the file that is there, None where there is none."""
        try:
            found = os.stat(self._path)
        except FileNotFoundError:
            return None
        if stat.S_ISDIR(found.st_mode):
            raise RefusedForGood("this is a directory, not a file", url=self._shown)
        if not stat.S_ISREG(found.st_mode):
            raise RefusedForGood("this is a pipe, socket or device, not a file", url=self._shown)
        if not self._overwrite:
            raise self._exists()
        if not os.access(self._path, os.W_OK):
            raise Denied("the file is write-protected", url=self._shown)
        return stat.S_IMODE(found.st_mode)

    def _directories(self, path: str) -> None:
        missing = []
        while not os.path.isdir(path):
            missing.append(path)
            path = os.path.dirname(path)
        for one in reversed(missing):
            with contextlib.suppress(FileExistsError):
                os.mkdir(one)
                self._made.append(one)

    def _rename(self) -> None:
        if not self._overwrite:
            try:
                os.link(self._temporary, self._path)
            except FileExistsError:
                raise self._exists() from None
            except OSError as error:
                if error.errno not in _NO_LINKS:
                    raise
                if os.path.lexists(self._path):
                    raise self._exists() from None
            else:
                os.unlink(self._temporary)
                return
        os.replace(self._temporary, self._path)

    def _exists(self) -> RequestError:
        return RequestError("there is a file already, and overwrite=False", url=self._shown)

    def _refused(self, error: OSError) -> StoreError:
        return refused_write(error, self._shown)


def refused_write(error: OSError, path: str) -> StoreError:
    """What the system's error means while something is written."""
    words = ServerFault, f"the disk failed: {error.strerror}"
    kind, reason = _KINDS.get(error.errno or 0, words)
    return kind(reason, url=path)
