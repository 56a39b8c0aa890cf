"""Tables are told from plain directories by names alone, and refused by name."""

import lance
import pyarrow as pa
import pytest

import rangeio
from rangeio.datasets.finding.discovery import discover
from rangeio.datasets.finding.tabledirs import Kind, LanceDataset, TableDir, recognise
from rangeio.errors import RequestError

META = "00003-8d3f6f9e-13a4-4c1b-9d3e-5a0f8a8c1b2d.metadata.json"
ROWSET = "0200000000000a7c" * 3


@pytest.fixture(scope="module")
def session():
    with rangeio.Session() as one:
        yield one


@pytest.mark.parametrize(
    ("names", "tables"),
    [
        (["a/b.parquet", "data/", "metadata/x.json", "c.dat"], []),
        (["_delta_log/"], [(Kind.DELTA, "")]),
        (["x/y/_delta_log/00.json", "x/y/p.parquet"], [(Kind.DELTA, "x/y/")]),
        (["_delta_log"], []),  # a file
        ([".hoodie/hoodie.properties"], [(Kind.HUDI, "")]),
        ([f"t/metadata/{META}"], [(Kind.ICEBERG, "t/")]),
        (["metadata/v7.metadata.json"], [(Kind.ICEBERG, "")]),
        (["metadata/v7.gz.metadata.json"], [(Kind.ICEBERG, "")]),
        (["metadata/version-hint.text"], [(Kind.ICEBERG, "")]),
        (["metadata/odd.metadata.json"], []),
        (["metadata/odd.metadata.json", "data/"], [(Kind.ICEBERG, "")]),
        (["_versions/1.manifest"], [(Kind.LANCE, "")]),
        (["_latest.manifest"], [(Kind.LANCE, "")]),
        (["_versions/"], []),
        (["_versions/", "_transactions/"], [(Kind.LANCE, "")]),  # of no rows
        (["x.lance/_versions/"], [(Kind.LANCE, "x.lance/")]),
        (["_transactions/", "data/"], []),
        (["p=1/.hoodie_partition_metadata", "p=1/a.parquet"], [(Kind.HUDI, "p=1/")]),
        ([f"metadata/snap-305172-1-{META[6:42]}.avro"], [(Kind.ICEBERG, "")]),
        ([f"metadata/{META[6:42]}-m0.avro"], [(Kind.ICEBERG, "")]),
        (["metadata/people.avro"], []),
        (["_versions/", "data/"], [(Kind.LANCE, "")]),
        (["x.lance/data/0.lance"], [(Kind.LANCE, "x.lance/")]),
        (["x.lance"], []),
        (["x.lance/0.parquet"], []),
        ([f"7/{ROWSET}_0.dat", "7/10003.hdr"], [(Kind.DORIS, "7/")]),
        ([f"{ROWSET}_delete_bitmap.db"], [(Kind.DORIS, "")]),
        ([f"{ROWSET}_0.dat"], []),
        (["image.dat", "1.hdr"], []),
        ([".trash/_delta_log/", "_old/_delta_log/"], []),
        (["a/_delta_log/", "a/b/_delta_log/", "c/.hoodie/"], [(Kind.DELTA, "a/"),
                                                              (Kind.HUDI, "c/")]),
    ],
)  # fmt: skip
def test_names_tell(names, tables):
    assert recognise(names) == [TableDir(*one) for one in tables]
    assert recognise(reversed(names)) == [TableDir(*one) for one in tables]


def test_the_root_s_own_name_counts():
    assert recognise(["data/"], "/x/y.lance/") == [TableDir(Kind.LANCE, "")]


def touch(root, *names):
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x")


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (["_delta_log/0.json"], r"this is a Delta table: .*DeltaTable\(url\).file_uris"),
        ([f"metadata/{META}"], "this is an Iceberg table: .*plan_files"),
        ([".hoodie/x"], "this is a Hudi table: .*current files"),
        ([f"{ROWSET}_delete_bitmap.db"], "this is a tablet of Doris: a delete bitmap"),
    ],
)
@pytest.mark.parametrize("glob", ["", "*.parquet", "**/*.parquet"])
def test_a_table_is_refused_by_name(session, tmp_path, names, words, glob):
    touch(tmp_path, "p.parquet", "deep/q.parquet", *names)
    with pytest.raises(RequestError, match=words) as caught:
        session.run(discover(session, f"{tmp_path}/{glob}"))
    assert str(tmp_path) in caught.value.url


def test_a_table_below_is_refused_where_its_files_are_meant(session, tmp_path):
    touch(tmp_path, "plain/a.parquet", "t/_delta_log/0.json", "t/p=1/b.parquet")
    with pytest.raises(RequestError, match="Delta") as caught:
        session.run(discover(session, tmp_path))
    assert caught.value.url == f"{tmp_path}/t/"
    assert len(session.run(discover(session, f"{tmp_path}/*/a.parquet")).files) == 1


@pytest.mark.parametrize("inside", ["p=1", "p=1/q=2", "p=1/q=2/r=3", "p=1/*.parquet"])
def test_a_directory_inside_a_local_table_is_refused(session, tmp_path, inside):
    touch(tmp_path, "_delta_log/0.json", "p=1/q=2/r=3/b.parquet")
    with pytest.raises(RequestError, match="Delta"):
        session.run(discover(session, tmp_path / inside))


def test_files_of_a_table_that_are_named_are_read(session, tmp_path):
    touch(tmp_path, "_delta_log/0.parquet", "b.parquet")
    assert len(session.run(discover(session, [tmp_path / "b.parquet"])).files) == 1
    assert len(session.run(discover(session, tmp_path / "_delta_log")).files) == 1


def test_a_lance_dataset_is_an_entry(session, tmp_path):
    for name in ("a/one.lance", "a/two"):
        lance.write_dataset(pa.table({"x": [1]}), str(tmp_path / name))
    touch(tmp_path, "a/z.parquet")
    found = session.run(discover(session, tmp_path))
    assert [one.path for one in found.entries] == ["a/one.lance/", "a/two/", "a/z.parquet"]
    assert [one.url for one in found.lance] == [f"{tmp_path}/a/one.lance/", f"{tmp_path}/a/two/"]
    for named in ("a/one.lance", "a/two", "a/two/"):
        found = session.run(discover(session, f"{tmp_path}/{named}"))
        assert found.entries == (LanceDataset(f"{tmp_path}/{named.rstrip('/')}/"),)
    found = session.run(discover(session, f"{tmp_path}/a/*.lance"))
    assert found.entries == (LanceDataset(f"{tmp_path}/a/one.lance/", "one.lance/"),)
    found = session.run(discover(session, [f"{tmp_path}/a/two", f"{tmp_path}/a/z.parquet"]))
    assert [type(one).__name__ for one in found.entries] == ["LanceDataset", "Found"]


def test_the_inside_of_a_lance_dataset_is_refused(session, tmp_path):
    lance.write_dataset(pa.table({"x": [1]}), str(tmp_path / "two"))
    with pytest.raises(RequestError, match="this is a directory inside it; name the dataset"):
        session.run(discover(session, tmp_path / "two" / "data"))


def test_a_lance_dataset_s_url_stays_out_of_its_repr():
    assert "secret" not in repr(LanceDataset("https://user:secret@host/x.lance/"))
