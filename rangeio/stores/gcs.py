"""Objects on Google Cloud Storage: gcsfs' token on the media url, over the plain HTTP path."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from rangeio.errors import Denied, RequestError, StoreError
from rangeio.ranges import ByteRange, Suffix
from rangeio.stores.http import HttpStore
from rangeio.stores.options import http_options
from rangeio.stores.refusal import Refusal
from rangeio.stores.store import Reply

_GENERATION = re.compile(r"(?:#|\?generation=)(\d{1,19})\Z")


class GcsStore:
    """Objects on Google Cloud Storage by ``bucket/name``, every character of the name as it is.

    A name that ends in ``#`` and a number, or ``?generation=`` and a number, names that
    generation, as in gcsfs. The tag is the generation; where a reply tells none, the ETag.
    options: of ``gcsfs.GCSFileSystem``. filesystem: an instance whose credentials and endpoint are
    taken. Only these are: no bucket is looked up, no gRPC channel opened. Everything is made
    lazily, on the loop of the first GET; a GET on another loop, or in a child, makes its own.
    """

    profile = "gs"
    pinned = True

    def __init__(
        self, options: Mapping[str, object] | None = None, *, filesystem: Any = None
    ) -> None:
        self._options = dict(options or {})
        self._filesystem = filesystem
        self._bound: _Bound | None = None

    async def get(self, key: str, at: ByteRange | Suffix, *, if_match: str | None = None) -> Reply:
        """The head of the reply to one ranged GET, its body unread.

        A token that is refused is refreshed once.
        """
        bound = await self._bind()
        bucket, _, name = key.partition("/")
        url = bound.url(key)
        headers: dict[str, str] = {}
        if if_match is not None and if_match.isdecimal():
            url = f"{url}&ifGenerationMatch={if_match}"
        elif if_match is not None:
            headers["If-Match"] = if_match
        shown = f"gs://{bucket}/{name}"
        try:
            answer = await self._ask(bound, url, headers, at)
        except StoreError as error:
            error.located(shown, at)
            raise
        if isinstance(answer, Reply):
            return answer
        raise _refused(answer, shown, at, anonymous=bound.credentials.credentials is None)

    async def place(self, key: str) -> str:
        """See Placed."""
        bound = await self._bind()
        return await bound.media.place(bound.url(key))

    async def close(self) -> None:
        """Close all connections of the running loop."""
        bound, self._bound = self._bound, None
        if bound is not None and bound.owner == _owner():
            await bound.media.close()
            await bound.etags.close()

    async def _ask(
        self, bound: _Bound, url: str, headers: dict[str, str], at: ByteRange | Suffix
    ) -> Reply | Refusal:
        sent = await bound.authorization()
        answer = await bound.http.ask(url, {**headers, **sent}, at)
        if isinstance(answer, Refusal) and answer.status == 401 and sent:
            await bound.renew(sent)
            sent = await bound.authorization()
            answer = await bound.http.ask(url, {**headers, **sent}, at)
        if isinstance(answer, Reply) and not answer.tag and answer.body and bound.use_etags():
            # No generation is told here, by some proxy say: ask again for what pins instead.
            answer.body.close(reuse=False)
            answer = await bound.http.ask(url, {**headers, **sent}, at)
        return answer

    async def _bind(self) -> _Bound:
        bound = self._bound
        if bound is None or bound.owner != _owner():
            fs = self._filesystem
            if fs is None:
                # Finding credentials may ask the machine's metadata service, and waits for it.
                loop = asyncio.get_running_loop()
                fs = await loop.run_in_executor(None, _filesystem, self._options)
            if self._bound is None or self._bound.owner != _owner():
                self._bound = _bound(fs)
            bound = self._bound
        return bound

    def __repr__(self) -> str:
        return f"GcsStore({len(self._options)} options)"

    def __reduce__(self) -> tuple[object, ...]:
        raise TypeError("a store holds connections and credentials; pickle what it was made from")


@dataclass(slots=True)
class _Bound:
    """What belongs to one loop of one process.

    media, etags: the same place, replies tagged with their generation or with their ETag.
    """

    owner: tuple[int, asyncio.AbstractEventLoop]
    media: HttpStore
    etags: HttpStore
    credentials: Any
    root: str
    project: str
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    generations: bool = True

    @property
    def http(self) -> HttpStore:
        """Where to ask."""
        return self.media if self.generations else self.etags

    def use_etags(self) -> bool:
        """Tag with ETags from now on; whether that is news."""
        was, self.generations = self.generations, False
        return was

    def url(self, key: str) -> str:
        """The media url of an object, complete but for preconditions."""
        bucket, _, name = key.partition("/")
        found = _GENERATION.search(name)
        generation = ""
        if found is not None:
            name, generation = name[: found.start()], f"&generation={found.group(1)}"
        if self.project:
            generation += f"&userProject={quote(self.project, safe='')}"
        # The name is one segment of the path: its slashes are encoded too.
        return f"{self.root}{quote(bucket, safe='')}/o/{quote(name, safe='')}?alt=media{generation}"

    async def authorization(self) -> dict[str, str]:
        """The headers that say who asks; none where nobody does."""
        token = self.credentials.credentials
        if token is None:
            return {}
        if not token.valid:
            await self._wait(self.credentials.maybe_refresh)
        headers: dict[str, str] = {}
        token.apply(headers)
        return headers

    async def renew(self, sent: Mapping[str, str]) -> None:
        """Refresh a token that was refused, unless another GET just did."""
        async with self.lock:
            now: dict[str, str] = {}
            self.credentials.credentials.apply(now)
            if now == sent:
                await self._wait(self._refresh)

    def _refresh(self) -> None:
        import requests
        from google.auth.transport.requests import Request

        with requests.Session() as session, self.credentials.lock:
            self.credentials.credentials.refresh(Request(session))

    async def _wait(self, refresh: Any) -> None:
        try:
            await asyncio.get_running_loop().run_in_executor(None, refresh)
        except Exception as error:
            kind = type(error).__name__
        else:
            return
        raise Denied(f"access denied: the token is not good and cannot be refreshed: {kind}")


def _bound(fs: Any) -> _Bound:
    mapped = http_options(fs.session_kwargs, fs.base)
    if mapped is None or getattr(fs, "_use_client_cert", False):
        raise RequestError(
            "client certificates and connectors of gcsfs are not taken over: "
            "set GOOGLE_API_USE_CLIENT_CERTIFICATE=false"
        )
    media = HttpStore(connect=mapped.connect, tag_header="x-goog-generation")
    etags = HttpStore(connect=mapped.connect)
    root = fs.base.removesuffix("storage/v1/") + "download/storage/v1/b/"
    payer = fs.requester_pays
    project = payer if isinstance(payer, str) else (fs.project or "") if payer else ""
    return _Bound(_owner(), media, etags, fs.credentials, root, project)


def _filesystem(options: Mapping[str, object]) -> Any:
    """A gcsfs filesystem of the plain kind, which looks no bucket up."""
    from gcsfs.core import GCSFileSystem

    own = {"asynchronous": True, "loop": None, "skip_instance_cache": True}
    failure = ""
    try:
        return GCSFileSystem(**{**options, **own})
    except (TypeError, KeyError, AttributeError) as error:
        failure = f"these storage_options do not fit gcsfs: {type(error).__name__}"
    except Exception as error:
        # ValueError is gcsfs' word for a token that it cannot use.
        raised = type(error).__name__
        failure = f"gcsfs found no usable credentials in these storage_options: {raised}"
    raise RequestError(failure)


def _owner() -> tuple[int, asyncio.AbstractEventLoop]:
    return os.getpid(), asyncio.get_running_loop()


def _refused(refusal: Refusal, url: str, at: ByteRange | Suffix, *, anonymous: bool) -> StoreError:
    status = refusal.status
    words = ""
    if status in (401, 403) and anonymous:
        words = "the object is not public: pass a token"
    elif status == 401:
        words = "the token is not good"
    elif status == 400 and "requester pays" in refusal.text:
        words = "the reader pays for this bucket: pass requester_pays=<project>"
    if words:
        return Denied(f"access denied: {words}: HTTP {status}", url=url, at=at, status=status)
    return refusal.error(url, at)
