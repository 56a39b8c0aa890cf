"""The protobuf messages of a segment (``doris.segment_v2``), as far as rangeio uses them.

They are proto2, where a field that was set is written even when it holds zero: hence every scalar
knows its presence (``?``). Unknown fields are skipped.
"""

from __future__ import annotations

from rangeio.codecs.protobuf import define

MESSAGES = define(
    "rangeio.doris.segment",
    {
        "PagePointer": "1 offset ?uint64, 2 size ?uint32",
        "BTree": "1 root_page PagePointer, 2 is_root_data_page ?bool",
        "MetadataPair": "1 key ?string, 2 value ?bytes",
        # ---- pages ----
        "DataPageFooter": """1 first_ordinal ?uint64, 2 num_values ?uint64, 3 nullmap_size ?uint32,
                             4 next_array_item_ordinal ?uint64""",
        "IndexPageFooter": "1 num_entries ?uint32, 2 type ?int32",
        "DictPageFooter": "1 encoding ?int32",
        "ShortKeyFooter": """1 num_items ?uint32, 2 key_bytes ?uint32, 3 offset_bytes ?uint32,
                             4 segment_id ?uint32, 5 num_rows_per_block ?uint32,
                             6 num_segment_rows ?uint32""",
        "PageFooter": """1 type ?int32, 2 uncompressed_size ?uint32,
                         7 data_page_footer DataPageFooter, 8 index_page_footer IndexPageFooter,
                         9 dict_page_footer DictPageFooter,
                         10 short_key_page_footer ShortKeyFooter""",
        # ---- indexes ----
        "IndexedColumn": """1 data_type ?int32, 2 encoding ?int32, 3 num_values ?int64,
                            4 ordinal_index_meta BTree, 5 value_index_meta BTree,
                            6 compression ?int32, 7 size ?uint64""",
        "ZoneMap": """1 min ?bytes, 2 max ?bytes, 3 has_null ?bool, 4 has_not_null ?bool,
                      5 pass_all ?bool, 6 has_positive_inf ?bool, 7 has_negative_inf ?bool,
                      8 has_nan ?bool""",
        "OrdinalIndex": "1 root_page BTree",
        "ZoneMapIndex": "1 segment_zone_map ZoneMap, 2 page_zone_maps IndexedColumn",
        "BloomFilterIndex": """1 hash_strategy ?int32, 2 algorithm ?int32,
                               3 bloom_filter IndexedColumn""",
        "ColumnIndex": """1 type ?int32, 7 ordinal_index OrdinalIndex,
                          8 zone_map_index ZoneMapIndex,
                          10 bloom_filter_index BloomFilterIndex""",
        # ---- columns ----
        "PathPart": "1 key ?string, 2 is_nested ?bool, 3 anonymous_array_level ?uint32",
        "ColumnPath": """1 path ?string, 2 path_part_infos *PathPart, 3 has_nested ?bool,
                         4 parrent_column_unique_id ?uint32, 5 is_typed ?bool""",
        "SparseCount": "1 key ?string, 2 value ?uint32",
        "VariantStatistics": "2 sparse_column_non_null_size *SparseCount",
        "ColumnMeta": """1 column_id ?uint32, 2 unique_id ?uint32, 3 type ?int32, 4 length ?int32,
                         5 encoding ?int32, 6 compression ?int32, 7 is_nullable ?bool,
                         8 indexes *ColumnIndex, 9 dict_page PagePointer,
                         10 children_columns *ColumnMeta, 11 num_rows ?uint64,
                         12 children_column_names *string, 13 column_path_info ColumnPath,
                         14 default_value ?bytes, 15 precision ?int32, 16 frac ?int32,
                         17 sparse_columns *ColumnMeta, 21 variant_statistics VariantStatistics,
                         22 variant_max_subcolumns_count ?int32, 23 none_null_size ?uint64,
                         24 compressed_data_bytes ?uint64, 25 uncompressed_data_bytes ?uint64,
                         26 raw_data_bytes ?uint64""",
        # ---- the footer ----
        "ColumnMetaEntry": "1 unique_id ?int32, 2 length ?uint32",
        "PrimaryKeyIndex": """1 primary_key_index IndexedColumn, 2 bloom_filter_index ColumnIndex,
                              3 min_key ?bytes, 4 max_key ?bytes""",
        "SegmentFooter": """1 version ?uint32, 2 columns *ColumnMeta, 3 num_rows ?uint32,
                            8 file_meta_datas *MetadataPair, 9 short_key_index_page PagePointer,
                            10 primary_key_index PrimaryKeyIndex, 11 col_meta_region_start ?uint64,
                            12 column_meta_entries *ColumnMetaEntry""",
    },
)
