"""Decoding one column of a local Lance 2.1 file, in the page cache."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from benchmarks import files
from benchmarks.ground import Ground
from benchmarks.harness import Case, Contestant, Goal
from benchmarks.peers import ours, pylance
from benchmarks.scenarios.wide import equal

ROWS = 2_000_000
ENOUGH = {
    "int64": 0.7,
    "float64": 0.7,
    "nullable float64": 0.7,
    "plain strings": 0.5,
    "FSST strings": 0.4,
}


class Decoding:
    """2 million rows a type, each reader with its default batches and threads."""

    name = "decoding"
    title = "Decoding one column of 2,000,000 rows, Lance 2.1, local file"

    def prepare(self, ground: Ground) -> Iterator[Case]:
        paths = {}
        for name, field, values in files.typical(ROWS):
            write = partial(files.plain, field=field, values=values)
            paths[name] = ground.file(f"decoding/{name.replace(' ', '-')}-v2.1.lance", write)
        for name, path in paths.items():
            yield Case(
                name,
                (
                    Contestant("rangeio", ours(str(path), ["v"])),
                    Contestant("pylance", pylance(str(path), ["v"])),
                ),
                equal,
                goals=(Goal("ms", "pylance", ENOUGH[name]),),
            )
