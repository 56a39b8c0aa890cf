"""Mutated footers: no scanner crashes, and all of them find the same or refuse alike.

``RANGEIO_FUZZ=full`` runs twenty times as many; ``make fuzz-footers`` a million.
"""

from __future__ import annotations

import os
import random

import pytest
from footer_seeds import respelt, seeds
from fuzz_footers import SEED, Disagreement, compare, main, mutants, told, wide
from test_parquet_scan import SCANNERS, check

from rangeio.codecs import native
from rangeio.errors import Corrupt
from rangeio.formats.parquet.footer import scan

TIMES = 20 if os.environ.get("RANGEIO_FUZZ") == "full" else 1
PARTS = 10
BY_KERNEL = 50_000 * TIMES // PARTS
BY_PYTHON = 1_500 * TIMES // PARTS

needs_kernels = pytest.mark.skipif(not native.available, reason="no native kernels")


@needs_kernels
@pytest.mark.parametrize("part", range(PARTS))
def test_the_kernel_agrees_with_itself_with_templates_and_without(part):
    tally = compare(native.kernels, SEED, BY_KERNEL, 0, first=part * BY_KERNEL)
    assert tally.count == BY_KERNEL
    assert 0.2 < tally.accepted / tally.count < 0.8


@pytest.mark.parametrize("part", range(PARTS))
def test_the_scanners_in_python_agree_with_each_other_and_with_the_kernel(part):
    tally = compare(native.kernels, SEED + 1, BY_PYTHON, 1, first=part * BY_PYTHON)
    assert tally.plain == BY_PYTHON
    assert 0.2 < tally.accepted / tally.count < 0.8
    assert tally.gave_up < tally.count / 2


@pytest.mark.parametrize("rarely", [3, 40, 1000])
def test_another_spelling_says_the_same(rarely):
    """Long heads, idle bytes and fields out of order move what they describe, and no more."""
    seen = 0
    for number, data in enumerate(seeds()):
        try:
            plain = scan.scan(memoryview(data))
        except Corrupt:
            continue
        other = respelt(data, random.Random(number), rarely)
        layout = scan.scan(memoryview(other))
        check(layout, other)
        for name, scanner in SCANNERS.items():
            if name != "runs" or rarely == 1000:  # else there is no regular structure any more
                assert told(scanner(other)) == told(layout)
        assert layout.elements[:, 3:].tolist() == plain.elements[:, 3:].tolist()
        assert layout.groups[:, 4].tolist() == plain.groups[:, 4].tolist()
        assert layout.num_rows == plain.num_rows
        seen += 1
    assert seen > 15


def test_most_mutants_have_chunks_enough_for_templates():
    assert len(wide()) > 20
    assert {len(data) > 0 for data in mutants(SEED, 50)} == {True}


def test_a_mutant_follows_from_its_number():
    assert list(mutants(3, 4, first=10)) == list(mutants(3, 14))[10:]


class OneTooMany:
    """Kernels that find a row too many in what the templates skip."""

    def scan_footer(self, data, templates):
        found = native.kernels.scan_footer(data, templates)
        return found and (*found[:4], found[4] + templates, found[5])


class Refusing:
    """Kernels that refuse everything by their templates."""

    def scan_footer(self, data, templates):
        return None if templates else native.kernels.scan_footer(data, templates)


@needs_kernels
@pytest.mark.parametrize("kernels", [OneTooMany(), Refusing()], ids=["one_too_many", "refusing"])
def test_a_disagreement_is_found_and_told(kernels):
    with pytest.raises(Disagreement, match=r"mutant \d+ of the seed 1\n"):
        compare(kernels, 1, 100, 0)


def test_the_command(capsys):
    assert main(["--count", "60", "--plain", "20", "--seed", "5"]) == 0
    assert capsys.readouterr().out.startswith("60 footers, ")
