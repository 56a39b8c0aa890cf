"""Stores and sessions for the tests of datasets."""

from __future__ import annotations

from contextlib import ExitStack

import pytest
from many_files import Stores

import rangeio


@pytest.fixture(scope="session")
def stores(tmp_path_factory):
    """Stores of every kind, which end with the run."""
    with ExitStack() as stack:
        yield Stores(stack, tmp_path_factory.mktemp("stores"))


@pytest.fixture(scope="session")
def lakes(stores):
    """Makes an empty folder in a store of a kind."""
    return stores.lake


@pytest.fixture
def session():
    """A session of its own."""
    with rangeio.Session() as one:
        yield one
