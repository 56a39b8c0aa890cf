"""A request, resolved against a dataset's schema: what each file is asked, what becomes of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import pyarrow as pa

from rangeio.datasets.evolving.evolution import DatasetSchema
from rangeio.datasets.evolving.fitting import Fit, fit, settled
from rangeio.datasets.finding.partitions import verdict
from rangeio.datasets.pathwords import valued
from rangeio.predicate import Predicate, parse
from rangeio.reading import Request, projected
from rangeio.schema import Column
from rangeio.select import Selection, select
from rangeio.statistics import Answer


class Wanted:
    """Raises NoSuchColumn and RequestError for words that the schema does not know.

    open: there will be files that nobody has looked into: any of them may lack a column.
    """

    def __init__(
        self,
        schema: DatasetSchema,
        request: Request,
        *,
        open: bool = False,  # noqa: A002
    ) -> None:
        self.schema = schema
        self.request = request
        known = schema.schema
        self.selection = select(known, request.columns, case_sensitive=request.case_sensitive)
        if open:
            kinds = relaxed(self.selection.arrow_schema).types
            placed = zip(self.selection.fields, kinds, strict=True)
            fields = (replace(one, type=kind, nullable=True) for one, kind in placed)
            self.selection = Selection(tuple(fields))
        self.predicate: Predicate | None = None
        self.fields: tuple[Column, ...] = self.selection.fields
        if request.filters is not None:
            filters = valued(request.filters, known, schema.partitions.names)
            self.predicate = parse(filters, known, case_sensitive=request.case_sensitive)
            words: list[Any] = [*self.fields, *self.predicate.columns]
            self.fields = select(known, words).fields
        self._fits: dict[tuple[int, frozenset[str]], Fit] = {}
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

    def fit(self, generation: int, absent: frozenset[str] = frozenset()) -> Fit:
        """How the files of a generation, by its place in the schema, give the fields. absent:
        partition columns that their path lacks."""
        key = (generation, absent)
        if key not in self._fits:
            fields = [settled(one, absent) for one in self.fields]
            self._fits[key] = fit(self.schema, generation, fields)
        return self._fits[key]

    def translated(self, generation: int, values: Mapping[str, object]) -> Predicate:
        """The filter for pruning inside a file of a generation, whose path says this."""
        assert self.predicate is not None
        key = (generation, repr(values))
        if key not in self._translated:
            self._translated[key] = self.fit(generation).predicate(self.predicate, values)
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


def relaxed(schema: pa.Schema) -> pa.Schema:
    """The same, of columns and fields of structs that may all be null."""
    return pa.schema([_nullable(field) for field in schema], metadata=schema.metadata)


def _nullable(field: pa.Field) -> pa.Field:
    kind = field.type
    if pa.types.is_struct(kind):
        kind = pa.struct([_nullable(kind.field(i)) for i in range(kind.num_fields)])
    elif pa.types.is_list(kind):
        kind = pa.list_(_nullable(kind.value_field))
    elif pa.types.is_large_list(kind):
        kind = pa.large_list(_nullable(kind.value_field))
    return field.with_type(kind).with_nullable(True)
