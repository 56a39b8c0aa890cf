"""What is known of files whose schema is made of their columns' metadata: as far as words reach."""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from rangeio.datasets.inventory import Inventory, told
from rangeio.engine.handle import Handle
from rangeio.formats.format import Stale
from rangeio.schema import Column, Schema
from rangeio.sought import Sought


class SparingInventory(Inventory):
    """One for each set of words: of the columns that no word may mean, no metadata is read.

    Looking at another column raises Stale; the inventory ``whole`` knows it.
    """

    def __init__(self, whole: Inventory, words: Sought) -> None:
        self._words = words
        super().__init__(whole.session, whole.found, whole.way, whole.said)
        self.trace, self.opened, self.pins = whole.trace, whole.opened, whole.pins

    def _salt(self) -> Hashable:
        return repr(self._words)

    async def _generation(self, handle: Handle, index: int) -> int:
        schema = await handle.sought(self._words)
        if schema is None:
            return await super()._generation(handle, index)
        names = tuple(schema.names), tuple(schema.ids or ())
        key = handle.format.name, names, told(self._reached(schema))
        return self._number(key, schema, index, named=not handle.format.takes_schema)

    def _reached(self, schema: Schema) -> Iterator[Column]:
        """The columns that the words may mean."""
        for position in sorted(self._words.reached(schema, schema.numbered)):
            try:
                yield schema.at(position)
            except Stale:
                continue
