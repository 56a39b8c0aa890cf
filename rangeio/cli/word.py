"""A column word of the command line."""

from __future__ import annotations

import re

from rangeio.schema import Schema
from rangeio.select import Word

_ID = re.compile(r"#([0-9]{1,18})")


def word_of(text: str, schema: Schema) -> Word:
    """``#5`` is the unique_id 5 unless a column is called so; all else is a name, path or glob."""
    found = _ID.fullmatch(text)
    return text if found is None or text in schema.positions else int(found[1])
