"""The protobuf messages of version 2.0 pages (``lance.encodings``)."""

from __future__ import annotations

from rangeio.codecs.protobuf import define

MESSAGES = define(
    "rangeio.lance.encodings",
    {
        "ArrayEncoding": """1 kind/flat Flat, 2 kind/nullable Nullable,
            3 kind/fixed_size_list FixedSizeList, 4 kind/list List, 5 kind/struct Empty,
            6 kind/binary Binary, 7 kind/dictionary Dictionary, 8 kind/fsst Fsst,
            9 kind/packed_struct PackedStruct, 10 kind/bitpacked Bitpacked,
            11 kind/fixed_size_binary FixedSizeBinary,
            12 kind/bitpacked_for_non_neg Bitpacked, 13 kind/constant Constant""",
        "Buffer": "1 buffer_index uint32, 2 buffer_type int32",
        "Compression": "1 scheme string",
        "Flat": "1 bits_per_value uint64, 2 buffer Buffer, 3 compression Compression",
        "Nullable": "1 kind/no_nulls NoNull, 2 kind/some_nulls SomeNull, 3 kind/all_nulls Empty",
        "NoNull": "1 values ArrayEncoding",
        "SomeNull": "1 validity ArrayEncoding, 2 values ArrayEncoding",
        "FixedSizeList": "1 dimension uint32, 2 items ArrayEncoding, 3 has_validity bool",
        "List": "1 offsets ArrayEncoding, 2 null_offset_adjustment uint64, 3 num_items uint64",
        "Binary": "1 indices ArrayEncoding, 2 bytes ArrayEncoding, 3 null_adjustment uint64",
        "Dictionary": """1 indices ArrayEncoding, 2 items ArrayEncoding,
            3 num_dictionary_items uint32""",
        "Fsst": "1 binary ArrayEncoding, 2 symbol_table bytes",
        "PackedStruct": "1 inner *ArrayEncoding, 2 buffer Buffer",
        "Bitpacked": """1 compressed_bits_per_value uint64, 2 uncompressed_bits_per_value uint64,
            3 buffer Buffer, 4 signed bool""",
        "FixedSizeBinary": "1 bytes ArrayEncoding, 2 byte_width uint32",
        "Constant": "1 value bytes",
        "Empty": "",
    },
)
