"""Files of one job, written by many, of which none is to be seen before all are there."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from rangeio.errors import NotFound, RangeIOError, StoreError
from rangeio.fetching import fetch
from rangeio.folders import put, remove
from rangeio.stores.address import Options
from rangeio.stores.sink import open_folder

PREFIX = "_rangeio_job-"
"""What the names of jobs' folders begin with: readers pass over names with an underscore."""

_MARK = "_open"


@dataclass(frozen=True, slots=True)
class Staged:
    """A file that was written and waits. attempt: by whom, name: below the root, once published."""

    attempt: str
    name: str


@dataclass(frozen=True)
class Staging:
    """A hidden folder below ``root``, in which the attempts of a job write, each in its own.

    Picklable: made where the job is begun, used where its tasks run, published or dropped where it
    ends. Attempts that were killed, repeated or overtaken leave files that are never published,
    and go with the folder. storage_options may hold credentials and stay out of the repr.
    """

    root: str
    storage_options: Options | None = field(default=None, repr=False)
    job: str = field(default_factory=lambda: secrets.token_hex(8))

    @property
    def folder(self) -> str:
        """The hidden folder's name below the root."""
        return f"{PREFIX}{self.job}"

    def url(self, one: Staged) -> str:
        """Where an attempt writes a file."""
        return f"{self.root.rstrip('/')}/{self._hidden(one)}"

    def begin(self) -> None:
        """Once, where the job is begun: until its end a mark lies in the folder."""
        put(self._mark, b"open", self.storage_options)

    def ended(self) -> bool:
        """Whether the job was published or dropped: what is written now would be left."""
        try:
            fetch(self._mark, [(0, 1)], storage_options=self.storage_options)
        except NotFound:
            return True
        except StoreError:  # nobody knows: the job's end will tell
            return False
        return False

    @property
    def _mark(self) -> str:
        return f"{self.root.rstrip('/')}/{self.folder}/{_MARK}"

    def publish(
        self,
        files: Sequence[Staged],
        notes: Mapping[str, bytes],
        *,
        replace: bool,
        nearby: bool = False,
    ) -> None:
        """Make these files visible, and with ``replace`` remove all that was there before, or,
        with ``nearby``, what was in the folders that get some of them.

        Where a name cannot be given, those given are taken back. What was there is removed last:
        who is killed in between leaves both, never neither. Files of other jobs that are still
        written are let be. notes: small files for the root, put there when all others are.
        """
        there = open_folder(self.root, self.storage_options)
        old = [name for name in there.files() if not name.startswith(PREFIX)] if replace else []
        if nearby:
            mine = {_folder(one.name) for one in files}
            old = [name for name in old if _folder(name) in mine]
        try:
            there.move((self._hidden(one), one.name) for one in files)
        except RangeIOError:
            there.remove(one.name for one in files)
            raise
        there.remove({*old} - {*notes} - {one.name for one in files})
        for name, data in notes.items():
            put(f"{self.root.rstrip('/')}/{name}", data, self.storage_options)
        there.drop(self.folder)

    def drop(self) -> None:
        """Remove all that the job wrote; its mark first, so that nobody adds to it meanwhile."""
        remove(self.root, [f"{self.folder}/{_MARK}"], self.storage_options)
        open_folder(self.root, self.storage_options).drop(self.folder)

    def _hidden(self, one: Staged) -> str:
        return f"{self.folder}/{one.attempt}/{one.name}"


def _folder(name: str) -> str:
    return name.rpartition("/")[0]
