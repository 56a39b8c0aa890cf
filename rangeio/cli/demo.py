"""``rangeio demo``: the main job on an embedded S3 server, with its figures, beside pylance."""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

import rangeio
from rangeio.errors import RequestError

if TYPE_CHECKING:
    from rangeio.testing.relay import Relay, Tally

COLUMNS, ROWS = 3_000, 2_000
ASKED = ("feature_01000", "feature_02000")
DELAY_S = 0.03
BUCKET, KEY = "demo", "wide.lance"
URL = f"s3://{BUCKET}/{KEY}"
TURNS = 5


@dataclass(frozen=True, slots=True)
class Figures:
    """What one reader took. hops, heads, gets and bytes are counted before the server."""

    hops: int
    heads: int
    gets: int
    bytes: int
    milliseconds: float


def demo(*, as_json: bool = False) -> int:
    """Read 2 of 3,000 columns from an S3 server made for it; 0 where both readers agree.

    Prints the plan and the figures, or JSON. Raises RequestError where the demo's packages are
    not installed. Nothing is left running or on disk.
    """
    _needs("lance", "moto", "s3fs")
    say = _silent if as_json else _say
    with ExitStack() as ends:
        folder = Path(ends.enter_context(tempfile.TemporaryDirectory(prefix="rangeio-demo-")))
        relay = _serve(ends, folder, say)
        plan = _plan(relay)
        say(f"\n{plan}\n")
        (ours, mine), (theirs, peers) = _in_turns(relay, _ours(relay), _pylance(relay))
    equal = mine.replace_schema_metadata(None).equals(peers.replace_schema_metadata(None))
    found = {"rangeio": ours, "pylance": theirs}
    if as_json:
        figures = {name: asdict(one) for name, one in found.items()}
        _say(json.dumps({"plan": plan.to_dict(), "figures": figures, "equal": equal}, indent=1))
    else:
        say(_table(found))
        say(f"equal values: {'yes' if equal else 'NO'}")
    return 0 if equal else 1


def _serve(ends: ExitStack, folder: Path, say: Callable[[str], None]) -> Relay:
    """A file of 3,000 columns on an S3 server, and the relay before it that counts."""
    from rangeio.testing.moto import MotoServer
    from rangeio.testing.relay import Relay

    path = folder / KEY
    _write(path)
    say(f"pylance wrote {COLUMNS:,} columns of {ROWS:,} rows: {path.stat().st_size:,} bytes")
    server = ends.enter_context(MotoServer())
    server.bucket(BUCKET)
    server.put(BUCKET, KEY, path.read_bytes())
    port = int(server.url.rpartition(":")[2])
    relay = ends.enter_context(Relay(port, delay_s=DELAY_S))
    say(f"an S3 server (moto) serves it at {relay.url}, {DELAY_S * 1e3:.0f} ms before each answer")
    say(f"both read {' and '.join(ASKED)}, cold, {TURNS} times in turns; medians")
    return relay


def _write(path: Path) -> None:
    """Alternating float32 and int64, as pylance writes them in version 2.1."""
    from lance.file import LanceFileWriter

    rng = np.random.default_rng(0)
    makers = (lambda: rng.random(ROWS, np.float32), lambda: rng.integers(0, 1 << 20, ROWS))
    arrays = [pa.array(makers[i % 2]()) for i in range(COLUMNS)]
    table = pa.table(arrays, names=[f"feature_{i:05d}" for i in range(COLUMNS)])
    with LanceFileWriter(str(path), table.schema, version="2.1") as writer:
        writer.write_batch(table)


def _options(relay: Relay) -> dict[str, object]:
    return {
        "key": "demo",
        "secret": "demo",
        "endpoint_url": relay.url,
        "client_kwargs": {"region_name": "us-east-1"},
    }


def _plan(relay: Relay) -> rangeio.Explanation:
    """What the read will fetch; it also loads what both sides load once a process."""
    session = rangeio.Session()
    with session, rangeio.open(URL, storage_options=_options(relay), session=session) as file:
        return file.explain(list(ASKED))


def _ours(relay: Relay) -> Callable[[], pa.Table]:
    """A cold read: a session of its own, so no cache is warm."""

    def read() -> pa.Table:
        session = rangeio.Session()
        with session, rangeio.open(URL, storage_options=_options(relay), session=session) as file:
            return file.read(list(ASKED))

    return read


def _pylance(relay: Relay) -> Callable[[], pa.Table]:
    """The same, by pylance's own file reader."""
    from lance.file import LanceFileReader

    options = {
        "aws_endpoint": relay.url,
        "aws_access_key_id": "demo",
        "aws_secret_access_key": "demo",
        "aws_region": "us-east-1",
        "allow_http": "true",
    }

    def read() -> pa.Table:
        return LanceFileReader(URL, options, columns=list(ASKED)).read_all().to_table()

    return read


def _in_turns(relay: Relay, *readers: Callable[[], pa.Table]) -> list[tuple[Figures, pa.Table]]:
    """Every reader once unmeasured, then in turns; counts of the last turn, median times."""
    turns = [[_measured(relay, read) for read in readers] for _ in range(TURNS + 1)][1:]
    return [
        (
            replace(each[-1][0], milliseconds=median(one.milliseconds for one, _ in each)),
            each[-1][1],
        )
        for each in zip(*turns, strict=True)
    ]


def _measured(relay: Relay, read: Callable[[], pa.Table]) -> tuple[Figures, pa.Table]:
    from rangeio.testing.relay import Tally

    relay.passed.clear()
    start = time.perf_counter()
    table = read()
    took = (time.perf_counter() - start) * 1e3
    counted: Tally = Tally.of(relay.passed)
    return Figures(counted.hops, counted.heads, counted.gets, counted.bytes, took), table


def _table(found: Mapping[str, Figures]) -> str:
    rows: list[Sequence[Any]] = [("", "hops", "HEAD", "GET", "bytes", "ms")]
    for name, f in found.items():
        rows.append((name, f.hops, f.heads, f.gets, f"{f.bytes:,}", f"{f.milliseconds:.0f}"))
    return "\n".join(f"{r[0]:8}" + "".join(f"{c:>10}" for c in r[1:]) for r in rows)


def _needs(*modules: str) -> None:
    from importlib.util import find_spec

    missing = [name for name in modules if find_spec(name) is None]
    if missing:
        names = ", ".join(missing)
        raise RequestError(f"the demo needs {names}: pip install 'rangeio[demo]'")


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")


def _silent(text: str) -> None:
    pass
