"""Plans of many files: small pickles, parts of even size, no metadata where they are read."""

import pickle
import shutil
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import rangeio
from rangeio.errors import BadRows, ObjectChanged, RequestError
from rangeio.testing.server import RangeServer

ROWS = 1000


def table(columns: int, start: int = 0) -> pa.Table:
    return pa.table({f"c{i}": pa.array(range(start + i, start + i + ROWS)) for i in range(columns)})


@pytest.fixture
def folder(tmp_path):
    for year in (2023, 2024):
        for part in range(3):
            path = tmp_path / f"year={year}" / f"{part}.parquet"
            path.parent.mkdir(exist_ok=True)
            pq.write_table(table(20, 10_000 * part), path, row_group_size=100)
    return tmp_path


def travelled(plan: rangeio.DatasetPlan) -> rangeio.DatasetPlan:
    found = pickle.loads(pickle.dumps(plan))
    assert isinstance(found, rangeio.DatasetPlan)
    return found


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        (["c3", "year"], {}),
        (["c3"], {"filters": [("c5", ">", 10_500), ("year", "=", 2024)]}),
        (None, {"rows": slice(950, 2100)}),
        (["year"], {}),
        ([], {}),
    ],
)
def test_a_plan_reads_what_the_dataset_reads(folder, columns, words):
    dataset = rangeio.dataset(folder)
    wanted = dataset.read(columns, **words)
    plan = travelled(dataset.plan(columns, **words))
    assert plan.schema == wanted.schema
    assert plan.read().equals(wanted)
    for count in (1, 2, 5, 1000):
        parts = [travelled(part) for part in plan.split(count)]
        assert 1 <= len(parts) <= count
        assert sum(part.num_rows for part in parts) == plan.num_rows
        read = [part.read() for part in parts]
        assert sum(one.num_rows for one in read) == wanted.num_rows
        if wanted.num_columns:  # without any, Arrow's concatenation has no rows
            assert pa.concat_tables(read).equals(wanted)
    batches = list(plan.scan(batch_rows=64))
    assert pa.Table.from_batches(batches, plan.schema).equals(wanted.combine_chunks())
    assert all(batch.num_rows <= 64 for batch in batches)


def test_parts_have_about_as_many_bytes_of_the_asked_columns(folder):
    plan = rangeio.dataset(folder).plan(["c3"])
    parts = plan.split(4)
    assert len(parts) == 4
    assert max(part.bytes for part in parts) < 1.5 * plan.bytes / 4
    assert sum(part.bytes for part in parts) == plan.bytes


def test_a_large_file_is_cut_at_its_row_groups(tmp_path):
    pq.write_table(table(3), tmp_path / "one.parquet", row_group_size=50)
    whole = rangeio.dataset(tmp_path).plan(["c1"])
    sizes = [part.num_rows for part in whole.split(4)]
    # Small row groups are one unit, which is not cut.
    assert sum(sizes) == ROWS
    assert all(size % 50 == 0 for size in sizes)


def test_what_a_file_takes_does_not_depend_on_its_columns(tmp_path):
    sizes = []
    for columns in (5, 500, 2000):
        folder = tmp_path / str(columns)
        folder.mkdir()
        pq.write_table(table(columns).slice(0, 10), folder / "0.parquet")
        for part in range(1, 20):
            shutil.copy(folder / "0.parquet", folder / f"{part}.parquet")
        sizes.append(len(pickle.dumps(rangeio.dataset(folder).plan(["c1", "c4"]))))
    assert max(sizes) < 1.05 * min(sizes)
    assert max(sizes) / 20 < 2500


def test_reading_a_plan_fetches_no_metadata_and_asks_for_the_version_that_was_planned(tmp_path):
    path = tmp_path / "a.parquet"
    pq.write_table(table(50), path)
    with RangeServer({"a.parquet": path.read_bytes()}) as server:
        url = f"{server.url}/a.parquet"
        with rangeio.Session() as session:
            plan = travelled(rangeio.dataset([url], session=session).plan(["c1", "c30"]))
        server.log.clear()
        with rangeio.Session() as session:
            assert plan.read(session=session).equals(table(50).select(["c1", "c30"]))
        assert {get.why for get in plan.trace} == {"parquet.data"}
        assert len(server.log) == plan.trace.gets
        pq.write_table(table(50, 7), path)
        server.put("a.parquet", path.read_bytes())
        with rangeio.Session() as session, pytest.raises(ObjectChanged, match=r"a\.parquet"):
            travelled(plan).read(session=session)


def test_another_process_reads_it(folder, tmp_path):
    dataset = rangeio.dataset(folder)
    (tmp_path / "plan").write_bytes(pickle.dumps(dataset.plan(["c3"]).split(2)[1]))
    code = "import pickle, sys; t = pickle.load(open(sys.argv[1], 'rb')).read(); print(t.num_rows)"
    found = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "plan")], capture_output=True, check=True
    )
    assert found.stdout.strip() == b"3000"


def test_no_secret_is_in_what_is_shown_of_a_plan(folder):
    options = {"key": "CANARY-KEY", "secret": "CANARY-SECRET"}
    plan = rangeio.dataset(folder).plan(["c1"])
    with_options = type(plan)(plan.parts, plan.result, type(plan.way)(options))
    assert "CANARY" not in f"{with_options!r} {with_options.parts!r} {with_options.way!r}"


def test_what_no_plan_can_be_asked(folder):
    dataset = rangeio.dataset(folder)
    with pytest.raises(BadRows, match="ascend"):
        dataset.plan(["c1"], rows=[5, 3])
    with pytest.raises(RequestError, match="at least one part"):
        dataset.plan(["c1"]).split(0)
