"""Random tables, written by pylance and read in every way the file offers.

``RANGEIO_FUZZ=full`` runs many more seeds. A seed alone makes its table again:
``Sample.draw(seed)``.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from corpus import lance_file, quiet
from random_tables import batches, row_count, schema
from ways import CHECKS, equal, peers, readable, refusal, sessions, truth

import rangeio

SEEDS = range(100, 3100 if os.environ.get("RANGEIO_FUZZ") == "full" else 136)


@dataclass(frozen=True)
class Sample:
    """A table in batches, and how it is written."""

    seed: int
    version: str
    batches: list[pa.RecordBatch]
    options: dict[str, int]

    @classmethod
    def draw(cls, seed: int) -> Sample:
        """The sample of a seed."""
        rng = np.random.default_rng(seed)
        version = ("2.0", "2.1", "2.2")[seed % 3]
        fields = schema(rng, version, int(rng.integers(1, 7)))
        made = batches(rng, fields, row_count(rng, fields), version)
        limits = {"data_cache_bytes": 1 << 12, "max_page_bytes": 1 << 16}
        options = {key: value for key, value in limits.items() if rng.random() < 0.4}
        return cls(seed, version, made, options)

    def write(self, path: Path) -> pa.Table:
        """Write the columns that pylance takes, and that it or rangeio can read; returns them."""
        found = self.batches
        if not self._written(path, found):
            names = found[0].schema.names
            taken = [n for n in names if self._written(path, [b.select([n]) for b in found])]
            found = [b.select(taken) for b in found]
            if not taken or not self._written(path, found):
                pytest.skip(f"pylance refuses every column in {self.version}")
        written = pa.Table.from_batches(found)
        known = peers(path, written.column_names)
        lost = [n for n in written.column_names if n not in known and not readable(path, n)]
        if len(lost) == written.num_columns:
            pytest.skip(f"nobody reads what pylance wrote in {self.version}")
        if lost:
            kept = [b.drop_columns(lost) for b in found]
            assert self._written(path, kept)
        return written.drop_columns(lost)

    def _written(self, path: Path, found: Sequence[pa.RecordBatch]) -> bool:
        path.unlink(missing_ok=True)
        try:
            with (
                quiet(),
                lance_file.LanceFileWriter(
                    str(path), found[0].schema, version=self.version, **self.options
                ) as writer,
            ):
                for batch in found:
                    writer.write_batch(batch)
        except BaseException as error:
            if not refusal(error):
                raise
            return False
        return True


def verify(seed: int, folder: Path) -> None:
    """Write the sample of a seed, and read it in every way with sessions of several kinds."""
    rng = np.random.default_rng(seed + (1 << 32))
    path = folder / f"{seed}.lance"
    written = Sample.draw(seed).write(path)
    wanted: pa.Table | None = None
    for at, session in enumerate(sessions()):
        if at and rng.random() < 0.5:
            continue
        with session, rangeio.open(str(path), session=session) as file:
            found = file.read()
            wanted = truth(path, written, found) if wanted is None else wanted
            equal(found, wanted, f"session {at}")
            for check in rng.permutation(np.array(CHECKS))[: 5 if at == 0 else 2]:
                check(file, wanted, rng)


@pytest.mark.parametrize("seed", SEEDS)
def test_random_table(seed: int, tmp_path: Path) -> None:
    verify(seed, tmp_path)
