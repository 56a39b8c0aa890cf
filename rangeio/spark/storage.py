"""The options ``storage.*``: fsspec's, told in texts. None of their values is ever shown."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from rangeio.errors import RequestError

STORAGE = "storage."
_ALIASES = {"accesskey": "key"}
"""Names that Spark hides the values of by itself, wherever it shows options."""

_WORDS: dict[str, object] = {"true": True, "false": False, "null": None}


def storage_options(texts: Mapping[str, str]) -> dict[str, object]:
    """Options of fsspec by their texts: true, false, null, JSON objects and lists as such, else
    text, for a key of digits is a key. A dot leads into an object (``client_kwargs.region_name``).
    Names come lower-cased.

    Raises RequestError, with the name alone, for what is no JSON.
    """
    found: dict[str, Any] = {}
    for key, text in sorted(texts.items()):
        *above, name = _ALIASES.get(key, key).split(".")
        place = found
        for one in above:
            place = place.setdefault(one, {})
            if not isinstance(place, dict):
                raise RequestError(f"option {STORAGE}{key}: {one} has a value of its own")
        place[name] = _value(key, text)
    return found


def storage_texts(options: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """The opposite: the names and texts of Spark's options. RequestError for what is no text."""
    for key, value in options.items():
        if isinstance(value, str):
            yield f"{STORAGE}{key}", value
            continue
        try:
            yield f"{STORAGE}{key}", json.dumps(value)
        except (TypeError, ValueError):
            raise RequestError(
                f"storage_options: {key!r} is a {type(value).__name__}, which cannot travel "
                "to Spark's workers as text"
            ) from None


def _value(key: str, text: str) -> object:
    if text in _WORDS:
        return _WORDS[text]
    if not text.startswith(("{", "[")):
        return text
    try:
        return json.loads(text)
    except ValueError:
        raise RequestError(f"option {STORAGE}{key} begins like JSON and is none") from None
