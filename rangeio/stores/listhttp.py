"""Names that a web server's page about a directory links to."""

from __future__ import annotations

import html
import re
from urllib.parse import urljoin

from rangeio.errors import NotFound, ServerFault
from rangeio.ranges import ByteRange
from rangeio.stores.http import HttpStore
from rangeio.stores.refusal import RefusedForGood
from rangeio.stores.store import Listed, Page, Reply
from rangeio.stores.url import redact

MOST = 64 << 20
"""Bytes of a page at most; a longer one is no listing."""

ALL = ByteRange(0, 1 << 40)
"""A range that holds any page: a server that heeds it and one that does not answer the same."""

_LINK = re.compile(r"""<a\s(?:[^>]*?\s)?href\s*=\s*(?:"([^"]*)"|'([^']*)')""", re.IGNORECASE)


class HttpLister:
    """Urls right below a directory's url, as its page links to them: neither sizes nor tags."""

    deep = False

    def __init__(self, store: HttpStore) -> None:
        self._store = store

    async def list(self, folder: str, after: str = "", *, deep: bool = False) -> Page:
        """All links of the page that lead right below ``folder``."""
        reply = await self._store.get(folder, ALL)
        text = (await text_of(reply, folder)).decode("utf-8", "replace")
        found = dict.fromkeys(_below(text, folder))
        files = tuple(Listed(one) for one in found if not one.endswith("/"))
        return Page(files, tuple(one for one in found if one.endswith("/")))

    async def look(self, key: str) -> Listed | None:
        """What looks like a file's url is believed to be one, and nothing is asked; of a name
        without an extension, the page below it decides."""
        path, mark, _ = key.partition("?")
        if mark or "." in path.rpartition("/")[2]:
            return Listed(key)
        try:
            page = await self.list(f"{path}/")
        except (NotFound, RefusedForGood):
            return Listed(key)
        return None if page.files or page.folders else Listed(key)

    def __repr__(self) -> str:
        return "HttpLister()"


def _below(text: str, folder: str) -> list[str]:
    """The urls of a page right below a folder; orders of sorting, say, carry a query."""
    links = (html.unescape(one[0] or one[1]) for one in _LINK.findall(text))
    urls = [urljoin(folder, link) for link in links if "?" not in link and "#" not in link]
    return [
        url
        for url in urls
        if url.startswith(folder) and "/" not in url[len(folder) : -1] and url != folder
    ]


async def text_of(reply: Reply, url: str) -> bytes:
    """The whole body of a reply, MOST bytes at most; lets go of its connection."""
    body = reply.body
    if body is None:
        return bytes(reply.data or b"")
    room, text, ended = memoryview(bytearray(64 << 10)), bytearray(), False
    try:
        if reply.encoding not in ("", "identity"):
            raise ServerFault("the listing came compressed, though unasked", url=redact(url))
        while got := await body.receive(room):
            text += room[:got]
            if len(text) > MOST:
                raise RefusedForGood("this is too long for a listing", url=redact(url))
        ended = True
    finally:
        body.close(reuse=ended)
    return bytes(text)
