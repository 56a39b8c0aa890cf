"""Blocks on disk: never wrong, never more than the cap, whoever else writes."""

import hashlib
import logging
import os
import random
import stat
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rangeio.engine.disk import block, names
from rangeio.engine.disk.cover import Cover
from rangeio.engine.disk.folder import BlockFolder
from rangeio.engine.disk.settings import DiskCache
from rangeio.errors import RequestError
from rangeio.ranges import ByteRange

KEY, OTHER = hashlib.sha256(b"one").digest(), hashlib.sha256(b"other").digest()
CHUNK = block.CHUNK


def at(start, stop):
    return ByteRange(start, stop)


def noise(size, seed=0):
    return random.Random(seed).randbytes(size)


@pytest.fixture
def root(tmp_path):
    return tmp_path / "cache"


@pytest.fixture
def folder(root):
    return BlockFolder(DiskCache(root))


def read(folder, where, part=None, key=KEY):
    """The bytes of a part of a block; None where they are not there."""
    part = part or where
    into = memoryview(bytearray(part.size))
    return bytes(into) if folder.read(key, where, part, into) else None


def write(folder, where, data, key=KEY):
    return folder.write(key, where, memoryview(data))


def file_of(root, where, key=KEY):
    return root / key.hex() / names.block(where)


def total(root):
    return sum(p.stat().st_size for p in root.rglob("*") if p.is_file() and p.name != names.LEDGER)


# ---- what a block tells ----


@pytest.mark.parametrize("size", [1, 7, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK, 5 * CHUNK + 99])
def test_every_part_of_a_block_is_read(folder, size):
    data, start = noise(size), 12_345
    whole = at(start, start + size)
    assert write(folder, whole, data)
    assert folder.listed(KEY) == [whole]
    cuts = sorted({c for k in range(6) for c in (k * CHUNK - 1, k * CHUNK, k * CHUNK + 1)})
    cuts = [c for c in cuts if 0 <= c < size] + [size]
    for i, first in enumerate(cuts):
        for last in cuts[i + 1 :]:
            part = at(start + first, start + last)
            assert read(folder, whole, part) == data[first:last]


def test_a_block_that_is_cut_anywhere_is_a_miss_and_goes(folder, root):
    where, data = at(100, 400), noise(300)
    write(folder, where, data)
    path = file_of(root, where)
    good = path.read_bytes()
    for size in range(len(good)):
        path.write_bytes(good[:size])
        assert read(folder, where, at(150, 160)) is None
        assert not path.exists()
    path.write_bytes(good + b"\0")
    assert read(folder, where) is None
    path.write_bytes(good)
    assert read(folder, where) == data


def test_no_flipped_byte_is_handed_out(folder, root):
    where, data = at(100, 400), noise(300)
    write(folder, where, data)
    path = file_of(root, where)
    good = path.read_bytes()
    for i in range(len(good)):
        for bit in (1, 128):
            path.write_bytes(good[:i] + bytes([good[i] ^ bit]) + good[i + 1 :])
            assert read(folder, where, at(100, 101)) is None
            assert not path.exists()


def test_a_flipped_byte_of_one_chunk_harms_no_other(folder, root):
    where, data = at(0, 3 * CHUNK), noise(3 * CHUNK)
    write(folder, where, data)
    path = file_of(root, where)
    broken = bytearray(path.read_bytes())
    broken[-1] ^= 1
    path.write_bytes(broken)
    assert read(folder, where, at(5, 2 * CHUNK)) == data[5 : 2 * CHUNK]
    assert read(folder, where, at(5, 2 * CHUNK + 1)) is None


def test_a_renamed_block_is_a_miss(folder, root):
    where, moved, data = at(0, 100), at(100, 200), noise(100)
    write(folder, where, data)
    good = file_of(root, where).read_bytes()
    write(folder, where, noise(100, 1), OTHER)
    file_of(root, where, OTHER).write_bytes(good)  # another object's
    assert read(folder, where, key=OTHER) is None
    file_of(root, moved).write_bytes(good)  # another range of the same size
    assert read(folder, moved) is None
    assert read(folder, where) == data


def test_a_block_of_another_version_is_a_miss(folder, root):
    where = at(0, 100)
    write(folder, where, noise(100))
    path = file_of(root, where)
    older = bytearray(path.read_bytes())
    older[7] = 0
    older[64:68] = block._crc(bytes(older[:64])).to_bytes(4, "little")
    path.write_bytes(older)
    assert read(folder, where) is None


