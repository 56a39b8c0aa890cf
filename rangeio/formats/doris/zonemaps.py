"""What zone maps say of the values of a column or a page."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from rangeio.codecs.protobuf import parse
from rangeio.errors import Corrupt
from rangeio.formats.doris.messages import MESSAGES
from rangeio.formats.doris.meta import DorisMeta, Node
from rangeio.formats.doris.texts import Bounds, bounds, is_mapped
from rangeio.formats.doris.types import arrow_type
from rangeio.literal import legible
from rangeio.statistics import Statistics


def zone_statistics(node: Node, data: bytes, rows: int) -> Statistics:
    """What a zone map of ``rows`` rows says; one that is broken says nothing."""
    unknown = Statistics(null_count=None if node.nullable else 0, rows=rows)
    try:
        said = parse(MESSAGES.ZoneMap, data, "a zone map")
    except Corrupt:
        return unknown
    if said.pass_all or not is_mapped(node.type) or not (said.has_null or said.has_not_null):
        return unknown
    ends = Bounds()
    if said.has_not_null:
        ends = _widened(bounds(node.type, node.precision, node.frac, said.min, said.max), said)
    return Statistics(
        min=ends.min,
        max=ends.max,
        null_count=_nulls(said, rows),
        rows=rows,
        nan_count=0 if said.HasField("has_nan") and not said.has_nan else None,
        min_exact=ends.min_exact,
        max_exact=ends.max_exact,
    )


def _nulls(said: Any, rows: int) -> int | None:
    """How many rows are NULL, where none or all of them are."""
    if not said.has_null:
        return 0
    return None if said.has_not_null else rows


def _widened(ends: Bounds, said: Any) -> Bounds:
    """The bounds with the infinities, which are told apart from them."""
    low = -math.inf if said.has_negative_inf else ends.min
    high = math.inf if said.has_positive_inf else ends.max
    return replace(ends, min=low, max=high)


def column_statistics(meta: DorisMeta) -> Statistics | None:
    """What the zone map of a whole column says, for people: times are Arrow scalars, and text is
    text. None where there is none, or nothing in it."""
    node = meta.node
    if node.zones is None or node.rows < 0:
        return None
    found = zone_statistics(node, node.zones.whole, node.rows)
    if found.null_count is None and found.min is None and found.max is None:
        return None
    kind = arrow_type(node.type, node.precision, node.frac)
    return replace(found, min=legible(found.min, kind), max=legible(found.max, kind))
