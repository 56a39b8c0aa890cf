"""The session of a Python worker: made when the first partition is read, shared by all later ones.

Spark forks its workers, so nothing is made where this is imported, and none crosses a fork.
"""

from __future__ import annotations

import os

from rangeio.session import Session, default_session
from rangeio.spark.options import ReadOptions

_sessions: dict[tuple[object, ...], Session] = {}


def session_of(options: ReadOptions) -> Session:
    """The process's session with these limits; the default one where there are none.

    cacheBytes are those of the cache in memory, one a worker.
    """
    limits = options.cache_bytes, options.cache_dir, options.concurrency
    if limits == (None, None, None):
        return default_session()
    key = os.getpid(), *limits
    found = _sessions.get(key)
    if found is None or found.closed:
        found = _sessions[key] = Session(
            memory_cache=options.cache_bytes,
            disk_cache=options.cache_dir,
            max_in_flight=options.concurrency,
        )
    return found
