"""The paths of a Variant's sub-columns: as a V2 footer has them, column by column."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rangeio.codecs.bounds import Bytes
from rangeio.codecs.protobuf import parse
from rangeio.formats.doris.directory import Inline
from rangeio.formats.doris.messages import MESSAGES

SPARSE, DOC_VALUE = "__DORIS_VARIANT_SPARSE__", "__DORIS_VARIANT_DOC_VALUE__"


@dataclass(frozen=True, slots=True, eq=False)
class SubColumns:
    """Sub-columns of one Variant, sorted by path as bytes: paths without the root's name, and
    their positions in the directory."""

    paths: Sequence[bytes]
    positions: Sequence[int]

    def __len__(self) -> int:
        return len(self.paths)

    def at_or_below(self, paths: Sequence[bytes]) -> SubColumns:
        """The sub-columns of some paths, and all whose paths go on after one with a dot."""
        found: dict[bytes, int] = {}
        for low, high in (span for path in paths for span in spans(path)):
            a, b = bisect_left(self.paths, low), bisect_left(self.paths, high)
            found.update(zip(self.paths[a:b], self.positions[a:b], strict=True))
        return SubColumns(sorted(found), [found[path] for path in sorted(found)])


def spans(path: bytes) -> list[tuple[bytes, bytes]]:
    """From and to before which text a path and all below it lie, in the order of bytes."""
    return [(path, path + b"\0"), (path + b".", path + b"/")]


def relative(path: Any) -> str:
    """The path of a ColumnPath message without its first part, the root's name."""
    parts = path.path_part_infos
    if parts:
        return ".".join(part.key for part in list(parts)[1:])
    return str(path.path.partition(".")[2])


def extra(path: str) -> bool:
    """Whether a path is not one of the data's, but holds many that have no column of their own."""
    return SPARSE in path or DOC_VALUE in path


def inlined(data: Bytes, own: Inline) -> Mapping[int, SubColumns]:
    """The sub-columns of a V2 footer, by the unique_id of their root."""
    found: dict[int, dict[bytes, int]] = {}
    for place, (start, stop) in zip(own.places.tolist(), own.paths.tolist(), strict=True):
        path = parse(MESSAGES.ColumnPath, data[start:stop].tobytes(), f"the path of column {place}")
        below = relative(path)
        if below:
            found.setdefault(path.parrent_column_unique_id, {}).setdefault(below.encode(), place)
    return {
        root: SubColumns(sorted(columns), [columns[path] for path in sorted(columns)])
        for root, columns in found.items()
    }
