"""Builds the optional native kernels and the optional jar; all else is declared in pyproject.toml.

Without Cython or a C compiler the package installs all the same and runs on its numpy twins;
without a JDK or PySpark it has no jar, and Spark prunes columns only where it is told to.
"""

import importlib.util
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import ClassVar

from setuptools import Command, Extension, setup
from setuptools.command.build_py import build_py

JAVA = Path(__file__).parent / "rangeio" / "spark" / "java"
JARS = JAVA.parent / "jars"
NAME = "rangeio-spark.jar"
EPOCH = (1980, 1, 1, 0, 0, 0)  # the same classes make the same bytes


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


def lacking() -> str:
    """What the jar cannot be built without; empty where all is there."""
    wanted = {"javac": shutil.which("javac"), "pyspark": importlib.util.find_spec("pyspark")}
    return " and ".join(name for name, found in wanted.items() if not found)


def compiled(classes: Path) -> None:
    """The classes, against the jars that PySpark itself carries."""
    found = importlib.util.find_spec("pyspark")
    assert found is not None
    assert found.origin is not None
    sources = sorted(map(str, JAVA.glob("*.java")))
    against = str(Path(found.origin).parent / "jars" / "*")
    flags = ["--release", "17", "-proc:none", "-Xlint:all,-path,-classfile", "-nowarn"]
    command = ["javac", *flags, "-cp", against, "-d", str(classes), *sources]
    subprocess.run(command, check=True)  # noqa: S603


def packed(classes: Path, jar: Path) -> None:
    """One jar of the classes and of the file by which Spark finds them; whole, or not there."""
    jar.parent.mkdir(parents=True, exist_ok=True)
    files = {path.relative_to(classes): path for path in classes.rglob("*.class")}
    files |= {path.relative_to(JAVA): path for path in (JAVA / "META-INF").rglob("*.*")}
    half = jar.with_suffix(".part")
    with zipfile.ZipFile(half, "w", zipfile.ZIP_DEFLATED) as out:
        for name, path in sorted(files.items()):
            entry = zipfile.ZipInfo(name.as_posix(), EPOCH)
            out.writestr(entry, path.read_bytes(), zipfile.ZIP_DEFLATED)
    half.replace(jar)


class Jar(Command):
    """``python setup.py jar``: the jar of rangeio.spark; says in one line why there is none."""

    description = "compile the jar of rangeio.spark (needs javac and pyspark)"
    user_options: ClassVar = [("into=", None, "the folder for the jar (rangeio/spark/jars)")]

    def initialize_options(self) -> None:
        """Into the package, if nothing else is said."""
        self.into = str(JARS)

    def finalize_options(self) -> None:
        """Nothing is to be checked."""

    def run(self) -> None:
        """Compile and pack."""
        missing = lacking()
        if missing:
            print(f"no jar of rangeio.spark is built: {missing} is missing", file=sys.stderr)
            return
        with tempfile.TemporaryDirectory() as folder:
            compiled(Path(folder))
            packed(Path(folder), Path(self.into) / NAME)


class WithJar(build_py):
    """Carries the jar in the wheel: that of ``make jar``, or one built now where it can be."""

    def run(self) -> None:
        """A jar that cannot be compiled is no reason to have no wheel."""
        if not self.editable_mode and not (JARS / NAME).exists():
            try:
                self.run_command("jar")
            except subprocess.CalledProcessError as error:
                print(f"no jar of rangeio.spark is built: {error}", file=sys.stderr)
        super().run()


setup(ext_modules=kernels(), cmdclass={"jar": Jar, "build_py": WithJar})
