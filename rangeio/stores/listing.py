"""Listings: the lister of each store, and the walk through a tree of folders."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from typing import NamedTuple

from rangeio.errors import RequestError
from rangeio.stores.store import Lister, Page, Store

IN_FLIGHT = 32
"""Pages of one walk that are asked for at once."""


def lister_of(store: Store) -> Lister:
    """What lists the objects of a store, with that store's own account and connections.

    Raises RequestError for a store without names.
    """
    # Here, or who reads one file would import all of them.
    from rangeio.stores.fsspec import FsspecStore
    from rangeio.stores.gcs import GcsStore
    from rangeio.stores.http import HttpStore
    from rangeio.stores.listfsspec import FsspecLister
    from rangeio.stores.listgcs import GcsLister
    from rangeio.stores.listhttp import HttpLister
    from rangeio.stores.listlocal import LocalLister
    from rangeio.stores.lists3 import S3Lister
    from rangeio.stores.local import LocalStore
    from rangeio.stores.s3 import S3Store

    if isinstance(store, LocalStore):
        return LocalLister()
    if isinstance(store, S3Store):
        return S3Lister(store)
    if isinstance(store, GcsStore):
        return GcsLister(store)
    if isinstance(store, HttpStore):
        return HttpLister(store)
    if isinstance(store, FsspecStore):
        return FsspecLister(store)
    raise RequestError(f"a {type(store).__name__} has no names to list")


class _Ask(NamedTuple):
    """A page that is still to be asked for."""

    folder: str
    after: str
    deep: bool


async def walk(
    lister: Lister,
    folder: str,
    enter: Callable[[str], bool] = lambda _: True,
    *,
    in_flight: int = IN_FLIGHT,
) -> AsyncGenerator[Page, None]:
    """Every page at and below ``folder``, as they land, so in no order; close it when done.

    enter: whether a folder's own pages are wanted, asked after the page that names it was handed
    out. A lister that can is first asked for all below a folder: where that fits one page, a tree
    of any shape costs one request; where it does not, its folders are listed side by side. Pages
    may then hold files below folders that ``enter`` would refuse.
    """
    todo = [_Ask(folder, "", lister.deep)]
    flying: dict[asyncio.Task[Page], _Ask] = {}
    try:
        while todo or flying:
            while todo and len(flying) < in_flight:
                ask = todo.pop()
                page = lister.list(ask.folder, ask.after, deep=ask.deep)
                flying[asyncio.ensure_future(page)] = ask
            done, _ = await asyncio.wait(flying, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                ask, page_ = flying.pop(task), task.result()
                if ask.deep and page_.after:
                    todo.append(_Ask(ask.folder, "", False))
                    continue
                yield page_
                todo += [_Ask(one, "", lister.deep) for one in page_.folders if enter(one)]
                if page_.after:
                    todo.append(_Ask(ask.folder, page_.after, False))
    finally:
        for task in flying:
            task.cancel()
        await asyncio.gather(*flying, return_exceptions=True)
