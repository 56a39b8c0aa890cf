"""``python -m benchmarks.footprint LOCATOR WARM NAME FILE NAME ...``: locate columns, and print as
JSON how much memory that took at most beyond what was held before, in bytes, and what was found.

A process of its own: the peak of memory is of a process, and freed memory would hide in one that
has done other work. The first file and its column are a warm-up. Linux only.
"""

from __future__ import annotations

import gc
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.locators import LOCATORS

_STATUS, _RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")
KNOWN = _RESET.exists()
"""Whether this system tells."""


def _memory(field: str) -> int:
    line = next(li for li in _STATUS.read_text().splitlines() if li.startswith(f"{field}:"))
    return int(line.split()[1]) << 10


def main(words: Sequence[str]) -> int:
    """Warm up, load the footer, and weigh one call."""
    locator, warm, column, path, *names = words
    LOCATORS[locator](Path(warm), [column])()()
    locate = LOCATORS[locator](Path(path), names)
    gc.collect()
    before = _memory("VmRSS")
    _RESET.write_text("5")  # the peak is from now on
    found = locate()
    peak = _memory("VmHWM") - before
    sys.stdout.write(json.dumps([peak, found()]))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