@pytest.mark.parametrize("kind", ["text", "folder", "link", "empty"])
def test_what_is_no_block_is_a_miss(folder, root, kind, tmp_path):
    where = at(0, 100)
    write(folder, at(500, 600), noise(100))
    path = file_of(root, where)
    if kind == "folder":
        path.mkdir()
    elif kind == "link":
        path.symlink_to(file_of(root, at(500, 600)))
    else:
        path.write_text("hello" * 100 if kind == "text" else "")
    assert read(folder, where) is None
    assert read(folder, at(500, 600)) == noise(100)


def test_foreign_names_are_neither_listed_nor_touched(root):
    folder = BlockFolder(DiskCache(root, 10_000))
    write(folder, at(0, 100), noise(100))
    near = [root / "README", root / "deadbeef", root / KEY.hex() / "x.txt", root / ("g" * 64)]
    for path in near:
        path.write_bytes(bytes(50_000))
    for i in range(40):
        assert write(folder, at(1000 * i, 1000 * i + 1000), noise(1000, i))
    assert all(path.stat().st_size == 50_000 for path in near)
    assert all(one.size == 1000 for one in folder.listed(KEY)[-3:])


# ---- names and modes ----


def test_names_are_hexadecimal_and_nobody_else_may_look(folder, root):
    assert not root.exists()
    assert folder.listed(KEY) == []
    assert not root.exists()
    write(folder, at(0, 100), noise(100))
    found = list(root.rglob("*"))
    assert len(found) == 3
    assert all(set(path.name) <= set("0123456789abcdef") for path in found)
    modes = {stat.S_IMODE(path.stat().st_mode) for path in (root, *found)}
    assert modes == {0o700, 0o600}


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o1777])
def test_a_directory_that_others_may_write_to_is_not_used(root, folder, caplog, mode):
    root.mkdir()
    root.chmod(mode)
    with caplog.at_level(logging.WARNING, "rangeio.disk"):
        assert not write(folder, at(0, 100), noise(100))
        assert not write(folder, at(0, 100), noise(100))
        assert folder.listed(KEY) == []
    assert [record.name for record in caplog.records] == ["rangeio.disk"]
    assert list(root.iterdir()) == []


@pytest.mark.parametrize("what", ["file", "below a file", "read-only"])
def test_what_the_system_refuses_is_a_miss_told_once(root, caplog, what):
    if what == "read-only":
        root.mkdir(0o500)
        if os.access(root, os.W_OK):
            pytest.skip("this user may write anywhere")
    else:
        root.write_text("here")
    path = root / "deeper" if what == "below a file" else root
    folder = BlockFolder(DiskCache(path))
    with caplog.at_level(logging.WARNING, "rangeio.disk"):
        for _ in range(3):
            assert not write(folder, at(0, 100), noise(100))
            assert folder.listed(KEY) == []
            assert read(folder, at(0, 100)) is None
    assert len(caplog.records) == 1


def test_a_directory_that_goes_is_made_again(folder, root):
    import shutil

    for _ in range(3):
        assert write(folder, at(0, 100), noise(100))
        shutil.rmtree(root)
        assert read(folder, at(0, 100)) is None
        assert folder.listed(KEY) == []


def test_a_full_disk_leaves_nothing_behind(folder, root, monkeypatch):
    write(folder, at(0, 100), noise(100))
    before = sorted(root.rglob("*"))

    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "write", full)
        assert not write(folder, at(100, 200), noise(100))
    assert sorted(root.rglob("*")) == before
    assert read(folder, at(0, 100)) == noise(100)


@pytest.mark.parametrize("path", ["", 5, b"/tmp/x", "a\0b", None])
def test_a_path_that_is_none_says_so(path):
    with pytest.raises(RequestError, match="disk_cache"):
        DiskCache(path)


@pytest.mark.parametrize("most", [-1, 1.5, True, "1GB"])
def test_a_cap_that_is_none_says_so(most):
    with pytest.raises(RequestError, match="max_bytes"):
        DiskCache("x", most)


# ---- the cap ----


def test_the_cap_holds_after_every_write(root):
    folder, rng = BlockFolder(DiskCache(root, 100_000)), random.Random(3)
    kept = 0
    for i in range(300):
        size = rng.choice((1, 100, 5_000, 20_000, 30_000))
        kept += write(folder, at(i * 40_000, i * 40_000 + size), noise(size, i))
        assert total(root) <= 100_000
    assert kept > 150
    assert total(root) > 60_000


