"""The columns of the corpus: one case a type and shape. To add one, call :func:`case`."""

from __future__ import annotations

import decimal
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from makers import Make, fixed, floats, ints, masked, nested, texts

VERSIONS = ("2.0", "2.1", "2.2")


@dataclass(frozen=True)
class Case:
    """One column: ``make(rows, rng)`` builds it; versions that pylance can write it in."""

    name: str
    make: Make
    versions: tuple[str, ...] = VERSIONS
    metadata: tuple[tuple[str, str], ...] = ()
    nullable: bool = True
    most: int = 1 << 30

    def __str__(self) -> str:
        return self.name


CASES: dict[str, Case] = {}


def case(
    name: str,
    make: Make,
    *,
    versions: tuple[str, ...] = VERSIONS,
    nullable: bool = True,
    most: int = 1 << 30,
    **metadata: str,
) -> None:
    """Name a case; keyword ``compression="zstd"`` becomes ``lance-encoding:compression``.

    most: rows beyond which the case is too large to be worth it.
    """
    keys = tuple((f"lance-encoding:{k.replace('_', '-')}", v) for k, v in metadata.items())
    assert name not in CASES
    CASES[name] = Case(name, make, versions, keys, nullable, most)


def _register_numbers() -> None:
    for bits in (8, 16, 32, 64):
        for sign in ("int", "uint"):
            kind = getattr(pa, f"{sign}{bits}")()
            low = -(1 << (bits - 1)) if sign == "int" else 0
            high = (1 << (bits - 1)) - 1
            case(f"{kind}_random", ints(kind, low, high))
            case(f"{kind}_small", ints(kind, 0, 100))
            case(f"{kind}_null", masked(ints(kind, 0, 100)))
    for name, kind in (("f16", "f2"), ("f32", "f4"), ("f64", "f8")):
        case(name, floats(kind))
        case(f"{name}_null", masked(floats(kind)))
    case("f64_low", lambda n, rng: pa.array(rng.integers(0, 10, n) / 10))
    case("i64_negative", ints(pa.int64(), -50, 50))
    case("i64_sequence", lambda n, _: pa.array(np.arange(n)))
    case("i64_constant", lambda n, _: pa.array(np.full(n, 7)))
    case("i64_null_constant", masked(lambda n, _: pa.array(np.full(n, 7))))
    case("i64_all_null", lambda n, _: pa.nulls(n, pa.int64()))
    case("i64_not_nullable", ints(pa.int64(), 0, 1000), nullable=False)
    case("i32_runs", lambda n, _: pa.array((np.arange(n) // 100).astype("i4")))
    case("i32_runs_null", masked(lambda n, _: pa.array((np.arange(n) // 100).astype("i4")), 0.01))
    case("bool", lambda n, rng: pa.array(rng.random(n) < 0.5))
    case("bool_null", masked(lambda n, rng: pa.array(rng.random(n) < 0.5)))
    case("bool_constant", lambda n, _: pa.array(np.ones(n, bool)))
    case("null", lambda n, _: pa.nulls(n))


def _register_times() -> None:
    kinds = [pa.date32(), pa.date64(), pa.time32("s"), pa.time32("ms")]
    kinds += [pa.time64("us"), pa.time64("ns")]
    for unit in ("s", "ms", "us", "ns"):
        kinds += [pa.timestamp(unit), pa.timestamp(unit, "UTC"), pa.duration(unit)]
    kinds.append(pa.timestamp("us", "Europe/Berlin"))
    for kind in kinds:
        name = str(kind).replace("[", "_").replace("]", "").replace(", tz=", "_").replace("/", "_")
        scale = 86_400_000 if kind == pa.date64() else 1
        make = ints(kind, 0, 20_000)
        if scale > 1:
            make = _days64
        case(name, make)
        case(f"{name}_null", masked(make))


def _days64(n: int, rng: np.random.Generator) -> pa.Array:
    return pa.array(rng.integers(0, 20_000, n) * 86_400_000).view(pa.date64())


def _decimal(i: int, r: int) -> decimal.Decimal:
    return decimal.Decimal(r - (1 << 29)) / 100


def _register_wide() -> None:
    for name, kind in (("dec128", pa.decimal128(18, 2)), ("dec256", pa.decimal256(40, 3))):
        case(name, texts(kind, _decimal), most=2000)
        case(f"{name}_null", masked(texts(kind, _decimal)), most=2000)
    for size in (1, 3, 16, 300):
        form = lambda i, r, size=size: r.to_bytes(4, "little").ljust(size, b"z")[:size]  # noqa: E731
        case(f"fsb{size}", texts(pa.binary(size), form))
        case(f"fsb{size}_null", masked(texts(pa.binary(size), form)))


def _register_texts() -> None:
    words = ("", "ä", "naïve", "日本語", "a" * 30, "x")
    for kind in (pa.string(), pa.large_string()):
        case(f"{kind}_low", texts(kind, lambda i, r: f"cat{r % 20}"))
        case(f"{kind}_low_null", masked(texts(kind, lambda i, r: f"cat{r % 20}")))
        case(f"{kind}_unique", texts(kind, lambda i, r: f"user-{r:010d}-{i}"))
        case(f"{kind}_unique_null", masked(texts(kind, lambda i, r: f"user-{r:010d}-{i}")))
        case(f"{kind}_words", texts(kind, lambda i, r: words[r % 6] * (r % 3)))
        case(f"{kind}_words_null", masked(texts(kind, lambda i, r: words[r % 6] + str(i % 700))))
        case(f"{kind}_short", texts(kind, lambda i, r: "abcd"[: r % 4]))
        case(f"{kind}_empty", texts(kind, lambda i, r: ""))
        case(f"{kind}_constant", texts(kind, lambda i, r: "the same"))
        case(f"{kind}_all_null", lambda n, _, kind=kind: pa.nulls(n, kind))
        case(f"{kind}_long", texts(kind, lambda i, r: f"{r}" * 60), most=2000)
        case(f"{kind}_long_null", masked(texts(kind, lambda i, r: f"{r}" * 60)), most=2000)
    for kind in (pa.binary(), pa.large_binary()):
        form = lambda i, r: r.to_bytes(5, "little") * (r % 4)  # noqa: E731
        case(f"{kind}_short", texts(kind, form))
        case(f"{kind}_short_null", masked(texts(kind, form)))
        big = lambda i, r: np.random.default_rng(r).bytes(500)  # noqa: E731
        case(f"{kind}_medium", texts(kind, big), most=2000)
        case(f"{kind}_medium_null", masked(texts(kind, big)), most=2000)
        huge = lambda i, r: (b"%d," % r) * 9000  # noqa: E731
        case(f"{kind}_large", texts(kind, huge), most=30)
    case("string_mixed_lengths", texts(pa.string(), lambda i, r: "m" * (r % 300 if i % 50 else 9)))


def _register_dictionaries() -> None:
    for index in (pa.int8(), pa.int16(), pa.int32(), pa.uint8()):
        for share in (0.0, 0.1):
            tag = f"dict_{index}{'_null' if share else ''}"
            case(f"{tag}_string", _dictionary(index, pa.array([f"c{i}" for i in range(20)]), share))
            if pa.types.is_signed_integer(index):
                case(f"{tag}_int64", _dictionary(index, pa.array(range(0, 90, 9)), share))


def _dictionary(index: pa.DataType, values: pa.Array, share: float) -> Make:
    def build(n: int, rng: np.random.Generator) -> pa.Array:
        picks = rng.integers(0, len(values), n)
        mask = rng.random(n) < share if share else None
        return pa.DictionaryArray.from_arrays(pa.array(picks, mask=mask).cast(index), values)

    return build


def _list(i: int, r: int) -> object:
    return None if r % 10 == 0 else [None if (r + k) % 7 == 0 else k + i for k in range(r % 5)]


def _register_lists() -> None:
    ten = pa.int32()
    for make in (pa.list_, pa.large_list):
        kind = make(ten)
        tag = "list" if make is pa.list_ else "large_list"
        case(f"{tag}_i32", nested(kind, lambda i, r: list(range(r % 5))))
        case(f"{tag}_i32_nonempty", nested(kind, lambda i, r: list(range(1 + r % 5))))
        case(f"{tag}_i32_null", nested(kind, _list))
        case(f"{tag}_i32_null_lists", nested(kind, lambda i, r: None if r % 4 == 0 else [i]))
        case(f"{tag}_i32_null_items", nested(kind, lambda i, r: [None, i][: r % 3]))
        case(f"{tag}_i32_all_null", lambda n, _, kind=kind: pa.nulls(n, kind))
        case(f"{tag}_i32_all_empty", nested(kind, lambda i, r: []))
        case(
            f"{tag}_string", nested(make(pa.string()), lambda i, r: [f"t{k}" for k in range(r % 4)])
        )
        words = lambda i, r: None if r % 9 == 0 else ["ab", None, "", f"{i}"][: r % 5]  # noqa: E731
        case(f"{tag}_string_null", nested(make(pa.string()), words))
        case(f"{tag}_bool", nested(make(pa.bool_()), lambda i, r: [None, True, False][: r % 4]))
    case("list_long", nested(pa.list_(pa.int64()), lambda i, r: list(range(r % 3000))), most=1025)
    case(
        "list_one_huge", nested(pa.list_(pa.int64()), lambda i, r: [r] * (40_000 if i == 0 else 1))
    )
    case("list_f64", nested(pa.list_(pa.float64()), lambda i, r: [r / 7] * (r % 3)))
    deep = lambda i, r: None if r % 8 == 0 else [_list(i, r + k) for k in range(r % 4)]  # noqa: E731
    case("list_list", nested(pa.list_(pa.list_(pa.int32())), deep), most=2000)
    case(
        "list_large_list",
        nested(pa.list_(pa.large_list(pa.int16())), lambda i, r: [[1], []][: r % 3]),
    )
    third = pa.list_(pa.list_(pa.list_(pa.int8())))
    case("list_list_list", nested(third, lambda i, r: [[[1], None], [], None][: r % 4]), most=2000)
    case("list_item_name", nested(pa.list_(pa.field("element", ten, False)), lambda i, r: [r % 9]))
    case("list_dict", nested(pa.list_(pa.string()), lambda i, r: ["red", "green", "blue"][: r % 4]))


def _register_structs() -> None:
    pair = pa.struct([("a", pa.int64()), ("b", pa.string())])
    case("struct", nested(pair, lambda i, r: {"a": r % 50, "b": str(i)}))
    inner = lambda i, r: {"a": None if r % 5 == 0 else r, "b": None if r % 7 == 0 else "x"}  # noqa: E731
    case("struct_null_fields", nested(pair, inner))
    later = VERSIONS[1:]
    rare = lambda i, r: None if r % 6 == 0 else inner(i, r)  # noqa: E731
    case("struct_null", nested(pair, rare), versions=later)
    case("struct_all_null", lambda n, _: pa.nulls(n, pair), versions=later)
    two = pa.struct([("s", pair), ("x", pa.float64())])
    case("struct_struct", nested(two, lambda i, r: {"s": inner(i, r), "x": r / 3}))
    holes = lambda i, r: None if r % 9 == 0 else {"s": rare(i, r), "x": 1.5}  # noqa: E731
    case("struct_struct_null", nested(two, holes), versions=later)
    lists = pa.struct([("l", pa.list_(pa.int32())), ("k", pa.int16())])
    case("struct_list", nested(lists, lambda i, r: {"l": _list(i, r), "k": r % 100}))
    gaps = lambda i, r: None if r % 5 == 0 else {"l": _list(i, r), "k": None}  # noqa: E731
    case("struct_list_null", nested(lists, gaps), versions=later, most=2000)
    items = pa.list_(pair)
    case("list_struct", nested(items, lambda i, r: [inner(i, r + k) for k in range(r % 4)]))
    lost = lambda i, r: None if r % 7 == 0 else [rare(i, r + k) for k in range(r % 4)]  # noqa: E731
    case("list_struct_null", nested(items, lost), versions=later)
    both = pa.list_(pa.struct([("l", pa.list_(pa.int32())), ("s", pa.string())]))
    plain = lambda i, r: [{"l": _list(i, r + k), "s": f"{k}"} for k in range(r % 3)]  # noqa: E731
    case("list_struct_list", nested(both, plain), most=2000)
    torn = lambda i, r: None if r % 7 == 0 else [None, *plain(i, r)]  # noqa: E731
    case("list_struct_list_null", nested(both, torn), versions=later, most=2000)
    case("struct_empty", nested(pa.struct([]), lambda i, r: {}))
    packed = pa.struct([("x", pa.int32()), ("y", pa.float64()), ("z", pa.uint8())])
    case("packed", nested(packed, lambda i, r: {"x": r % 99, "y": r / 7, "z": 3}), packed="true")
    loose = pa.struct([("x", pa.int32()), ("t", pa.string())])
    case(
        "packed_variable",
        nested(loose, lambda i, r: {"x": r % 99, "t": f"t{r % 1000}"}),
        versions=("2.2",),
        packed="true",
    )


def _register_maps() -> None:
    kind = pa.map_(pa.string(), pa.int32())
    only = ("2.2",)
    form = lambda i, r: [(f"k{j}", None if r % 3 == 0 else j) for j in range(r % 4)]  # noqa: E731
    case("map", nested(kind, form), versions=only)
    case("map_null", nested(kind, lambda i, r: None if r % 5 == 0 else form(i, r)), versions=only)
    case("map_empty", nested(kind, lambda i, r: []), versions=only)
    deep = pa.map_(pa.int32(), pa.struct([("l", pa.list_(pa.int8())), ("t", pa.string())]))
    row = lambda i, r: [(j, {"l": [j, None], "t": "v"}) for j in range(r % 3)]  # noqa: E731
    case("map_deep", nested(deep, row), versions=only, most=2000)
    case("list_map", nested(pa.list_(kind), lambda i, r: [form(i, r)]), versions=only, most=2000)


def _register_fixed() -> None:
    for child, tag in ((pa.float32(), "f32"), (pa.uint8(), "u8"), (pa.int64(), "i64")):
        case(f"fsl4_{tag}", fixed(child, 4))
        case(f"fsl4_{tag}_null", fixed(child, 4, nulls=True))
        case(f"fsl4_{tag}_null_items", fixed(child, 4, items=True))
        case(f"fsl4_{tag}_null_both", fixed(child, 4, nulls=True, items=True))
    for tag, nulls, items in (
        ("", False, False),
        ("_null", True, False),
        ("_null_items", False, True),
        ("_null_both", True, True),
    ):
        make = fixed(pa.float32(), 768, nulls=nulls, items=items)
        case(f"fsl768{tag}", make, most=200)
    case("fsl3_bool", fixed(pa.bool_(), 3))
    two = pa.list_(pa.list_(pa.int16(), 2), 3)
    case("fsl_fsl", nested(two, lambda i, r: [[r % 9, 1], [2, 3], [4, 5]]), most=2000)
    case("list_fsl", nested(pa.list_(pa.list_(pa.int16(), 2)), lambda i, r: [[1, r % 9]] * (r % 3)))
    kind = pa.list_(pa.struct([("x", pa.int32()), ("y", pa.string())]), 2)
    pair = lambda i, r: [{"x": r, "y": "q"}, {"x": 1, "y": None}]  # noqa: E731
    case("fsl_struct", nested(kind, pair), versions=("2.2",), most=2000)
    rare = lambda i, r: None if r % 5 == 0 else [{"x": r, "y": "q"}, None]  # noqa: E731
    case("fsl_struct_null", nested(kind, rare), versions=("2.2",), most=2000)


def _register_options() -> None:
    text = texts(pa.string(), lambda i, r: f"user-{r % 5000:010d}-{i}")
    for scheme in ("zstd", "lz4", "none", "fsst"):
        case(f"string_{scheme}", text, compression=scheme)
        case(f"string_{scheme}_null", masked(text), compression=scheme)
        case(f"f64_{scheme}", floats("f8"), compression=scheme)
        case(f"i64_{scheme}_null", masked(ints(pa.int64(), 0, 1000)), compression=scheme)
        case(f"list_{scheme}", nested(pa.list_(pa.int32()), _list), compression=scheme)
    case("f64_bss_lz4", floats("f8"), compression="lz4", bss="on")
    case("f32_bss_zstd", masked(floats("f4")), compression="zstd", bss="on")
    case("i32_rle", lambda n, _: pa.array((np.arange(n) // 3).astype("i4")), rle_threshold="0.9")
    case("i64_full_zip", ints(pa.int64(), 0, 1000), structural_encoding="fullzip")
    case("i64_full_zip_null", masked(ints(pa.int64(), 0, 99)), structural_encoding="fullzip")
    case("string_full_zip_null", masked(text), structural_encoding="fullzip")
    case("list_full_zip", nested(pa.list_(pa.int32()), _list), structural_encoding="fullzip")
    words = nested(pa.list_(pa.string()), lambda i, r: ["a", None, "ccc"][: r % 4])
    case("list_string_full_zip", words, structural_encoding="fullzip")
    case("fsl768_mini", fixed(pa.float32(), 768), structural_encoding="miniblock", most=200)
    blob = texts(pa.large_binary(), lambda i, r: b"%d" % r * (r % 90))
    case("blob", blob, blob="true", most=2000)
    case("blob_null", masked(blob), blob="true", most=2000)
    case("blob_all_null", lambda n, _: pa.nulls(n, pa.large_binary()), blob="true", most=2000)


def _register_extensions() -> None:
    def plain(n: int, rng: np.random.Generator) -> pa.Array:
        raw = texts(pa.binary(16), lambda i, r: r.to_bytes(16, "big"))(n, rng)
        return pa.ExtensionArray.from_storage(pa.uuid(), raw)

    case("extension_uuid", plain)

    def inside(n: int, rng: np.random.Generator) -> pa.Array:
        return pa.StructArray.from_arrays([plain(n, rng), pa.array(range(n))], ["u", "k"])

    case("extension_in_struct", inside, most=2000)


def _register_corners() -> None:
    """Shapes that make the writer choose layouts which nothing above makes it choose."""
    later = ("2.1", "2.2")
    wide = pa.list_(pa.float32(), 200)
    case("fsl200_no_items", nested(wide, lambda i, r: [None] * 200), versions=later, most=50)
    case("fsl4_no_items", nested(pa.list_(pa.int32(), 4), lambda i, r: [None] * 4), versions=later)
    flags = pa.list_(pa.bool_(), 4001)
    bits = lambda i, r: [(r + k) % 3 == 0 for k in range(4001)]  # noqa: E731
    case("fsl4001_bool", nested(flags, bits), versions=later, most=20)
    holes = lambda i, r: [None if k % 5 == 0 else k % 3 == 0 for k in range(4001)]  # noqa: E731
    case("fsl4001_bool_null_items", nested(flags, holes), versions=later, most=20)
    tensors = nested(pa.list_(wide), lambda i, r: [None, [1.5] * 200, None][: r % 4])
    case("list_fsl200_null", tensors, versions=later, most=200)
    mixed = pa.struct([("x", pa.int64()), ("y", pa.string()), ("z", pa.large_binary())])
    row = lambda i, r: {"x": i, "y": f"{r}" * 9, "z": b"z" * (r % 7)}  # noqa: E731
    case("packed_strings", nested(mixed, row), versions=("2.2",), most=2000, packed="true")
    rare = nested(mixed, lambda i, r: None if r % 3 == 0 else row(i, r))
    case("packed_strings_null", rare, versions=("2.2",), most=2000, packed="true")
    pair = pa.struct([("x", pa.int64()), ("y", pa.float32())])
    few = nested(pair, lambda i, r: None if r % 3 == 0 else {"x": i, "y": r / 3})
    case("packed_null", few, versions=later, most=2000, packed="true")
    payload = pa.field("b", pa.large_binary(), metadata={"lance-encoding:blob": "true"})
    holder = pa.struct([payload, pa.field("k", pa.int32())])
    blobs = nested(holder, lambda i, r: None if r % 4 == 0 else {"b": b"p" * (r % 90), "k": i})
    case("struct_blob_null", blobs, versions=later, most=2000)
    one = pa.dictionary(pa.int32(), pa.string())
    same = lambda n, _: pa.array(["only"] * n).dictionary_encode().cast(one)  # noqa: E731
    case("dict_constant", same)
    many = texts(pa.string(), lambda i, r: f"{i:07d}" * 50)
    case("dict_unique_long", lambda n, g: many(n, g).dictionary_encode(), most=2000)
    ints64 = pa.list_(pa.struct([("n", pa.null()), ("k", pa.int8())]))
    case("list_struct_nulls", nested(ints64, lambda i, r: [{"k": r % 9}] * (r % 3)), versions=later)
    case("struct_null_type", nested(pa.struct([("n", pa.null())]), lambda i, r: {}), versions=later)
    deep = pa.list_(pa.large_list(pa.struct([("l", pa.list_(pa.string())), ("k", pa.int32())])))
    tree = lambda i, r: [None, [], [{"l": ["a", None][: r % 3], "k": r % 5}, None]][: r % 4]  # noqa: E731
    case("list_list_struct_list", nested(deep, tree), versions=later, most=2000)


for _register in (
    _register_numbers,
    _register_times,
    _register_wide,
    _register_texts,
    _register_dictionaries,
    _register_lists,
    _register_structs,
    _register_maps,
    _register_fixed,
    _register_options,
    _register_extensions,
    _register_corners,
):
    _register()
