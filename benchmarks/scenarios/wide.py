"""Two columns of a wide Lance file over S3, 30 ms before every answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import pyarrow as pa

from benchmarks import files
from benchmarks.ground import Ground, cache
from benchmarks.harness import Case, Contestant, Goal
from benchmarks.peers import ours, pylance
from benchmarks.servers import Server

DELAY_S = 0.03
BUCKET = "wide"


def equal(a: object, b: object) -> bool:
    """Two tables of the same names, types and values; what the schema says besides is left out."""
    assert isinstance(a, pa.Table)
    assert isinstance(b, pa.Table)
    return a.replace_schema_metadata(None).equals(b.replace_schema_metadata(None))


class Wide:
    """Cold reads by name, at 1/3 and 2/3 of the columns; 100 rows; the next file of a directory."""

    name = "wide"
    title = "Two columns of a wide Lance file over S3, 30 ms a request"

    def prepare(self, ground: Ground) -> Iterator[Case]:
        for columns in (3_000, 10_000):
            for version in ("2.0", "2.1"):
                keys = [self._file(ground, columns, version, n) for n in range(2)]
                with Server(cache(), delay_s=DELAY_S) as server:
                    yield from self._cases(server, keys, columns, version)

    @staticmethod
    def _file(ground: Ground, columns: int, version: str, number: int) -> str:
        """The key of a file; two of a kind lie in one directory, the second with fewer rows."""
        rows = 20_000 if ground.full or columns <= 3_000 else 2_000
        key = f"{BUCKET}/{columns}x{rows}-v{version}/{number}.lance"
        mine = rows - number * rows // 10
        ground.file(key, partial(files.wide, columns=columns, rows=mine, version=version))
        return key

    @staticmethod
    def _cases(server: Server, keys: Sequence[str], columns: int, version: str) -> Iterator[Case]:
        asked = [files.name(columns // 3), files.name(2 * columns // 3)]
        first, second = (f"s3://{key}" for key in keys)
        label = f"{columns:,} columns, {version}"

        def case(name: str, url: str, rows: slice | None = None, after: str = "") -> Case:
            return Case(
                f"{label}: {name}",
                (
                    Contestant("rangeio", ours(url, asked, rows, server.url, after)),
                    Contestant("pylance", pylance(url, asked, rows, server.url)),
                ),
                equal,
                goals=(Goal("ms", "pylance"),),
                watched=server,
            )

        yield case("2 columns, cold", first)
        yield case("100 rows of 2 columns, cold", first, slice(700, 800))
        yield case("2 columns of the next file", second, after=first)
