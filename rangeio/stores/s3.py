"""Objects on S3: one signed url an object, read over the plain HTTP path."""

from __future__ import annotations

import asyncio
import os
import re
import time
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from rangeio.errors import Denied, NotFound, RangeIOError, StoreError
from rangeio.ranges import ByteRange, Suffix
from rangeio.stores.account import Account
from rangeio.stores.getobject import get_object
from rangeio.stores.http import HttpStore
from rangeio.stores.refusal import Refusal, RefusedForGood
from rangeio.stores.signing import Keys, Signed, presign
from rangeio.stores.store import Reply

LIFE_S = 3600.0
"""Seconds that a signed url lives, where its credentials live as long."""

KEPT = 4096
"""Signed urls that are kept, the latest used."""

_REGION = re.compile(r"<Region>\s*([a-z0-9-]{1,32})\s*</Region>|expecting '([a-z0-9-]{1,32})'")
_ARN = re.compile(
    r"(arn:[^/:]*:[^/:]*:[^/:]*:\d{12}:"
    r"(?:outpost[/:][^/:]+[/:](?:bucket|accesspoint)|accesspoint)[/:][^/:]+)/"
)
_NAME = re.compile(r"[a-z0-9-]{1,32}")
_NO_QUERY = re.compile(r"authType|query[- ]?string auth|pre-?signed", re.IGNORECASE)
_WORDS = {
    "AuthorizationHeaderMalformed": "the bucket is in another region",
    "AuthorizationQueryParametersError": "the signature's region or form is refused",
    "ExpiredToken": "the credentials have expired",
    "InvalidAccessKeyId": "the access key is not known",
    "InvalidToken": "the session token is not good",
    "RequestExpired": "the signature has expired; is this machine's clock right?",
    "RequestTimeTooSkewed": "this machine's clock is off by too much",
    "SignatureDoesNotMatch": "the secret key is wrong",
    "TokenRefreshRequired": "the credentials have expired",
}


@dataclass(slots=True)
class _Bound:
    """What belongs to one loop of one process."""

    owner: tuple[int, asyncio.AbstractEventLoop]
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    account: Account | None = None
    http: HttpStore | None = None
    carried: Mapping[str, object] = field(default_factory=dict)
    roots: dict[tuple[str, str], str] = field(default_factory=dict)
    signed: OrderedDict[str, Signed] = field(default_factory=OrderedDict)


