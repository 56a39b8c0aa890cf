"""Builds the optional native kernels; all else is declared in pyproject.toml.

Without Cython or a C compiler the package installs all the same and runs on its numpy twins.
"""

import importlib.util
import sys

from setuptools import Extension, setup


def kernels() -> list[Extension]:
    """The extension, where Cython is importable and the machine is little-endian.

    Its source goes to setuptools as it is: what `cythonize` makes of an extension is no longer
    optional.
    """
    if importlib.util.find_spec("Cython") is None or sys.byteorder != "little":
        return []
    return [
        Extension(
            "rangeio.codecs._kernels",
            ["rangeio/codecs/_kernels.pyx"],
            depends=[
                f"rangeio/codecs/{name}"
                for name in (
                    "doris.pxi",
                    "fastlanes.h",
                    "footer.h",
                    "footer.pxi",
                    "zipped.pxi",
                    "directory.pxi",
                )
            ],
            extra_compile_args=[] if sys.platform == "win32" else ["-O3"],
            optional=True,
        )
    ]


setup(ext_modules=kernels())
