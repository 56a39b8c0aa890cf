"""The current version of Lance datasets, as their own library reads it, and what is refused."""

import pickle
import random
import shutil
import struct
import warnings
from contextlib import contextmanager, suppress

import fsspec
import pyarrow as pa
import pytest

import rangeio
from rangeio.datasets.evolving.evolution import Generation, unified
from rangeio.datasets.evolving.fitting import fit
from rangeio.datasets.finding.discovery import discover
from rangeio.datasets.finding.lancedataset import FieldIds, current, relabelled
from rangeio.datasets.finding.tabledirs import LanceDataset
from rangeio.engine.batches import Prepared, tables
from rangeio.errors import Corrupt, FormatError, NotFound, RangeIOError, RequestError
from rangeio.formats.lance.manifest import Layout, Manifest, version_of
from rangeio.opening import Asked, connect
from rangeio.plan import Query, Rows
from rangeio.schema import Schema
from rangeio.select import select

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    lance = pytest.importorskip("lance")
    lance_file = pytest.importorskip("lance.file")

VERSIONS = ["2.0", "2.1", "2.2"]


@pytest.fixture(scope="module")
def session():
    with rangeio.Session() as one:
        yield one


@contextmanager
def quiet():
    """What pylance warns of is its own affair."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def table(rows, start=0, **more):
    """Scalars, a struct, a list of structs, with nulls."""
    numbers = range(start, start + rows)
    items = [None if i % 9 == 0 else [{"p": i, "q": f"q{i}"}] * (i % 4) for i in numbers]
    columns = {
        "a": pa.array(numbers),
        "t": pa.array([None if i % 5 == 0 else f"row {i}" for i in numbers]),
        "s": pa.array([{"x": i / 3, "y": [i]} for i in numbers]),
        "l": pa.array(items, pa.list_(pa.struct([("p", pa.int64()), ("q", pa.string())]))),
        "v": pa.array([i % 2 == 0 for i in numbers]),
    }
    return pa.table({**columns, **more})


def write(content, path, mode="create", **options):
    with quiet():
        return lance.write_dataset(content, str(path), mode=mode, **options)


def in_memory(path):
    """A copy of a directory in memory; its url."""
    memory, root = fsspec.filesystem("memory"), f"/{'/'.join(path.parts[1:])}"
    if memory.exists(root):
        memory.rm(root, recursive=True)
    for one in path.rglob("*"):
        if one.is_file():
            memory.pipe_file(f"{root}/{one.relative_to(path)}", one.read_bytes())
    return f"memory:/{root}/"


def version(session, url):
    (entry,) = session.run(discover(session, url)).entries
    assert isinstance(entry, LanceDataset)
    return session.run(current(session, entry))


async def _read(session, found):
    """All files of a version, each as a generation of its own, in one table."""
    handles = [await connect(Asked(one.found.url), session) for one in found.files]
    schemas = [
        relabelled(await h.schema(), f.ids) for h, f in zip(handles, found.files, strict=True)
    ]
    generations = [Generation(one, f"g{i}") for i, one in enumerate(schemas)]
    dataset = unified(generations, declared=found.schema)
    fields = select(dataset.schema, None).fields
    parts = [pa.schema([one.arrow for one in fields]).empty_table()]
    for g, (handle, file) in enumerate(zip(handles, found.files, strict=True)):
        made = fit(dataset, g, fields)
        rows = Rows.span(0, await handle.num_rows())
        assert file.rows == rows.count
        assert file.found.size == handle.of.size
        metas = await handle.metas([c for one in made.fields for c in handle.format.needed(one)])
        plan = await handle.plan(metas, Query(made.fields, rows, None))
        read = tables(Prepared(handle, made.fields, metas, rows, plan, {}), None)
        parts.append(made.table(await anext(read), {}, file.found.url))
        await read.aclose()
    return pa.concat_tables(parts)


def same(session, path, number=None):
    """Rows, names and types of the current version are those that pylance tells. The version."""
    with quiet():
        made = lance.dataset(str(path))
        wanted = made.to_table()
    for url in (f"{path}/", in_memory(path)):
        found = version(session, url)
        assert found.version == made.version == (number or made.version)
        assert found.schema.equals(made.schema)
        read = session.run(_read(session, found))
        read.validate(full=True)
        assert read.schema.equals(wanted.schema)
        assert read.to_pylist() == wanted.to_pylist()
    return found


def refused(session, path, words):
    """It is refused in these words, as a request, with the dataset's url."""
    for url in (f"{path}/", in_memory(path)):
        with pytest.raises(RequestError, match=words) as caught:
            session.run(current(session, LanceDataset(url)))
        assert caught.value.url == url


