"""``rangeio doctor``: what is installed, what can be read, which settings are in force."""

from __future__ import annotations

import argparse
import os
import platform
from collections.abc import Callable
from importlib import metadata

import rangeio
from rangeio.cli.installation import absent, extras, schemes
from rangeio.cli.legible import clean
from rangeio.cli.source import Commands, add_json
from rangeio.cli.table import say, say_json, say_pairs
from rangeio.errors import RequestError
from rangeio.formats import names
from rangeio.session import Session
from rangeio.transport.profile import Profile

_LIBRARIES = (
    "pyarrow",
    "numpy",
    "aiohttp",
    "fsspec",
    "protobuf",
    "cachetools",
    "google-crc32c",
)
_SIZES = ("memory_cache", "column_cache", "max_buffer")
_SETTINGS = (*_SIZES, "disk_cache", "max_in_flight", "profile", "deadline", "hedge")
_SHOWN = ("AWS_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION", "NO_COLOR")
_SET = (
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "AWS_ENDPOINT_URL",
    "AWS_ENDPOINT_URL_S3",
    "AWS_CA_BUNDLE",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "STORAGE_EMULATOR_HOST",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "SSL_CERT_FILE",
)
_DEBUG = "RANGEIO_DEBUG"

Section = dict[str, str]


def add(commands: Commands) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "doctor",
        help="versions, native kernels, what can be read, settings in force",
        description="Show the installation and its settings; nothing is connected to. Exit code "
        "1 where something keeps rangeio from working as it is set.",
        allow_abbrev=False,
    )
    add_json(parser)
    parser.set_defaults(run=run)


def run(asked: argparse.Namespace) -> int:
    """Print it; 1 where there are problems."""
    problems: list[str] = []
    found: dict[str, Section] = {
        "versions": _versions(problems),
        "native kernels": _checked(_kernels, problems),
        "extras": extras(),
        "formats": dict.fromkeys(names(), "reads"),
        "schemes": schemes(),
        "settings": _checked(_settings, problems),
        "environment": _environment(),
    }
    if asked.json:
        say_json({"ok": not problems, "problems": problems, **found})
    else:
        _say(found, problems)
    return 1 if problems else 0


def _say(found: dict[str, Section], problems: list[str]) -> None:
    for title, section in found.items():
        say(title)
        say_pairs([(f"  {clean(name)}", clean(value)) for name, value in section.items()])
        say()
    for problem in problems:
        say(f"problem: {clean(problem)}")
    if not problems:
        say("all is well")


def _checked(look: Callable[[], Section], problems: list[str]) -> Section:
    """A section, or nothing of it and its problem."""
    try:
        return look()
    except RequestError as error:
        problems.append(str(error))
        return {}


def _versions(problems: list[str]) -> Section:
    found = {
        "rangeio": rangeio.__version__,
        "python": f"{platform.python_version()} ({platform.python_implementation()})",
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
    }
    for name in _LIBRARIES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = "not installed"
            problems.append(absent(name))
    return found


def _kernels() -> Section:
    # Imported here: where RANGEIO_NATIVE=require is not met, it is the import that says so.
    from rangeio.codecs.native import available, why_not

    setting = os.environ.get("RANGEIO_NATIVE", "")
    return {
        "available": "yes" if available else f"no: {why_not}; numpy does their work, slower",
        "RANGEIO_NATIVE": setting or "not set: used where they are",
    }


def _settings() -> Section:
    session = Session()
    found: Section = {}
    for name in _SETTINGS:
        variable = f"RANGEIO_{name.upper()}"
        source = variable if variable in os.environ else "default"
        found[name] = f"{_setting(name, getattr(session, name))} ({source})"
    if _DEBUG in os.environ:
        found["debug"] = f"{os.environ[_DEBUG]} ({_DEBUG})"
    return found


def _setting(name: str, value: object) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, Profile):
        return value.name
    if value is None:
        return "each store's own" if name == "profile" else "none"
    if name in _SIZES and isinstance(value, int):
        return f"{value / (1 << 20):g} MiB"
    return str(value)


def _environment() -> Section:
    """What the cloud clients read, no value that may be a secret."""
    given = {name: os.environ[name] for name in _SHOWN if name in os.environ}
    return given | {name: "set" for name in _SET if name in os.environ}
