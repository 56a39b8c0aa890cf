"""A request, resolved against a dataset's schema: what each file is asked, what becomes of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import pyarrow as pa

from rangeio.datasets.evolving.evolution import DatasetSchema
from rangeio.datasets.evolving.fitting import Fit, fit
from rangeio.datasets.finding.partitions import verdict
from rangeio.predicate import Predicate, parse
from rangeio.reading import Request, projected
from rangeio.schema import Column
from rangeio.select import select
from rangeio.statistics import Answer


class Wanted:
    """Raises NoSuchColumn and RequestError for words that the schema does not know."""

    def __init__(self, schema: DatasetSchema, request: Request) -> None:
        self.schema = schema
        self.request = request
        known = schema.schema
        self.selection = select(known, request.columns, case_sensitive=request.case_sensitive)
        self.predicate: Predicate | None = None
        self.fields: tuple[Column, ...] = self.selection.fields
        if request.filters is not None:
            self.predicate = parse(request.filters, known)
            words: list[Any] = [*self.fields, *self.predicate.columns]
            self.fields = select(known, words).fields
        self._fits: dict[int, Fit] = {}
        self._translated: dict[tuple[int, str], Predicate] = {}

    @cached_property
    def arrow(self) -> pa.Schema:
        """The Arrow schema of the result."""
        if not self.request.flatten:
            return self._asked
        return self.selection.flatten(self._asked.empty_table()).schema

    @cached_property
    def _asked(self) -> pa.Schema:
        """The same, before it is flattened."""
        return self.selection.arrow_schema.with_metadata(self.schema.schema.metadata or None)

    def fit(self, generation: int) -> Fit:
        """How the files of a generation, by its place in the schema, give the fields."""
        if generation not in self._fits:
            self._fits[generation] = fit(self.schema, generation, self.fields)
        return self._fits[generation]

    def translated(self, generation: int, values: tuple[object, ...]) -> Predicate:
        """The filter for pruning inside a file of a generation, with these partition values."""
        assert self.predicate is not None
        key = (generation, repr(values))
        if key not in self._translated:
            named = dict(zip(self.schema.partitions.names, values, strict=True))
            self._translated[key] = self.fit(generation).predicate(self.predicate, named)
        return self._translated[key]

    def may_hold(self, values: Sequence[object]) -> bool:
        """Whether a file with these partition values can have a row that is wanted."""
        if self.predicate is None:
            return True
        return verdict(self.predicate, self.schema.partitions, values) is not Answer.NEVER

    def result(
        self, fitted: Fit, table: pa.Table, values: Mapping[str, object], url: str
    ) -> pa.Table:
        """The rows of a file as the caller is to have them."""
        return self.finished(fitted.table(table, values, url))

    def finished(self, table: pa.Table) -> pa.Table:
        """Of a table of all :attr:`fields`, the rows and columns that the caller is to have."""
        if self.predicate is not None:
            table = self.predicate.filter(table)
        return projected(table, self.selection, self._asked, self.request.flatten)