def test_a_block_that_would_evict_most_others_is_not_kept(root):
    folder = BlockFolder(DiskCache(root, 100_000))
    assert write(folder, at(0, 20_000), noise(20_000))
    assert not write(folder, at(20_000, 50_000), noise(30_000))
    assert read(folder, at(0, 20_000)) == noise(20_000)


def test_a_cap_of_nothing_keeps_nothing(root):
    folder = BlockFolder(DiskCache(root, 0))
    assert not write(folder, at(0, 1), b"x")
    assert not root.exists()


def test_the_least_recently_used_goes_first(root):
    folder = BlockFolder(DiskCache(root, 9 * 12_288))  # 10,000 bytes and a header take three pages
    ranges = [at(i * 10_000, i * 10_000 + 10_000) for i in range(9)]
    for age, where in enumerate(reversed(ranges)):
        assert write(folder, where, noise(10_000))
        old = 1_000_000_000 - age
        os.utime(file_of(root, where), (old, old))
    for where in ranges[:3]:  # the oldest but for the use that is made of them now
        assert read(folder, where) is not None
    assert write(folder, at(200_000, 220_000), noise(20_000))
    left = folder.listed(KEY)
    assert set(ranges[:3]) < set(left)
    assert set(ranges[6:]) <= set(left)
    assert ranges[3] not in left


def test_a_use_of_a_young_block_writes_nothing(folder, root):
    where = at(0, 100)
    write(folder, where, noise(100))
    os.utime(file_of(root, where), ns=(0, file_of(root, where).stat().st_mtime_ns - 10**9))
    before = file_of(root, where).stat().st_mtime_ns
    read(folder, where)
    assert file_of(root, where).stat().st_mtime_ns == before


def test_what_killed_writers_left_is_swept_and_the_living_are_let_be(root):
    folder = BlockFolder(DiskCache(root, 100_000))
    write(folder, at(0, 20_000), noise(20_000))
    left, alive = (root / KEY.hex() / (digit * 24) for digit in "ab")
    left.write_bytes(bytes(1000))
    alive.write_bytes(bytes(1000))
    os.utime(left, (1_000_000_000, 1_000_000_000))
    for i in range(1, 7):
        write(folder, at(i * 20_000, i * 20_000 + 20_000), noise(20_000))
    assert not left.exists()
    assert alive.exists()


def test_folders_without_blocks_go(root):
    folder = BlockFolder(DiskCache(root, 100_000))
    for i in range(20):
        key = hashlib.sha256(bytes([i])).digest()
        assert write(folder, at(0, 20_000), noise(20_000), key)
    assert sum(path.is_dir() for path in root.iterdir()) <= 7


@pytest.mark.parametrize("ledger", [b"", b"x" * 24, bytes(24), b"RIOSUM\0\1" + b"\xff" * 16])
def test_a_ledger_that_is_none_is_made_anew(root, ledger):
    folder = BlockFolder(DiskCache(root, 100_000))
    for i in range(3):
        assert write(folder, at(i * 20_000, i * 20_000 + 20_000), noise(20_000))
    (root / names.LEDGER).write_bytes(ledger)
    for i in range(3, 9):
        assert write(folder, at(i * 20_000, i * 20_000 + 20_000), noise(20_000))
        assert total(root) <= 100_000


def test_who_does_not_get_the_lock_keeps_nothing_and_does_not_hang(folder, root):
    import fcntl

    write(folder, at(0, 100), noise(100))
    with open(root / names.LEDGER, "rb+") as ledger:
        fcntl.flock(ledger, fcntl.LOCK_EX)
        assert not write(folder, at(100, 200), noise(100))
    assert write(folder, at(100, 200), noise(100))
    assert len(list((root / KEY.hex()).iterdir())) == 2


def test_a_block_that_is_there_is_not_counted_twice(root):
    folder = BlockFolder(DiskCache(root, 100_000))
    for _ in range(50):
        assert write(folder, at(0, 20_000), noise(20_000))
    assert write(folder, at(20_000, 40_000), noise(20_000))
    assert len(folder.listed(KEY)) == 2


# ---- what is there of a range ----

RANGES = st.lists(
    st.tuples(st.integers(0, 60), st.integers(1, 20)).map(lambda r: at(r[0], r[0] + r[1])),
    max_size=12,
)


