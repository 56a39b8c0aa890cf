"""What a column chunk is made of, in words."""

from __future__ import annotations

from rangeio.formats.parquet.leaf import Fact, ParquetMeta

CODECS = ("uncompressed", "snappy", "gzip", "lzo", "brotli", "lz4", "zstd", "lz4_raw")
_ENCODINGS = {0: "plain", 2: "dictionary", 3: "rle", 4: "bit packed"} | {
    5: "delta binary packed",
    6: "delta length byte array",
    7: "delta byte array",
    8: "dictionary",
    9: "byte stream split",
    10: "alp",
}
_LEVELS = {3, 4}  # of nearly every chunk, for its levels


def encodings(meta: ParquetMeta, group: int) -> str:
    """``"dictionary, plain, snappy"``."""
    bits = meta.fact(group, Fact.ENCODINGS)
    numbers = [i for i in range(63) if bits >> i & 1]
    told = [i for i in numbers if i not in _LEVELS] or numbers
    names = [_ENCODINGS.get(i, f"encoding {i}") for i in told]
    codec = meta.fact(group, Fact.CODEC)
    if codec:
        names.append(CODECS[codec] if 0 < codec < len(CODECS) else f"codec {codec}")
    return ", ".join(dict.fromkeys(names))
