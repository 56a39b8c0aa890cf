"""A page's encoding in words: ``mini-block(defs=bitpacked 16, inline-bitpacked 64)``."""

from __future__ import annotations

import dataclasses
import re

from rangeio.codecs.blocks import Scheme
from rangeio.ranges import ByteRange

_SILENT = frozenset({"Layers", "Control"})
"""Parts of a layout that say how rows nest, not how bytes are packed."""
_PLAIN = frozenset({"values", "items", "inner", "data", "scheme", "fields"})
"""Fields whose part needs no name in front."""


def words(node: object) -> str:
    """The tree of frozen dataclasses that an encoding was parsed to, outermost first."""
    assert dataclasses.is_dataclass(node)
    parts = []
    for field in dataclasses.fields(node):
        part = _part(getattr(node, field.name))
        if part:
            parts.append(part if field.name in _PLAIN else f"{field.name}={part}")
    bits = getattr(node, "bits", None)
    name = re.sub(r"(?<=[a-z])(?=[A-Z])", "-", type(node).__name__).lower()
    head = f"{name} {bits}" if isinstance(bits, int) else name
    return f"{head}({', '.join(parts)})" if parts else head


def _part(value: object) -> str:
    if isinstance(value, Scheme):
        return value.name.lower()
    if isinstance(value, tuple):
        return ", ".join(part for one in value if (part := _part(one)))
    silent = isinstance(value, ByteRange) or type(value).__name__ in _SILENT
    return words(value) if dataclasses.is_dataclass(value) and not silent else ""
