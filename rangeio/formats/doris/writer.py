"""Segments of Doris as a format to write."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pyarrow as pa

from rangeio.formats.doris.writing.options import DorisOptions
from rangeio.formats.doris.writing.segment import DorisEncoder


class DorisWriter:
    """Doris' segments V2 and V3."""

    name = "doris"
    suffixes = (".dat",)

    def options(self, words: Mapping[str, object]) -> DorisOptions:
        """The options of these words."""
        return DorisOptions.of(words)

    def encoder(
        self,
        schema: pa.Schema,
        options: DorisOptions,
        out: Callable[[memoryview], None],
        rows: int | None,
    ) -> DorisEncoder:
        """An encoder of a new file."""
        return DorisEncoder(schema, options, out)


WRITER = DorisWriter()
