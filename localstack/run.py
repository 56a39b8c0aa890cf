"""LocalStack's S3 without docker: installs it from the package index, starts it, ends it.

python localstack/run.py           until Ctrl-C; the first line printed is the endpoint
python localstack/run.py --test    runs the tests marked localstack against it
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
import venv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
READY_S = 180


@dataclass(frozen=True)
class Recipe:
    """Packages that are known to work together on one Python, and how they start."""

    packages: Sequence[str]
    command: Sequence[str]


# Newer releases of what LocalStack leaves unpinned break it: cbor2, pyOpenSSL, plux.
PINS = ("cbor2<5.8", "pyopenssl<25", "cryptography<45", "service-identity<25")
RECIPES = {
    (3, 11): Recipe(
        (
            "localstack-core[base-runtime]==4.9.2",
            "localstack==4.9.2",
            *PINS,
            "plux<1.13",
            "psutil<7",
        ),
        ("bin/localstack", "start", "--host"),
    ),
    (3, 13): Recipe(
        ("localstack-core[base-runtime]==2026.3.0", *PINS),
        ("bin/python", "-m", "localstack.runtime.main"),
    ),
}


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--test", action="store_true", help="run the tests, then end the server")
    parser.add_argument("--port", type=int, default=0, help="0: any that is free")
    parser.add_argument(
        "--venv", type=Path, default=HERE.parent / ".venv-localstack", help="where it is installed"
    )
    parser.add_argument("--python", default=sys.executable, help="a Python 3.11 or 3.13")
    asked = parser.parse_args(arguments)
    recipe = install(asked.venv, asked.python)
    with started(asked.venv, recipe, asked.port or free_port()) as endpoint:
        print(endpoint, flush=True)
        if asked.test:
            return tested(endpoint)
        with contextlib.suppress(KeyboardInterrupt):
            signal.pause()
    return 0


def install(home: Path, python: str) -> Recipe:
    """The recipe for ``python``, installed in ``home`` unless it already is."""
    told = subprocess.check_output(
        [python, "-c", "import sys; print(*sys.version_info[:2])"], text=True
    )
    version = tuple(int(part) for part in told.split())
    recipe = RECIPES.get((version[0], version[1]))
    if recipe is None:
        known = " and ".join(f"{a}.{b}" for a, b in RECIPES)
        sys.exit(f"LocalStack is known to start on Python {known} only: pass --python")
    mark = home / "installed"
    wanted = "\n".join(recipe.packages)
    if mark.exists() and mark.read_text() == wanted:
        return recipe
    say("installing LocalStack")
    shutil.rmtree(home, ignore_errors=True)
    if python == sys.executable:
        venv.create(home, with_pip=True)
    else:
        subprocess.check_call([python, "-m", "venv", str(home)])
    pip = [str(home / "bin/python"), "-m", "pip", "install", "--quiet", *recipe.packages]
    subprocess.check_call(pip)
    mark.write_text(wanted)
    return recipe


@contextlib.contextmanager
def started(home: Path, recipe: Recipe, port: int) -> Iterator[str]:
    """The endpoint of a server that is ready; it ends with the block, by its process group."""
    endpoint = f"http://127.0.0.1:{port}"
    with tempfile.TemporaryDirectory() as root:
        log = Path(root) / "log"
        with log.open("w") as out:
            process = subprocess.Popen(
                [str(home / recipe.command[0]), *recipe.command[1:]],
                env=settings(home, root, port),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        try:
            if not ready(process, endpoint):
                print(log.read_text()[-4000:], file=sys.stderr)
                sys.exit("LocalStack did not start; its last words are above")
            yield endpoint
        finally:
            end(process)


def settings(home: Path, root: str, port: int) -> dict[str, str]:
    kept = {name: v for name, v in os.environ.items() if not name.startswith(("AWS_", "PYTHON"))}
    return {
        **kept,
        "PATH": f"{home / 'bin'}{os.pathsep}{os.environ.get('PATH', '')}",
        "ACTIVATE_PRO": "0",
        "SERVICES": "s3",
        "EAGER_SERVICE_LOADING": "1",
        "DISABLE_EVENTS": "1",
        "SKIP_SSL_CERT_DOWNLOAD": "1",
        "GATEWAY_LISTEN": f"127.0.0.1:{port}",
        "FILESYSTEM_ROOT": root,
    }


def ready(process: subprocess.Popen[bytes], endpoint: str) -> bool:
    """Wait until S3 says that it runs; False where the server ended, or took too long."""
    say("starting LocalStack")
    until = time.monotonic() + READY_S
    while time.monotonic() < until and process.poll() is None:
        with contextlib.suppress(OSError, ValueError):
            with urllib.request.urlopen(f"{endpoint}/_localstack/health", timeout=5) as reply:
                told = json.load(reply)
            if told.get("services", {}).get("s3") in ("available", "running"):
                return True
        time.sleep(0.2)
    return False


def end(process: subprocess.Popen[bytes]) -> None:
    """End the server and its children: they are a process group of their own."""
    for word in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, word)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(15)
            return


def tested(endpoint: str) -> int:
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-m",
        "localstack",
        str(HERE.parent / "tests/localstack"),
    ]
    environment = {**os.environ, "RANGEIO_LOCALSTACK": endpoint}
    return subprocess.call(command, env=environment, cwd=HERE.parent)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def say(words: str) -> None:
    print(f"{words} ...", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
