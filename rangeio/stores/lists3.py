"""Names on S3: ListObjectsV2, page by page."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from rangeio.errors import RangeIOError, StoreError
from rangeio.stores.getobject import _failure, _refusal
from rangeio.stores.s3 import S3Store, _refused, _split
from rangeio.stores.store import Listed, Page

_ALWAYS = ("RequestPayer", "ExpectedBucketOwner")


class S3Lister:
    """Objects of S3 by ``bucket/key``, through the client of a store's account.

    The ETag is the tag. page: objects of one page, 1,000 at most.
    """

    deep = True

    def __init__(self, store: S3Store, page: int = 1000) -> None:
        self._store = store
        self._page = page

    async def list(self, folder: str, after: str = "", *, deep: bool = False) -> Page:
        """One page; the objects that stand for folders in consoles are left out."""
        bucket, prefix, _ = _split(folder)
        asked: dict[str, object] = {"Bucket": bucket, "Prefix": prefix, "MaxKeys": self._page}
        if not deep:
            asked["Delimiter"] = "/"
        if after:
            asked["ContinuationToken"] = after
        told = await self._ask("list_objects_v2", asked, f"s3://{folder}")
        return Page(
            tuple(
                _listed(f"{bucket}/{one['Key']}", one, "Size")
                for one in told.get("Contents", ())
                if not one["Key"].endswith("/")
            ),
            tuple(f"{bucket}/{one['Prefix']}" for one in told.get("CommonPrefixes", ())),
            told.get("NextContinuationToken", "") if told.get("IsTruncated") else "",
        )

    async def look(self, key: str) -> Listed | None:
        """One HEAD. A refusal is None too: S3 denies what is not there to who may not list."""
        bucket, name, version = _split(key)
        asked: dict[str, object] = {"Bucket": bucket, "Key": name}
        if version:
            asked["VersionId"] = version
        try:
            told = await self._ask("head_object", asked, f"s3://{bucket}/{name}")
        except StoreError as error:
            if error.status in (403, 404):
                return None
            raise
        return _listed(key, told, "ContentLength")

    async def _ask(self, method: str, asked: dict[str, object], url: str) -> Any:
        """The answer; credentials that are refused are looked up again once."""
        renewed = False
        while True:
            account = None
            failure: RangeIOError
            try:
                bound = await self._store._bind()
                account = bound.account
                assert account is not None
                carried = bound.carried if method == "head_object" else _shared(bound.carried)
                return await getattr(await account.client(), method)(**{**asked, **carried})
            except RangeIOError as error:
                error.located(url)
                raise
            except Exception as error:
                failure = _failed(error, url, anonymous=account is None or account.anonymous)
            refused = getattr(failure, "status", 0) in (400, 401, 403)
            if account is None or account.anonymous or renewed or not refused:
                # Raised out here, so that a traceback does not show the inner error and its urls.
                raise failure
            renewed = True
            await account.renew()

    def __repr__(self) -> str:
        return "S3Lister()"


def _listed(key: str, told: Mapping[str, Any], size: str) -> Listed:
    at = told.get("LastModified")
    modified = at.timestamp() if isinstance(at, datetime) else None
    return Listed(key, told[size], told.get("ETag", ""), modified)


def _shared(carried: Any) -> dict[str, object]:
    """What of a GET's headers goes with a listing."""
    return {name: carried[name] for name in _ALWAYS if name in carried}


def _failed(error: Exception, url: str, *, anonymous: bool) -> RangeIOError:
    refusal = _refusal(error)
    if refusal is None:
        return _failure(error).located(url)
    nowhere: Any = None
    return _refused(refusal, url, nowhere, anonymous=anonymous)
