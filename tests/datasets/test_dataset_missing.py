"""A file of a list that is not there is named, and may be left out, the same on every store."""

import pyarrow as pa
import pytest
from many_files import KINDS, parquet

import rangeio
from rangeio.errors import NotFound

FILE = parquet(pa.table({"x": [1, 2]}))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_missing_file_of_a_list(session, lakes, kind, place):
    lake = lakes(kind)
    urls = [lake.put(f"k={i}/f.parquet", FILE) for i in (1, 2)]
    gone = lake.at("k=7/nope.parquet")
    urls.insert(place, gone)
    ds = rangeio.dataset(urls, session=session, **lake.words)
    with pytest.raises(NotFound) as caught:
        ds.read()
    assert caught.value.url.endswith(gone.partition("://")[2] or gone)
    left = ds.read(on_error="skip")
    assert left.to_pydict() == {"x": [1, 2] * 2, "k": [1, 1, 2, 2]}
    assert [one.url for one in ds.skipped] == [gone]
    assert isinstance(ds.skipped[0].error, NotFound)


@pytest.mark.parametrize("kind", ["file", "memory", "s3"])
@pytest.mark.parametrize("name", ["nope.parquet", "nope"])
def test_what_is_named_alone_and_is_not_there(session, lakes, kind, name):
    lake = lakes(kind)
    lake.put("f.parquet", FILE)
    with pytest.raises(NotFound, match="no such file or directory") as caught:
        rangeio.dataset(lake.at(name), session=session, **lake.words)
    assert caught.value.url.endswith(f"/{name}")


@pytest.mark.parametrize("kind", ["file", "memory", "s3"])
def test_of_a_name_without_an_extension_the_store_is_asked(session, lakes, kind):
    lake = lakes(kind)
    urls = [lake.put("f.parquet", FILE), lake.at("nope")]
    with pytest.raises(NotFound, match="no such file or directory") as caught:
        rangeio.dataset(urls, session=session, **lake.words)
    assert caught.value.url.endswith("/nope")
