"""One folder a format, found by name and sniffed by its magic.

A folder ``rangeio/formats/<name>/`` with a module ``format`` that holds ``FORMAT`` is a format;
nothing else lists it. A module ``writer`` beside it that holds ``WRITER`` makes it one to write.
"""

from __future__ import annotations

import pkgutil
from functools import cache
from importlib import import_module
from importlib.util import find_spec

from rangeio.errors import BadMagic, RequestError
from rangeio.formats.format import Format, Writer


@cache
def names() -> tuple[str, ...]:
    """The names of all formats, sorted. Imports none of them."""
    return tuple(sorted(found.name for found in pkgutil.iter_modules(__path__) if found.ispkg))


@cache
def named(name: str) -> Format:
    """The format of this name; RequestError lists the known ones. Imports only that one."""
    if name not in names():
        raise RequestError(f"no format is called {name!r}; there are: {', '.join(names())}")
    found: Format = import_module(f"{__name__}.{name}.format").FORMAT
    return found


def sniff(tail: memoryview) -> Format:
    """The format that claims the last bytes of a file (all of a short one), else BadMagic."""
    for name in names():
        one = named(name)
        if one.claims(tail):
            return one
    if not len(tail):
        raise BadMagic("the file is empty")
    end = bytes(tail[-8:])
    raise BadMagic(f"no format claims a file that ends in {end!r}; known: {', '.join(names())}")


@cache
def writers() -> tuple[str, ...]:
    """The names of the formats that can be written, sorted. Imports no writer."""
    return tuple(name for name in names() if find_spec(f"{__name__}.{name}.writer") is not None)


@cache
def writer(name: str) -> Writer:
    """The writer of this format; RequestError lists those there are. Imports only that one."""
    if name not in writers():
        known = "no format is called" if name not in names() else "no writer is there for"
        raise RequestError(f"{known} {name!r}; can be written: {', '.join(writers())}")
    found: Writer = import_module(f"{__name__}.{name}.writer").WRITER
    return found