# ---- versions ------------------------------------------------------------------------------------


@pytest.mark.parametrize("v2_names", [False, True])
@pytest.mark.parametrize("stored", VERSIONS)
def test_versions_of_one_dataset(session, tmp_path, stored, v2_names):
    path = tmp_path / "d"
    write(table(20), path, data_storage_version=stored, enable_v2_manifest_paths=v2_names)
    for i in range(1, 11):  # 10 sorts before 9
        write(table(3, 100 * i), path, "append")
    names = [one.name for one in (path / "_versions").glob("*.manifest")]
    assert {len(one) == len("0" * 20 + ".manifest") for one in names} == {v2_names}
    found = same(session, path, 11)
    assert [one.rows for one in found.files] == [20] + [3] * 10
    assert len({one.ids for one in found.files}) == 1  # alike, so one generation
    write(table(4, 7), path, "overwrite")
    assert len(same(session, path, 12).files) == 1
    with quiet():
        lance.dataset(str(path), version=5).restore()
    assert len(same(session, path, 13).files) == 5
    with quiet():
        lance.dataset(str(path)).optimize.compact_files()
    assert len(same(session, path).files) == 1


def test_names_of_both_kinds_and_others(session, tmp_path):
    path = tmp_path / "d"
    write(table(2), path, enable_v2_manifest_paths=False)
    write(table(2), path, "append")
    versions = path / "_versions"
    first = (versions / "1.manifest").read_bytes()
    with quiet():
        lance.dataset(str(path)).migrate_manifest_paths_v2()
    assert (versions / f"{2**64 - 1 - 2}.manifest").exists()
    for odd in ("9.manifest-0b1c", "9.manifest.tmp", ".tmp9.manifest", f"d{2**63 + 9}.manifest"):
        (versions / odd).write_bytes(b"x")
    same(session, path, 2)
    (versions / "1.manifest").write_bytes(first)  # as a migration leaves it that was cut short
    for url in (f"{path}/", in_memory(path)):
        assert version(session, url).version == 2


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("1.manifest", 1),
        ("00012.manifest", 12),
        ("18446744073709551613.manifest", 2),
        ("18446744073709551616.manifest", None),
        ("1.manifest-3f", None),
        ("1.tmp", None),
        (".manifest", None),
        ("-1.manifest", None),
        ("1_0.manifest", None),
        ("\u0661.manifest", None),
        ("d9223372036854775809.manifest", None),
        ("_latest.manifest", None),
        ("9" * 5000 + ".manifest", None),
    ],
)
def test_versions_in_names(name, number):
    assert version_of(name) == number


def test_a_dataset_of_old_keeps_its_newest_at_its_root(session, tmp_path):
    path = tmp_path / "d"
    write(table(2), path, enable_v2_manifest_paths=False)
    shutil.move(path / "_versions" / "1.manifest", path / "_latest.manifest")
    shutil.rmtree(path / "_versions")
    for url in (f"{path}/", in_memory(path)):
        found = version(session, url)
        assert [one.rows for one in found.files] == [2]
        assert session.run(_read(session, found)).to_pylist() == table(2).to_pylist()


def test_no_manifest_is_told(session, tmp_path):
    (tmp_path / "_versions").mkdir()
    for url in (f"{tmp_path}/", in_memory(tmp_path), f"{tmp_path}/nowhere/"):
        with pytest.raises(NotFound, match="has no manifest"):
            session.run(current(session, LanceDataset(url)))


def test_paths_of_files_below_the_root(session, tmp_path):
    write(table(2), tmp_path / "k=1" / "one.lance")
    (entry,) = session.run(discover(session, tmp_path)).entries
    (file,) = session.run(current(session, entry)).files
    assert file.found.path.startswith("k=1/one.lance/data/")
    assert file.found.url == f"{tmp_path}/{file.found.path}"


def test_a_dataset_without_rows(session, tmp_path):
    made = write(table(0), tmp_path / "d")
    found = session.run(current(session, LanceDataset(f"{tmp_path}/d/")))
    assert (found.version, found.files) == (1, ())
    assert found.schema.equals(made.schema)


