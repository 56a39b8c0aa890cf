"""Reads of many files, which a Spark job plans where the session has the jar."""

import glob
import tempfile

import pytest
from lakes import gets, load, numbers, put


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """130 small files in partitions: three tasks to plan them."""
    folder = tmp_path_factory.mktemp("many")
    for i in range(130):
        put(numbers(20, 20 * i), folder / f"k={i % 3}" / f"{i}.parquet")
    return str(folder)


def jobs(spark, work):
    """What ``work`` gives, and how many jobs it took."""
    tracker = spark.sparkContext.statusTracker()
    before = len(tracker.getJobIdsForGroup(None))
    return work(), len(tracker.getJobIdsForGroup(None)) - before


def query(spark, path, **options):
    frame = load(spark, path, **options).where("id >= 1000 and k = 1")
    return lambda: frame.selectExpr("count(*) n", "sum(id) s", "sum(b) b").collect()


def test_a_job_plans_and_others_read(pruning, many, tmp_path):
    trace = str(tmp_path / "t")
    driver, one = jobs(pruning, query(pruning, many))
    planned, two = jobs(pruning, query(pruning, many, planningJobFiles=100, traceDir=trace))
    ids = [n for i in range(130) if i % 3 == 1 for n in range(20 * i, 20 * i + 20) if n >= 1000]
    assert planned == driver
    assert (planned[0].n, planned[0].s) == (len(ids), sum(ids))
    assert two == one + 1
    made = gets(trace)
    assert {get["why"] for task in made for get in task["gets"]} == {"parquet.data"}
    assert sum(len(task["files"]) for task in made) == 26  # those that partition and ids leave
    assert glob.glob(f"{tempfile.gettempdir()}/rangeio-*.plans") == []


def test_a_job_plans_for_a_given_schema_where_the_option_asks_for_it(pruning, many):
    def asked(**options):
        frame = load(pruning, many, "id long, b boolean, k int", **options)
        return jobs(pruning, lambda: frame.where("k = 1").selectExpr("sum(id) s").collect()[0].s)

    found, one = asked()
    assert found == sum(n for i in range(130) if i % 3 == 1 for n in range(20 * i, 20 * i + 20))
    assert asked(planningJobFiles=100) == (found, one + 1)
    assert asked(planningJobFiles=200) == (found, one)


def test_what_fails_in_planning_is_named(pruning, folder):
    for i in range(70):
        put(numbers(5), folder / f"{i:02}.parquet")
    frame = load(pruning, str(folder), planningJobFiles=10)
    (folder / "33.parquet").write_bytes(b"PAR1" * 5)
    with pytest.raises(Exception, match=r"33\.parquet"):
        frame.select("id").collect()
    some = load(pruning, str(folder), planningJobFiles=10, ignoreCorruptFiles=True)
    assert some.select("id").count() == 69 * 5


def test_a_limit_opens_few_files_and_needs_no_job(pruning, many):
    frame = load(pruning, many, planningJobFiles=100).select("id").limit(5)
    assert len(frame.collect()) == 5
