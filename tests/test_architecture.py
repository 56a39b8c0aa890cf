"""The laws of the rooms, read from the source: who imports whom, and what is kept out of where."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
HOUSE = ROOT / "rangeio"
FILES = sorted(HOUSE.rglob("*.py"))
TREES = {path: ast.parse(path.read_text(), str(path)) for path in FILES}

WORDS = ("errors", "ranges", "steps", "schema", "plan", "picking", "declared")
FILTERS = ("literal", "statistics", "condition", "expression", "predicate")
PURE = (*WORDS, *FILTERS, "select", "sought", "request", "explanation", "codecs")
FOUND = ("globs", "manifest", "partitions", "tabledirs")
NAMES = ("datasets.evolving", *(f"datasets.finding.{one}" for one in FOUND))
BELOW = (*PURE, "environment", "formats", "stores", "transport", "engine")
HANDLES = ("file", "aio", "column", "datasets", "write", "convert", "staging", "folders")
FRONT = ("live", "session", "opening", "reading", "stream", "fetching", *HANDLES)

OPEN = (*BELOW, "index", *FRONT)
ABOVE = (*PURE, "environment", "formats.format", *FRONT)

# A room, and all that it may import of ours besides itself; the longest name that fits rules.
MAY_IMPORT = {
    "": OPEN,
    **dict.fromkeys(PURE, PURE),
    **dict.fromkeys(FRONT, OPEN),
    **dict.fromkeys(NAMES, (*PURE, "stores.url")),
    "errors": ("ranges",),
    "ranges": (),
    "steps": ("ranges",),
    "environment": ("errors",),
    "__main__": ("cli",),
    "formats": PURE,
    "formats.format": PURE,
    "formats.sparsefile": (*PURE, "formats.format"),
    "formats.sparsemap": ("ranges",),
    "formats.*": (*PURE, "formats.format", "formats.sparsefile", "formats.sparsemap"),
    "index": (*PURE, "formats.format", "formats.lance"),
    "stores": ("ranges", "errors"),
    "transport": (*PURE, "stores.store", "stores.url"),
    "engine": (*PURE, "formats.format", "transport"),
    "spark": ABOVE,
    "viz": ABOVE,
    "cli": ABOVE,
    "cli.demo": (*ABOVE, "testing"),
    "cli.doctor": OPEN,
    "testing": (*OPEN, "cli", "spark", "viz"),
}
IO = {"asyncio", "socket", "ssl", "selectors", "http", "urllib", "subprocess", "signal"}
CLIENTS = {"aiohttp", "fsspec", "s3fs", "gcsfs", "aiobotocore", "botocore", "requests"}
IMPURE = IO | CLIENTS | {"threading", "concurrent", "multiprocessing", "time", "random", "logging"}
PURE_ROOMS = (*PURE, *NAMES, "formats")
# Data must never become code; mocks must never stand in for parts.
BANNED = {"pickle": (), "marshal": (), "shelve": (), "yaml": (), "unittest": ()}
VAGUE = {"util", "utils", "helper", "helpers", "common", "misc", "manager", "handler", "base"}
MOST_LINES, MOST_LINES_OF_A_FUNCTION = 400, 45


def module(path: Path) -> str:
    """``rangeio/formats/lance/pages.py`` is ``formats.lance.pages``; the package is ``""``."""
    parts = path.relative_to(HOUSE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module(path) for path in FILES}


def imports(path: Path) -> Iterator[tuple[int, str]]:
    """Every imported module with its line; ``from a import b`` is ``a.b`` where b is a module."""
    package = ("rangeio", *path.relative_to(HOUSE).parts[:-1])
    for node in ast.walk(TREES[path]):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, name.name) for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            near = package[: len(package) - node.level + 1] if node.level else ()
            source = ".".join((*near, *([node.module] if node.module else ())))
            for name in node.names:
                inner = f"{source}.{name.name}".removeprefix("rangeio.")
                known = source.split(".")[0] == "rangeio" and inner in MODULES
                yield node.lineno, f"{source}.{name.name}" if known else source


def within(name: str, room: str) -> bool:
    return name == room or name.startswith(f"{room}.")


def room_of(name: str) -> str:
    """The entry of MAY_IMPORT that rules a module."""
    parts = name.split(".")
    for n in range(len(parts), 0, -1):
        if ".".join(parts[:n]) in MAY_IMPORT and not (
            n == 1 and len(parts) > 1 and parts[0] == "formats"
        ):
            return ".".join(parts[:n])
    return "formats.*" if parts[0] == "formats" else parts[0]


def own(name: str) -> str:
    """What a module may always import: its room; of formats, only its folder."""
    parts = name.split(".")
    return ".".join(parts[:2]) if parts[0] == "formats" else parts[0]


def where(path: Path, line: int = 0) -> str:
    return f"{path.relative_to(ROOT)}:{line}" if line else str(path.relative_to(ROOT))


def test_every_room_has_its_law():
    assert {f for f in MODULES if room_of(f) not in MAY_IMPORT} == set()


def may(name: str, target: str) -> bool:
    """Whether the module ``name`` may import our module ``target``."""
    allowed = (own(name), *MAY_IMPORT[room_of(name)])
    return not target or any(within(target, room) for room in allowed if room)


@pytest.mark.parametrize(
    ("name", "target", "allowed"),
    [
        ("formats.lance.pages", "formats.lance.values", True),
        ("formats.lance.pages", "formats.format", True),
        ("formats.lance.pages", "codecs.fsst", True),
        ("formats.lance.pages", "formats.doris", False),
        ("formats.lance.pages", "engine.drive", False),
        ("formats.lance.pages", "transport", False),
        ("stores.http", "transport.trace", False),
        ("transport.transport", "stores.store", True),
        ("transport.transport", "stores.http", False),
        ("engine.run", "stores.http", False),
        ("ranges", "steps", False),
        ("cli.read", "engine.drive", False),
        ("cli.read", "testing.server", False),
        ("cli.demo", "testing.server", True),
        ("file", "testing", False),
    ],
)
def test_the_law_itself(name, target, allowed):
    assert may(name, target) is allowed


def test_rooms_import_only_what_they_may():
    wrong = []
    for path in FILES:
        for line, target in imports(path):
            inner = target.removeprefix("rangeio").removeprefix(".")
            if target.split(".")[0] == "rangeio" and not may(module(path), inner):
                wrong.append(f"{where(path, line)} imports {inner}")
    assert wrong == []


def test_the_pure_layer_has_no_io_no_time_and_no_threads():
    wrong = []
    for path in FILES:
        if not any(within(module(path), room) for room in PURE_ROOMS):
            continue
        found = [(n, t) for n, t in imports(path) if t.split(".")[0] in IMPURE]
        wrong += [f"{where(path, line)} imports {target}" for line, target in found]
        kinds = ast.AsyncFunctionDef | ast.Await | ast.AsyncFor | ast.AsyncWith
        wrong += [where(path, n.lineno) for n in ast.walk(TREES[path]) if isinstance(n, kinds)]
    assert wrong == []


def test_data_never_becomes_code():
    wrong = []
    for path in FILES:
        found = [(n, t) for n, t in imports(path) if t.split(".")[0] in BANNED]
        wrong += [f"{where(path, line)} imports {target}" for line, target in found]
        calls = (n for n in ast.walk(TREES[path]) if isinstance(n, ast.Call))
        named = ((n.lineno, n.func.id) for n in calls if isinstance(n.func, ast.Name))
        wrong += [f"{where(path, line)} calls {f}" for line, f in named if f in {"eval", "exec"}]
    assert wrong == []


@pytest.mark.parametrize("folder", ["tests", "benchmarks", "examples", "localstack"])
def test_nothing_is_mocked(folder):
    wrong = []
    for path in sorted((ROOT / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(), str(path))):
            names = [n.name for n in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            wrong += [where(path, node.lineno) for n in names if n.startswith("unittest")]
    assert wrong == []


def test_names_say_something():
    words = {path: set(path.stem.split("_")) for path in FILES}
    assert [where(path) for path in FILES if words[path] & VAGUE] == []


def test_files_fit_on_a_few_screens():
    sizes = {where(path): len(path.read_text().splitlines()) for path in FILES}
    assert {name: lines for name, lines in sizes.items() if lines > MOST_LINES} == {}


def test_functions_fit_on_one_screen():
    wrong = []
    for path in FILES:
        for node in ast.walk(TREES[path]):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = (node.end_lineno or 0) - node.lineno + 1
                if lines > MOST_LINES_OF_A_FUNCTION:
                    wrong.append(f"{where(path, node.lineno)} {node.name} has {lines} lines")
    assert wrong == []
