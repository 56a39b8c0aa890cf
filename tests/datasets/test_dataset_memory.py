"""Memory of a scan: bounded by the session's budgets, whatever there is to read."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

MB = 1 << 20
BUFFER, CACHE, COLUMNS, SLACK = 8, 4, 2, 64
STATUS, RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")

SCAN = """
import gc, sys
from pathlib import Path
import rangeio

def memory(field):
    line = next(li for li in Path("/proc/self/status").read_text().splitlines() if field in li)
    return int(line.split()[1]) << 10

folder, columns, *budgets = sys.argv[1:]
buffer, cache, of_columns = (int(one) << 20 for one in budgets)
gc.collect()
idle = memory("VmRSS")
Path("/proc/self/clear_refs").write_text("5")
session = rangeio.Session(max_buffer=buffer, memory_cache=cache, column_cache=of_columns)
dataset = rangeio.dataset(folder, session=session)
rows = 0
for batch in dataset.scan(columns.split(",") if columns else None, batch_rows=8192):
    rows += batch.num_rows
print(rows, memory("VmHWM") - idle)
"""


def scanned(folder: Path, columns: str = "") -> tuple[int, int]:
    """Rows, and bytes of memory at most beyond those of an idle import."""
    words = [sys.executable, "-c", SCAN, str(folder), columns, str(BUFFER), str(CACHE)]
    found = subprocess.run([*words, str(COLUMNS)], capture_output=True, check=True)
    rows, peak = found.stdout.split()
    return int(rows), int(peak)


def linked(folder: Path, one: Path, count: int) -> None:
    folder.mkdir()
    for i in range(count):
        os.link(one, folder / f"{i:05}.parquet")


@pytest.mark.skipif(not RESET.exists(), reason="this system does not tell a process's peak")
def test_a_table_of_twenty_times_the_budget_is_scanned_within_it(tmp_path):
    rng = np.random.default_rng(1)
    table = pa.table({f"c{i}": rng.random(130_000) for i in range(4)})
    pq.write_table(
        table, tmp_path / "one.parquet", row_group_size=32_768, compression="none",
        use_dictionary=False,
    )  # fmt: skip
    linked(tmp_path / "many", tmp_path / "one.parquet", 64)
    assert 64 * (tmp_path / "one.parquet").stat().st_size > 20 * (BUFFER + CACHE) * MB
    rows, peak = scanned(tmp_path / "many")
    assert rows == 64 * 130_000
    assert peak < (BUFFER + CACHE + COLUMNS + SLACK) * MB


@pytest.mark.skipif(not RESET.exists(), reason="this system does not tell a process's peak")
def test_footers_of_many_wide_files_are_not_kept(tmp_path):
    table = pa.table({f"c{i}": [float(i)] for i in range(3000)})
    pq.write_table(table, tmp_path / "one.parquet")
    linked(tmp_path / "many", tmp_path / "one.parquet", 300)
    assert 300 * (tmp_path / "one.parquet").stat().st_size > 200 * MB
    rows, peak = scanned(tmp_path / "many", "c7,c2000")
    assert rows == 300
    assert peak < (BUFFER + CACHE + COLUMNS + SLACK) * MB
