"""Builds the optional native kernels; all else is declared in pyproject.toml.

Without Cython or a C compiler the package installs all the same and runs on its numpy twins.
"""

import sys

from setuptools import Extension, setup


def kernels() -> list[Extension]:
    """The extension, where Cython is importable and the machine is little-endian."""
    try:
        from Cython.Build import cythonize
    except ImportError:
        return []
    if sys.byteorder != "little":
        return []
    extension = Extension(
        "rangeio.codecs._kernels",
        ["rangeio/codecs/_kernels.pyx"],
        depends=["rangeio/codecs/fastlanes.h"],
        extra_compile_args=[] if sys.platform == "win32" else ["-O3"],
        optional=True,
    )
    modules: list[Extension] = cythonize([extension], language_level=3)
    return modules


setup(ext_modules=kernels())
