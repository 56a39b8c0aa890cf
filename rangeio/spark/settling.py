"""Python's garbage, in the processes that Spark keeps.

After each request Spark's worker collects garbage, and the next request waits for it: a tenth of a
second for what the imports alone have made. So what is there after the first request is left out
from then on.
"""

from __future__ import annotations

import gc
import os
import sys

_settled = 0


def settle() -> None:
    """At the end of a request; does something once a process, and in Spark's own alone."""
    global _settled
    if _settled == os.getpid() or not _of_spark():
        return
    _settled = os.getpid()
    gc.collect()  # or what is garbage now would stay for good
    gc.freeze()


def _of_spark() -> bool:
    main = getattr(sys.modules.get("__main__"), "__spec__", None)
    return getattr(main, "name", None) in ("pyspark.daemon", "pyspark.worker")
