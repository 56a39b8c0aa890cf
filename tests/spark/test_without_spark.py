"""Says once why the Spark tests are left out, where they are."""

import pytest
from conftest import LACKING


def test_spark_can_be_tested():
    if LACKING:
        pytest.skip(f"the Spark tests are left out: {LACKING}")
