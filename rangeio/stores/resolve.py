"""Name lookups that answer public addresses only."""

from __future__ import annotations

import socket

from aiohttp.abc import ResolveResult
from aiohttp.resolver import ThreadedResolver

from rangeio.stores.redirect import is_private


class Public(ThreadedResolver):
    """Resolves names; one that leads to any private address is not resolved at all."""

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """The addresses of ``host``; raises OSError where one of them is private."""
        found = await super().resolve(host, port, family)
        if any(is_private(one["host"]) for one in found):
            raise OSError(None, "the name leads to a private address")
        return found
