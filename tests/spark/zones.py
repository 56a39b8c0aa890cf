"""A session in one zone and a machine in another, for the tests of both halves."""

import contextlib
import datetime as dt
import os
from pathlib import Path

import pyarrow as pa
from lakes import load, put

import rangeio.spark

ZONE = "Pacific/Auckland"  # 13 hours before UTC in January
START, CUT = dt.datetime(2024, 1, 1), dt.datetime(2024, 1, 3, 8)  # 56 hours later

# A filter, and the same as Spark's SQL has it.
FILTERS = {
    "local": (("nt", "<", CUT), f"nt < timestamp_ntz'{CUT}'"),
    "local, many": (
        ("nt", "in", [CUT, START]),
        f"nt in (timestamp_ntz'{CUT}', timestamp_ntz'{START}')",
    ),
    "instant": (("ts", "<", CUT), f"ts < timestamp'{CUT}'"),
    "instant, many": (("ts", "in", [CUT]), f"ts in (timestamp'{CUT}')"),
    "with a zone": (("ts", "<", CUT.replace(tzinfo=dt.UTC)), f"ts < timestamp'{CUT}Z'"),
    "local, with a zone": (("nt", "<", CUT.replace(tzinfo=dt.UTC)), f"nt < timestamp'{CUT}Z'"),
    "a day of an instant": (("ts", ">=", CUT.date()), "ts >= date'2024-01-03'"),
    "a day of a local time": (("nt", ">=", CUT.date()), "nt >= date'2024-01-03'"),
    "a time of a day": (("day", ">=", CUT), f"day >= timestamp'{CUT}'"),
    "a day": (("day", ">=", CUT.date()), "day >= date'2024-01-03'"),
    "a text of an instant": (("ts", "<", "2024-01-03"), "ts < '2024-01-03'"),
}


def clocks(folder):
    """A hundred hours, as local times, as instants and as days, ten to a row group."""
    at = [START + dt.timedelta(hours=i) for i in range(100)]
    made = {
        "id": pa.array(range(100)),
        "nt": pa.array(at, pa.timestamp("us")),
        "ts": pa.array(at, pa.timestamp("us", "UTC")),
        "day": pa.array([one.date() for one in at]),
    }
    return put(pa.table(made), Path(folder) / "clocks.parquet", row_group_size=10)


@contextlib.contextmanager
def settings(spark, **values):
    """Settings of the session for a while; ``zone`` is that of its times."""
    names = {"zone": "spark.sql.session.timeZone"}
    told = {names.get(name, f"spark.sql.files.{name}"): one for name, one in values.items()}
    before = {name: spark.conf.get(name) for name in told}
    for name, value in told.items():
        spark.conf.set(name, value)
    try:
        yield spark
    finally:
        for name, value in before.items():
            spark.conf.set(name, value)


def same_as_spark(spark, path, name):
    """The rows of a filter, and those that Spark's own reader keeps of all."""
    condition, text = FILTERS[name]
    with settings(spark, zone=ZONE):
        ours = rangeio.spark.read(spark, path, ["id"], [condition]).collect()
        theirs = spark.read.parquet(path).where(text).select("id").collect()
    assert 0 < len(theirs) < 100
    return sorted(row.id for row in ours) == sorted(row.id for row in theirs)


def written_at(path, local):
    """Give the file a time of Auckland's clocks in January."""
    at = dt.datetime.fromisoformat(f"{local}+13:00").timestamp()
    os.utime(path, (at, at))


def after(spark, path, local, **options):
    """How many rows the files have that are newer."""
    return load(spark, str(path), "id long", modifiedAfter=local, **options).count()
