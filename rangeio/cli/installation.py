"""What is installed beside rangeio, and which urls can be read with it."""

from __future__ import annotations

from importlib import import_module, metadata
from importlib.util import find_spec

_EXTRAS = {
    "s3": ("s3fs",),
    "gcs": ("gcsfs",),
    "spark": ("pyspark",),
    "cli": ("rich",),
    "viz": ("matplotlib",),
    "demo": ("s3fs", "rich", "moto", "pylance"),
}
_OWN = {
    "file": (),
    "memory": (),
    "http": (),
    "https": (),
    "s3": ("s3fs", "s3"),
    "gs": ("gcsfs", "gcs"),
}
_AROUND = frozenset(
    {
        "async_wrapper",
        "asyncwrapper",
        "blockcache",
        "cached",
        "dir",
        "filecache",
        "generic",
        "reference",
        "simplecache",
    }
)
"""Filesystems around another one, which no url names alone."""


def absent(package: str) -> str:
    """What to do about a package that is not there."""
    return f"{package} is not installed: pip install '{package}'"


def extras() -> dict[str, str]:
    """Every extra: the versions of its packages, or how to get them."""
    return {name: _extra(name, packages) for name, packages in _EXTRAS.items()}


def _extra(name: str, packages: tuple[str, ...]) -> str:
    found = {package: _version(package) for package in packages}
    missing = [package for package, version in found.items() if not version]
    if missing:
        return f"no {', '.join(missing)}: pip install 'rangeio[{name}]'"
    return ", ".join(f"{package} {version}" for package, version in found.items())


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def schemes() -> dict[str, str]:
    """Every scheme that can be read, by what; s3 and gs also where they cannot."""
    found = {}
    for scheme, needed in _OWN.items():
        found[scheme] = "yes"
        if needed and not _imports(needed[0]):
            found[scheme] = f"no: pip install 'rangeio[{needed[1]}]'"
    others = [f"{name}://" for name in _others() if name not in _OWN]
    return found | {"others": " ".join(others)}


def _others() -> list[str]:
    """The schemes of fsspec filesystems whose packages are installed."""
    from fsspec.registry import known_implementations

    kept = []
    for scheme, entry in sorted(known_implementations.items()):
        module = entry["class"].rpartition(".")[0]
        # A package is only looked for; fsspec's own modules need others, which importing shows.
        own = module.startswith("fsspec.")
        if scheme in _AROUND:
            continue
        if _imports(module) if own else find_spec(module.partition(".")[0]) is not None:
            kept.append(scheme)
    return kept


def _imports(module: str) -> bool:
    try:
        import_module(module)
    except Exception:  # whatever a foreign module does when it is imported, it cannot be used
        return False
    return True
