"""Urls that carry their own permission."""

from __future__ import annotations

import functools
import time
from dataclasses import dataclass, field
from typing import Any

WEEK_S = 7 * 24 * 3600
"""The longest life of a signature of version 4."""


@dataclass(frozen=True, slots=True)
class Keys:
    """Frozen credentials; the repr shows none of them.

    token: of a session, None where there is none. expires: seconds since the epoch, None where
    they are not known to end.
    """

    access: str = field(repr=False)
    secret: str = field(repr=False)
    token: str | None = field(default=None, repr=False)
    expires: float | None = None


@dataclass(frozen=True, slots=True)
class Signed:
    """A url that is good until ``until`` (seconds since the epoch), and what it was made with."""

    url: str = field(repr=False)
    until: float
    region: str
    keys: Keys | None = None


def presign(url: str, keys: Keys | None, region: str, now: float, life_s: float) -> Signed:
    """``url`` signed for GETs, version 4, no header but Host covered: any Range may go with it.

    It lives for ``life_s`` seconds, a week at most, never longer than the keys; it is to be made
    anew a little before. Without keys the url stays as it is, for good. Takes no I/O.
    """
    if keys is None:
        return Signed(url, float("inf"), region)
    from botocore.awsrequest import AWSRequest
    from botocore.credentials import ReadOnlyCredentials

    if keys.expires is not None:
        life_s = min(life_s, keys.expires - now)
    life_s = max(1, min(int(life_s), WEEK_S))
    request = AWSRequest("GET", url)
    # In UTC, to the second: the form that version 4 signs.
    request.context["timestamp"] = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(now))
    who = ReadOnlyCredentials(keys.access, keys.secret, keys.token)
    _signer()(who, "s3", region, expires=life_s).add_auth(request)
    return Signed(request.url, now + life_s - min(300.0, life_s / 5), region, keys)


@functools.cache
def _signer() -> Any:
    from botocore.auth import S3SigV4QueryAuth

    class Quiet(S3SigV4QueryAuth):  # type: ignore[misc]
        """Signs for the time in the request, and writes no signature to a log as botocore does."""

        def add_auth(self, request: Any) -> None:
            self._modify_request_before_signing(request)
            text = self.string_to_sign(request, self.canonical_request(request))
            self._inject_signature_to_request(request, self.signature(text, request))

    return Quiet
