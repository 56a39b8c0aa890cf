"""The repository keeps its word: pins, links, targets, README, and a quiet import."""

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import rangeio

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]
SOURCES = [
    p for d in ("rangeio", "tests", "benchmarks", "examples") for p in ROOT.glob(f"{d}/**/*.py")
]
TARGETS = {"help", "venv", "demo", "test", "lint", "bench", "test-native-off", "test-localstack"}
HEAVY = ("s3fs", "gcsfs", "aiobotocore", "lance", "matplotlib", "rich", "moto", "pyspark")


def spelled(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def required():
    """Every package that pyproject names, in any extra."""
    extras = PROJECT["optional-dependencies"]
    lines = [*PROJECT["dependencies"], *(line for lines in extras.values() for line in lines)]
    names = {spelled(re.split(r"[\[<>=!~; ]", line)[0]) for line in lines}
    return names - {"rangeio"}


def pins():
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def test_constraints_are_exact_pins_and_nothing_else():
    assert [p for p in pins() if not re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.+!]+", p)] == []


def test_every_dependency_is_pinned():
    assert required() - {spelled(p.split("==")[0]) for p in pins()} == set()


def test_versions_agree():
    assert rangeio.__version__ == PROJECT["version"]
    assert f"## {PROJECT['version']}" in (ROOT / "CHANGELOG.md").read_text()


def test_make_lists_its_targets():
    found = set(re.findall(r"^([a-z-]+):.*## ", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert found >= TARGETS


def test_readme_says_the_main_things_on_its_first_screen():
    screen = "\n".join((ROOT / "README.md").read_text().splitlines()[:32])
    for word in ("make demo", "make test", "rangeio.open(", "s3://", "f.read(["):
        assert word in screen


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    targets = re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text())
    local = [t for t in targets if "://" not in t and not t.startswith("mailto:")]
    assert [t for t in local if not (page.parent / t).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_python_in_pages_is_python(page):
    for block in re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL):
        compile(block, str(page), "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)


def test_every_environment_variable_is_documented():
    known = (ROOT / "docs" / "environment.md").read_text()
    used = {v for p in SOURCES for v in re.findall(r"RANGEIO_[A-Z_]*[A-Z]", p.read_text())}
    assert {v for v in used if v not in known} == set()


def test_nothing_is_left_for_later():
    marks = re.compile("|".join(("TO" + "DO", "FIX" + "ME", "X" * 3)))
    assert [str(p) for p in SOURCES if marks.search(p.read_text())] == []


def test_importing_starts_nothing_and_loads_no_extra():
    code = (
        "import sys, threading, rangeio\n"
        f"heavy = [m for m in {HEAVY!r} if m in sys.modules]\n"
        "print(heavy, [t.name for t in threading.enumerate()])"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout.strip() == "[] ['MainThread']"
