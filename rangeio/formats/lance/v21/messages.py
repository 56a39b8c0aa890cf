"""The protobuf messages that describe a page of version 2.1 and 2.2 (package lance.encodings21)."""

from __future__ import annotations

from rangeio.codecs.protobuf import define

TABLES = {
    "BufferCompression": "1 scheme int32, 2 level ?int32",
    "Flat": "1 bits_per_value uint64, 2 data BufferCompression",
    "Variable": "1 offsets CompressiveEncoding, 2 values BufferCompression",
    "Constant": "1 value ?bytes",
    "OutOfLineBitpacking": "1 uncompressed_bits_per_value uint64, 3 values CompressiveEncoding",
    "InlineBitpacking": "1 uncompressed_bits_per_value uint64, 2 values BufferCompression",
    "Fsst": "1 symbol_table bytes, 2 values CompressiveEncoding",
    "Dictionary": "1 indices CompressiveEncoding, 2 items CompressiveEncoding, 3 count uint32",
    "Rle": "1 values CompressiveEncoding, 2 run_lengths CompressiveEncoding",
    "ByteStreamSplit": "1 values CompressiveEncoding",
    "General": "1 compression BufferCompression, 3 values CompressiveEncoding",
    "FixedSizeList": "1 items_per_value uint64, 2 values CompressiveEncoding, 3 has_validity bool",
    "PackedStruct": "1 bits_per_value *uint64, 2 values CompressiveEncoding",
    "PackedField": (
        "1 value CompressiveEncoding, 2 layout/bits_per_value uint64,"
        "3 layout/bits_per_length uint64"
    ),
    "VariablePackedStruct": "1 fields *PackedField",
    "Opaque": "",
    "CompressiveEncoding": (
        "1 compression/flat Flat, 2 compression/variable Variable,"
        "3 compression/constant Constant,"
        "4 compression/out_of_line_bitpacking OutOfLineBitpacking,"
        "5 compression/inline_bitpacking InlineBitpacking, 6 compression/fsst Fsst,"
        "7 compression/dictionary Dictionary, 8 compression/rle Rle,"
        "9 compression/byte_stream_split ByteStreamSplit, 10 compression/general General,"
        "11 compression/fixed_size_list FixedSizeList, 12 compression/packed_struct PackedStruct,"
        "13 compression/variable_packed_struct VariablePackedStruct,"
        "14 compression/range Opaque, 15 compression/delta Opaque"
    ),
    "MiniBlockLayout": (
        "1 rep_compression CompressiveEncoding, 2 def_compression CompressiveEncoding,"
        "3 value_compression CompressiveEncoding, 4 dictionary CompressiveEncoding,"
        "5 num_dictionary_items uint64, 6 layers *int32, 7 num_buffers uint64,"
        "8 repetition_index_depth uint32, 9 num_items uint64, 10 has_large_chunk bool"
    ),
    "FullZipLayout": (
        "1 bits_rep uint32, 2 bits_def uint32, 3 details/bits_per_value uint32,"
        "4 details/bits_per_offset uint32, 5 num_items uint32, 6 num_visible_items uint32,"
        "7 value_compression CompressiveEncoding, 8 layers *int32"
    ),
    "ConstantLayout": (
        "5 layers *int32, 6 inline_value ?bytes, 7 rep_compression CompressiveEncoding,"
        "8 def_compression CompressiveEncoding, 9 num_rep_values uint64, 10 num_def_values uint64"
    ),
    "BlobLayout": "1 inner_layout PageLayout, 2 layers *int32",
    "PageLayout": (
        "1 layout/mini_block_layout MiniBlockLayout, 2 layout/constant_layout ConstantLayout,"
        "3 layout/full_zip_layout FullZipLayout, 4 layout/blob_layout BlobLayout,"
        "5 layout/sparse_layout Opaque"
    ),
}

MESSAGES = define("lance.encodings21", TABLES)
