"""Whether Spark's own projections reach the data source, and what is to be done where not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rangeio.spark.jar import NAME, load

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MANUAL = (
    'name the columns: rangeio.spark.read(spark, url, columns=[...]), .option("columns", "a,b") '
    'or .schema("a double, b double")'
)


@dataclass(frozen=True, slots=True)
class Pruning:
    """mode: "automatic": select() decides what is read; "manual": see reason."""

    mode: str
    reason: str = ""

    def __str__(self) -> str:
        return self.mode if not self.reason else f"{self.mode}: {self.reason}"


def automatic(spark: SparkSession) -> bool:
    """Whether a session has the Java half, by :func:`enabled` or by ``spark.jars``."""
    try:
        return any(NAME in str(row[0]) for row in spark.sql("LIST JARS").collect())
    except Exception:  # some managed Sparks let nobody look
        return False


_REDACTED = "spark.sql.redaction.options.regex"
_HIDDEN = r"(?i:storage\.)"


def hide_options(spark: SparkSession) -> None:
    """Have Spark show no value of an option ``storage.*`` wherever it shows options: by itself it
    hides those whose names say secret, password or token, and not ``storage.key``."""
    try:
        before = spark.conf.get(_REDACTED, None)
        if before is None or _HIDDEN not in before:
            spark.conf.set(_REDACTED, f"(?:{before})|{_HIDDEN}" if before else _HIDDEN)
    except Exception:  # some managed Sparks let nobody set this, and hide all by themselves
        return


def setting_of(spark: SparkSession, name: str) -> str | None:
    """What the session says; None where it says nothing, or lets nobody look."""
    try:
        return spark.conf.get(name, None)
    except Exception:
        return None


def enabled(spark: SparkSession) -> Pruning:
    """Load the Java half into a session, where there is one and the session takes it."""
    hide_options(spark)
    why = load(spark)
    return Pruning("automatic") if why is None else Pruning("manual", f"{why}; {MANUAL}")
