"""Lance files put together by hand, page by page: encodings that no writer of today chooses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from google.protobuf.message import Message

from rangeio.formats.lance.footer import FOOTER
from rangeio.formats.lance.messages import MESSAGES

COLUMN_URL = "/lance.encodings.ColumnEncoding"
PAGE_URLS = {(0, 3): "/lance.encodings.ArrayEncoding", (2, 1): "/lance.encodings21.PageLayout"}


@dataclass
class Leaf:
    """One physical column: pages of (rows, encoding, buffers)."""

    pages: list[tuple[int, Message | bytes, Sequence[bytes]]]


@dataclass
class Field:
    """One field of the schema."""

    name: str
    logical: str
    parent: int = -1
    metadata: dict[str, bytes] = field(default_factory=dict)


@dataclass
class Handmade:
    """A file under construction; change any number before :meth:`encode`."""

    fields: Sequence[Field]
    leaves: Sequence[Leaf]
    rows: int
    version: tuple[int, int] = (0, 3)
    url: str = ""
    column_url: str = COLUMN_URL
    column_value: bytes = b"\x0a\x00"
    buffers_before: Sequence[bytes] = ()

    def encode(self) -> bytes:
        out = bytearray()
        globals_ = [self._put(out, data) for data in self.buffers_before]
        metas = [self._column(out, leaf) for leaf in self.leaves]
        globals_.insert(0, self._put(out, self._descriptor()))
        start = len(out)
        offsets = []
        for one in metas:
            offsets.append((len(out), len(one)))
            out += one
        cmo = len(out)
        for pair in offsets:
            out += b"".join(n.to_bytes(8, "little") for n in pair)
        gbo = len(out)
        for pair in globals_:
            out += b"".join(n.to_bytes(8, "little") for n in pair)
        out += FOOTER.pack(start, cmo, gbo, len(globals_), len(metas), *self.version, b"LANC")
        return bytes(out)

    @staticmethod
    def _put(out: bytearray, data: bytes) -> tuple[int, int]:
        out += bytes(-len(out) % 64)
        at = len(out)
        out += data
        return at, len(data)

    def _column(self, out: bytearray, leaf: Leaf) -> bytes:
        meta = MESSAGES.ColumnMetadata()
        kind = MESSAGES.Any(type_url=self.column_url, value=self.column_value)
        meta.encoding.direct.encoding = kind.SerializeToString()
        for rows, encoding, buffers in leaf.pages:
            pairs = [self._put(out, data) for data in buffers]
            value = encoding if isinstance(encoding, bytes) else encoding.SerializeToString()
            url = self.url or PAGE_URLS[self.version]
            page = meta.pages.add(length=rows)
            page.buffer_offsets.extend(at for at, _ in pairs)
            page.buffer_sizes.extend(size for _, size in pairs)
            page.encoding.direct.encoding = MESSAGES.Any(
                type_url=url, value=value
            ).SerializeToString()
        return bytes(meta.SerializeToString())

    def _descriptor(self) -> bytes:
        schema = MESSAGES.Schema()
        for i, one in enumerate(self.fields):
            schema.fields.add(
                name=one.name,
                id=i,
                parent_id=one.parent,
                logical_type=one.logical,
                nullable=True,
                metadata=one.metadata,
            )
        whole = MESSAGES.FileDescriptor(schema=schema.SerializeToString(), length=self.rows)
        return bytes(whole.SerializeToString())


def single(logical: str, pages: list[tuple[int, Message | bytes, Sequence[bytes]]]) -> Handmade:
    """A file of one flat column ``c``."""
    rows = sum(one[0] for one in pages)
    return Handmade([Field("c", logical)], [Leaf(pages)], rows)
