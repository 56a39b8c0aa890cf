"""When two addresses may share one store, told without showing why."""

from __future__ import annotations

from collections.abc import Hashable, Mapping


class Identity:
    """A hashable key: equal where scheme and options are. Its repr holds no option's value.

    Options are compared by value where they are plain data (numbers, text, mappings, sequences)
    and by being the same object otherwise; such objects are kept alive by the identity.
    """

    __slots__ = ("_frozen", "_hash", "scheme")

    def __init__(self, scheme: str, *options: object) -> None:
        self.scheme = scheme
        self._frozen = tuple(_freeze(one) for one in options)
        self._hash = hash((scheme, self._frozen))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Identity):
            return NotImplemented
        return self.scheme == other.scheme and self._frozen == other._frozen

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return f"Identity({self.scheme})"


class _Same:
    """Equal only to a holder of the very same object."""

    __slots__ = ("held",)

    def __init__(self, held: object) -> None:
        self.held = held

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.held is other.held

    def __hash__(self) -> int:
        return id(self.held)


def _freeze(value: object) -> Hashable:
    # The type goes with the value: True, 1 and 1.0 are equal but not the same option.
    if value is None or isinstance(value, bool | int | float | str):
        return type(value).__name__, value
    if isinstance(value, Mapping):
        items = [(str(name), _freeze(one)) for name, one in value.items()]
        return "mapping", tuple(sorted(items, key=lambda item: item[0]))
    if isinstance(value, list | tuple):
        return "sequence", tuple(_freeze(one) for one in value)
    return _Same(value)
