"""Cut files and flipped bits: right data, other data or a FormatError, in little memory."""

from __future__ import annotations

import os
import resource
from functools import cache

import numpy as np
import pyarrow as pa
import pytest
from cases import CASES, VERSIONS
from corpus import table
from wide import encoded

from rangeio.errors import FormatError
from rangeio.formats.lance.footer import FOOTER
from rangeio.formats.lance.format import Lance
from rangeio.plan import Rows
from rangeio.testing.formats import InMemory

FLIPS = 200_000 if os.environ.get("RANGEIO_FUZZ") == "full" else 10_000
CUTS = 2_000
ROWS = 40
GROUPS = (
    ("int64_null", "int32_small", "bool_null", "f64"),
    ("string_unique_null", "large_string_low", "binary_short", "null"),
    ("list_i32_null", "list_string_null", "large_list_i32"),
    ("struct", "list_struct", "struct_list", "struct_null"),
    ("dict_int8_string", "dict_int32_null_int64", "packed", "struct_empty"),
    ("fsl4_f32_null_both", "fsl3_bool", "fsb3_null", "dec128"),
    ("blob_null", "i64_all_null", "i64_constant", "string_constant"),
    ("string_zstd", "string_lz4_null", "string_fsst", "string_low_null"),
    ("list_list", "list_struct_list_null", "map_deep", "fsl_struct_null"),
    ("string_long_null", "binary_medium", "list_string_full_zip", "i64_full_zip_null"),
    ("extension_uuid", "timestamp_us_UTC", "f32_bss_zstd", "i32_runs", "packed_variable"),
)


VALUES = ("UTF8", "Decimal value")
"""What Arrow says of values that mean nothing in an array that is whole."""


@cache
def small(version: str) -> list[bytes]:
    """Files of a few columns each, with all kinds of pages between them."""
    files = []
    for i, names in enumerate(GROUPS):
        wanted = [n for n in names if version in CASES[n].versions]
        rows = ROWS if i % 2 else 1100
        arrays = {n: table(n, min(rows, CASES[n].most)) for n in wanted}
        least = min(t.num_rows for t in arrays.values())
        fields = [arrays[n].schema.field(0).with_name(n) for n in wanted]
        columns = [arrays[n].column(0).slice(0, least) for n in wanted]
        files.append(encoded(pa.table(columns, schema=pa.schema(fields)), version))
    return files


def attempt(data: bytes, rows: Rows | None = None) -> FormatError | None:
    """Read all columns; any error but a FormatError fails the test, and so does a bad array."""
    try:
        found = InMemory(Lance(), data).read(rows=rows)
    except FormatError as error:
        return error
    try:
        found.validate(full=True)
    except pa.ArrowInvalid as error:
        # Other bytes of a string or a decimal are other data, not a broken array.
        if not any(words in str(error) for words in VALUES):
            raise
    return None


def metadata_start(data: bytes) -> int:
    gbo = FOOTER.unpack(data[-40:])[2]
    return int.from_bytes(data[gbo : gbo + 8], "little")


@pytest.fixture(autouse=True)
def bounded() -> object:
    """Whatever the bytes claim, reading them takes little memory."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    yield
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert after - before < 512 << 10, f"{(after - before) >> 10} MiB more than before"


@pytest.mark.parametrize("version", VERSIONS)
def test_the_files_are_good(version: str) -> None:
    for data in small(version):
        assert attempt(data) is None
        assert len(data) - metadata_start(data) <= 8 << 10


@pytest.mark.parametrize("version", VERSIONS)
def test_cut_at_every_length(version: str) -> None:
    for data in small(version):
        start = metadata_start(data)
        rng = np.random.default_rng(len(data))
        lengths = set(range(start - 1, len(data))) | set(rng.integers(0, start, 50).tolist())
        for length in sorted(lengths):
            assert attempt(data[:length]) is not None, length


@pytest.mark.parametrize("version", VERSIONS)
def test_a_larger_file_cut_at_boundaries_and_random_lengths(version: str) -> None:
    """Every column's metadata, the offset tables and the footer, one byte around each; and 2,000
    lengths anywhere."""
    names = [f"feature_{i:03d}" for i in range(300)]
    data = encoded(pa.table([pa.array(range(64))] * len(names), names=names), version)
    start = metadata_start(data)
    assert len(data) - start > 8 << 10
    column_meta, cmo, gbo = FOOTER.unpack(data[-40:])[:3]
    spots = np.frombuffer(data[cmo:gbo], "<u8").reshape(-1, 2)
    edges = {start, column_meta, cmo, gbo, len(data) - 40, len(data) - 1, *spots.sum(1).tolist()}
    rng = np.random.default_rng(len(data))
    lengths = {edge + by for edge in edges for by in (-1, 0, 1)}
    lengths |= set(rng.integers(0, len(data), CUTS).tolist())
    assert attempt(data) is None
    for length in sorted(length for length in lengths if length < len(data)):
        assert attempt(data[:length]) is not None, length


@pytest.mark.parametrize("version", VERSIONS)
def test_cut_out_at_every_boundary(version: str) -> None:
    """Bytes are missing in the middle: all that lies behind is not where it is said to be."""
    for data in small(version):
        start = metadata_start(data)
        column_meta, cmo, gbo = FOOTER.unpack(data[-40:])[:3]
        for edge in {start, column_meta, cmo, gbo, len(data) - 40}:
            for at in (edge - 1, edge, edge + 1):
                for missing in (1, 7, 64):
                    attempt(data[:at] + data[at + missing :])
                    attempt(data[:at] + bytes(missing) + data[at:])


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("part", range(4))
def test_flipped_bits(version: str, part: int) -> None:
    rng = np.random.default_rng([part, *version.encode()])
    files = small(version)
    refused = 0
    for k in range(FLIPS // 4):
        data = bytearray(files[int(rng.integers(len(files)))])
        # Most of a file is values; what can break a reader lies in the metadata.
        low = 0 if k % 3 == 0 else metadata_start(bytes(data))
        at = int(rng.integers(low, len(data)))
        data[at] ^= 1 << int(rng.integers(8))
        refused += attempt(bytes(data)) is not None
    assert refused > FLIPS // 40


@pytest.mark.parametrize("version", VERSIONS)
def test_overwritten_bytes(version: str) -> None:
    """Runs of bytes replaced: long numbers, zeros, and bytes of elsewhere in the file."""
    rng = np.random.default_rng([*version.encode()])
    files = small(version)
    for _ in range(FLIPS // 4):
        data = bytearray(files[int(rng.integers(len(files)))])
        at = int(rng.integers(metadata_start(bytes(data)), len(data)))
        size = int(rng.integers(1, 12))
        other = int(rng.integers(0, len(data) - size))
        patches = (b"\xff" * size, bytes(size), bytes(data[other : other + size]))
        patch = patches[int(rng.integers(3))][: len(data) - at]
        data[at : at + len(patch)] = patch
        attempt(bytes(data))


@pytest.mark.parametrize("version", VERSIONS)
def test_flipped_bits_and_few_rows(version: str) -> None:
    rng = np.random.default_rng([7, *version.encode()])
    files = small(version)
    rows = Rows.of(np.array([0, 3, 4, 17, 29]))
    for _ in range(FLIPS // 8):
        data = bytearray(files[int(rng.integers(len(files)))])
        at = int(rng.integers(0, len(data)))
        data[at] ^= 1 << int(rng.integers(8))
        attempt(bytes(data), rows)
