"""The tree of errors: by culprit, picklable, and saying where."""

from __future__ import annotations

import copy
import pickle

import pytest

from rangeio import errors
from rangeio.errors import FormatError, RangeIOError, RequestError, StoreError
from rangeio.ranges import ByteRange, Suffix

CLASSES = {
    "RangeIOError": (Exception,),
    "StoreError": (RangeIOError,),
    "NotFound": (StoreError, FileNotFoundError, OSError),
    "Denied": (StoreError, PermissionError, OSError),
    "Throttled": (StoreError,),
    "TimedOut": (StoreError, TimeoutError, OSError),
    "RangeIgnored": (StoreError,),
    "ShortReply": (StoreError,),
    "ObjectChanged": (StoreError,),
    "Unreachable": (StoreError,),
    "ServerFault": (StoreError,),
    "FormatError": (RangeIOError,),
    "BadMagic": (FormatError,),
    "Truncated": (FormatError,),
    "Corrupt": (FormatError,),
    "Unsupported": (FormatError,),
    "RequestError": (RangeIOError, ValueError),
    "NoSuchColumn": (RequestError, KeyError),
    "BadRows": (RequestError, IndexError),
    "BadFilter": (RequestError,),
    "Closed": (RequestError,),
}
TRANSIENT = {"Throttled", "TimedOut", "ShortReply", "Unreachable", "ServerFault"}
KINDS = [
    kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, RangeIOError)
]
ROOTS = (StoreError, FormatError, RequestError)
AT = ByteRange(5, 9)


def test_the_tree_has_these_errors_and_no_others():
    assert {kind.__name__ for kind in KINDS} == set(CLASSES)


@pytest.mark.parametrize("kind", KINDS)
def test_an_error_is_what_the_tree_says(kind):
    for above in CLASSES[kind.__name__]:
        assert issubclass(kind, above)
    if kind is not RangeIOError:
        assert sum(issubclass(kind, root) for root in ROOTS) == 1
    assert kind.__doc__


@pytest.mark.parametrize("kind", [k for k in KINDS if issubclass(k, StoreError)])
def test_what_may_pass_is_marked(kind):
    assert kind.transient == (kind.__name__ in TRANSIENT)


def fields(kind: type[RangeIOError]) -> dict[str, object]:
    extra: dict[str, object] = {}
    if issubclass(kind, StoreError):
        extra = {"status": 503, "attempts": 4, "retry_after": 1.5}
    if issubclass(kind, FormatError):
        extra = {"offset": 77}
    return {"url": "s3://b/k", "at": AT, **extra}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("again", [lambda e: pickle.loads(pickle.dumps(e)), copy.copy])
def test_every_field_survives_pickling(kind, again):
    error = kind("wrong", **fields(kind))
    error.add_note("seen in part 3")
    found = again(error)
    assert type(found) is kind
    assert found.reason == "wrong"
    for name, value in fields(kind).items():
        assert getattr(found, name) == value
    assert str(found) == str(error)
    assert found.args == error.args
    assert found.__notes__ == ["seen in part 3"]


@pytest.mark.parametrize("kind", KINDS)
def test_str_shows_url_range_and_reason(kind):
    assert str(kind("wrong", **fields(kind))) == "s3://b/k[5:9]: wrong"
    assert str(kind("wrong", url="s3://b/k")) == "s3://b/k: wrong"
    assert str(kind("wrong", at=Suffix(8))) == "[-8:]: wrong"
    assert str(kind("wrong")) == "wrong"


@pytest.mark.parametrize("kind", KINDS)
def test_located_fills_in_what_is_missing_and_no_more(kind):
    error = kind("wrong")
    assert error.located("s3://b/k", AT) is error
    assert (error.url, error.at) == ("s3://b/k", AT)
    error.located("s3://other", Suffix(1))
    assert (error.url, error.at) == ("s3://b/k", AT)


def test_defaults_say_that_nothing_is_known():
    error = StoreError("x")
    assert (error.status, error.attempts, error.retry_after) == (0, 0, None)
    assert FormatError("x").offset is None
    assert (error.url, error.at) == ("", None)


def test_errors_are_caught_by_the_names_that_people_know():
    with pytest.raises(FileNotFoundError):
        raise errors.NotFound("no such object", url="s3://b/k")
    with pytest.raises(KeyError) as caught:
        raise errors.NoSuchColumn("no column 'x'")
    assert str(caught.value) == "no column 'x'"
    with pytest.raises(ValueError, match="beyond"):
        raise errors.BadRows("row 9 is beyond the file")
