"""What all columns that are written have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from rangeio.errors import RequestError
from rangeio.formats.doris.types import Declared
from rangeio.formats.doris.words import Compression
from rangeio.formats.doris.writing.choice import Chosen
from rangeio.formats.doris.writing.outlet import Outlet

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Setup:
    """How all columns of a segment are written. version: whose default encodings are taken."""

    version: int
    scheme: Compression
    page_size: int
    dict_page_size: int


@dataclass(frozen=True, slots=True)
class About:
    """What a column is. name: for people. number: its position in the schema, which its children
    repeat. path: the ColumnPath of a variant's columns."""

    name: str
    declared: Declared
    number: int
    unique_id: int
    nullable: bool
    path: Any = None


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is written of a scalar column besides its values."""

    chosen: Chosen | None = None
    zone_maps: bool = False
    blooms: bool = False


class ColumnWriter(Protocol):
    """One column, with all that is below it. Its pages are held, compressed, until they go out."""

    rows: int

    def append(self, array: pa.Array, absent: Mask | None = None) -> None:
        """Append rows. absent: those in which something above is NULL already."""
        ...

    def finish(self) -> None:
        """Make the last pages."""
        ...

    def write_data(self, outlet: Outlet) -> None:
        """Write the data pages and dictionaries, and let go of them."""
        ...

    def write_ordinals(self, outlet: Outlet) -> None:
        """Write the ordinal indexes."""
        ...

    def write_zone_maps(self, outlet: Outlet) -> None:
        """Write the zone maps."""
        ...

    def write_blooms(self, outlet: Outlet) -> None:
        """Write the bloom filters."""
        ...

    def meta(self) -> Any:
        """The ColumnMeta, once all of it is written."""
        ...


def listed(array: pa.Array, name: str) -> list[Any]:
    """The values as Python has them; RequestError names the column whose text is not UTF-8."""
    try:
        found: list[Any] = array.to_pylist()
    except UnicodeDecodeError as error:
        raise RequestError(f"{name!r}: text that is not UTF-8: {error}") from None
    return found


def null_mask(array: pa.Array) -> Mask:
    """Which slots are null."""
    mask: Mask = array.is_null().to_numpy(zero_copy_only=False)
    return mask
