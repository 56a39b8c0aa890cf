"""Names on Google Cloud Storage: its JSON listing, page by page."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any
from urllib.parse import quote, urlencode

from rangeio.errors import NotFound, ServerFault, StoreError
from rangeio.stores.gcs import GcsStore, _refused
from rangeio.stores.listhttp import ALL, text_of
from rangeio.stores.store import Listed, Page, Reply

_OWN = "https://storage.googleapis.com/"


class GcsLister:
    """Objects of GCS by ``bucket/name``, with the token of a store. page: objects of one page.

    The generation is the tag, from Google's own endpoint only: stand-ins and proxies list
    generations that their media replies do not carry.
    """

    deep = True

    def __init__(self, store: GcsStore, page: int = 1000) -> None:
        self._store = store
        self._page = page

    async def list(self, folder: str, after: str = "", *, deep: bool = False) -> Page:
        """One page; objects that stand for folders are left out."""
        bucket, _, prefix = folder.partition("/")
        asked = {"maxResults": str(self._page), "prettyPrint": "false"}
        asked |= {"prefix": prefix} if prefix else {}
        asked |= {} if deep else {"delimiter": "/"}
        asked |= {"pageToken": after} if after else {}
        told, own = await self._ask(bucket, "", asked, f"gs://{folder}")
        try:
            items = [_listed(bucket, one, own) for one in told.get("items", ())]
            folders = tuple(f"{bucket}/{one}" for one in told.get("prefixes", ()))
            files = tuple(one for one in items if not one.key.endswith("/"))
            return Page(files, folders, str(told.get("nextPageToken", "")))
        except (KeyError, TypeError, ValueError, AttributeError):
            raise ServerFault("this is no listing of objects", url=f"gs://{folder}") from None

    async def look(self, key: str) -> Listed | None:
        """The metadata of one object. A refusal is None too, as on S3."""
        bucket, _, name = key.partition("/")
        try:
            told, own = await self._ask(bucket, f"/{quote(name, safe='')}", {}, f"gs://{key}")
            return _listed(bucket, told, own)
        except StoreError as error:
            if error.status in (403, 404):
                return None
            raise
        except (KeyError, TypeError, ValueError):
            raise ServerFault("this is no object's metadata", url=f"gs://{key}") from None

    async def _ask(
        self, bucket: str, name: str, asked: dict[str, str], shown: str
    ) -> tuple[dict[str, Any], bool]:
        """The document, and whether it is Google's own."""
        store = self._store
        bound = await store._bind()
        root = bound.root.replace("/download/storage/v1/", "/storage/v1/", 1)
        asked |= {"userProject": bound.project} if bound.project else {}
        url = f"{root}{quote(bucket, safe='')}/o{name}?{urlencode(asked, quote_via=quote)}"
        try:
            answer = await store._ask(bound, url, {}, ALL)
            if isinstance(answer, Reply):
                return _document(await text_of(answer, shown), shown), root.startswith(_OWN)
        except StoreError as error:
            error.located(shown)
            raise
        nowhere: Any = None
        anonymous = bound.credentials.credentials is None
        failure = _refused(answer, shown, nowhere, anonymous=anonymous)
        if isinstance(failure, NotFound) and not name:
            raise NotFound("no such bucket", url=shown, status=404)
        raise failure

    def __repr__(self) -> str:
        return "GcsLister()"


def _document(text: bytes, shown: str) -> dict[str, Any]:
    try:
        told = json.loads(text)
    except ValueError:
        told = None
    if not isinstance(told, dict):
        raise ServerFault("the answer is no JSON document", url=shown)
    return told


def _listed(bucket: str, item: Mapping[str, Any], own: bool) -> Listed:
    tag = str(item.get("generation", "")) if own else ""
    modified = _instant(item.get("updated"))
    return Listed(f"{bucket}/{item['name']}", int(item.get("size", -1)), tag, modified)


def _instant(text: object) -> float | None:
    """Seconds since 1970; None where a stand-in writes something else."""
    try:
        return datetime.fromisoformat(text).timestamp() if isinstance(text, str) else None
    except ValueError:
        return None