def test_chained_urls_and_filesystems(session, tmp_path):
    write(table(3), tmp_path / "d")
    archive = shutil.make_archive(str(tmp_path / "packed"), "zip", tmp_path, "d")
    found = session.run(current(session, LanceDataset(f"zip://d/::{archive}")))
    assert session.run(_read(session, found)).to_pylist() == table(3).to_pylist()
    root = in_memory(tmp_path / "d").removeprefix("memory:/")
    memory = fsspec.filesystem("memory")
    found = session.run(current(session, LanceDataset(root), filesystem=memory))
    assert [one.found.url.startswith(f"{root}data/") for one in found.files] == [True]


def test_a_version_travels(session, tmp_path):
    write(table(3), tmp_path / "d")
    write(table(3), tmp_path / "d", "append")
    found = version(session, tmp_path / "d")
    back = pickle.loads(pickle.dumps(found))
    assert back.schema.equals(found.schema, check_metadata=True)
    assert [one.found for one in back.files] == [one.found for one in found.files]
    assert len({one.ids for one in back.files}) == 1
    assert session.run(_read(session, back)).to_pylist() == table(3).to_pylist() * 2


# ---- columns -------------------------------------------------------------------------------------


@pytest.mark.parametrize("stored", VERSIONS)
def test_columns_dropped_and_renamed(session, tmp_path, stored):
    path = tmp_path / "d"
    made = write(table(30), path, data_storage_version=stored)
    with quiet():
        made.drop_columns(["a", "s.x"])
        made.alter_columns({"path": "l", "name": "renamed"}, {"path": "t", "name": "a"})
        made.alter_columns({"path": "s.y", "name": "x"})
    found = same(session, path)
    assert found.schema.names == ["a", "s", "renamed", "v"]
    old = table(5, 50)
    below = [{"x": one["y"]} for one in old["s"].to_pylist()]
    columns = {"a": old["t"], "s": pa.array(below), "renamed": old["l"], "v": old["v"]}
    write(pa.table(columns), path, "append")
    found = same(session, path)
    assert len({one.ids for one in found.files}) == 2
    with quiet():
        lance.dataset(str(path)).optimize.compact_files()
    assert len(same(session, path).files) == 1


@pytest.mark.parametrize("stored", VERSIONS)
def test_a_name_that_was_given_again_is_another_column(session, tmp_path, stored):
    path = tmp_path / "d"
    made = write(table(10), path, data_storage_version=stored)
    with quiet():
        made.drop_columns(["a", "t"])
        made.add_columns(pa.schema([pa.field("a", pa.int64()), pa.field("t", pa.int32())]))
    new = pa.array([1, 2, 3])
    write(table(3).drop_columns(["a", "t"]).append_column("a", new), path, "append")
    found = same(session, path)
    assert len(found.files) == 2
    with quiet():
        lance.dataset(str(path)).optimize.compact_files()
    same(session, path)
    write(pa.table({"t": [1.5], "a": ["x"]}), path, "overwrite")
    assert same(session, path).schema.names == ["t", "a"]


@pytest.mark.parametrize("stored", VERSIONS)
def test_columns_that_only_some_files_have(session, tmp_path, stored):
    path = tmp_path / "d"
    write(table(4), path, data_storage_version=stored)
    write(table(3).select(["v", "a"]), path, "append")
    write(table(3).select(["l"]), path, "append")
    same(session, path)
    with quiet():
        lance.dataset(str(path)).drop_columns(["l"])
    refused(session, path, "fragment 2 .* has rows and no data file")


@pytest.mark.parametrize("stored", VERSIONS)
def test_structs_that_lost_all_their_fields_but_new_ones(session, tmp_path, stored):
    path = tmp_path / "d"
    made = write(table(4), path, data_storage_version=stored)
    with quiet():
        made.alter_columns({"path": "s.x", "name": "z"})
        made.drop_columns(["s.y"])
    same(session, path)


def test_fields_and_defaults_of_metadata(session, tmp_path):
    path = tmp_path / "d"
    field = pa.field("n", pa.int64(), metadata={"default": "7", "unique_id": "99", "k": "w"})
    whole = pa.schema([pa.field("a", pa.int64()), field], {"x": "y"})
    write(pa.table([[1], [2]], schema=whole), path)
    write(pa.table({"a": [3]}), path, "append")
    found = same(session, path)
    assert found.schema.field("n").metadata == {b"k": b"w", b"unique_id": b"1"}
    assert found.schema.metadata == {b"x": b"y"}


