"""The container's protobuf messages (``lance.file`` and ``lance.file.v2``)."""

from __future__ import annotations

from rangeio.codecs.protobuf import define

MESSAGES = define(
    "rangeio.lance.file",
    {
        # The schema stays bytes here: neighbour files are compared by them.
        "FileDescriptor": "1 schema bytes, 2 length uint64",
        "Schema": "1 fields *Field, 5 metadata map",
        "Field": """2 name string, 3 id int32, 4 parent_id int32, 5 logical_type string,
                    6 nullable bool, 10 metadata map""",
        "ColumnMetadata": "1 encoding Encoding, 2 pages *Page",
        "Page": """1 buffer_offsets *uint64, 2 buffer_sizes *uint64, 3 length uint64,
                   4 encoding Encoding""",
        "Encoding": "1 kind/indirect Empty, 2 kind/direct Direct, 3 kind/none Empty",
        "Direct": "1 encoding bytes",
        "Empty": "",
        "Any": "1 type_url string, 2 value bytes",
        "ColumnEncoding": "1 kind/values Empty, 2 kind/zoned Zoned, 3 kind/blob Blob",
        "Zoned": "3 inner ColumnEncoding",
        "Blob": "1 inner ColumnEncoding",
    },
)
