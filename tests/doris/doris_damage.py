"""Segments that are damaged and then sealed again, so that no checksum tells."""

from __future__ import annotations

import random

from doris_parts import Segment, index, walk

from rangeio.formats.doris.page import crc32c
from rangeio.formats.doris.words import IndexType

Span = tuple[int, int]


def page_spans(data: bytes) -> list[Span]:
    """Where pages lie: of data, dictionaries and indexes."""
    segment = Segment(data)
    found: set[Span] = set()
    for meta in (one for top in segment.metas for one in walk(top)):
        for pointer, scheme, tree in _trees(meta):
            found.add((pointer.offset, pointer.size))
            _, spots = segment.spots(tree, scheme)
            found |= {(spot.offset, spot.size) for spot in spots}
        if meta.HasField("dict_page"):
            found.add((meta.dict_page.offset, meta.dict_page.size))
    return sorted((start, start + size) for start, size in found if size)


def _trees(meta):
    for kind in (IndexType.ORDINAL, IndexType.ZONE_MAP, IndexType.BLOOM_FILTER):
        found = index(meta, kind)
        if found is None:
            continue
        if kind is IndexType.ORDINAL:
            tree, scheme = found.ordinal_index.root_page, 2
        else:
            zones = kind is IndexType.ZONE_MAP
            own = (
                found.zone_map_index.page_zone_maps
                if zones
                else found.bloom_filter_index.bloom_filter
            )
            tree, scheme = own.ordinal_index_meta, own.compression
        yield tree.root_page, scheme, tree


def sealed(data: bytearray, spans: list[Span]) -> bytes:
    """The data with the checksums of pages and footer made right again."""
    for _, stop in spans:
        start = next(a for a, b in spans if b == stop)
        data[stop - 4 : stop] = crc32c(bytes(data[start : stop - 4])).to_bytes(4, "little")
    size = int.from_bytes(data[-12:-8], "little")
    if size <= len(data) - 12:
        own = bytes(data[len(data) - 12 - size : -12])
        data[-8:-4] = crc32c(own).to_bytes(4, "little")
    return bytes(data)


def damaged(data: bytes, spans: list[Span], rng: random.Random) -> bytes:
    """The data with a few bytes changed, inserted sizes and all, and sealed again."""
    out = bytearray(data)
    behind = (spans[-1][1], len(data) - 12)  # column metadata, keys of paths, footer
    start, stop = rng.choice([behind, rng.choice(spans)])
    for _ in range(rng.choice((1, 1, 2, 4))):
        at = rng.randrange(start, stop)
        out[at] = rng.choice((out[at] ^ 1 << rng.randrange(8), 0, 0xFF, 0x7F, rng.randrange(256)))
    return sealed(out, spans)
