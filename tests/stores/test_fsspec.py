"""Any fsspec filesystem as a store: sync and async, unpinned, and never short."""

import asyncio
import threading

import fsspec
import pytest
from fsspec.asyn import AsyncFileSystem
from fsspec.implementations.memory import MemoryFileSystem
from fsspec.spec import AbstractFileSystem

from rangeio.errors import (
    Denied,
    NotFound,
    RangeIgnored,
    ServerFault,
    ShortReply,
    StoreError,
    TimedOut,
    Unreachable,
)
from rangeio.ranges import ByteRange, Suffix
from rangeio.stores.fsspec import KEPT, FsspecStore

DATA = bytes(range(256))


class Plain(AbstractFileSystem):
    """A synchronous filesystem with one script for all that can go wrong."""

    protocol = "plain"
    cachable = False

    def __init__(self, data=DATA, fails=None, cut=None, **info):
        super().__init__()
        self.data, self.fails, self.cut, self.told = data, fails, cut, info
        self.calls, self.threads, self.forgotten = [], set(), []

    def invalidate_cache(self, path=None):
        self.forgotten.append(path)

    def info(self, path, **_):
        self._note("info")
        return {"name": path, "size": len(self.data), "type": "file", **self.told}

    def cat_file(self, path, start=None, end=None, **_):
        self._note(("cat_file", start, end))
        return self.data[start:end] if self.cut is None else self.data[self.cut]

    def _note(self, what):
        self.calls.append(what)
        self.threads.add(threading.get_ident())
        if self.fails is not None:
            raise self.fails


class Async(AsyncFileSystem):
    """The same, asynchronous, on fsspec's own loop or on the caller's."""

    protocol = "async"
    cachable = False

    def __init__(self, data=DATA, **options):
        super().__init__(**options)
        self.data, self.loops = data, set()
        self.slow, self.cancelled = threading.Event(), threading.Event()

    async def _info(self, path, **_):
        self.loops.add(asyncio.get_running_loop())
        return {"name": path, "size": len(self.data), "type": "file", "ETag": '"abc"'}

    async def _cat_file(self, path, start=None, end=None, **_):
        self.loops.add(asyncio.get_running_loop())
        if path == "slow":
            self.slow.set()
            try:
                await asyncio.sleep(60)
            finally:
                self.cancelled.set()
        return self.data[start:end]


def run(store, *ats, key="dir/k"):
    async def go():
        return [await store.get(key, at) for at in ats]

    return asyncio.run(go())


@pytest.mark.parametrize("make", [Plain, Async, lambda: Async(asynchronous=True)])
def test_ranges_and_suffixes(make):
    store = FsspecStore(make())
    asks = [ByteRange(3, 9), Suffix(5), Suffix(999), ByteRange(250, 256), ByteRange(250, 999)]
    replies = run(store, *asks)
    assert [bytes(r.data) for r in replies] == [DATA[3:9], DATA[-5:], DATA, DATA[250:], DATA[250:]]
    assert [r.at for r in replies[:3]] == [ByteRange(3, 9), ByteRange(251, 256), ByteRange(0, 256)]
    assert [r.total for r in replies] == [256] * 5
    assert all(r.data.readonly and r.size == len(r.data) for r in replies)
    assert not store.pinned


def test_an_opening_costs_one_info_and_drops_old_listings():
    fs = Plain()
    run(FsspecStore(fs), Suffix(5), ByteRange(0, 3), ByteRange(3, 6))
    assert fs.calls == ["info", ("cat_file", 251, 256), ("cat_file", 0, 3), ("cat_file", 3, 6)]
    assert fs.forgotten == ["dir"]
    assert threading.get_ident() not in fs.threads


def test_async_filesystems_stay_on_their_loop():
    fs = Async()
    run(FsspecStore(fs), Suffix(5))
    assert fs.loops == {fs.loop}


def test_there_is_no_byte_past_the_end():
    (_, late), (empty,) = (
        run(FsspecStore(Plain()), Suffix(1), ByteRange(256, 260)),
        run(FsspecStore(Plain(b"")), Suffix(5)),
    )
    assert (late.status, late.total, late.at) == (416, 256, None)
    assert (empty.status, empty.total) == (416, 0)


