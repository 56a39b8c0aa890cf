"""Every decoder is tested twice: by the native kernels, and by their twins."""

import pytest

from rangeio.codecs import native
from rangeio.codecs.native import Kernels


@pytest.fixture(params=["native", "twin"], scope="session")
def kernels(request: pytest.FixtureRequest) -> Kernels | None:
    if request.param == "twin":
        return None
    if native.kernels is None:
        pytest.skip(f"no native kernels: {native.why_not}")
    return native.kernels


@pytest.fixture(scope="session")
def both() -> tuple[Kernels, None]:
    if native.kernels is None:
        pytest.skip(f"no native kernels: {native.why_not}")
    return native.kernels, None
