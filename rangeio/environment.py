"""Settings: an argument, else ``RANGEIO_<NAME>`` of the environment, else a default."""

from __future__ import annotations

import os
import re
from math import inf

from rangeio.errors import RequestError

_SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*(?:([kmgt])(?:i?b)?|b)?", re.IGNORECASE)
_POWERS = {"": 0, "k": 10, "m": 20, "g": 30, "t": 40}
_TRUE, _FALSE = {"1", "true", "yes", "on"}, {"0", "false", "no", "off", ""}


def number(name: str, given: float | None, default: float, *, least: float = 0) -> float:
    """A number, or a size such as ``512MiB`` in the environment; RequestError below ``least``."""
    value = given
    if value is None:
        written = os.environ.get(_key(name))
        value = default if written is None else _size(name, written)
    if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value < inf:
        raise RequestError(f"{name} is a number of at least {least}, not {value!r}")
    return value


def text(name: str, given: str | None) -> str | None:
    """A word, None where there is none."""
    return given if given is not None else os.environ.get(_key(name)) or None


def flag(name: str, given: bool | None) -> bool:
    """Yes or no; no by default."""
    if given is not None:
        if not isinstance(given, bool):
            raise RequestError(f"{name} is True or False, not {given!r}")
        return given
    written = os.environ.get(_key(name), "").strip().lower()
    if written not in _TRUE | _FALSE:
        raise RequestError(f"{_key(name)} is one of 1, true, 0, false, not {written!r}")
    return written in _TRUE


def _key(name: str) -> str:
    return f"RANGEIO_{name.upper()}"


def _size(name: str, written: str) -> float:
    found = _SIZE.fullmatch(written.strip())
    if found is None:
        raise RequestError(f"{_key(name)} is a number or a size like 64MiB, not {written!r}")
    return float(found[1]) * (1 << _POWERS[(found[2] or "").lower()])
