"""The session of a Python worker: made when the first partition is read, shared by all later ones.

Spark forks its workers, so nothing is made where this is imported, and none crosses a fork.
"""

from __future__ import annotations

import os

from rangeio import DiskCache
from rangeio.session import Session, default_session
from rangeio.spark.options import ReadOptions

_sessions: dict[tuple[object, ...], Session] = {}


def session_of(options: ReadOptions) -> Session:
    """The process's session with these limits; the default one where there are none."""
    limits = options.cache_bytes, options.cache_dir, options.concurrency
    if limits == (None, None, None):
        return default_session()
    key = os.getpid(), *limits
    found = _sessions.get(key)
    if found is None or found.closed:
        disk = _disk(options)
        memory = options.cache_bytes if disk is None else None
        found = _sessions[key] = Session(
            memory_cache=memory, disk_cache=disk, max_in_flight=options.concurrency
        )
    return found


def _disk(options: ReadOptions) -> DiskCache | None:
    """What the workers of an executor share: a folder of this user's own in the one that was named,
    for that may be anybody's (``/tmp``, the volume of a pod)."""
    if options.cache_dir is None:
        return None
    user = os.getuid() if hasattr(os, "getuid") else 0
    path = os.path.join(options.cache_dir, f"rangeio-{user}")
    return DiskCache(path) if options.cache_bytes is None else DiskCache(path, options.cache_bytes)