@pytest.mark.parametrize(
    ("told", "tag"),
    [
        ({"etag": '"x"'}, 'W/"x"'),
        ({"ETag": 'W/"x"'}, 'W/"x"'),
        ({"mtime": 12.5}, 'W/"12.5"'),
        ({}, ""),
    ],
)
def test_the_tag_is_what_info_tells_and_never_strong(told, tag):
    suffix, later = run(FsspecStore(Plain(**told)), Suffix(3), ByteRange(0, 3))
    assert (suffix.tag, later.tag) == (tag, tag)


@pytest.mark.parametrize(
    ("cut", "kind"),
    [(slice(0, 5), ShortReply), (slice(0, 0), ShortReply), (slice(None), RangeIgnored)],
)
def test_bytes_that_are_not_the_asked_ones_are_refused(cut, kind):
    with pytest.raises(kind, match="asked for 6 bytes"):
        run(FsspecStore(Plain(cut=cut)), ByteRange(3, 9))


@pytest.mark.parametrize(
    ("error", "kind", "transient"),
    [
        (FileNotFoundError("x"), NotFound, False),
        (PermissionError("x"), Denied, False),
        (IsADirectoryError("x"), ServerFault, False),
        (TimeoutError("x"), TimedOut, True),
        (ConnectionResetError("x"), Unreachable, True),
        (OSError("x"), ServerFault, True),
        (ValueError("x"), ServerFault, False),
        (TypeError("x"), ServerFault, False),
        (NotImplementedError("x"), ServerFault, False),
        (KeyError("x"), ServerFault, True),
    ],
)
@pytest.mark.parametrize("at", [Suffix(3), ByteRange(0, 3)])
def test_errors_are_named_by_what_they_mean(error, kind, transient, at):
    with pytest.raises(StoreError) as caught:
        run(FsspecStore(Plain(fails=error)), at)
    assert type(caught.value).__mro__[0:2].count(kind) == 1
    assert caught.value.transient is transient
    assert (caught.value.url, caught.value.at) == ("dir/k", at)


def test_no_secret_of_an_inner_error_shows():
    inner = OSError("403 for https://me:CANARY@host/x?sig=CANARY&y=CANARY' (CANARY)".replace(
        " (CANARY)", ""))  # fmt: skip
    with pytest.raises(StoreError) as caught:
        run(FsspecStore(Plain(fails=inner)), Suffix(3), key="http://me:CANARY@h/k?CANARY")
    error = caught.value
    assert "CANARY" not in f"{error}{error!r}{error.__dict__}"
    assert error.__context__ is None
    assert error.__cause__ is None


def test_directories_and_sizes_that_are_not_told():
    with pytest.raises(StoreError, match="directory"):
        run(FsspecStore(Plain(type="directory")), Suffix(3))
    with pytest.raises(StoreError, match="does not tell the size"):
        run(FsspecStore(Plain(size=None)), Suffix(3))


def test_what_is_remembered_is_bounded():
    async def go(store):
        for i in range(KEPT + 50):
            await store.get(f"k{i}", Suffix(1))
        return len(store._known)

    assert asyncio.run(go(FsspecStore(Async()))) == KEPT


def test_a_cancelled_get_cancels_the_filesystems_own():
    fs = Async()

    async def go():
        task = asyncio.ensure_future(FsspecStore(fs).get("slow", ByteRange(0, 3)))
        await asyncio.to_thread(fs.slow.wait, 10)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(go())
    assert fs.cancelled.wait(10)


def test_the_memory_filesystem():
    fs = fsspec.filesystem("memory")
    assert isinstance(fs, MemoryFileSystem)
    fs.pipe_file("/canary/k", DATA)
    try:
        reply, part = run(
            FsspecStore(fs, profile="memory"), Suffix(3), ByteRange(1, 4), key="/canary/k"
        )
        assert (bytes(reply.data), bytes(part.data)) == (DATA[-3:], DATA[1:4])
        assert reply.tag.startswith('W/"')
        with pytest.raises(NotFound):
            run(FsspecStore(fs), Suffix(3), key="/canary/none")
    finally:
        fs.rm("/canary", recursive=True)
