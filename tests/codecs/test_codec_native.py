"""How the kernels are chosen; and the whole room again, in a process that has none."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from rangeio.codecs import native
from rangeio.errors import RequestError

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
ABSENT = "import sys; sys.modules['rangeio.codecs._kernels'] = None; "
SHOW = "from rangeio.codecs import native; print(native.available, native.why_not)"


def run(code: str, mode: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "RANGEIO_NATIVE": mode, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, text=True, timeout=60
    )


def test_off_makes_them_absent_and_says_so() -> None:
    assert run(SHOW, "off").stdout.strip() == "False switched off by RANGEIO_NATIVE=off"


def test_require_refuses_to_go_on_without_them() -> None:
    done = run(ABSENT + SHOW, "require")
    assert done.returncode != 0
    assert "RequestError: RANGEIO_NATIVE=require, but no native kernels" in done.stderr


def test_without_them_and_unasked_the_twins_serve() -> None:
    done = run(ABSENT + SHOW, "")
    assert done.stdout.startswith("False not built")


def test_kernels_of_another_revision_are_not_used() -> None:
    stale = (
        "import sys, types; m = types.ModuleType('_kernels'); m.REVISION = -1; "
        "sys.modules['rangeio.codecs._kernels'] = m; "
    )
    assert "of revision -1" in run(stale + SHOW, "").stdout
    assert "of revision -1" in run(stale + SHOW, "require").stderr


def test_a_mode_that_there_is_not_is_refused() -> None:
    with pytest.raises(RequestError, match="RANGEIO_NATIVE='on'"):
        native.load("on")


def test_require_is_satisfied_where_they_are() -> None:
    if native.kernels is None:
        pytest.skip(f"no native kernels: {native.why_not}")
    assert run(SHOW, "require").stdout.strip() == "True"


def test_every_kernel_of_the_protocol_is_there() -> None:
    if native.kernels is None:
        pytest.skip(f"no native kernels: {native.why_not}")
    names = [n for n in vars(native.Kernels) if not n.startswith("_")]
    assert len(names) == 26
    assert all(callable(getattr(native.kernels, n)) for n in names)


def test_a_compiler_that_fails_stops_no_installation(tmp_path: Path) -> None:
    pytest.importorskip("Cython")
    pytest.importorskip("setuptools")
    if not (ROOT / "setup.py").exists():
        pytest.skip("not a source tree")
    shutil.copy(ROOT / "setup.py", tmp_path)
    codecs = tmp_path / "rangeio" / "codecs"
    chosen = shutil.ignore_patterns("*.so", "*.c", "__pycache__")
    shutil.copytree(ROOT / "rangeio" / "codecs", codecs, ignore=chosen)
    done = subprocess.run(
        [sys.executable, "setup.py", "build_ext", "--inplace"],
        cwd=tmp_path,
        env={**os.environ, "CC": "/nonexistent/cc", "CXX": "/nonexistent/cc"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert "failed" in done.stderr
    assert not list(codecs.glob("_kernels*.so"))


def test_all_decoders_pass_with_the_kernels_off() -> None:
    """The same tests where nothing was ever compiled; those of the kernels are skipped."""
    env = {**os.environ, "RANGEIO_NATIVE": "off", "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-m", "pytest", str(HERE), "--ignore", __file__, "-rN"]
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " passed" in done.stdout
    assert " skipped" in done.stdout
