"""What the session says, where the jar is: zone, settings, catalog, nullable columns."""

import pytest
from lakes import load, numbers, put
from zones import FILTERS, ZONE, after, clocks, same_as_spark, settings, written_at


@pytest.fixture(scope="module")
def hours(tmp_path_factory):
    return clocks(tmp_path_factory.mktemp("hours"))


@pytest.mark.parametrize("name", FILTERS)
def test_times_in_filters_are_those_of_the_session(pruning, hours, name):
    assert same_as_spark(pruning, hours, name)


def test_times_of_files_are_those_of_the_session(pruning, hours):
    """As Spark says of its own sources; what these do is off by the zone's hours."""
    written_at(hours, "2024-01-15T12:00")
    with settings(pruning, zone=ZONE):
        for late, count in (("2024-01-15T11:59:59", 100), ("2024-01-15T12:00:01", 0)):
            assert after(pruning, hours, late) == count
        assert after(pruning, hours, "2024-01-15T11:59:59", timeZone="UTC") == 0


def test_the_session_says_what_is_ignored(pruning, tmp_path):
    put(numbers(10), tmp_path / "a.parquet")
    (tmp_path / "b.parquet").write_bytes(b"PAR1 no such thing PAR1")
    with settings(pruning, ignoreCorruptFiles="true"):
        assert load(pruning, str(tmp_path)).where("id >= 0").count() == 10
        with pytest.raises(Exception, match=r"b\.parquet"):
            load(pruning, str(tmp_path), ignoreCorruptFiles="false").where("id >= 0").count()
    with pytest.raises(Exception, match=r"b\.parquet"):
        load(pruning, str(tmp_path)).where("id >= 0").count()


def test_a_given_schema_is_nullable(pruning, tmp_path):
    path = put(numbers(50), tmp_path / "a.parquet")
    schema = "id long not null, a double not null, text string not null, s struct<x: int not null>"
    ours = load(pruning, path, schema)
    theirs = pruning.read.schema(schema).parquet(path)
    assert ours.schema == theirs.schema
    assert all(field.nullable for field in ours.schema)
    for frame in (ours, theirs):
        assert frame.where("a is null or text is null").count() == 12
        assert frame.where("s is null").count() == 50
    assert sorted(map(repr, ours.collect())) == sorted(map(repr, theirs.collect()))


def test_a_write_of_what_is_never_null_is_as_before(pruning, tmp_path):
    pruning.range(5).write.format("rangeio").mode("append").save(str(tmp_path / "out"))
    assert sorted(row.id for row in load(pruning, str(tmp_path / "out")).collect()) == [*range(5)]


@pytest.mark.parametrize(
    "words",
    [
        "USING rangeio OPTIONS (path '{}', pathGlobFilter 'a*')",
        "(id bigint) USING rangeio OPTIONS (path '{}', pathGlobFilter 'a*')",
        "USING rangeio LOCATION '{}/a.parquet' COMMENT 'numbers' TBLPROPERTIES ('by' = 'me')",
    ],
)
def test_a_table_of_the_catalog(pruning, tmp_path, words):
    put(numbers(10), tmp_path / "a.parquet")
    put(numbers(10, 10), tmp_path / "b.parquet")
    pruning.sql(f"CREATE TABLE kept {words.format(tmp_path)}")
    try:
        found = pruning.sql("SELECT count(*), sum(id) FROM kept WHERE id < 5").collect()
        assert [tuple(row) for row in found] == [(5, 10)]
        assert pruning.table("kept").count() == 10
    finally:
        pruning.sql("DROP TABLE kept")
    assert (tmp_path / "a.parquet").exists()