def test_stable_row_ids_indexes_and_configuration(session, tmp_path):
    path = tmp_path / "d"
    made = write(table(30), path, enable_stable_row_ids=True)
    with quiet():
        made.create_scalar_index("a", "BTREE")
        made.update_config({"x": "y"})
    write(table(5, 60), path, "append")
    same(session, path)


@pytest.mark.parametrize("stored", VERSIONS)
def test_columns_of_other_kinds(session, tmp_path, stored):
    columns = {
        "dictionary": pa.array(["x", "y", "x"]).dictionary_encode(),
        "uuid": pa.array([b"x" * 16] * 3, pa.uuid()),
        "time": pa.array([1, None, 3], pa.timestamp("ns", "UTC")),
        "large": pa.array(["x", None, "z"], pa.large_string()),
        "null": pa.nulls(3),
    }
    if stored == "2.2":
        kind = pa.map_(pa.string(), pa.list_(pa.struct([("p", pa.int32())])))
        columns["map"] = pa.array([[("k", [{"p": 1}])], None, []], kind)
    write(pa.table(columns), tmp_path / "d", data_storage_version=stored)
    write(pa.table(columns).select(["uuid", "large"]), tmp_path / "d", "append")
    same(session, tmp_path / "d")


@pytest.mark.parametrize("stored", ["2.0", "2.1"])
def test_blobs_inside_the_file_are_read(session, tmp_path, stored):
    blob = pa.field("b", pa.large_binary(), metadata={"lance-encoding:blob": "true"})
    content = pa.table([[b"xyz", b"", b"1" * 9000]], schema=pa.schema([blob]))
    write(content, tmp_path / "d", data_storage_version=stored)
    found = version(session, tmp_path / "d")
    assert session.run(_read(session, found)).to_pylist() == content.to_pylist()


@pytest.mark.parametrize("stored", VERSIONS)
def test_ids_of_what_is_nested(session, tmp_path, stored):
    content = table(3).append_column("f", pa.array([[1.0, 2.0]] * 3, pa.list_(pa.float32(), 2)))
    made = write(content, tmp_path / "d", data_storage_version=stored)
    with quiet():
        made.drop_columns(["a", "l.item.p"] if stored != "2.0" else ["a"])
        made = lance.dataset(str(tmp_path / "d"))
    found = version(session, tmp_path / "d")
    assert found.schema.equals(made.schema)
    ids = {one.name(): one.id() for one in made.lance_schema.fields()}
    assert {one.name: int(one.metadata[b"unique_id"]) for one in found.schema} == ids
    with rangeio.open(found.files[0].found.url) as file:
        told = relabelled(file.schema, found.files[0].ids)
        assert {name: told[name].unique_id for name in ids} == ids
        # pylance writes its own ids into new files: here they are what they were.
        numbers = {c.path: c.unique_id for top in file.schema for c in top.walk()}
        assert {c.path: c.unique_id for top in told for c in top.walk()} == numbers
    inner = found.schema.field("s").type.field("y").type.value_field
    assert int(inner.metadata[b"unique_id"]) == told["s"].children[1].children[0].unique_id


def test_columns_are_made_when_they_are_looked_at(session, tmp_path):
    write(pa.table({f"c{i}": [i] for i in range(500)}), tmp_path / "d")
    found = version(session, tmp_path / "d")
    with rangeio.open(found.files[0].found.url) as file:
        looked = []
        counted = Schema(file.schema.names, lambda i: looked.append(i) or file.schema.at(i))
        told = relabelled(counted, found.files[0].ids)
        assert (told["c7"].unique_id, told[7].name, len(told)) == (7, "c7", 500)
    assert sorted(looked) == [7, 499]


def content_of(schema, rows, chance):
    """Rows of any schema, with nulls."""

    def value(kind):
        if pa.types.is_struct(kind):  # 2.0 has no null ones
            return {one.name: value(one.type) for one in kind}
        if chance.random() < 0.1:
            return None
        if pa.types.is_list(kind):
            return [value(kind.value_type) for _ in range(chance.randrange(3))]
        number = chance.randrange(1000)
        return {pa.string(): str(number), pa.bool_(): number > 500}.get(kind, number)

    arrays = [pa.array([value(one.type) for _ in range(rows)], one.type) for one in schema]
    return pa.table(arrays, names=schema.names)


