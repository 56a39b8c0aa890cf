"""Directories of the local disk, as what several files are moved into together."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterable

from rangeio.errors import RangeIOError
from rangeio.stores.localsink import refused_write


class LocalFolder:
    """A directory, whether or not it is there; raises StoreErrors."""

    def __init__(self, path: str) -> None:
        self.url = self._root = path

    def files(self) -> dict[str, int]:
        """Every file below with its size, hidden ones too."""
        found = {}
        for folder, _, names in os.walk(self._root):
            for name in names:
                path = os.path.join(folder, name)
                with contextlib.suppress(FileNotFoundError):  # removed meanwhile
                    below = os.path.relpath(path, self._root).replace(os.sep, "/")
                    found[below] = os.stat(path).st_size
        return found

    def move(self, names: Iterable[tuple[str, str]]) -> None:
        """Give files other names; each appears whole, in one step."""
        for name, to in names:
            try:
                os.makedirs(os.path.dirname(self._path(to)), exist_ok=True)
                os.replace(self._path(name), self._path(to))
            except OSError as error:
                raise self._refused(error, to) from error

    def remove(self, names: Iterable[str]) -> None:
        """Remove files, and the directories that are empty then; those that are gone are fine."""
        for name in names:
            try:
                os.unlink(self._path(name))
            except FileNotFoundError:
                continue
            except OSError as error:
                raise self._refused(error, name) from error
            self._tidy(os.path.dirname(name))

    def drop(self, below: str) -> None:
        """Remove a whole directory below this one."""
        try:
            shutil.rmtree(self._path(below))
        except FileNotFoundError:
            return
        except OSError as error:
            raise self._refused(error, below) from error

    def _tidy(self, below: str) -> None:
        while below:
            with contextlib.suppress(OSError):  # not empty, or gone
                os.rmdir(self._path(below))
            below = os.path.dirname(below)

    def _path(self, name: str) -> str:
        return os.path.join(self._root, name)

    def _refused(self, error: OSError, name: str) -> RangeIOError:
        return refused_write(error, self._path(name))
