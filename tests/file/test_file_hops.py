"""Counted figures: hops, GETs and bytes of reading 2 of many columns, exactly."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from places import oracle, wide, write

import rangeio
from rangeio.transport.profile import PROFILES

LITTLE = {3000: 250_000, 10_000: 650_000}


def two(columns):
    return [f"feature_{columns // 3:05d}", f"feature_{2 * columns // 3:05d}"]


def described(path):
    """Where global buffer 0 begins: what pylance reads on every open."""
    data = path.read_bytes()
    gbo = int.from_bytes(data[-24:-16], "little")
    return len(data) - int.from_bytes(data[gbo : gbo + 8], "little")


def profile(few_bytes, tail):
    return replace(PROFILES["s3"], few_bytes=few_bytes, tail=tail)


def read(path, columns, chosen, kind, place):
    """A cold read of two columns; its trace, and that every GET but the first was pinned."""
    spot = place(kind, path)
    with rangeio.Session(profile=chosen) as session, spot.open(session) as file:
        table = file.read(two(columns))
        assert table == oracle(path, two(columns))
        if kind == "http":
            assert all(r.method == "GET" for r in spot.server.log)
            assert [bool(r.headers.get("if-match")) for r in spot.server.log] == [False] + [
                True
            ] * (len(spot.server.log) - 1)
        return file.trace, file.explain(two(columns))


def metadata(trace):
    return sum(r.size for r in trace if r.why != "lance.page")


@pytest.mark.parametrize("columns", [3000, 10_000])
def test_few_bytes_costs_four_hops_and_little(files, place, columns):
    path = files.wide(columns)
    trace, told = read(path, columns, profile(True, 64 << 10), "http", place)
    assert trace.hops <= 4
    assert metadata(trace) <= LITTLE[columns]
    assert "few bytes" in told.choice


@pytest.mark.parametrize("columns", [3000, 10_000])
def test_few_hops_costs_three_and_what_lies_at_the_end(files, place, columns):
    path = files.wide(columns)
    trace, told = read(path, columns, profile(False, 256 << 10), "http", place)
    assert trace.hops <= 3
    assert metadata(trace) <= described(path) * 1.1
    assert "few hops" in told.choice


@pytest.mark.parametrize("columns", [3000, 10_000])
def test_the_s3_profile_chooses_few_hops_and_says_why(files, place, columns):
    trace, told = read(files.wide(columns), columns, PROFILES["s3"], "file", place)
    assert trace.hops <= 3
    assert "few hops" in str(told)
    assert "ms" in told.choice


@pytest.mark.parametrize("columns", [3000, 10_000])
def test_the_next_file_of_a_directory_costs_less(files, columns):
    first, second = files.wide(columns, name="one"), files.wide(columns, name="two")
    with rangeio.Session(profile="s3") as session:
        with rangeio.open(first, session=session) as file:
            file.read(two(columns))
            paid = metadata(file.trace)
        with rangeio.open(second, session=session) as file:
            assert file.read(two(columns)) == oracle(second, two(columns))
            assert file.trace.hops <= 3
            assert metadata(file.trace) <= 0.6 * paid
            assert "assumed" in file.explain(two(columns)).choice


def changed(kind):
    """The wide table with another schema of the same size, or nearly."""
    table = wide(3000)
    names = list(table.column_names)
    if kind == "permuted":
        names[1000], names[2000] = names[2000], names[1000]
    elif kind == "renamed":
        names[1000] = "another_01000"
    elif kind == "moved":  # one column more in front: every index shifts
        return pa.table([table.column(0), *table.columns], names=["a_new_column", *names])
    elif kind == "retyped":
        columns = list(table.columns)
        columns[1000] = pa.chunked_array([pa.array(np.arange(2000, dtype="f8"))])
        return pa.table(columns, names=names)
    return table.rename_columns(names)


@pytest.mark.parametrize("kind", ["permuted", "renamed", "moved", "retyped"])
def test_what_was_assumed_of_the_next_file_is_verified(files, tmp_path, kind):
    first = files.wide(3000)
    other = write(tmp_path / "dir" / "b.lance", changed(kind))
    copy = tmp_path / "dir" / "a.lance"
    copy.write_bytes(first.read_bytes())
    with rangeio.Session(profile="s3") as session:
        with rangeio.open(copy, session=session) as file:
            file.read(two(3000))
        with rangeio.open(other, session=session) as file:
            wanted = [n for n in two(3000) if n in changed(kind).column_names]
            if len(wanted) < 2:
                with pytest.raises(rangeio.errors.NoSuchColumn):
                    file.read(two(3000))
            assert file.read(wanted) == oracle(other, wanted)
            assert file.schema.arrow == changed(kind).schema
            assert file.num_rows == 2000


@pytest.mark.parametrize("kind", ["file", "memory", "http", "s3"])
@pytest.mark.parametrize("version", ["2.0", "2.1"])
def test_every_store_makes_the_same_transcript(files, place, kind, version):
    path = files.wide(3000, version)

    def transcript(kind):
        spot = place(kind, path)
        with rangeio.Session(profile="s3") as session, spot.open(session) as file:
            file.read(two(3000))
            file.read(two(3000), rows=slice(3, 9))
            file.read(["feature_00001"], rows=[5, 60])
            return file.trace.transcript()

    assert transcript(kind) == transcript("file")


@pytest.mark.parametrize("version", ["2.0", "2.1", "2.2"])
def test_explained_gets_are_the_executed_ones(files, version):
    path = files.mixed(version)
    asked = [
        {},
        {"columns": ["id"]},
        {"columns": ["word", "v.c"]},
        {"columns": ["tags"], "rows": slice(10, 20)},
        {"columns": ["x", "day"], "rows": slice(100, 4000)},
    ]
    for words in asked:
        small = replace(PROFILES["s3"], tail=1024, few_bytes=True)
        with rangeio.Session(profile=small) as session, rangeio.open(path, session=session) as f:
            told = f.explain(**words)
            paid = len(f.trace)
            f.read(**words)
            made = [(r.start, r.stop) for r in list(f.trace)[paid:] if not r.cached]
            planned = [(g.at.start, g.at.stop) for g in told.planned]
            assert sorted(made[: len(planned)]) == planned
            assert len(made) - len(planned) <= told.later_gets
            assert f.trace.unplanned == 0
            again = f.explain(**words)
            assert again.gets == 0
            before = f.trace.gets
            f.read(**words)
            assert f.trace.gets == before


def test_few_rows_of_a_flat_file_cost_few_bytes(files, place):
    path = files.wide(3000, "2.0")
    with rangeio.Session(profile=profile(True, 64 << 10)) as session:
        file = place("file", path).open(session)
        file.explain(two(3000))
        before = file.trace.bytes_read
        file.read(two(3000), rows=slice(10, 60))
        assert file.trace.bytes_read - before <= 2 * 50 * (4 + 8)


def test_the_metadata_of_many_columns_comes_in_one_get_where_that_is_faster(files):
    path = files.wide(10_000)
    sparse = [f"feature_{i:05d}" for i in range(0, 10_000, 10)]
    for names, gets in ((two(10_000), 2), (sparse, 1)):
        chosen = profile(True, 64 << 10)
        with rangeio.Session(profile=chosen) as session, rangeio.open(path, session=session) as f:
            told = f.explain(names)
            assert told.metadata_gets == 3 + gets  # the tail, the offsets, the schema
            assert f.read(names[:3]) == oracle(path, names[:3])


def test_explained_metadata_does_not_count_pages(files):
    small = replace(PROFILES["s3"], tail=1024, few_bytes=True)
    session = rangeio.Session(profile=small)
    with session, rangeio.open(files.mixed(), session=session) as file:
        before = file.explain(["word"])
        file.read(["word"])
        after = file.explain(["word"])
        for what in ("metadata_hops", "metadata_gets", "metadata_bytes"):
            assert getattr(after, what) == getattr(before, what)
        assert file.trace.bytes_read > after.metadata_bytes