def changed(path, made, names, chance):
    """Something that changes the dataset, and leaves its columns in one file a fragment."""
    schema, top = made.schema, [one.name for one in made.schema]
    what = chance.choice(["append", "fewer", "drop", "nested", "rename", "add", "compact", "back"])
    if what == "append":
        write(content_of(schema, chance.randrange(1, 9), chance), path, "append")
    elif what == "fewer":
        kept = [one for one in top if one == "s" or chance.random() < 0.7]
        some = pa.schema([schema.field(one) for one in kept])
        write(content_of(some or schema, 3, chance), path, "append")
    elif what == "drop" and len(top) > 3:
        made.drop_columns([chance.choice(top)])
    elif what == "nested" and "s" in top and schema.field("s").type.num_fields > 1:
        made.drop_columns([f"s.{chance.choice(schema.field('s').type).name}"])
    elif what == "rename":
        new = chance.choice([one for one in names if one not in top])
        made.alter_columns({"path": chance.choice([c for c in top if c != "s"]), "name": new})
    elif what == "add":
        kind = chance.choice([pa.int64(), pa.string(), pa.list_(pa.int32())])
        made.add_columns(pa.field(chance.choice([one for one in names if one not in top]), kind))
    elif what == "compact":
        made.optimize.compact_files()
    elif what == "back" and made.version > 3:
        lance.dataset(str(path), version=chance.randrange(2, made.version)).restore()


@pytest.mark.parametrize("stored", VERSIONS)
@pytest.mark.parametrize("seed", range(2))
def test_any_history(session, tmp_path, stored, seed):
    chance = random.Random(seed)
    path = tmp_path / "d"
    write(table(4), path, data_storage_version=stored)
    for _ in range(16):
        with quiet():
            made = lance.dataset(str(path))
            changed(path, made, ["a", "t", "l", "v", "b", "c", "d", "e"], chance)
            made = lance.dataset(str(path))
            if any(not one.data_files() for one in made.get_fragments()):
                made = lance.dataset(str(path), version=1)
                made.restore()
        same(session, path)


# ---- what is refused -----------------------------------------------------------------------------


def test_deleted_rows_are_refused_until_they_are_gone(session, tmp_path):
    path = tmp_path / "d"
    made = write(table(100), path)
    with quiet():
        made.delete("a = 3")
    refused(session, path, r"fragment 0 .* deleted rows.*compact_files\(mat.*=0\), or .*lance.data")
    with quiet():
        made = lance.dataset(str(path))
        made.optimize.compact_files(materialize_deletions_threshold=0)
    same(session, path)
    with quiet():
        lance.dataset(str(path)).update({"a": "a + 1"}, where="a = 7")
    refused(session, path, "deleted rows")


def test_columns_in_several_files_are_refused_until_written_anew(session, tmp_path):
    path = tmp_path / "d"
    made = write(table(10), path)
    with quiet():
        made.add_columns({"b": "a * 2"})
    refused(session, path, r"columns in 2 data files.*write_dataset\(lance.dataset\(url\), other")
    write(lance.dataset(str(path)), tmp_path / "other")
    same(session, tmp_path / "other")
    with quiet():
        lance.dataset(str(path)).drop_columns(["b"])
    same(session, path)  # the second file went with its column


def test_changed_types_and_merged_columns_are_refused(session, tmp_path):
    made = write(table(10), tmp_path / "a")
    with quiet():
        made.alter_columns({"path": "a", "data_type": pa.int32()})
    refused(session, tmp_path / "a", "columns in 2 data files")
    with quiet():
        lance.dataset(str(tmp_path / "a")).drop_columns(["a"])
    same(session, tmp_path / "a")  # of the first "a" nothing is known any more
    made = write(table(10), tmp_path / "b")
    with quiet():
        made.merge(pa.table({"a": [1, 5], "c": ["x", "y"]}), "a")
    refused(session, tmp_path / "b", "columns in 2 data files")


def test_other_places_are_refused(session, tmp_path):
    made = write(table(10), tmp_path / "a")
    with quiet():
        made.shallow_clone(str(tmp_path / "b"), 1)
    refused(session, tmp_path / "b", "lies outside of it, in base path 0")


