"""Sessions, files and places for the tests of the file."""

from __future__ import annotations

import contextlib

import pytest
from places import Files, reach

import rangeio


@pytest.fixture(scope="session")
def files(tmp_path_factory):
    """Paths of the files by name; each is written when it is first asked for."""
    return Files(tmp_path_factory.mktemp("files"))


@pytest.fixture
def session():
    with rangeio.Session(profile="s3") as one:
        yield one


@pytest.fixture
def place():
    """A function from (kind, path) to a Place; servers end with the test."""
    with contextlib.ExitStack() as stack:
        yield lambda kind, path: reach(stack, kind, path)
