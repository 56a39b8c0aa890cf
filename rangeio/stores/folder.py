"""All that lies below a name of an fsspec filesystem, moved and removed by the store itself."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, TypeVar

from rangeio.errors import RangeIOError
from rangeio.stores.fsspecsink import failed_write

T = TypeVar("T")


class FsspecFolder:
    """A folder, or a prefix of object names; raises StoreErrors, without secrets in their words.

    An object store has no names to give: moving is a copy that the store makes, and a removal.
    """

    def __init__(self, filesystem: Any, key: str, url: str) -> None:
        self._filesystem = filesystem
        self._root = key.rstrip("/")
        self.url = url

    def files(self) -> dict[str, int]:
        """Every file below with its size, hidden ones too."""
        skipped = len(self._filesystem._strip_protocol(self._root)) + 1
        return {name[skipped:]: size for name, size in self._below(self._root).items()}

    def move(self, names: Iterable[tuple[str, str]]) -> None:
        """Give files other names; each appears whole. The old ones stay."""
        pairs = [(self._key(name), self._key(to)) for name, to in names]
        if not pairs:
            return
        have, wanted = map(list, zip(*pairs, strict=True))
        for folder in {one.rpartition("/")[0] for one in wanted}:
            self._call(partial(self._filesystem.makedirs, folder, exist_ok=True))
        self._call(partial(self._filesystem.copy, have, wanted))

    def remove(self, names: Iterable[str]) -> None:
        """Remove files; those that are gone are fine."""
        keys = [self._key(name) for name in names]
        if keys:
            self._call(partial(self._removed, keys))

    def drop(self, below: str) -> None:
        """Remove all below a name."""
        key = self._key(below)
        if self._below(key):
            self._call(partial(self._filesystem.rm, key, recursive=True))

    def _removed(self, keys: list[str]) -> None:
        try:
            self._filesystem.rm(keys)
        except FileNotFoundError:
            for key in keys:
                with contextlib.suppress(FileNotFoundError):
                    self._filesystem.rm_file(key)

    def _below(self, key: str) -> dict[str, int]:
        def listed() -> dict[str, int]:
            self._filesystem.invalidate_cache()
            try:
                found = self._filesystem.find(key, detail=True)
            except FileNotFoundError:
                return {}
            return {name: int(one.get("size") or 0) for name, one in found.items()}

        return self._call(listed)

    def _key(self, name: str) -> str:
        return f"{self._root}/{name}"

    def _call(self, work: Callable[[], T]) -> T:
        failure: RangeIOError
        try:
            return work()
        except Exception as error:
            failure = failed_write(error, self.url)
        # Raised out here, so that a traceback does not show the inner error and its urls.
        raise failure
