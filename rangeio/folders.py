"""Folders of files as a whole: what lies in one, small files put beside the data."""

from __future__ import annotations

from collections.abc import Iterable

from rangeio.datasets.finding.tabledirs import recognise
from rangeio.errors import RequestError
from rangeio.stores.address import Options
from rangeio.stores.sink import open_folder, open_sink


def files_below(root: str, storage_options: Options | None = None) -> dict[str, int]:
    """Every file with its size, hidden ones too, by its name below ``root``.

    Raises RequestError where ``root`` is a table whose files are told by its log: what is put
    beside them is never read, and what is removed is missed.
    """
    there = open_folder(root, storage_options)
    names = there.files()
    found = recognise(names, there.url)
    if found:
        raise RequestError(
            f"this is {found[0].kind.value}: its files are its own; write it by its own library, "
            "or elsewhere",
            url=there.url,
        )
    return names


def put(url: str, data: bytes, storage_options: Options | None = None) -> None:
    """Write a small file, whole or not at all."""
    sink, _ = open_sink(url, storage_options)
    try:
        if data:
            sink.write(memoryview(data))
        sink.commit()
    except BaseException:
        sink.abort()
        raise


def remove(root: str, names: Iterable[str], storage_options: Options | None = None) -> None:
    """Remove files below ``root``; those that are gone are fine."""
    open_folder(root, storage_options).remove(names)
