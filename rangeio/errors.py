"""The error tree, by culprit: the store, the file, or the request.

Every error carries the redacted url, the byte range and the reason, and survives pickling.
Only :mod:`rangeio.transport` decides what is retried; it asks :attr:`StoreError.transient`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rangeio.ranges import ByteRange, Suffix


class RangeIOError(Exception):
    """Root of all errors that rangeio raises on purpose.

    Args:
        reason: one line that says what is wrong and, where it helps, what to do.
        url: the object concerned, already redacted (no userinfo, no query).
        at: the byte range concerned, half-open.
    """

    def __init__(
        self, reason: str = "", *, url: str = "", at: ByteRange | Suffix | None = None
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.url = url
        self.at = at

    def located(self, url: str, at: ByteRange | Suffix | None = None) -> RangeIOError:
        """Fill in the url and range where the raiser did not know them; returns self."""
        self.url = self.url or url
        self.at = self.at if self.at is not None else at
        return self

    def __str__(self) -> str:
        where = self.url
        if self.at is not None:
            where = f"{where}[{self.at}]"
        return f"{where}: {self.reason}" if where else self.reason

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (type(self), self.__dict__.copy())


def _rebuild(kind: type[RangeIOError], fields: dict[str, object]) -> RangeIOError:
    error = kind(str(fields.get("reason", "")))
    error.__dict__.update(fields)
    return error


# ---- the store failed us ---------------------------------------------------------------------


class StoreError(RangeIOError):
    """The store did not deliver what it was asked for.

    ``status`` is the HTTP status (0 where there is none), ``attempts`` how often it was tried,
    ``retry_after`` the seconds that the server asked to wait (None: it said nothing).
    """

    transient = False

    def __init__(
        self,
        reason: str = "",
        *,
        url: str = "",
        at: ByteRange | Suffix | None = None,
        status: int = 0,
        attempts: int = 0,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(reason, url=url, at=at)
        self.status = status
        self.attempts = attempts
        self.retry_after = retry_after


class NotFound(StoreError, FileNotFoundError):
    """There is no such object, or no such bucket."""


class Denied(StoreError, PermissionError):
    """The store knows us not, or does not let us: 401, 403, a bad signature."""


class Throttled(StoreError):
    """The store asks to slow down (429, 503) and went on doing so until the budget was spent."""

    transient = True


class TimedOut(StoreError, TimeoutError):
    """A deadline passed: connecting, the first byte, a stall, or the whole request."""

    transient = True


class RangeIgnored(StoreError):
    """The server answered a ranged GET with the whole object; its body was not read."""


class ShortReply(StoreError):
    """The bytes that came are not the bytes that were asked for, or their head lies about them."""

    transient = True


class ObjectChanged(StoreError):
    """The object is no longer the version that was opened. Open it again."""


class Unreachable(StoreError):
    """No connection, or one that broke: refused, reset, no such host, TLS failure."""

    transient = True


class ServerFault(StoreError):
    """The server failed (5xx) or answered something that no store should."""

    transient = True


# ---- the file is not what it claims ------------------------------------------------------------


class FormatError(RangeIOError):
    """The bytes are not a valid file of the format. ``offset`` is a position in the file."""

    def __init__(
        self,
        reason: str = "",
        *,
        url: str = "",
        at: ByteRange | Suffix | None = None,
        offset: int | None = None,
    ) -> None:
        super().__init__(reason, url=url, at=at)
        self.offset = offset


class BadMagic(FormatError):
    """No known format claims the bytes."""


class Truncated(FormatError):
    """The file ends before what it announces."""


class Corrupt(FormatError):
    """A count, offset, checksum or message in the file contradicts the rest of it."""


class Unsupported(FormatError):
    """A valid file, in a version or encoding that rangeio does not read; the reason names it."""


# ---- the request makes no sense ----------------------------------------------------------------


class RequestError(RangeIOError, ValueError):
    """The caller asked for something that cannot be."""


class NoSuchColumn(RequestError, KeyError):
    """No column has this name, path or unique_id; near names are offered."""

    __str__ = RangeIOError.__str__  # KeyError would print a repr


class BadRows(RequestError, IndexError):
    """Rows outside the file, negative, or a slice with a step."""


class BadFilter(RequestError):
    """A filter that is malformed or does not fit its column's type."""


class Closed(RequestError):
    """The file, or its session, was closed."""
