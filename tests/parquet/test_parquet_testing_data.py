"""The files of apache/parquet-testing: read as pyarrow reads them, refused where it refuses."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from corpus_files import DATA
from parquet_peer import Peer, same
from parquet_ways import check

import rangeio
from rangeio.errors import FormatError, RangeIOError

ROOT = Path(__file__).parents[2]
FULL = os.environ.get("RANGEIO_FUZZ") == "full"
FOUND = sorted((*DATA.rglob("*.parquet"), *DATA.rglob("*.encrypted")))
BAD = [p for p in FOUND if "bad_data" in p.parts or p.suffix == ".encrypted"]
# pyarrow takes 4 GB to refuse this one: its strings are longer than an array may be.
HUGE = [p for p in FOUND if p.name == "large_string_map.brotli.parquet"]
GOOD = [p for p in FOUND if p not in BAD and p not in HUGE]

pytestmark = pytest.mark.skipif(not FOUND, reason="the sample files are not beside the repository")


def named(path: Path) -> str:
    return str(path.relative_to(DATA))


@pytest.mark.parametrize("path", GOOD, ids=named)
def test_it_reads_as_pyarrow_reads_it(path: Path) -> None:
    check(path)


def outcome(path: Path, **words: Any) -> pa.Table | tuple[type[Exception], str]:
    with rangeio.Session(**words) as session:
        try:
            with rangeio.open(path, session=session) as file:
                return file.read()
        except RangeIOError as error:
            return type(error), str(error)


@pytest.mark.parametrize("path", [p for p in FOUND if p not in HUGE], ids=named)
def test_it_reads_alike_on_this_thread_and_by_the_engine(path: Path) -> None:
    here, there = outcome(path), outcome(path, profile="file")
    if isinstance(here, pa.Table):
        same(here, there, "both ways")
        assert here.schema.equals(there.schema, check_metadata=True)
    else:
        assert here == there


def apart(paths: list[Path]) -> dict[str, str]:
    """What the same checks say in a process of its own: they may neither crash nor hang."""
    ways = Path(__file__).with_name("parquet_ways.py")
    done = subprocess.run(
        [sys.executable, "-W", "error", ways, *paths],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    lines = [line.partition(" ") for line in done.stdout.splitlines()]
    return {path: said for path, _, said in lines}


@pytest.fixture(scope="module")
def verdicts() -> dict[str, str]:
    return apart(BAD)


@pytest.mark.parametrize("path", BAD, ids=named)
def test_what_is_broken_or_encrypted_is_refused_where_pyarrow_refuses_it(
    path: Path, verdicts: dict[str, str]
) -> None:
    assert verdicts.get(str(path)) == "as pyarrow"


@pytest.mark.skipif(not FULL, reason="takes 4 GB; RANGEIO_FUZZ=full runs it")
@pytest.mark.parametrize("path", HUGE, ids=named)
def test_what_is_too_long_for_an_array_is_refused(path: Path) -> None:
    assert apart([path]) == {str(path): "as pyarrow"}


def test_encrypted_columns_are_refused_by_name_and_the_others_read() -> None:
    path = DATA / "data" / "encrypt_columns_plaintext_footer.parquet.encrypted"
    data = path.read_bytes()
    peer = Peer(data)
    hidden = {name for i, name in enumerate(peer.schema.names) if peer.read([i]) is None}
    assert hidden == {"float_field", "double_field"}
    with rangeio.open(path) as file:
        plain = [name for name in peer.schema.names if name not in hidden]
        positions = [peer.schema.get_field_index(name) for name in plain]
        wanted = peer.read(positions)
        assert wanted is not None
        same(file.read(plain), wanted, "the columns in the clear")
        for name in hidden:
            with pytest.raises(FormatError, match=name):
                file.read([name])
            with pytest.raises(FormatError, match=name):
                file.read(["int32_field", name])


@pytest.mark.parametrize(
    "name", ["encrypt_columns_and_footer", "external_key_material_java"], ids=str
)
def test_an_encrypted_footer_says_so(name: str) -> None:
    with pytest.raises(FormatError, match="encrypt"):
        rangeio.open(DATA / "data" / f"{name}.parquet.encrypted")


def test_columns_of_unequal_length_are_not_handed_on() -> None:
    """Alone, the short column would make a table of two rows of a file of five."""
    path = DATA / "bad_data" / "ARROW-GH-41317.parquet"
    with rangeio.open(path) as file:
        assert file.num_rows == 5
        with pytest.raises(FormatError):
            file.read(["timestamp_us_no_tz"])
        with pytest.raises(FormatError):
            file.read()
        assert file.read(["int64"]).num_rows == 5


def test_every_page_checksum_is_left_as_pyarrow_leaves_it() -> None:
    """Checksums are not asked for by default: a wrong one does not stop either reader."""
    path = DATA / "data" / "rle-dict-uncompressed-corrupt-checksum.parquet"
    wanted = Peer(path.read_bytes()).read()
    assert isinstance(wanted, pa.Table)
    with rangeio.open(path) as file:
        same(file.read(), wanted, path.name)
