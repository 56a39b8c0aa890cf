"""Packages that a scheme needs, and what to install where they are missing."""

from __future__ import annotations

import difflib
import importlib
from types import ModuleType

from rangeio.errors import RequestError

_EXTRAS = {"s3fs": "rangeio[s3]", "gcsfs": "rangeio[gcs]"}
_OWN = ("s3", "gs", "http", "https", "file", "memory")


def extra(module: str, scheme: str) -> ModuleType:
    """The module that reads ``scheme`` urls; raises RequestError naming what to install."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        wanted = _EXTRAS.get(package, package)
        raise RequestError(
            f"{scheme}:// needs the package {package}, which cannot be imported: "
            f"pip install '{wanted}'"
        ) from error


def known(scheme: str) -> None:
    """Promise that some fsspec filesystem reads ``scheme``; raises RequestError otherwise.

    Imports that filesystem's module and makes no instance of it.
    """
    import fsspec

    try:
        fsspec.get_filesystem_class(scheme)
    except ValueError:
        raise RequestError(_unknown(scheme)) from None
    except ImportError as error:
        raise RequestError(_uninstalled(scheme)) from error


def _unknown(scheme: str) -> str:
    from fsspec.registry import available_protocols

    schemes = sorted({*_OWN, *available_protocols()})
    near = difflib.get_close_matches(scheme, schemes, 3, 0.5)
    offer = f"did you mean {' or '.join(near)}?" if near else f"known are {', '.join(_OWN)}"
    return f"no filesystem is known for {scheme}:// urls; {offer}"


def _uninstalled(scheme: str) -> str:
    from fsspec.registry import known_implementations

    entry = known_implementations.get(scheme, {})
    package = entry.get("class", scheme).partition(".")[0]
    if package == "fsspec":  # fsspec's own adapter; its note names the package that it adapts
        return f"{scheme}:// needs a package that is not installed: {entry.get('err', scheme)}"
    wanted = _EXTRAS.get(package, package)
    return f"{scheme}:// needs the package {package}: pip install '{wanted}'"
