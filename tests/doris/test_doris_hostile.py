"""Damaged segments: only FormatError, whatever the bytes, and no changed byte that a sum covers."""

from __future__ import annotations

import os
import random

import pytest
from doris_damage import damaged, page_spans
from doris_tables import documents, in_memory, made, table

from rangeio.errors import BadFilter, FormatError

FLIPS = 20_000 if os.environ.get("RANGEIO_FUZZ") == "full" else 60
SMALL = {"page_size": 128, "bloom_filter_columns": ["int"]}


def segments() -> dict[str, bytes]:
    found = {}
    for version in (2, 3):
        for scheme in ("none", "zstd", "lz4f"):
            found[f"v{version}-{scheme}"] = made(
                table(40), version=version, compression=scheme, **SMALL
            )
        found[f"v{version}-variant"] = made(documents(20), version=version, variant=["v"])
    return found


SEGMENTS = segments()
EACH = pytest.mark.parametrize("name", SEGMENTS)


def read(data: bytes) -> object:
    """The table, or None where the bytes are refused."""
    try:
        return in_memory(data).read()
    except FormatError:
        return None


@EACH
def test_flipped_bits_are_found_where_a_checksum_covers_them(name):
    data, rng = SEGMENTS[name], random.Random(name)
    wanted = read(data)
    spans = page_spans(data)
    table = in_memory(data).open()
    for _ in range(FLIPS):
        at = rng.randrange(len(data))
        changed = bytearray(data)
        changed[at] ^= 1 << rng.randrange(8)
        found = read(bytes(changed))
        covered = any(start <= at < stop for start, stop in spans) or at >= table.footer.at.start
        if covered and found is not None:
            # Zone maps and bloom filters are not looked at without a filter.
            assert found == wanted


@EACH
def test_what_is_damaged_and_sealed_again(name):
    data, rng = SEGMENTS[name], random.Random(name)
    spans = page_spans(data)
    for _ in range(FLIPS):
        read(damaged(data, spans, rng))


@EACH
def test_filters_on_damaged_segments(name):
    """Indexes that are broken count as absent: no row that matches is lost, nothing else raised."""
    from rangeio.plan import Query, Rows
    from rangeio.predicate import parse

    data, rng = SEGMENTS[name], random.Random(name)
    spans = page_spans(data)
    for _ in range(FLIPS // 3):
        file = in_memory(damaged(data, spans, rng))
        try:
            table = file.open()
            schema = file.run(file.format.schema(table))
            column = schema.at(0)
            metas = file.run(file.format.columns(table, file.format.needed(column)))
            predicate = parse([(column, "==", 7)], schema)
            rows = Rows.span(0, file.run(file.format.num_rows(table)))
            file.run(file.format.plan(table, metas, Query((column,), rows, predicate), file.cost))
        except (FormatError, BadFilter):  # a damaged type does not compare with a number
            continue


@EACH
def test_cut_anywhere(name):
    data = SEGMENTS[name]
    for size in range(0, len(data), max(1, len(data) // 60)):
        with pytest.raises(FormatError):
            in_memory(data[:size]).read()
