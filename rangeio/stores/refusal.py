"""What a refusing HTTP reply means: the one place where a status becomes an error."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

from rangeio.errors import (
    Denied,
    NotFound,
    ObjectChanged,
    ServerFault,
    StoreError,
    Throttled,
    TimedOut,
)
from rangeio.ranges import ByteRange, Suffix
from rangeio.stores.url import redact

_CODE = re.compile(r"<Code>\s*([A-Za-z0-9._-]{1,64})\s*</Code>")
_THROTTLING = frozenset({"SlowDown", "RequestLimitExceeded", "ThrottlingException", "Throttling"})
_KINDS: dict[int, type[StoreError]] = {
    401: Denied,
    403: Denied,
    404: NotFound,
    407: Denied,
    408: TimedOut,
    410: NotFound,
    412: ObjectChanged,
    429: Throttled,
    503: Throttled,
}
_WORDS: dict[type[StoreError], str] = {
    Denied: "access denied",
    NotFound: "no such object",
    ObjectChanged: "the object is no longer the version that was opened; open it again",
    Throttled: "the store asks to slow down",
    TimedOut: "the server gave up waiting",
}


@dataclass(frozen=True, slots=True)
class Refusal:
    """A reply that carries no bytes of the object.

    headers: as sent, with lower-case names. text: the start of its body, at most 64 KiB; never put
    whole into an error, since servers repeat signatures and keys in it.
    """

    status: int
    headers: Mapping[str, str]
    text: str = ""

    @property
    def code(self) -> str:
        """The ``<Code>`` of an S3 or GCS error document, "" where there is none."""
        found = _CODE.search(self.text)
        return found.group(1) if found else ""

    @property
    def retry_after(self) -> float | None:
        """Seconds that the server asks to wait, None where it does not say."""
        return seconds_after(self.headers.get("retry-after", ""), self.headers.get("date", ""))

    def error(self, url: str, at: ByteRange | Suffix | None = None) -> StoreError:
        """The StoreError that this refusal means, with the url redacted."""
        kind = self._kind()
        words = _WORDS.get(kind) or f"the server answered {self.status}"
        named = f" ({self.code})" if self.code else ""
        return kind(
            f"{words}: HTTP {self.status}{named}",
            url=redact(url),
            at=at,
            status=self.status,
            retry_after=self.retry_after,
        )

    def _kind(self) -> type[StoreError]:
        if self.code in _THROTTLING:
            return Throttled
        known = _KINDS.get(self.status)
        if known is not None:
            return known
        # Only 5xx that mean "later" are worth another try; 501 and 505 stay what they are.
        return ServerFault if self.status in (500, 502, 504) else RefusedForGood


class RefusedForGood(ServerFault):
    """The server answered something that asking again does not change."""

    transient = False


def seconds_after(retry_after: str, date: str = "") -> float | None:
    """Retry-After in seconds, never negative; a date is read against the reply's own ``Date``."""
    text = retry_after.strip()
    if text.isascii() and text.isdigit():
        return float(min(int(text[:9]), 86_400))
    try:
        gap = parsedate_to_datetime(text) - parsedate_to_datetime(date)
        return min(max(0.0, gap.total_seconds()), 86_400.0)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
