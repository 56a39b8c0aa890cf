"""A Spark cluster of this machine: a master and two workers, which believe they are two hosts.

Spark repeats a slow task on another host only, and a name counts as a host.
"""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import threading
from pathlib import Path
from typing import Self

import pyspark
from conftest import settings

_READY = re.compile(r"Starting Spark master at (spark://\S+)|(Successfully registered) with master")


class Cluster:
    """Ends its processes with itself. url: for ``SparkSession.builder.master``."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._processes: list[subprocess.Popen[str]] = []
        self.url = ""

    def __enter__(self) -> Self:
        try:
            master = ("master.Master", "--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
            self.url = self._started("127.0.0.1", *master)
            for host in ("127.0.0.1", "localhost"):
                folder = str(self._folder / host)
                options = ("--host", host, "--cores", "1", "--memory", "1g", "--webui-port", "0")
                self._started(host, "worker.Worker", *options, "--work-dir", folder, self.url)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for one in reversed(self._processes):
            one.terminate()
        for one in self._processes:
            try:
                one.wait(20)
            except subprocess.TimeoutExpired:
                one.kill()
                one.wait()
            assert one.stderr is not None
            one.stderr.close()

    def _started(self, host: str, kind: str, *words: str) -> str:
        home = Path(pyspark.__file__).parent
        process = subprocess.Popen(
            [str(home / "bin" / "spark-class"), f"org.apache.spark.deploy.{kind}", *words],
            env={**os.environ, **settings(), "SPARK_LOCAL_HOSTNAME": host, "SPARK_HOME": str(home)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._processes.append(process)
        found: list[str] = []
        ready = threading.Event()
        threading.Thread(target=_watch, args=(process, found, ready), daemon=True).start()
        if not ready.wait(60) or not found:
            raise RuntimeError(f"{kind} did not start")
        return found[0]


def _watch(process: subprocess.Popen[str], found: list[str], ready: threading.Event) -> None:
    """Wait for the line that says it runs, then keep the pipe empty."""
    assert process.stderr is not None
    with contextlib.suppress(ValueError):  # closed
        for line in process.stderr:
            said = _READY.search(line)
            if said and not found:
                found.append(said.group(1) or said.group(2))
                ready.set()
    ready.set()
