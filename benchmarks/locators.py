"""Finding columns in the footer of a Parquet file. A package is imported by who uses it, so that a
process which is weighed holds no other.

Each function loads what is given (a footer in memory, or a path), and returns the call to time.
What that call gives tells, when it is asked afterwards, what was found.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

Chunks = list[tuple[int, int, int]]
"""Values, compressed bytes and first data page of chunks: row group by row group, leaf by leaf."""
Told = dict[str, Chunks | None]
"""By top-level column; None: it was found, but not where it lies."""
Locate = Callable[[], Callable[[], Told]]


def footer(path: Path) -> bytes:
    """The FileMetaData of a file, without its length and magic."""
    with path.open("rb") as file:
        file.seek(-8, 2)
        size = int.from_bytes(file.read(4), "little")
        file.seek(-8 - size, 2)
        return file.read(size)


def by_rangeio(path: Path, names: Sequence[str]) -> Locate:
    """rangeio: the schema elements and ColumnChunk structs of these columns, no others."""
    return _by_rangeio(path, names, templates=True)


def by_plain_scan(path: Path, names: Sequence[str]) -> Locate:
    """The same without templates: every chunk is walked field by field."""
    return _by_rangeio(path, names, templates=False)


def _by_rangeio(path: Path, names: Sequence[str], *, templates: bool) -> Locate:
    from rangeio.formats.parquet.footer.locate import located
    from rangeio.formats.parquet.leaf import Fact
    from rangeio.formats.parquet.metas import facts_of

    data = memoryview(footer(path))
    wanted = [Fact.VALUES, Fact.COMPRESSED, Fact.DATA_PAGE]

    def locate() -> Callable[[], Told]:
        found = located(data, names, templates=templates)

        def tell() -> Told:
            told: Told = {}
            for name, (_, groups) in zip(names, found, strict=True):
                facts = facts_of([chunk for group in groups for chunk in group])
                told[name] = [(a, b, c) for a, b, c in facts[:, wanted].tolist()]
            return told

        return tell

    return locate


def by_pyarrow(path: Path, names: Sequence[str]) -> Locate:
    """pyarrow.parquet.read_metadata, of all columns, as it does."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    data = footer(path)
    # read_metadata wants a file: this one has nothing but its footer.
    whole = pa.py_buffer(b"".join((b"PAR1", data, len(data).to_bytes(4, "little"), b"PAR1")))
    del data

    def locate() -> Callable[[], Told]:
        found = pq.read_metadata(pa.BufferReader(whole))
        return lambda: _told(found, names)

    return locate


def _told(metadata: object, names: Sequence[str]) -> Told:
    import pyarrow.parquet as pq

    assert isinstance(metadata, pq.FileMetaData)
    leaves: dict[str, list[int]] = {name: [] for name in names}
    for i in range(metadata.num_columns):
        top = metadata.schema.column(i).path.split(".")[0]
        if top in leaves:
            leaves[top].append(i)
    told: Told = {}
    for name, indexes in leaves.items():
        groups = map(metadata.row_group, range(metadata.num_row_groups))
        chunks = [group.column(i) for group in groups for i in indexes]
        told[name] = [(c.num_values, c.total_compressed_size, c.data_page_offset) for c in chunks]
    return told


def by_arro3(path: Path, names: Sequence[str]) -> Locate:
    """arro3.io.read_parquet, of which nothing is read: it opens the file itself, parses its footer
    and makes an Arrow schema of it."""
    from arro3.io import read_parquet

    def locate() -> Callable[[], Told]:
        found = read_parquet(path)
        return lambda: dict.fromkeys(name for name in names if name in found.schema.names)

    return locate


LOCATORS = {one.__name__: one for one in (by_rangeio, by_plain_scan, by_pyarrow, by_arro3)}


def agree(a: Told, b: Told) -> bool:
    """Whether both found the same columns, at the same places where both tell."""
    return a.keys() == b.keys() and all(
        a[name] == b[name] for name in a if a[name] is not None and b[name] is not None
    )
