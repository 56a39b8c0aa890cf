"""The jar by which Spark tells the data source its columns, filters and limits, into a session."""

from __future__ import annotations

import importlib.resources
from pathlib import Path
from typing import Any

from rangeio.errors import RequestError

NAME = "rangeio-spark.jar"

_FIRST = 4  # Spark 3 has no data sources in Python


def jar_path() -> Path:
    """The jar, for ``--jars`` and ``spark.jars``. Raises RequestError where there is none."""
    path = Path(str(importlib.resources.files("rangeio.spark"))) / "jars" / NAME
    if not path.is_file():
        raise RequestError(
            f"this rangeio has no {NAME}: install it from its wheel, or run `make jar` in a"
            " checkout, with a JDK of 17 or newer and pyspark"
        )
    return path


def load(spark: Any, jar: Path | None = None) -> str | None:
    """Load the jar into a session. None when it is loaded, else why not; a second time is harmless.

    spark: a SparkSession, classic or Connect. jar: another than the installed one. Never raises for
    what a session refuses: without the jar all works, only the columns must be named.
    """
    try:
        path = jar_path() if jar is None else jar
        version = str(spark.version)
        if int(version.split(".")[0]) < _FIRST:
            return f"Spark {version} has no Python data sources, 4.0 and newer have"
        _add(spark, path.absolute())
    except RequestError as error:
        return str(error)
    except Exception as error:  # whatever a managed Spark answers: the first line says it
        return f"the session takes no jar: {_first_line(error)}"
    return None


def _add(spark: Any, path: Path) -> None:
    """By the words that each kind of session has for it. The same jar again changes nothing."""
    if type(spark).__module__.startswith("pyspark.sql.connect"):
        spark.addArtifacts(str(path))  # Connect has no JVM to reach into
        return
    spark.sql(f"ADD JAR '{path.as_uri()}'")
    _add_for_all_threads(spark._jvm, path.as_uri())


def _add_for_all_threads(jvm: Any, uri: str) -> None:
    """What ADD JAR adds, only the thread that added it finds when it looks for data sources; so
    it also goes where spark.jars go, to the loader from which those of all threads stem."""
    loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()
    while loader.getParent().getClass().getName().endswith("MutableURLClassLoader"):
        loader = loader.getParent()
    loader.addURL(jvm.java.net.URI(uri).toURL())


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
