"""What the caller said of a dataset's schema."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa

from rangeio.declared import Declared
from rangeio.errors import RequestError


@dataclass(frozen=True, slots=True)
class Said:
    """What the caller said of the schema. declared: of the dataset. names: old to new. given: of
    files without names."""

    declared: pa.Schema | None = None
    names: Mapping[str, str] | None = None
    given: Declared | None = None

    @classmethod
    def of(cls, schema: object, names: Mapping[str, str] | None) -> Said:
        """Of the words of a dataset; RequestError for a schema or names that make no sense."""
        if names is not None and not (
            isinstance(names, Mapping)
            and all(isinstance(word, str) for pair in names.items() for word in pair)
        ):
            raise RequestError(f"names= takes {{old: new}}, not {names!r}")
        declared = schema if isinstance(schema, pa.Schema) else None
        return cls(declared, names, None if schema is None else Declared.of(schema))