class S3Store:
    """Objects on S3 by ``bucket/key``, every character of the key as it is.

    A key that ends in ``?versionId=...`` names that version. options: of s3fs.S3FileSystem, and
    ``query_auth`` (False: never sign a url, ask botocore's client instead) and ``url_life_s``.
    filesystem: an s3fs instance whose settings are taken instead. Everything is made lazily, on
    the loop of the first GET; a GET on another loop, or in a forked child, makes its own.
    """

    profile = "s3"
    pinned = True

    def __init__(
        self, options: Mapping[str, object] | None = None, *, filesystem: Any = None
    ) -> None:
        given = dict(options or {})
        self._query_auth = given.pop("query_auth", True) is not False
        life_s = given.pop("url_life_s", LIFE_S)
        self._life_s = float(life_s) if isinstance(life_s, int | float) else LIFE_S
        self._options = given
        self._filesystem = filesystem
        self._bound: _Bound | None = None
        # What buckets taught: where they are, and which take no signature in a query.
        self._regions: dict[str, str] = {}
        self._header_only: set[str] = set()

    async def get(self, key: str, at: ByteRange | Suffix, *, if_match: str | None = None) -> Reply:
        """The head of the reply to one ranged GET, its body unread.

        A wrong region is corrected once, refused credentials are looked up again once; Denied
        says in words what S3 did not like.
        """
        bucket, name, _ = _split(key)
        url = f"s3://{bucket}/{name}"
        try:
            bound = await self._bind()
            if self._by_client(bucket, bound):
                return await self._unsigned_url(bound, key, at, if_match)
            answer = await self._ask(bound, key, at, if_match)
            if isinstance(answer, Reply):
                return answer
            if answer.status == 403 and _NO_QUERY.search(answer.text):
                self._header_only.add(bucket)
                return await self._unsigned_url(bound, key, at, if_match)
        except RangeIOError as error:
            error.located(url, at)
            raise
        assert bound.account is not None
        raise _refused(answer, url, at, anonymous=bound.account.anonymous)

    async def place(self, key: str) -> str:
        """See Placed. All regions are one place, for a bucket's name is its own in all of them.

        No place, "", where the reader brings the key that decrypts: others must not find it read.
        """
        bound = await self._bind()
        assert bound.account is not None
        if "SSECustomerKey" in bound.carried:
            return ""
        return f"{await bound.account.place()} {key}"

    async def close(self) -> None:
        """Close all connections of the running loop."""
        bound, self._bound = self._bound, None
        if bound is None or bound.owner != _owner():
            return
        if bound.http is not None:
            await bound.http.close()
        if bound.account is not None:
            await bound.account.close()

    async def _bind(self) -> _Bound:
        bound = self._bound
        if bound is None or bound.owner != _owner():
            bound = self._bound = _Bound(_owner())
        if bound.account is None:
            async with bound.lock:
                if bound.account is None:
                    account = Account(self._options, self._filesystem)
                    bound.carried = await account.carried()
                    connect = await account.connect()
                    bound.http = HttpStore(connect=connect) if connect is not None else None
                    bound.account = account
        return bound

    def _by_client(self, bucket: str, bound: _Bound) -> bool:
        """Whether a signed url cannot do: something must ride in headers, or in another scheme."""
        return (
            bool(bound.carried)
            or bound.http is None
            or not self._query_auth
            or bucket in self._header_only
            or bucket.startswith("arn:")
            or bucket.endswith("--x-s3")
        )

    async def _ask(
        self, bound: _Bound, key: str, at: ByteRange | Suffix, if_match: str | None
    ) -> Reply | Refusal:
        assert bound.account is not None
        assert bound.http is not None
        headers = {} if if_match is None else {"If-Match": if_match}
        bucket = _split(key)[0]
        moved = renewed = False
        while True:
            signed = await self._signed(bound, key)
            answer = await bound.http.ask(signed.url, headers, at)
            if isinstance(answer, Reply):
                return answer
            region = _region(answer)
            if region and region != signed.region and not moved:
                moved = True
                self._regions[bucket] = region
            elif answer.status in (400, 401, 403) and signed.keys is not None and not renewed:
                if _NO_QUERY.search(answer.text):
                    return answer
                renewed = True
                await bound.account.renew()
            else:
                return answer
            if bound.signed.get(key) is signed:
                del bound.signed[key]

    async def _signed(self, bound: _Bound, key: str) -> Signed:
        """The object's url, made anew where it is about to expire."""
        known = bound.signed.get(key)
        if known is not None and time.time() < known.until:
            bound.signed.move_to_end(key)
            return known
        assert bound.account is not None
        bucket, name, version = _split(key)
        region = self._regions.get(bucket) or await bound.account.region()
        root = bound.roots.get((bucket, region))
        if root is None:
            root = bound.roots[bucket, region] = await bound.account.root(bucket, region)
        url = root + quote(name, safe="/-_.~")
        if version:
            url = f"{url}?versionId={quote(version, safe='-_.~')}"
        keys: Keys | None = await bound.account.keys()
        signed = bound.signed[key] = presign(url, keys, region, time.time(), self._life_s)
        while len(bound.signed) > KEPT:
            bound.signed.popitem(last=False)
        return signed

    async def _unsigned_url(
        self, bound: _Bound, key: str, at: ByteRange | Suffix, if_match: str | None
    ) -> Reply:
        """Through botocore's client; refused credentials are looked up again once."""
        assert bound.account is not None
        bucket, name, version = _split(key)
        asked = {"Bucket": bucket, "Key": name, **bound.carried}
        if version:
            asked["VersionId"] = version
        answer = await get_object(await bound.account.client(), asked, at, if_match)
        if isinstance(answer, Refusal) and answer.status in (400, 401, 403):
            if not bound.account.anonymous:
                await bound.account.renew()
            answer = await get_object(await bound.account.client(), asked, at, if_match)
        if isinstance(answer, Reply):
            return answer
        raise _refused(answer, f"s3://{bucket}/{name}", at, anonymous=bound.account.anonymous)

    def __repr__(self) -> str:
        return f"S3Store({len(self._options)} options)"

    def __reduce__(self) -> tuple[object, ...]:
        raise TypeError("a store holds connections and credentials; pickle what it was made from")


def _owner() -> tuple[int, asyncio.AbstractEventLoop]:
    return os.getpid(), asyncio.get_running_loop()


def _split(key: str) -> tuple[str, str, str]:
    """Bucket, key and version; an access point's ARN may hold a slash."""
    path, _, version = key.partition("?versionId=")
    found = _ARN.match(path)
    if found is not None:
        return found.group(1), path[found.end() :], version
    bucket, _, name = path.partition("/")
    return bucket, name, version


def _region(refusal: Refusal) -> str:
    """The region that a refusal says the bucket is in; "" where it does not say.

    Checked, since a host name is made of it.
    """
    if refusal.status not in (301, 307, 400, 403):
        return ""
    told = refusal.headers.get("x-amz-bucket-region", "")
    if _NAME.fullmatch(told):
        return told
    found = _REGION.search(refusal.text)
    return (found.group(1) or found.group(2)) if found else ""


def _refused(refusal: Refusal, url: str, at: ByteRange | Suffix, *, anonymous: bool) -> StoreError:
    """The error that a refusal means, in words that say what to do."""
    code, status = refusal.code, refusal.status
    named = f"HTTP {status} ({code})" if code else f"HTTP {status}"
    if code in _WORDS:
        return Denied(f"access denied: {_WORDS[code]}: {named}", url=url, at=at, status=status)
    if code == "NoSuchBucket":
        return NotFound(f"no such bucket: {named}", url=url, at=at, status=status)
    if status in (301, 307):
        words = "the bucket is in another region: name it with client_kwargs={'region_name': ...}"
        return RefusedForGood(f"{words}: {named}", url=url, at=at, status=status)
    if status == 403 and anonymous:
        words = "the object is not public: pass key and secret"
        return Denied(f"access denied: {words}: {named}", url=url, at=at, status=status)
    return refusal.error(url, at)
