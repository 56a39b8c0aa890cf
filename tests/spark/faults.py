"""Run by test_spark_faults: jobs on a cluster whose tasks are killed, repeated and run twice.

Arguments: the master's url, a folder with files of Parquet in ``lake``, and Spark's settings as
JSON. Prints what came of each job as JSON.
"""

import json
import os
import signal
import sys
import time
import warnings
from pathlib import Path

MASTER, FOLDER, CONF = sys.argv[1], Path(sys.argv[2]), json.loads(sys.argv[3])
SEEN = FOLDER / "seen"

# What workers do is pickled by value: this module is not theirs to import.


def killed_once(word):
    """Kill this process the first time; a file remembers."""
    mark = SEEN / word
    try:
        mark.touch(exist_ok=False)
    except FileExistsError:
        return
    os.kill(os.getpid(), signal.SIGKILL)


class Deadly(list):
    """Filters that kill who looks at them, once."""

    def __init__(self, values, word, kill):
        super().__init__(values)
        self.word, self.kill = word, kill

    def __iter__(self):
        from pyspark import TaskContext

        if TaskContext.get() is not None:  # the driver looks too
            self.kill(self.word)
        return super().__iter__()

    def __reduce__(self):
        return Deadly, (self[:], self.word, self.kill)


def killing(batches):
    """Ends its worker in the middle of the second task's first attempt."""
    from pyspark import TaskContext

    for batch in batches:
        half = batch.num_rows // 2
        yield batch.slice(0, half)
        if TaskContext.get().partitionId() == 1:
            killed_once("write")
        yield batch.slice(half)


def slow_once(batches):
    """The attempt of the last task that comes here first takes so long that it is overtaken."""
    from pyspark import TaskContext

    context = TaskContext.get()
    (SEEN / f"slow-{context.partitionId()}-{context.attemptNumber()}").touch()
    if context.partitionId() == 3:
        try:
            (SEEN / "slow").touch(exist_ok=False)
        except FileExistsError:
            pass
        else:
            time.sleep(6)
    yield from batches


def files(path):
    return sorted(one.name for one in Path(path).rglob("*") if one.is_file())


def main():
    warnings.simplefilter("ignore")
    from pyspark.sql import SparkSession

    import rangeio.spark

    builder = SparkSession.builder.master(MASTER)
    for name, value in CONF.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    SEEN.mkdir()
    lake, found = str(FOLDER / "lake"), {}

    read = rangeio.spark.read(spark, lake, ["id", "x"]).mapInArrow(killing, "id long, x double")
    read.write.format("rangeio").mode("append").save(str(FOLDER / "killed"))
    found["killed"] = files(FOLDER / "killed")

    deadly = Deadly([("id", ">=", 0)], "convert", killed_once)
    told = rangeio.spark.convert(spark, lake, str(FOLDER / "made"), format="doris", filters=deadly)
    found["converted"] = sorted(row.status for row in told.collect())
    found["made"] = files(FOLDER / "made")
    checked = rangeio.spark.verify(spark, str(FOLDER / "made"), against=lake)
    found["verified"] = sorted(row.status for row in checked.collect())

    rows = spark.range(0, 400, 1, 4).mapInArrow(slow_once, "id long")
    rows.write.format("rangeio").mode("append").save(str(FOLDER / "slow"))
    found["slow"] = files(FOLDER / "slow")
    found["seen"] = files(SEEN)
    spark.stop()
    print(json.dumps(found))


if __name__ == "__main__":
    main()