def test_legacy_files_are_refused(session, tmp_path):
    write(pa.table({"a": [1]}), tmp_path / "d", data_storage_version="legacy")
    refused(session, tmp_path / "d", "fragment 0 .* is a legacy Lance v1 file")


@pytest.mark.parametrize(("stored", "words"), [("2.1", "is a packed str"), ("2.2", "holds blobs")])
def test_columns_that_files_do_not_give_are_refused(session, tmp_path, stored, words):
    blob = pa.field("c", pa.large_binary(), metadata={"lance-encoding:blob": "true"})
    kind = pa.struct([("x", pa.int64()), ("y", pa.int64())])
    packed = pa.field("c", kind, metadata={"packed": "true"})
    values = [b"x"] if words == "holds blobs" else [{"x": 1, "y": 2}]
    field = blob if words == "holds blobs" else packed
    content = pa.table([pa.array(values, field.type)], schema=pa.schema([field]))
    write(content, tmp_path / "d", data_storage_version=stored)
    refused(session, tmp_path / "d", f"column 'c' {words}.*read it with lance")


# ---- made by hand --------------------------------------------------------------------------------


def number(tag, value):
    """A varint field of a message."""
    out = bytearray([tag << 3])
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def part(tag, payload):
    """A message in a message, of less than 128 bytes."""
    return bytes([tag << 3 | 2, len(payload)]) + payload


def manifest(*parts, before=b"abc"):
    message = b"".join(parts)
    tail = struct.pack("<QHH", len(before), 0, 2) + b"LANC"
    return before + struct.pack("<I", len(message)) + message + tail


def field(name, unique_id, parent=(1 << 64) - 1, logical="int64"):
    told = part(2, name), number(3, unique_id), number(4, parent), part(5, logical.encode())
    return part(1, b"".join((*told, number(6, 1))))


def fragment(*more, path=b"x.lance", ids=b"\x00", columns=b"\x00", size=(2, 0), file=b""):
    inner = part(1, path), part(2, ids), part(3, columns), number(4, size[0]), number(5, size[1])
    return part(2, part(2, b"".join(inner) + file) + number(4, 7) + b"".join(more))


ONE = field(b"a", 0)


def by_hand(session, tmp_path, *parts):
    (tmp_path / "_versions").mkdir(exist_ok=True)
    (tmp_path / "_versions" / "1.manifest").write_bytes(manifest(*parts, number(3, 1)))
    return session.run(current(session, LanceDataset(f"{tmp_path}/")))


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ([ONE, fragment(), number(9, 64)], r"not known here \(flags 0x40\)"),
        ([ONE, fragment(), number(9, 1 << 40 | 2)], r"not known here \(flags 0x10000000000\)"),
        ([ONE, fragment(part(11, b""))], "values in overlay files"),
        ([ONE, fragment(part(3, b""))], "has deleted rows"),
        ([ONE, fragment(file=number(7, 0))], "outside of it, in base path 0"),
        ([ONE, fragment(size=(2, 3))], "a file of Lance 2.3, not of 2.0 to 2.2"),
        ([ONE, fragment(size=(0, 0), columns=b"")], "legacy"),
        ([ONE, part(2, number(4, 7))], "has rows and no data file"),
        ([field(b"a", 0, logical="odd"), fragment()], "the logical type 'odd' is not supported"),
    ],
)
def test_what_pylance_does_not_make_is_refused(session, tmp_path, parts, words):
    with pytest.raises(RequestError, match=words):
        by_hand(session, tmp_path, *parts)


@pytest.mark.parametrize(
    "parts",
    [
        [ONE, field(b"b", 0), fragment()],
        [field(b"a", 5, parent=6), fragment()],
        [field(b"a", 5, parent=5), fragment()],
        [ONE, fragment(path=b"../../etc/passwd")],
        [ONE, fragment(path=b"/etc/passwd")],
        [ONE, fragment(path=b"")],
        [ONE, fragment(path=b"s3://other/x.lance")],
        [ONE, fragment(ids=b"\x00\x01")],
        [ONE, fragment(ids=b"\x00\x00", columns=b"\x00\x01")],
        [ONE, fragment(ids=b"\x00\x01", columns=b"\x00\x00")],
        [ONE, fragment(number(4, 1 << 62))],
    ],
)
def test_manifests_that_contradict_themselves_are_corrupt(session, tmp_path, parts):
    with pytest.raises(Corrupt) as caught:
        by_hand(session, tmp_path, *parts)
    assert caught.value.url == f"{tmp_path}/_versions/1.manifest"


