"""Variants: paths looked up in the index, sub-columns read by path, and the tree as a whole."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace

import pyarrow as pa
import pytest
from doris_parts import NO_ID, Segment
from doris_tables import documents, in_memory, made

import rangeio
from rangeio.errors import Corrupt, NoSuchColumn, RequestError
from rangeio.formats.doris.messages import MESSAGES
from rangeio.formats.doris.page import crc32c
from rangeio.formats.doris.writing.variant import sub_path
from rangeio.transport.profile import PROFILES

VERSIONS = pytest.mark.parametrize("version", [2, 3])
NAMES = {0: "id", 1: "v"}


def many(paths: int) -> pa.Table:
    one = json.dumps({f"k{i:05d}": {"x": i} for i in range(paths)})
    return pa.table({"id": [1, 2], "v": [one, one]})


@VERSIONS
def test_paths(version):
    with rangeio.open(made(documents(9), version=version, variant=["v"]), schema=NAMES) as file:
        every = ["a", "a.b", "tags", "user.age", "user.name"]
        column = file.column("v")
        assert column.paths() == every
        assert column.paths(prefix="user.") == every[3:]
        assert column.paths("a") == every[:2]
        assert column.paths("b") == []
        file.read("v")
        assert file.column("v").paths("us") == every[3:]
        with pytest.raises(RequestError, match="fixed structure"):
            file.column("id").paths()
        with pytest.raises(RequestError, match="lies inside"):
            file.column("v.user").paths()


@VERSIONS
def test_paths_of_an_async_file(version):
    async def found() -> tuple[list[str], list[object]]:
        file = await rangeio.open_async(
            made(documents(9), version=version, variant=["v"]), schema=NAMES
        )
        names = list(await file.paths("v", "user."))
        with pytest.raises(NoSuchColumn):
            await file.paths("w")
        with pytest.raises(RequestError, match="fixed structure"):
            await file.paths("id")
        return names, (await file.read("v.user.age"))["v"].to_pylist()

    paths, rows = asyncio.run(found())
    assert paths == ["user.age", "user.name"]
    assert rows[3] == {"user": {"age": 3}}


@VERSIONS
def test_sub_columns(version):
    with rangeio.open(made(documents(9), version=version, variant=["v"]), schema=NAMES) as file:
        assert file.read("v.user.name")["v"].to_pylist()[2] == {"user": {"name": "n2"}}
        assert file.read("v.user")["v"].to_pylist()[2] == {"user": {"age": 2, "name": "n2"}}
        assert file.read([("v", "user", "age")])["v"].to_pylist()[2] == {"user": {"age": 2}}
        assert file.read("v.tags")["v"].to_pylist()[2] == {"tags": [1, 2]}
        # In some rows a number, in others an object: the number has no name below.
        assert file.read("v.a")["v"].to_pylist()[1:3] == [
            {"a": {"": 1, "b": None}},
            {"a": {"": None, "b": 2}},
        ]
        assert file.read([("v", "a", "")])["v"].to_pylist()[1] == {"a": {"": 1}}
        both = file.read(["v.user.name", "id", "v.a.b"])
        assert both.column_names == ["v", "id"]
        assert both["v"].to_pylist()[2] == {"a": {"b": 2}, "user": {"name": "n2"}}
        assert set(file.read("v.")["v"].to_pylist()[2]) == {""}
        for word in ("v.nope", "v.user.nam", "v.use", "v.user.name.x"):
            with pytest.raises(NoSuchColumn):
                file.read(word)


@VERSIONS
def test_the_whole_tree(version):
    data = made(documents(9), version=version, variant=["v"])
    with rangeio.open(data, schema=NAMES) as file:
        row = file.read(rows=[3])["v"].to_pylist()[0]
        assert row.pop("") is not None
        assert row == {"a": {"": 3, "b": None}, "tags": [1, 3], "user": {"age": 3, "name": "n3"}}
        assert file.schema["v"].type == file.read("v").schema.field("v").type
        assert file.column("v.user.age").type == pa.int64()
        assert file.read("v.*")["v"].to_pylist()[3]["user"] == row["user"]
    flat = rangeio.open(data, schema=NAMES).read("v.user", flatten=True)
    assert flat.column_names == ["v.user.age", "v.user.name"]


@VERSIONS
def test_filters_on_paths(version):
    data = made(documents(3000), version=version, variant=["v"], page_size=1024)
    with rangeio.open(data, schema=NAMES) as file:
        found = file.read(["id"], filters=[("v.user.age", ">=", 2997)])
        assert found["id"].to_pylist() == [2997, 2998, 2999]
        said = file.explain(["id"], filters=[("v.user.age", ">=", 2997)]).pruned
        assert "pages of v.user.age" in said[0]


@VERSIONS
def test_paths_that_share_one_column(version):
    data = made(documents(50), version=version, variant=["v"], variant_max_subcolumns=2)
    with rangeio.open(data, schema=NAMES) as file:
        paths = file.column("v").paths()
        assert len(paths) == 2
        row = file.read("v", rows=[4])["v"].to_pylist()[0]
        sparse = row["__DORIS_VARIANT_SPARSE__"]
        assert all(isinstance(cell, bytes) for _, cell in sparse)
        kept = {name for name, _ in sparse}
        assert kept
        assert not kept & set(paths)


def test_one_path_costs_the_same_of_any_number():
    """Key pages grow with the paths; nothing else does."""
    costs = []
    for paths in (500, 5000):
        file = in_memory(made(many(paths), variant=["v"]), tail=64 << 10)
        with rangeio.open(file.data, schema=NAMES, session=rangeio.Session(profile="s3")) as opened:
            name = f"k{paths // 3:05d}"
            wanted = [{"v": {name: {"x": paths // 3}}}] * 2
            assert opened.read([f"v.{name}.x"]).to_pylist() == wanted
        table = file.open()
        file.needs.clear()
        found = file.run(table.variants.below(1, [f"{name}.x"]))
        assert len(found) == 1
        costs.append([need.why for need in file.needs])
    assert costs[0] == costs[1]


@VERSIONS
def test_a_variant_of_nothing_but_what_has_no_column(version):
    """No path has a column of its own: the root holds what there is, and loses none of it."""
    rows = pa.table({"id": [1], "v": ['{"a": 1, "b": "x"}']})
    data = made(rows, version=version, variant=["v"], variant_max_subcolumns=1)
    with rangeio.open(data, schema=NAMES) as file:
        (row,) = file.read("v")["v"].to_pylist()
        names = {name for name, _ in row.pop("__DORIS_VARIANT_SPARSE__")}
        row.pop("")
        assert names | set(row) == {"a", "b"}


def least(file: rangeio.File) -> int:
    """Bytes of column metadata that were read."""
    made_ = (get for get in file.trace if not (get.cached or get.joined))
    return sum(get.size for get in made_ if get.why == "doris.column_meta")


@pytest.mark.parametrize("how", ["read", "column", "pages"])
def test_one_path_reads_no_metadata_but_its_own(how):
    profile = replace(PROFILES["s3"], tail=64 << 10, small_file=0)
    data = made(many(5000), variant=["v"])
    with rangeio.open(data, schema=NAMES, session=rangeio.Session(profile=profile)) as file:
        if how == "read":
            assert file.read(["v.k01234.x"]).to_pylist() == [{"v": {"k01234": {"x": 1234}}}] * 2
        else:
            column = file.column("v.k01234.x")
            assert column.type == pa.int64()
            assert how == "column" or len(column.pages) == 1
        directory = file._handle.table.footer.directory
        own = directory.at(2 + 1234)
        assert least(file) == own.size < 300


# ---- paths of which older writers kept metadata in the root --------------------------------------


def with_sparse(version: int, stored: bool) -> bytes:
    """A segment whose root has the metadata of ``x.name`` in field 17, with pages or without."""
    data = made(
        documents(9).append_column("n", pa.array([None, *"abcdefgh"])),
        version=version,
        variant=["v"],
    )
    segment = Segment(data)
    (own,) = (one for one in segment.metas if one.unique_id == 2)
    kept = [one for one in segment.metas if one.unique_id != 2]
    own.column_path_info.CopyFrom(sub_path("v", "x.name", 1))
    if not stored:
        del own.indexes[:]
        own.ClearField("dict_page")
    kept[1].sparse_columns.append(own)
    footer, pages = segment.footer, data[: segment.footer_at]
    del footer.columns[:], footer.column_meta_entries[:]
    if version == 2:
        footer.columns.extend(kept)
        return ended(pages, footer)
    footer.col_meta_region_start = len(pages)
    raws = [one.SerializeToString() for one in kept]
    for one, raw in zip(kept, raws, strict=True):
        number = -1 if one.unique_id == NO_ID else one.unique_id
        footer.column_meta_entries.add(unique_id=number, length=len(raw))
    return ended(pages + b"".join(raws), footer)


def ended(pages: bytes, footer) -> bytes:
    own = footer.SerializeToString()
    sums = len(own).to_bytes(4, "little") + crc32c(own).to_bytes(4, "little")
    return pages + own + sums + b"D0R1"


@VERSIONS
def test_paths_that_the_root_has_pages_of(version):
    every = ["a", "a.b", "tags", "user.age", "user.name", "x.name"]
    with rangeio.open(with_sparse(version, stored=True), schema=NAMES) as file:
        assert file.column("v").paths() == every
        assert file.column("v").paths("x") == ["x.name"]
        rows = file.read("v")["v"].to_pylist()
        assert [row["x"] for row in rows] == [{"name": one} for one in [None, *"abcdefgh"]]
        assert rows[3]["user"] == {"age": 3, "name": "n3"}
        assert file.read("v.x.name", rows=[1])["v"].to_pylist() == [{"x": {"name": "a"}}]
        assert file.read("v.user.age", rows=[1])["v"].to_pylist() == [{"user": {"age": 1}}]


@VERSIONS
def test_paths_whose_values_lie_in_the_root(version):
    with rangeio.open(with_sparse(version, stored=False), schema=NAMES) as file:
        assert file.column("v").paths("x.") == ["x.name"]
        (row,) = file.read("v", rows=[1])["v"].to_pylist()
        assert set(row) == {"", "a", "tags", "user"}
        with pytest.raises(NoSuchColumn):
            file.read("v.x.name")


def resealed(data: bytes, change) -> bytes:
    size = int.from_bytes(data[-12:-8], "little")
    footer = MESSAGES.SegmentFooter.FromString(data[-12 - size : -12])
    change(footer)
    return ended(data[: -12 - size], footer)


def test_an_older_name_of_the_index():
    def older(footer) -> None:
        footer.file_meta_datas[0].key = "variant_meta_keys"

    data = resealed(made(documents(9), variant=["v"]), older)
    with rangeio.open(data, schema=NAMES) as file:
        assert file.column("v").paths("user.") == ["user.age", "user.name"]
        assert file.read("v.user.age")["v"].to_pylist()[3] == {"user": {"age": 3}}


def test_an_index_that_points_elsewhere_is_corrupt():
    def fewer(footer) -> None:
        del footer.column_meta_entries[-1]

    def another(footer) -> None:
        footer.column_meta_entries[2].unique_id = 77

    def swapped(footer) -> None:
        entries = footer.column_meta_entries
        entries[0].unique_id, entries[1].unique_id = 1, 0

    base = made(documents(9), variant=["v"])
    for change in (fewer, another, swapped):
        with pytest.raises((Corrupt, NoSuchColumn)):
            rangeio.open(resealed(base, change), schema=NAMES).read("v")


def test_without_an_index_the_root_shows_what_it_holds_itself():
    def without(footer) -> None:
        del footer.file_meta_datas[:]

    base = made(documents(9), variant=["v"], variant_max_subcolumns=1)
    with rangeio.open(resealed(base, without), schema=NAMES) as file:
        (row,) = file.read("v", rows=[3])["v"].to_pylist()
        assert set(row) == {"", "__DORIS_VARIANT_SPARSE__"}
