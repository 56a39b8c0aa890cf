"""The end of a segment: column metadata, the footer, its size, its crc32c and the magic."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import google_crc32c

from rangeio.formats.doris.footer import KEYS, MAGIC
from rangeio.formats.doris.messages import MESSAGES
from rangeio.formats.doris.writing.outlet import Outlet

EXTERNAL = 2
"""The footer's version of segments V3; those of V2 do not say theirs."""


def write_inline(outlet: Outlet, footer: Any, metas: Sequence[Any]) -> None:
    """The end of a segment V2: the footer holds the metadata of all columns."""
    footer.columns.extend(metas)
    _write(outlet, footer)


def write_external(outlet: Outlet, footer: Any, metas: Sequence[Any]) -> None:
    """The end of a segment V3: the region of all columns' metadata, and the footer right after it,
    which says how long each is."""
    footer.version = EXTERNAL
    footer.col_meta_region_start = outlet.position
    for meta in metas:
        data = meta.SerializeToString()
        unique_id = meta.unique_id - (1 << 32 if meta.unique_id >> 31 else 0)
        footer.column_meta_entries.add(unique_id=unique_id, length=len(data))
        outlet.write(data)
    _write(outlet, footer)


def new_footer(rows: int, short_key: Any) -> Any:
    """What every footer says."""
    return MESSAGES.SegmentFooter(num_rows=rows, short_key_index_page=short_key)


def key_pair(unique_id: int, index: Any) -> Any:
    """What names the IndexedColumn of a variant's paths."""
    return MESSAGES.MetadataPair(key=f"{KEYS}.{unique_id}", value=index.SerializeToString())


def _write(outlet: Outlet, footer: Any) -> None:
    data = footer.SerializeToString()
    outlet.write(data)
    outlet.write(len(data).to_bytes(4, "little"))
    outlet.write(google_crc32c.value(data).to_bytes(4, "little"))
    outlet.write(MAGIC)
