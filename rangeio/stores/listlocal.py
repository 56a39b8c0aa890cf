"""Names of the local disk."""

from __future__ import annotations

import asyncio
import os
import stat

from rangeio.errors import Denied, NotFound, ServerFault, StoreError
from rangeio.stores.store import Listed, Page


class LocalLister:
    """Folders of the local disk by absolute path, each scanned whole in a thread.

    Links are followed, but not to a folder that was walked through already on the way. What is
    neither file nor folder is left out; a link that leads nowhere is listed, with no size.
    """

    deep = False

    async def list(self, folder: str, after: str = "", *, deep: bool = False) -> Page:
        """All that is right below a folder, in one page."""
        return await asyncio.get_running_loop().run_in_executor(None, _scan, folder)

    async def look(self, key: str) -> Listed | None:
        """The file of this path."""
        return await asyncio.get_running_loop().run_in_executor(None, look, key)

    def __repr__(self) -> str:
        return "LocalLister()"


def tag_of(found: os.stat_result) -> str:
    """The version tag that LocalStore gives a file."""
    return f"{found.st_ino}-{found.st_mtime_ns}-{found.st_size}"


def _scan(folder: str) -> Page:
    files: list[Listed] = []
    folders: list[str] = []
    try:
        with os.scandir(folder or os.sep) as entries:
            for entry in entries:
                if entry.is_dir():
                    if not (entry.is_symlink() and _leads_back(entry.path)):
                        folders.append(f"{entry.path}{os.sep}")
                elif (one := _entry(entry)) is not None:
                    files.append(one)
    except (OSError, ValueError) as error:
        raise _refused(error, folder) from error
    return Page(tuple(files), tuple(folders))


def _entry(entry: os.DirEntry[str]) -> Listed | None:
    try:
        found = entry.stat()
    except FileNotFoundError:
        # Gone since, or a link into nothing: of that the reader is told when it is opened.
        return Listed(entry.path) if entry.is_symlink() else None
    return _listed(entry.path, found)


def look(path: str) -> Listed | None:
    """The file of this path; None where there is none. Asks the disk, so for threads."""
    try:
        found = os.stat(path)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return None
    except OSError as error:
        raise _refused(error, path) from error
    return _listed(path, found)


def _listed(path: str, found: os.stat_result) -> Listed | None:
    if not _is_file(found):
        return None
    return Listed(path, found.st_size, tag_of(found), found.st_mtime)


def _is_file(found: os.stat_result) -> bool:
    return stat.S_ISREG(found.st_mode)


def _leads_back(link: str) -> bool:
    """Whether a link leads to a folder that it lies in, by any of the links walked before."""
    real = os.path.realpath(link)
    above = os.path.dirname(link)
    while True:
        if os.path.realpath(above) == real:
            return True
        if (parent := os.path.dirname(above)) == above:
            return False
        above = parent


def _refused(error: Exception, path: str) -> StoreError:
    if isinstance(error, FileNotFoundError | NotADirectoryError | ValueError):
        return NotFound("no such directory", url=path)
    if isinstance(error, PermissionError):
        return Denied("no permission to list the directory", url=path)
    return ServerFault(f"the disk failed: {getattr(error, 'strerror', error)}", url=path)
