"""One version of one object, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from rangeio.ranges import ByteRange
from rangeio.stores.store import AtHand, Placed, Store
from rangeio.stores.url import redact
from rangeio.transport.endpoint import Endpoint
from rangeio.transport.gate import Gate
from rangeio.transport.profile import Profile


@dataclass(slots=True, eq=False)
class Source:
    """Where one file's bytes come from; one an opened file, for its limits live here.

    url: for errors and traces, redacted here. pin: the version tag that every reply must carry;
    None until the first reply sets it, "" where the store gives none. size: of the object, None
    until the first reply tells. at_hand: whether the store is one that has its bytes at hand.
    endpoint, gate: the transport's own.
    """

    store: Store
    key: str = field(repr=False)
    url: str
    profile: Profile
    pin: str | None = None
    size: int | None = None
    at_hand: bool = field(init=False, repr=False)
    endpoint: Endpoint | None = field(default=None, repr=False)
    gate: Gate | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        self.url = redact(self.url)
        self.at_hand = isinstance(self.store, AtHand)

    async def place(self) -> str:
        """Where the object is, for every process alike and without credentials; "" where the store
        cannot say, or has the bytes at hand anyway."""
        if self.at_hand or not isinstance(self.store, Placed):
            return ""
        return await self.store.place(self.key)

    @property
    def consistency(self) -> Literal["strong", "weak", "none"]:
        """What holds the ranges together: a strong tag, a weak one that is only compared, or
        nothing but the size."""
        if not self.pin:
            return "none"
        return "weak" if self.pin.startswith("W/") else "strong"


class Received(NamedTuple):
    """The bytes of one range.

    data: exactly ``at.size`` bytes; read-only where the transport made the buffer. at: absolute.
    total: size of the object. tag: its version tag, "" where there is none.
    """

    data: memoryview
    at: ByteRange
    total: int
    tag: str
