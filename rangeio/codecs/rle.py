"""Run-length encoding: values and how often each of them follows."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
import numpy.typing as npt

from rangeio.codecs.bounds import Bytes
from rangeio.errors import Corrupt

V = TypeVar("V", bound=np.generic)


def expand(values: npt.NDArray[V], run_lengths: Bytes, count: int) -> npt.NDArray[V]:
    """``values[i]`` written ``run_lengths[i]`` times, for each i: ``count`` values in all.

    Raises Corrupt unless there is a length for each value and they sum to ``count``; nothing is
    allocated before.
    """
    if len(values) != len(run_lengths):
        raise Corrupt(f"{len(values)} run values with {len(run_lengths)} run lengths")
    found = int(run_lengths.sum(dtype=np.int64))
    if found != count:
        raise Corrupt(f"runs of {found} values in all, not {count}")
    return np.repeat(values, run_lengths, axis=0)
