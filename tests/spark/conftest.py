"""One classic Spark session for all tests of this folder; without Java or pyspark all skip."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def _lacking():
    try:
        import pyspark  # noqa: F401
    except ImportError:
        return "pyspark is not installed"
    java = Path(os.environ.get("JAVA_HOME", "/none")) / "bin" / "java"
    return None if java.exists() or shutil.which("java") else "there is no Java"


LACKING = _lacking()
collect_ignore_glob = ["test_spark_*.py"] if LACKING else []


APART = ("faults", "jar", "connect", "examples")  # whose sessions are processes of their own


def pytest_collection_modifyitems(items):
    """Spark and its libraries warn of each other's versions. Files come in an order for two
    processes: long ones that need no session of theirs first; a session that has the jar keeps
    it, so files that need it come last."""
    mine = [item for item in items if item.path.parent == Path(__file__).parent]
    late = {item.path for item in mine if "pruning" in getattr(item, "fixturenames", ())}
    mine.sort(key=lambda item: (item.path in late, item.path.stem.split("_")[-1] not in APART))
    for item in mine:
        item.add_marker(pytest.mark.filterwarnings("default"))
    places = (i for i, item in enumerate(items) if item.path.parent == Path(__file__).parent)
    for place, item in zip(list(places), mine, strict=True):
        items[place] = item


def settings():
    """The environment of the driver, and so of all that it starts."""
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
        # For JVMs that live half a minute: no compiler that takes longer than it saves.
        "JDK_JAVA_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "PYTHONPATH": os.pathsep.join(paths),
    }


CONF = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.driver.memory": "1g",
    "spark.log.level": "ERROR",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.timeType.enabled": "true",
}


@pytest.fixture(scope="session")
def spark(tmp_path_factory):
    """A classic session on two cores."""
    before = {name: os.environ.get(name) for name in settings()}
    os.environ.update(settings())
    folder = tmp_path_factory.mktemp("spark")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pyspark.sql import SparkSession

        builder = SparkSession.builder.master("local[2]").appName("rangeio tests")
        for name, value in CONF.items():
            builder = builder.config(name, value)
        builder = builder.config("spark.sql.warehouse.dir", str(folder / "warehouse"))
        found = builder.config("spark.local.dir", str(folder / "local")).getOrCreate()
    yield found
    found.stop()
    for name, value in before.items():
        os.environ.pop(name, None) if value is None else os.environ.update({name: value})


@pytest.fixture(scope="session")
def jar(tmp_path_factory):
    """The jar, built of this checkout, or one that was built before."""
    if given := os.environ.get("RANGEIO_TEST_JAR"):
        return Path(given)
    if shutil.which("javac") is None:
        pytest.skip("there is no javac, without which there is no jar")
    at = tmp_path_factory.mktemp("built")
    command = [sys.executable, "setup.py", "--quiet", "jar", "--into", str(at)]
    subprocess.run(command, cwd=ROOT, check=True, timeout=120)
    return at / "rangeio-spark.jar"


@pytest.fixture(scope="session")
def pruning(spark, jar):
    """The session of all tests, with the jar from here on."""
    from rangeio.spark.jar import load

    assert load(spark, jar) is None
    return spark


@pytest.fixture
def folder(tmp_path):
    """An empty folder for the files of a test."""
    return tmp_path / "lake"