def test_facts_of_a_manifest():
    made = Manifest.parse(manifest(ONE, fragment(file=number(6, 12)), fragment(), number(3, 9)))
    assert (made.version, made.flags, made.bases, made.parents) == (9, 0, (), {0: -1})
    first, second = (one.files[0] for one in made.fragments)
    assert (first.size, second.size, first.version) == (12, -1, (2, 0))
    assert first.layout is second.layout
    assert first.layout == Layout((0,), (0,))


def test_columns_belong_where_the_manifest_says_not_where_the_file_does(session, tmp_path):
    path = tmp_path / "x.lance"
    content = pa.table({"a": [1], "b": [2], "c": [3], "d": [4]})
    with quiet(), lance_file.LanceFileWriter(str(path), content.schema) as writer:
        writer.write_batch(content)
    with rangeio.open(path) as file:
        own = file.schema
    parents = {1: -1, 0: -1, 7: -1}
    swapped = relabelled(own, FieldIds(Layout((1, 0, 5, -2), (0, 1, 2, 3)), parents))
    assert swapped.names == ["a", "b", "c", "d"]
    assert [c.unique_id for c in swapped] == list(swapped.ids) == [1, 0, 5, 11]
    assert all(column.id_declared for column in swapped)
    fewer = relabelled(own, FieldIds(Layout((7, 1), (3, 0)), parents))
    assert [c.unique_id for c in fewer] == list(fewer.ids) == [1, 9, 10, 7]
    with pytest.raises(Corrupt, match="places a field in column 4"):
        relabelled(own, FieldIds(Layout((7, 1), (4, 0)), parents))
    declared = pa.schema([pa.field("d", pa.int64(), metadata={"unique_id": "1"})])
    made = unified([Generation(swapped, "x")], declared=declared)
    assert fit(made, 0, list(made.schema)).fields[0].name == "a"


def test_an_empty_manifest_is_a_format_error(session, tmp_path):
    (tmp_path / "_versions").mkdir()
    (tmp_path / "_versions" / "1.manifest").write_bytes(b"")
    with pytest.raises(RangeIOError):
        session.run(current(session, LanceDataset(f"{tmp_path}/")))


@pytest.mark.parametrize("name", ["e.lance", "e"])
@pytest.mark.parametrize("remote", [False, True])
def test_a_dataset_of_no_rows_has_its_schema(session, tmp_path, name, remote):
    kept = table(0)
    write(kept, tmp_path / name, schema=kept.schema)
    assert sorted(one.name for one in (tmp_path / name).iterdir()) == ["_transactions", "_versions"]
    url = in_memory(tmp_path / name) if remote else str(tmp_path / name)
    ds = rangeio.dataset(url, session=session)
    assert ds.read() == lance.dataset(str(tmp_path / name)).to_table()
    assert ds.schema.names == kept.column_names
    assert (len(ds), ds.num_rows, ds.count([("a", ">", 1)]), ds.min("a")) == (0, 0, 0, None)
    assert ds.read(["a"], filters=[("t", "==", "x")]) == kept.select(["a"])
    assert list(ds.scan()) == []
    assert ds.plan().read() == kept


def test_hostile_bytes_are_format_errors(session, tmp_path):
    path = tmp_path / "d"
    write(table(3), path, enable_v2_manifest_paths=False)
    write(table(2).select(["a"]), path, "append")
    whole = (path / "_versions" / "2.manifest").read_bytes()
    for size in range(len(whole)):
        with pytest.raises(FormatError):
            Manifest.parse(whole[:size])
    chance = random.Random(5)
    survived = 0
    for i in range(8 * len(whole)):
        damaged = bytearray(whole)
        damaged[i // 8] ^= 1 << i % 8
        if i % 4 == 0:
            damaged[chance.randrange(len(whole))] = chance.randrange(256)
        with suppress(FormatError):
            survived += len(Manifest.parse(damaged).schema.arrow)
    assert survived
    for i in range(0, len(whole), 5):
        damaged = bytearray(whole)
        damaged[i] ^= 1 << i % 8
        (path / "_versions" / f"{i + 3}.manifest").write_bytes(damaged)
        with suppress(RangeIOError):
            session.run(current(session, LanceDataset(f"{path}/")))
