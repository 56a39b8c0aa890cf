"""``python matrix.py 4.0``: the read path on one version of PySpark, in a venv of its own.

The venv is kept in .venv-spark/ for the next time. Needs Java. Where ``make jar`` made a jar, of
the newest PySpark, it is put to the older one, as the wheel has it; else one is built.
"""

import os
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).parents[2]
JAR = ROOT / "rangeio" / "spark" / "jars" / "rangeio-spark.jar"
READ = ("read", "plan", "lakes", "pushed", "options", "many", "pruned")
NEEDED = ("pytest", "hypothesis", "moto[s3,server]", "s3fs", "pandas", "setuptools")


def main(version: str) -> int:
    """The exit code of the tests."""
    home = ROOT / ".venv-spark" / version
    python = str(home / "bin" / "python")
    if not (home / "done").exists():
        venv.create(home, with_pip=True)
        pinned = (ROOT / "constraints.txt").read_text().splitlines()
        kept = [line for line in pinned if not line.lower().startswith(("pyspark", "py4j"))]
        (home / "constraints.txt").write_text("\n".join(kept))
        words = ["-c", str(home / "constraints.txt"), f"pyspark=={version}.*", *NEEDED]
        install = [python, "-m", "pip", "install", "--quiet"]
        subprocess.run([*install, *words], check=True)
        # Not editable: this venv's kernels are its own.
        subprocess.run([*install, "-c", str(home / "constraints.txt"), str(ROOT)], check=True)
        (home / "done").touch()
    print(f"PySpark {version}", flush=True)
    tests = [f"tests/spark/test_spark_{name}.py" for name in READ]
    command = [python, "-m", "pytest", "-p", "no:cacheprovider", *tests]
    env = {**os.environ, **({"RANGEIO_TEST_JAR": str(JAR)} if JAR.exists() else {})}
    return subprocess.run(command, cwd=ROOT, env=env, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
