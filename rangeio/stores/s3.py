"""Objects on S3."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rangeio.ranges import ByteRange, Suffix
from rangeio.stores.store import Reply


class S3Store:
    """Objects on S3, by ``bucket/key``."""

    profile = "s3"
    pinned = True

    def __init__(
        self, options: Mapping[str, object] | None = None, *, filesystem: Any = None
    ) -> None:
        raise NotImplementedError

    async def get(self, key: str, at: ByteRange | Suffix, *, if_match: str | None = None) -> Reply:
        """The head of the reply to one ranged GET."""
        raise NotImplementedError

    async def close(self) -> None:
        """Close all connections."""
        raise NotImplementedError