@given(RANGES, RANGES, st.tuples(st.integers(0, 70), st.integers(1, 20)))
def test_a_cover_says_what_a_set_of_bytes_says(listed, added, asked):
    cover = Cover(listed)
    for one in added:
        cover.add(one)
    held = {i for one in (*listed, *added) for i in range(one.start, one.stop)}
    want = at(asked[0], asked[0] + asked[1])
    bytes_wanted = set(range(want.start, want.stop))
    near = cover.overlapping(want)
    assert {i for one in near for i in range(one.start, one.stop)} & bytes_wanted == (
        held & bytes_wanted
    )
    assert near == sorted(near, key=lambda one: one.start)
    pieces = cover.pieces(want)
    assert (pieces is not None) == (bytes_wanted <= held)
    if pieces is not None:
        assert [i for _, part in pieces for i in range(part.start, part.stop)] == sorted(
            bytes_wanted
        )
        assert all(whole.covers(part) for whole, part in pieces)
        before = len(cover)
        for whole in {whole for whole, _ in pieces}:
            cover.drop(whole)
            assert all(whole not in (one, two) for one, two in cover.pieces(want) or ())
        assert len(cover) == before - len(pieces)


# ---- many processes ----

HAMMER = """
import hashlib, mmap, os, random, select, signal, sys, time
from rangeio.engine.disk.folder import BlockFolder
from rangeio.engine.disk.settings import DiskCache
from rangeio.ranges import ByteRange

root, seconds, most, count = sys.argv[1], float(sys.argv[2]), 4 << 20, 16
KEYS = [hashlib.sha256(bytes([i])).digest() for i in range(8)]
OBJECTS = [random.Random(i).randbytes(1 << 20) for i in range(8)]
tally = mmap.mmap(-1, 8 * 3 * count)


def note(slot, what):
    at = 8 * (3 * slot + what)
    tally[at : at + 8] = (int.from_bytes(tally[at : at + 8], "little") + 1).to_bytes(8, "little")


def told(what):
    return sum(
        int.from_bytes(tally[8 * (3 * s + what) : 8 * (3 * s + what) + 8], "little")
        for s in range(count)
    )


def child(slot, seed):
    rng, folder = random.Random(seed), BlockFolder(DiskCache(root, most))
    while True:
        i = rng.randrange(8)
        if rng.random() < 0.4:
            start = rng.randrange(0, 1 << 20, 4096)
            stop = min(start + rng.choice((1, 5000, 70_000, 300_000)), 1 << 20)
            data = memoryview(OBJECTS[i])[start:stop]
            if folder.write(KEYS[i], ByteRange(start, stop), data):
                note(slot, 1)
            continue
        found = folder.listed(KEYS[i])
        for at in rng.sample(found, min(len(found), 4)):
            a, b = sorted(rng.randrange(at.start, at.stop + 1) for _ in range(2))
            if a == b:
                continue
            into = memoryview(bytearray(b - a))
            if folder.read(KEYS[i], at, ByteRange(a, b), into):
                if into != OBJECTS[i][a:b]:
                    os._exit(3)
                note(slot, 0)


def begin(slot, seed):
    pid = os.fork()
    if not pid:
        try:
            child(slot, seed)
        finally:
            os._exit(4)
    return pid


rng, wrong, over, seeds = random.Random(1), [], 0, iter(range(10**9))
pids = {begin(slot, next(seeds)): slot for slot in range(count)}
end = time.monotonic() + seconds
while time.monotonic() < end or told(2) < 60:
    select.select([], [], [], 0.005)
    pid = rng.choice(list(pids))
    os.kill(pid, signal.SIGKILL)
    if os.waitpid(pid, 0)[1] != signal.SIGKILL:
        wrong.append(pid)
    slot = pids.pop(pid)
    note(slot, 2)
    pids[begin(slot, next(seeds))] = slot
for pid in pids:
    os.kill(pid, signal.SIGKILL)
    if os.waitpid(pid, 0)[1] != signal.SIGKILL:
        wrong.append(pid)
blocks = sum(
    os.path.getsize(os.path.join(folder, name))
    for folder, _, files in os.walk(root) for name in files if len(name) == 32
)
print(len(wrong), told(0), told(1), told(2), blocks <= most)
"""


def test_sixteen_processes_that_are_killed_see_no_wrong_byte(root):
    seconds = "30" if os.environ.get("RANGEIO_FUZZ") == "full" else "4"
    done = subprocess.run(
        [sys.executable, "-c", HAMMER, str(root), seconds],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    wrong, hits, writes, kills, held = done.stdout.split()
    assert (wrong, held, done.stderr) == ("0", "True", "")
    assert int(hits) > 200, done.stdout
    assert int(writes) > 100, done.stdout
    assert int(kills) > 50, done.stdout
