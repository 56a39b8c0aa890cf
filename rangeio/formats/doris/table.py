"""An opened segment: the directory of its columns, and what they are called."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from rangeio.errors import Corrupt, RequestError
from rangeio.formats.doris import columns
from rangeio.formats.doris.columns import absent, stub, top, variant
from rangeio.formats.doris.footer import Footer
from rangeio.formats.doris.meta import DorisMeta, meta_of
from rangeio.formats.doris.names import Naming
from rangeio.formats.doris.paths import SubColumns, extra
from rangeio.formats.doris.variant import Variants
from rangeio.formats.doris.words import FieldType
from rangeio.formats.format import Stale
from rangeio.ranges import CostModel
from rangeio.schema import Column, ColumnId, Schema
from rangeio.sought import WHOLE, Sought
from rangeio.steps import Steps, need, together

Read = Callable[[ColumnId, int], DorisMeta]
"""Gives the metadata of a column by its id and its position in the directory."""


@dataclass(frozen=True, eq=False)
class DorisTable:
    """Immutable, but for the paths of Variants that were read whole; it keeps no byte of the file.

    size: of the file. naming: the columns that users see. choice: see Table.
    """

    size: int
    footer: Footer
    naming: Naming
    cost: CostModel
    choice: str = ""
    variants: Variants = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "variants", Variants.of(self.footer))

    @property
    def num_columns(self) -> int:
        """Top-level columns."""
        return len(self.naming)

    @property
    def version(self) -> str:
        """V2 or V3, as Doris' documentation calls them."""
        return "V3" if self.footer.version >= 2 else "V2"

    @property
    def metadata_size(self) -> int:
        """The columns' metadata, the footer and what follows it; not the indexes."""
        return self.size - min(self.footer.directory.extent.start, self.footer.at.start)

    @property
    def limit(self) -> int:
        """The end of all pages."""
        return self.footer.at.start

    def id_of(self, number: int) -> ColumnId:
        """The id of a top-level column."""
        return ColumnId(int(self.naming.ids[number]), (self.naming.names[number],))

    def has(self, number: int) -> bool:
        """Whether the segment has a top-level column, which may only be declared."""
        return int(self.naming.positions[number]) >= 0

    def paths(self, number: int, prefix: str) -> Steps[list[str]]:
        """The paths of a Variant's sub-columns that begin so, of which a root may have none.
        RequestError of another column."""
        column = self.id_of(number)
        own: list[Steps[list[str]]] = [self._sparse(number)]
        if column.unique_id in self.variants.roots:
            own.append(self.variants.prefixed(column.unique_id, prefix))
        sparse, *others = yield from together(own, "doris.variant_keys")
        found = {path for path in sparse if path.startswith(prefix) and not extra(path)}
        return sorted(found.union(*others), key=lambda path: path.encode(errors="replace"))

    def _sparse(self, number: int) -> Steps[list[str]]:
        """The paths that a Variant's root names itself, as older writers had them."""
        column, position = self.id_of(number), int(self.naming.positions[number])
        data = yield from need(self.footer.directory.at(position), "doris.column_meta")
        node = self.parsed(column, position, data).node
        if node.type != FieldType.VARIANT:
            raise RequestError(f"{column.name!r} has a fixed structure: its schema tells")
        return list(node.sparse)

    # ---- what a request needs to know ----

    def sought(self, words: Sought) -> Steps[list[Column]]:
        """Columns, of which only id and place are known, whose metadata tells all that the words
        reach."""
        found: list[Column] = []
        for number, below in words.reached(self._schema(_unread), self.naming.holders).items():
            column, position = self.id_of(number), int(self.naming.positions[number])
            if position < 0:
                continue
            if column.unique_id in self.variants.roots and WHOLE not in below:
                # A last name of no letters is that of a value which has paths below it.
                paths = sorted({path.removesuffix(".") for path in below})
                found += yield from self._sub_columns(column, position, paths)
                continue
            found.append(stub(column, position))
            if column.unique_id in self.variants.roots:
                found += _stubs(column, (yield from self.variants.whole(column.unique_id)))
        return found

    def _sub_columns(
        self, column: ColumnId, position: int, paths: Sequence[str]
    ) -> Steps[list[Column]]:
        """The sub-columns at and below the paths; the root where a path leads to none."""
        own = _stubs(column, (yield from self.variants.below(column.unique_id, paths)))
        names = {one.path[1:] for one in own}
        asked = [columns.parts(path) for path in paths]
        lost = any(not any(name[: len(path)] == path for name in names) for path in asked)
        return [stub(column, position), *own] if lost else own

    def known(self, metas: Mapping[ColumnId, DorisMeta]) -> Schema:
        """The schema as far as these tell it; looking at another column raises Stale."""

        def read(column: ColumnId, position: int) -> DorisMeta:
            if column not in metas:
                raise Stale
            return metas[column]

        def make(number: int) -> Column:
            column, position = self.id_of(number), int(self.naming.positions[number])
            if position >= 0 and column.unique_id in self.variants.roots:
                leaves = [metas[c] for c in metas if c.unique_id == column.unique_id and c.path[1:]]
                root = metas.get(column)
                if root is None and not leaves:
                    raise Stale
                return variant(column, root, leaves)
            return self._made(number, read, {})

        return self._schema(make)

    def whole(self) -> Steps[Schema]:
        """The schema of all columns: their metadata in one range; each is parsed when it is
        looked at."""
        at = self.footer.directory.extent
        data = yield from need(at, "doris.column_meta") if at.size else _nothing()
        roots = [root for root in self.variants.roots if self.naming.holders(root)]
        found = yield from together([self.variants.whole(root) for root in roots])
        trees = dict(zip(roots, found, strict=True))

        def read(column: ColumnId, position: int) -> DorisMeta:
            own = self.footer.directory.at(position)
            return self.parsed(column, position, data[own.start - at.start : own.stop - at.start])

        return self._schema(lambda number: self._made(number, read, trees))

    def parsed(self, column: ColumnId, position: int, data: memoryview) -> DorisMeta:
        """The metadata at a position of the directory. Raises Corrupt where it is another's."""
        at = self.footer.directory.at(position)
        found = meta_of(column, position, data, at.start, self.limit)
        path = ".".join(column.path[1:])
        if path and found.node.path not in ("", path) and not found.node.path.endswith(f".{path}"):
            other = found.node.path
            raise Corrupt(f"the metadata of {column.name!r} is that of {other!r}", offset=at.start)
        return found

    def _made(self, number: int, read: Read, trees: Mapping[int, SubColumns]) -> Column:
        column, position = self.id_of(number), int(self.naming.positions[number])
        if position < 0:
            declared = self.naming.declared
            return absent(column, declared.columns[number].field if declared else None)
        if column.unique_id not in trees:
            return top(read(column, position))
        below = _stubs(column, trees[column.unique_id])
        leaves = [read(one.id, int(one.payload.position)) for one in below]  # type: ignore[attr-defined]
        return variant(column, read(column, position), leaves)

    def _schema(self, make: Callable[[int], Column]) -> Schema:
        naming = self.naming
        ids = naming.ids.tolist()
        return Schema(naming.names, make, ids=ids, declared=[True] * len(ids), find=naming.find)


def _stubs(column: ColumnId, found: SubColumns) -> list[Column]:
    """The sub-columns of a Variant, known by id and place."""
    own = zip(found.paths, found.positions, strict=True)
    return [stub(_id(column, path), position) for path, position in own]


def _id(column: ColumnId, path: bytes) -> ColumnId:
    try:
        names = columns.parts(path.decode())
    except UnicodeDecodeError:
        raise Corrupt(f"a path of {column.name!r} is no text: {path!r}") from None
    return ColumnId(column.unique_id, (*column.path, *names))


def _unread(number: int) -> Column:
    raise AssertionError(f"column {number} is not known yet")


def _nothing() -> Steps[memoryview]:
    yield from ()
    return memoryview(b"")
