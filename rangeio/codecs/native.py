"""The compiled kernels, where they were built; every one of them has a numpy or Arrow twin.

``RANGEIO_NATIVE`` is read once, at import: ``require`` makes the kernels mandatory, ``off`` makes
them absent, unset takes what there is.
"""

from __future__ import annotations

import importlib
import os
from typing import Any, Protocol, cast

import numpy as np
import numpy.typing as npt

from rangeio.codecs.bounds import Bytes, Levels, Offsets, Words
from rangeio.errors import RequestError

REVISION = 5


class Kernels(Protocol):
    """What the compiled module offers. Arrays are C-contiguous; inputs may be read-only.

    A kernel that meets hostile bytes returns the index of the first bad item, else -1. It trusts
    only what its twin's caller has checked: see the module that calls it.
    """

    def unpack_blocks(
        self, data: Bytes, starts: Offsets, width: int, bits: int, out: Bytes
    ) -> None:
        """FastLanes blocks of one width, without headers."""

    def unpack_inline(self, data: Bytes, starts: Offsets, bits: int, out: Bytes) -> int:
        """FastLanes blocks that begin with a word of their width."""

    def unpack_levels(
        self,
        data: Bytes,
        starts: Offsets,
        sizes: Offsets,
        counts: Offsets,
        width: int,
        out: Levels,
    ) -> None:
        """Level blocks of many chunks. ``out`` has 1,024 entries of slack."""

    def fsst_decode(
        self,
        codes: Bytes,
        offsets: Offsets,
        symbols: Words,
        lengths: Bytes,
        out: Bytes,
        out_offsets: Offsets,
    ) -> int:
        """FSST values. ``out`` holds 8 bytes more than the longest possible output."""

    def variable_chunks(
        self,
        data: Bytes,
        starts: Offsets,
        counts: Offsets,
        width: int,
        out_offsets: Offsets,
        out: Bytes,
    ) -> int:
        """Chunks of offsets and bytes into one offsets array and one byte array."""

    def gather(self, data: Bytes, starts: Offsets, sizes: Offsets, out: Bytes) -> None:
        """Segments copied one after the other."""

    def take(
        self,
        offsets: Offsets,
        data: Bytes,
        indices: Offsets,
        out_offsets: Offsets,
        out: Bytes,
    ) -> None:
        """Values of variable width, in the order of ``indices``."""

    def zipped_measure(
        self,
        data: Bytes,
        starts: Offsets,
        stops: Offsets,
        control: tuple[int, int, int],
        width: int,
        value_size: int,
        cuts: Offsets,
    ) -> tuple[int, int, int]:
        """(first bad segment or -1, visible entries, value bytes); ``cuts`` is filled."""

    def zipped_fill(
        self,
        data: Bytes,
        starts: Offsets,
        stops: Offsets,
        control: tuple[int, int, int],
        width: int,
        value_size: int,
        words: Words,
        out_offsets: Offsets,
        out: Bytes,
    ) -> bool:
        """Control words, offsets and value bytes; False where they are not what was measured."""

    def unravel_list(
        self,
        rep: Levels,
        definition: Levels,
        numbering: tuple[int, int, int, int],
        outer_rep: Levels,
        outer_definition: Levels,
        offsets: Offsets,
        valid: Bytes,
    ) -> tuple[int, bool, bool]:
        """(slots, whether a list without items has some, whether one lies inside another).

        numbering: (inside, null, highest of its own, outside). All outputs have an entry more
        than there are lists.
        """

    def scan_footer(self, data: Bytes, templates: bool) -> tuple[Any, ...] | None:
        """The parts of a Parquet footer's Layout, None where the bytes are none."""

    def chunk_facts(self, data: Bytes, starts: Offsets, out: Offsets) -> int:
        """A row of facts for every ColumnChunk; the first that is none, else -1."""

    def same_names(self, data: Bytes, elements: npt.NDArray[np.int32], name: Bytes) -> list[int]:
        """The schema elements of a name, but for the root."""

    def message_spans(
        self, data: Bytes, wanted: int
    ) -> tuple[Offsets, Offsets, list[tuple[int, int]]] | None:
        """(starts, stops, rest) of a protobuf message's field; None where the bytes are none."""

    def message_pairs(
        self, data: Bytes, wanted: int, first: int, second: int
    ) -> tuple[Words, Words, list[tuple[int, int]]] | None:
        """Two 32-bit numbers of each of a field's messages; None where the bytes are none."""

    def message_facts(
        self, data: Bytes, starts: Offsets, stops: Offsets, wanted: Offsets, out: Offsets
    ) -> int:
        """Facts of protobuf messages; the first that is none, else -1."""

    def lz4_size(self, block: Bytes) -> int:
        """Bytes that a raw LZ4 block decodes to; -1 where its sequences do not end with it."""

    def unshuffle(self, data: Bytes, count: int, size: int, out: Bytes) -> int:
        """Bitshuffle blocks of ``count`` elements, a multiple of 8, that fill ``data`` exactly."""

    def shuffle(self, data: Bytes, size: int, out: Bytes) -> None:
        """The bits of elements transposed, block by block; their number is a multiple of 8."""

    def bit_runs(self, data: Bytes, count: int, out: Bytes) -> int:
        """How many of ``count`` bits the runs hold; they are written unless ``out`` is empty."""

    def pack_runs(self, bits: Bytes, out: Bytes) -> int:
        """Bytes of the runs of bits; ``out`` has 2 for every 8 bits and 16 more."""

    def varints(self, data: Bytes, out: Offsets) -> tuple[int, int]:
        """(first bad varint or -1, bytes read); a varint has at most 63 bits."""

    def delimited(self, data: Bytes, offsets: Offsets, out: Bytes) -> tuple[int, int]:
        """(first bad value or -1, bytes read) of values that begin with a varint of their size."""

    def keyed(self, data: Bytes, numbers: int, out: Offsets) -> tuple[int, int]:
        """(first bad entry or -1, bytes read); a row an entry: a key's begin and end, numbers."""

    def prefixed_measure(self, data: Bytes, interval: int, offsets: Offsets) -> tuple[int, int]:
        """(first bad value or -1, bytes read) of values without their common prefix."""

    def prefixed_fill(self, data: Bytes, offsets: Offsets, out: Bytes) -> bool:
        """The measured values; False where they are not what was measured."""


def load(mode: str) -> tuple[Kernels | None, str]:
    """The kernels, or None and the reason. ``mode`` is the value of RANGEIO_NATIVE.

    Raises RequestError where they are required and absent, or the mode is none.
    """
    if mode not in ("", "auto", "require", "off"):
        raise RequestError(f"RANGEIO_NATIVE={mode!r}; it takes 'require' or 'off'")
    if mode == "off":
        return None, "switched off by RANGEIO_NATIVE=off"
    try:
        module = importlib.import_module("rangeio.codecs._kernels")
        if module.REVISION != REVISION:
            raise ImportError(f"they are of revision {module.REVISION}, not {REVISION}: build anew")
    except (ImportError, AttributeError) as error:
        if mode == "require":
            raise RequestError(f"RANGEIO_NATIVE=require, but no native kernels: {error}") from error
        return None, f"not built, or built for another Python: {error}"
    return cast("Kernels", module), ""


kernels, why_not = load(os.environ.get("RANGEIO_NATIVE", ""))
available = kernels is not None
