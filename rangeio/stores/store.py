"""The protocols that a store fulfils, one job each. What a store says is not trusted here:
:mod:`rangeio.transport` validates every reply before a byte of it is used."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from rangeio.ranges import ByteRange, Suffix


class Body(Protocol):
    """The bytes of a reply that are still on their way."""

    async def receive(self, into: memoryview) -> int:
        """Write the next bytes at the start of ``into``; 0 means that the body has ended.

        Called again and again with what is left of one preallocated buffer, so nothing is copied
        twice. Raises Unreachable where the connection broke.
        """
        ...

    def close(self, *, reuse: bool) -> None:
        """Let go of the connection; ``reuse`` only where the body was read to its end."""
        ...


@dataclass(slots=True)
class Reply:
    """The head of an answer, as the server gave it, and its body.

    at: the range that the reply says it carries (from Content-Range; the whole object for a 200);
        None where it does not say.
    total: size of the object in bytes, None where unknown ("*").
    tag: version tag, strong where it does not begin with ``W/``; "" where there is none.
    data: the bytes where the store has them at hand (memory, a local file), else ``body``.
    size: bytes of the body that the head announces (Content-Length), None where it does not.
    encoding: Content-Encoding; anything but "" or "identity" is refused.
    whole: the server answered with the whole object although a part was asked for.
    """

    at: ByteRange | None
    total: int | None
    tag: str
    data: memoryview | None = None
    body: Body | None = None
    size: int | None = None
    encoding: str = ""
    whole: bool = False
    status: int = 206


class Store(Protocol):
    """Ranged reads of the objects of one endpoint. Holds no retry, no cache and no limit."""

    profile: str
    """The cost profile that fits: ``s3``, ``s3express``, ``gs``, ``http``, ``file``, ``memory``."""

    pinned: bool
    """Whether ``if_match`` is honoured, or a foreign tag at least visible in the reply."""

    async def get(self, key: str, at: ByteRange | Suffix, *, if_match: str | None = None) -> Reply:
        """The head of the reply to one ranged GET, its body unread.

        Raises the StoreError that the refusal means, with status and retry_after: NotFound 404,
        Denied 401/403, ObjectChanged 412, Throttled 429/503, ServerFault other 5xx, Unreachable
        where no reply came. A 416 comes back as a reply with that status, ``at`` None and
        ``total`` where the server told it.
        """
        ...

    async def close(self) -> None:
        """Close what it opened, on the loop that opened it."""
        ...


@runtime_checkable
class AtHand(Protocol):
    """A store that reads a few bytes sooner than it could hand the reading to somebody."""

    def at_hand(
        self,
        key: str,
        ranges: Sequence[ByteRange | Suffix],
        *,
        if_match: str | None = None,
        into: Sequence[memoryview | None] | None = None,
    ) -> list[Reply]:
        """The replies to ranged GETs of one version, with their data; raises as ``get`` does.

        into: a buffer of the size of each range that is to be received there, None for the others.
        """
        ...


@runtime_checkable
class Placed(Protocol):
    """A store that can say where its objects are, for who keeps their bytes across processes."""

    async def place(self, key: str) -> str:
        """Endpoint and name of an object: the same in every process, another for every other
        object, without what merely permits to read it; "" where its bytes are not to be kept.
        Makes no request of the object."""
        ...


@dataclass(frozen=True, slots=True)
class Listed:
    """One object of a listing.

    key: as its store names it. size: in bytes, -1 where the listing does not tell. tag: the
    version tag that the store's replies will carry, "" where that is not certain. modified: when
    it was written, in seconds since 1970, None where the listing does not tell.
    """

    key: str
    size: int = -1
    tag: str = ""
    modified: float | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Page:
    """Part of a listing. folders: keys of what can be listed in turn, each ends in a slash.
    after: what asks for the next page, "" where there is none."""

    files: tuple[Listed, ...] = ()
    folders: tuple[str, ...] = ()
    after: str = ""


class Lister(Protocol):
    """Names of objects. What it raises is what a store's ``get`` raises; it retries nothing."""

    deep: bool
    """Whether one page can hold all that lies below a folder, at any depth."""

    async def list(self, folder: str, after: str = "", *, deep: bool = False) -> Page:
        """One page of what lies right below ``folder``, a key with a slash at its end or "".

        deep: at any depth instead, in ``files`` alone. NotFound where the store knows that there
        is no such folder; an object store knows only of empty pages.
        """
        ...

    async def look(self, key: str) -> Listed | None:
        """The object of exactly this name; None where there is none that can be seen."""
        ...


class Sink(Protocol):
    """One new object; nothing is visible under its name before :meth:`commit`."""

    def write(self, data: memoryview) -> None:
        """Append."""
        ...

    def commit(self) -> None:
        """Make the object visible, whole."""
        ...

    def abort(self) -> None:
        """Leave nothing behind."""
        ...


class Folder(Protocol):
    """All that lies below a name. Names of files are those below it, with slashes."""

    @property
    def url(self) -> str:
        """For people, redacted."""
        ...

    def files(self) -> dict[str, int]:
        """Every file with its size, hidden ones too; none where the folder is not there."""
        ...

    def move(self, names: Iterable[tuple[str, str]]) -> None:
        """Give files other names, each in one step. The old names may stay until they are dropped:
        where moving is copying, they go together sooner than one by one."""
        ...

    def remove(self, names: Iterable[str]) -> None:
        """Remove files; those that are gone are fine."""
        ...

    def drop(self, below: str) -> None:
        """Remove a folder in it, with all that it holds."""
        ...
