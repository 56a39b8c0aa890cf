"""One way in which a server misbehaves, and the script of them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from rangeio.testing.request import Request


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with one answer. Fields combine; those left alone change nothing.

    status, retry_after, code, location: refuse with this status, these headers, this S3 error
    code. delay_s: before the head. silent: never answer. reset: break the connection before the
    head. garbage: these bytes instead of a head; the connection closes after them.
    ignore_range, ignore_if_match: as if the header was not there.
    content_range: the header's text, "" for none, with ``{start} {stop} {last} {total}`` filled
    in. short: so many bytes fewer than asked, with a consistent head. etag: "" for none.
    encoding: Content-Encoding. chunked: no Content-Length. extra: bytes after a chunked body.
    cut, reset_at, stall_at: close, break or fall silent after so many bytes of the body.
    bytes_per_s: send the body no faster. then: called before the answer, to swap an object say.
    """

    status: int = 0
    retry_after: str = ""
    code: str = ""
    location: str = ""
    delay_s: float = 0.0
    silent: bool = False
    reset: bool = False
    garbage: bytes = b""
    ignore_range: bool = False
    ignore_if_match: bool = False
    content_range: str | None = None
    short: int = 0
    etag: str | None = None
    encoding: str = ""
    chunked: bool = False
    extra: bytes = b""
    cut: int | None = None
    reset_at: int | None = None
    stall_at: int | None = None
    bytes_per_s: float = 0.0
    then: Callable[[], object] | None = None

    @property
    def ends_at(self) -> int | None:
        """Bytes of the body after which the answer stops short, None where it is whole."""
        ends = [n for n in (self.cut, self.reset_at, self.stall_at) if n is not None]
        return min(ends, default=None)


WELL = Fault()
"""Nothing is wrong."""


@dataclass(slots=True)
class _Rule:
    fault: Fault
    left: int
    skip: int
    when: Callable[[Request], bool]


@dataclass(slots=True)
class Script:
    """Which answers go wrong: the first rule that fits a request is used up by it."""

    _rules: list[_Rule] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def add(
        self,
        fault: Fault,
        times: int = 1,
        *,
        after: int = 0,
        when: Callable[[Request], bool] = lambda request: True,
    ) -> None:
        """Let ``times`` fitting requests meet ``fault``, once ``after`` of them went by well."""
        with self._lock:
            self._rules.append(_Rule(fault, times, after, when))

    def clear(self) -> None:
        """All is well again."""
        with self._lock:
            self._rules.clear()

    def meet(self, request: Request) -> Fault:
        """The fault of this request."""
        if not self._rules:
            return WELL
        with self._lock:
            for rule in self._rules:
                if rule.left and rule.when(request):
                    if rule.skip:
                        rule.skip -= 1
                        return WELL
                    rule.left -= 1
                    return rule.fault
        return WELL
