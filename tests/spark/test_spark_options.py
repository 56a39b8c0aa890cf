"""The options of the data source: their names, their types, and what may be shown of them."""

import datetime as dt
import json
from decimal import Decimal

import pytest

from rangeio.errors import BadFilter, RequestError
from rangeio.spark.filters.literals import as_groups, read_conditions, write_conditions
from rangeio.spark.options import as_url, read_options
from rangeio.spark.storage import storage_options, storage_texts
from rangeio.spark.times import seconds, zone_of


def test_every_option_has_its_type():
    given = {
        "paths": '["s3a://b/x", "s3n://b/y", "s3://b/z", "/local"]',
        "columns": " a , b.c ",
        "pathglobfilter": "*.parquet",
        "recursivefilelookup": "TRUE",
        "modifiedafter": "2024-01-01T00:00:00+00:00",
        "basepath": "S3A://b",
        "mergeschema": "true",
        "ignorecorruptfiles": "true",
        "ignoremissingfiles": "false",
        "includefilepath": "file",
        "cachebytes": "1000",
        "concurrency": "7",
        "splitbytes": "5",
        "__pushed_limit": "3",
    }
    found = read_options(given)
    assert found.paths == ("s3://b/x", "s3://b/y", "s3://b/z", "/local")
    assert found.columns == ("a", "b.c")
    assert (found.glob, found.flat, found.base, found.merge) == ("*.parquet", True, "s3://b", True)
    assert found.modified == (dt.datetime(2024, 1, 1, tzinfo=dt.UTC).timestamp(), None)
    assert (found.ignore_corrupt, found.ignore_missing, found.file_column) == (True, False, "file")
    assert (found.cache_bytes, found.concurrency, found.split_bytes) == (1000, 7, 5)
    assert (found.limit, found.by_jar) == (3, True)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"mergeschem": "true"}, "unknown option 'mergeschem'; did you mean mergeSchema?"),
        ({"storage": "x"}, "did you mean storage."),
        ({"mergeschema": "yes"}, "mergeSchema='yes': true or false is wanted"),
        ({"splitbytes": "64MB"}, "splitBytes='64MB': a whole number"),
        ({"foo": "x"}, "unknown option 'foo'. There are: basePath, "),
        ({"modifiedafter": "once"}, "modifiedAfter='once'"),
        (
            {"modifiedbefore": "2024-01-01", "timezone": "Mars/Olympus"},
            "modifiedBefore='2024-01-01': no time zone 'Mars/Olympus'",
        ),
        ({"columns": '[["a", 1]]'}, "a list of texts is wanted, or of paths"),
        ({"columns": "[1]"}, "a list of texts is wanted"),
    ],
)
def test_what_makes_no_sense_is_refused_by_name(given, words):
    with pytest.raises(RequestError) as caught:
        read_options({"path": "/x", **given})
    assert words in str(caught.value)


def test_columns_may_be_paths():
    assert read_options({"path": "/x", "columns": '["a.b", ["s", "y.z"]]'}).columns == (
        "a.b",
        ("s", "y.z"),
    )


def test_a_format_is_taken_in_any_case():
    assert read_options({"path": "/x", "format": "Parquet"}).format == "parquet"


@pytest.mark.parametrize(
    ("given", "url"),
    [
        ("file:/x/y", "file:///x/y"),
        ("file:///x/y", "file:///x/y"),
        ("FILE:/x", "file:///x"),
        ("file://localhost/x", "file:///x"),
        ("s3a://b/file:/x", "s3://b/file:/x"),
        ("/x/file:/y", "/x/file:/y"),
    ],
)
def test_names_of_hadoop(given, url):
    assert as_url(given) == url
    found = read_options({"path": given, "paths": json.dumps([given]), "basepath": given})
    assert (found.paths, found.base) == ((url, url), url)


def test_times_without_a_zone_are_of_the_one_that_is_said():
    noon = dt.datetime(2024, 1, 15, 12, tzinfo=dt.UTC).timestamp()
    for zone, hours in {"Pacific/Auckland": 13, "+05:30": 5.5, "UTC-8": -8, "GMT+01:00": 1}.items():
        assert seconds("2024-01-15T12:00:00", zone) == noon - hours * 3600
        assert seconds("2024-01-15T12:00:00+00:00", zone) == noon
    given = {"path": "/x", "modifiedafter": "2024-01-15 12:00:00", "timezone": "Z"}
    assert read_options(given).modified == (noon, None)
    assert seconds("2024-01-15T12:00:00", None) == dt.datetime(2024, 1, 15, 12).timestamp()
    with pytest.raises(ValueError, match=r"'\.\./etc/passwd'"):
        zone_of("../etc/passwd")
    assert read_options({"path": "/x", "timezone": "Mars/Olympus"}).paths == ("/x",)


def test_of_a_table_only_its_options_count():
    told = {"path": "file:/x", "location": "file:/x", "provider": "rangeio", "owner": "me"}
    found = read_options(told | {"by": "me", "columns": "a", "option.columns": "a"})
    assert (found.paths, found.columns) == (("file:///x",), ("a",))
    with pytest.raises(RequestError, match="unknown option 'colums'; did you mean columns"):
        read_options(told | {"colums": "a", "option.colums": "a"})
    with pytest.raises(RequestError, match="unknown option 'owner'"):
        read_options({"path": "/x", "owner": "me"})


def test_a_path_is_needed():
    with pytest.raises(RequestError, match="no path"):
        read_options({})


def test_storage_options_go_and_come_back():
    given = {"key": "123", "anon": True, "client_kwargs": {"region_name": "x"}, "token": None}
    assert (
        storage_options({key.removeprefix("storage."): text for key, text in storage_texts(given)})
        == given
    )
    assert storage_options({"client_kwargs.region_name": "x"}) == {
        "client_kwargs": {"region_name": "x"}
    }


def test_no_value_of_storage_is_shown():
    found = read_options({"path": "/x", "storage.secret": "CANARY", "filters": "CANARY"})
    assert "CANARY" not in repr(found)
    with pytest.raises(RequestError) as caught:
        read_options({"path": "/x", "storage.token": "{CANARY"})
    assert "CANARY" not in str(caught.value)


def test_conditions_travel():
    values = [1, 1.5, "x", None, True, b"\0", Decimal("1.50"), dt.date(2024, 1, 2)]
    values.append(dt.datetime(2024, 1, 2, 3, tzinfo=dt.UTC))
    groups = as_groups([[("a", "IN", values)], [(("b", "c"), "is null")]])
    found = read_conditions(write_conditions(groups))
    assert found == [[("a", "in", values)], [(("b", "c"), "is null")]]


@pytest.mark.parametrize("given", [[], [[]], (), "a > 1", [("a",)], [[("a", ">", 1, 2)]]])
def test_what_is_no_condition_is_refused(given):
    with pytest.raises(BadFilter):
        as_groups(given)
