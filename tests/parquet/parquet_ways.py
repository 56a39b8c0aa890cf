"""Every way to read a Parquet file, beside pyarrow's; run as a module, of one file by its path."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from parquet_peer import REFUSALS, Peer, bounded, same

import rangeio
from rangeio.errors import FormatError
from rangeio.schema import Column

Words = list[object]
FULL = os.environ.get("RANGEIO_FUZZ") == "full"


def check(
    target: Path | bytes, session: rangeio.Session | None = None, *, thorough: bool = True
) -> None:
    """Read a file in every way; fails where pyarrow differs, or refuses what rangeio reads.

    thorough: columns and nested leaves too, one by one.
    """
    data = target if isinstance(target, bytes) else target.read_bytes()
    try:
        peer = Peer(data)
        assert peer.schema is not None
    except REFUSALS:
        with pytest.raises(FormatError):
            rangeio.open(target, session=session).read()
        return
    with rangeio.open(target, session=session) as file:
        assert file.format == "parquet"
        assert (file.num_rows, file.num_columns) == (peer.rows, len(peer.schema))
        assert file.schema.arrow.equals(peer.schema)
        assert file.num_leaves == len(peer.file.schema)
        check_all(file, peer)
        if thorough:
            check_columns(file, peer)
            check_leaves(file, peer)


def check_all(file: rangeio.File, peer: Peer) -> None:
    """All columns: whole, the last ten rows, other rows, and as a stream."""
    wanted = peer.read()
    if wanted is None:
        _unread(lambda: file.read(), peer.by_groups(), "all columns")
        return
    found = file.read()
    same(found, wanted, "all columns")
    assert found.schema.equals(wanted.schema, check_metadata=True)
    for rows in some_rows(peer.rows):
        same(file.read(rows=rows), cut(wanted, rows), f"rows {rows}")
    if wanted.num_columns:
        same(file.scan(batch_rows=max(53, peer.rows // 8)).read_all(), wanted, "scan")
    same(file.read([]), wanted.select([]), "no columns")


def check_columns(file: rangeio.File, peer: Peer) -> None:
    """Each top-level column alone."""
    for at, span in enumerate(peer.spans):
        column = file.schema.at(at)
        words = words_for(file, column)
        with told(f"column {at}, {column.name!r}"):
            wanted = peer.read(list(span))
            if wanted is None:
                _unread(lambda: file.read(words), peer.by_groups(list(span)), column.name)  # noqa: B023
                continue
            same(file.read(words), wanted, "alone")
            last = slice(max(peer.rows - 10, 0), peer.rows)
            same(file.read(words, rows=last), cut(wanted, last), "the last rows")


def check_leaves(file: rangeio.File, peer: Peer) -> None:
    """Each nested leaf alone; a map is read whole, for half a map is no map."""
    found = file.schema.leaves
    for at, span in enumerate(peer.spans):
        if len(span) < 2:
            continue
        for number in span:
            leaf, top = found[number], file.schema.at(at)
            with told(f"leaf {number}, {leaf.path}"):
                whole = any(pa.types.is_map(c.type) or _extended(c) for c in above(top, leaf))
                if whole and top.path == leaf.path[:1]:
                    wanted = _cut_to(peer, span, number, top, leaf)
                else:
                    wanted = peer.read([number])
                words: Words = [leaf]
                if wanted is None:
                    _unread(lambda: file.read(words), peer.by_groups([number]), leaf.name)  # noqa: B023
                    continue
                same(file.read(words), wanted, "alone", pruned=True)
                if FULL:
                    rows = slice(max(peer.rows - 10, 0), peer.rows)
                    last = file.read(words, rows=rows)
                    same(last, cut(wanted, rows), "the last rows", pruned=True)


def _cut_to(peer: Peer, span: range, number: int, top: Column, leaf: Column) -> pa.Table | None:
    """With all leaves below the topmost map or extension above the leaf."""
    chain = list(above(top, leaf))
    whole = next(c for c in chain if pa.types.is_map(c.type) or _extended(c))
    first = span.start + [one.path for one in top.leaves()].index(next(whole.leaves()).path)
    return peer.read(list(range(first, first + len(list(whole.leaves())))))


def _extended(column: Column) -> bool:
    return isinstance(column.type, pa.BaseExtensionType) and len(list(column.leaves())) > 1


def above(top: Column, leaf: Column) -> Iterator[Column]:
    """The columns from the top to the leaf."""
    yield top
    for child in top.children:
        if child is leaf or any(one is leaf for one in child.walk()):
            yield from above(child, leaf)


def words_for(file: rangeio.File, column: Column) -> Words:
    """The column's name where that is enough, else the column itself."""
    return [column.name if len(file.schema.positions[column.name]) == 1 else column]


def some_rows(rows: int) -> Iterator[slice | list[int]]:
    """The last ten, a slice of the middle, a few rows in no order and twice."""
    yield slice(max(rows - 10, 0), rows)
    yield slice(rows // 3, rows // 2 + 1)
    if rows:
        picks = np.random.default_rng(rows).integers(0, rows, 7)
        yield [rows - 1, 0, *picks.tolist()]


def cut(table: pa.Table, rows: slice | list[int]) -> pa.Table:
    """The same rows of a table, cut by Arrow."""
    if isinstance(rows, slice):
        return bounded(table, rows.start, rows.stop)
    return pa.concat_tables([table.slice(0, 0), *(table.slice(row, 1) for row in rows)])


def _unread(read: Callable[[], pa.Table], by_groups: pa.Table | None, what: str) -> None:
    """pyarrow refuses: so must rangeio, unless it joins what pyarrow reads group by group."""
    try:
        found = read()
    except FormatError:
        return
    assert by_groups is not None, f"{what}: pyarrow refuses it, rangeio reads {found.schema}"
    same(found, by_groups, what)


@contextmanager
def told(what: str) -> Iterator[None]:
    """Says in every failure what was being read."""
    try:
        yield
    except BaseException as error:
        error.add_note(f"while reading {what}")
        raise


def main(paths: list[str]) -> None:
    """Checks the files one by one; says so before each, and what came of it."""
    for path in paths:
        print(path, end=" ", flush=True)
        try:
            check(Path(path))
        except BaseException as error:
            print(repr(error)[:2000].replace("\n", " "), flush=True)
            raise
        print("as pyarrow", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
