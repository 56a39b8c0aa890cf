"""What reading a dataset will fetch, before it is paid for."""

from __future__ import annotations

import html
from dataclasses import dataclass

from rangeio.datasets.fileplan import FilePlan, gets
from rangeio.datasets.scan import Scan
from rangeio.engine.reader import forgo, secure
from rangeio.explanation import counted, size

_SHOWN = 10  # files of which the plan is told one by one


@dataclass(frozen=True, slots=True)
class PlannedFile:
    """What will be fetched of one file now. ``bytes`` has gaps in it that are read through;
    ``bytes_needed`` has not. later_hops: those whose ranges depend on data that is not read yet."""

    url: str
    rows: int
    gets: int
    bytes: int
    bytes_needed: int
    later_hops: int
    later_gets: int
    pruned: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DatasetExplanation:
    """The GETs that a read will make now, file by file: what is held already is not fetched again.

    root: of the dataset. columns: of the result. num_files: all there are. files: those that may
    hold what is wanted. metadata_gets, metadata_bytes: what was made for the dataset so far, data
    of earlier reads included.
    """

    root: str
    columns: tuple[str, ...]
    num_files: int
    files: tuple[PlannedFile, ...]
    metadata_gets: int
    metadata_bytes: int

    @property
    def rows(self) -> int:
        """Rows that are read; filters may leave fewer."""
        return sum(one.rows for one in self.files)

    @property
    def gets(self) -> int:
        """GETs of data, those that depend on data not read yet apart."""
        return sum(one.gets for one in self.files)

    @property
    def bytes(self) -> int:
        """Bytes that these GETs bring."""
        return sum(one.bytes for one in self.files)

    @property
    def bytes_needed(self) -> int:
        """Bytes of them that the columns need."""
        return sum(one.bytes_needed for one in self.files)

    @property
    def hops(self) -> int:
        """Dependent round trips of the data of one file, at most."""
        return max((bool(one.gets) + one.later_hops for one in self.files), default=0)

    @property
    def pruned(self) -> tuple[str, ...]:
        """What need not be read, and why."""
        left = self.num_files - len(self.files)
        files = (f"{counted(left, 'file')} of {self.num_files:,}",) if left else ()
        return files + tuple(f"{one.url}: {what}" for one in self.files for what in one.pruned)

    def to_dict(self) -> dict[str, object]:
        """All of it as plain data, for JSON."""
        return {
            "root": self.root,
            "columns": list(self.columns),
            "num_files": self.num_files,
            "rows": self.rows,
            "hops": self.hops,
            "gets": self.gets,
            "bytes": self.bytes,
            "bytes_needed": self.bytes_needed,
            "pruned": list(self.pruned),
            "metadata": {"gets": self.metadata_gets, "bytes": self.metadata_bytes},
            "files": [
                {"url": one.url, "rows": one.rows, "gets": one.gets, "bytes": one.bytes}
                for one in self.files
            ],
        }

    def __str__(self) -> str:
        wide, long = counted(len(self.columns), "column"), counted(self.rows, "row")
        files = f"{len(self.files):,} of {counted(self.num_files, 'file')}"
        data = f"{counted(self.hops, 'hop')}, {counted(self.gets, 'GET')}, {size(self.bytes)}"
        lines = [
            f"{self.root}: {files}, {wide}, {long}",
            f"  so far: {counted(self.metadata_gets, 'GET')}, {size(self.metadata_bytes)}",
            f"  data: {data} ({size(self.bytes_needed)} needed)",
        ]
        lines += [
            f"    {one.url}: {counted(one.gets, 'GET')}, {size(one.bytes)}"
            for one in self.files[:_SHOWN]
        ]
        if len(self.files) > _SHOWN:
            lines.append(f"    ... {len(self.files) - _SHOWN:,} more")
        lines += [f"  pruned: {what}" for what in self.pruned[:_SHOWN]]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"


async def explained(scan: Scan) -> DatasetExplanation:
    """The explanation of a scan that is prepared."""
    inventory = scan.inventory
    found: dict[int, PlannedFile] = {}

    async def one(index: int) -> None:
        plan, order = await scan.plan(index), scan.order(index)
        if plan is None or order is None or not plan.rows.count:
            return
        held = inventory.decoded(index, order) is not None
        found[index] = await _planned(scan, index, plan, held)

    await scan.each(scan.files, one)
    await _settled(scan, found)
    made = [get for get in inventory.trace if not (get.cached or get.joined)]
    return DatasetExplanation(
        inventory.manifest.root,
        tuple(scan.arrow.names),
        len(inventory.manifest),
        tuple(found[i] for i in sorted(found)),
        len(made),
        sum(get.size for get in made),
    )


async def _settled(scan: Scan, found: dict[int, PlannedFile]) -> None:
    """Count again what the caches spare: metadata that came later has evicted some of it. What is
    counted on is secured against the data that the read will bring; the rest is given up."""
    inventory = scan.inventory
    engine = inventory.session.live.engine
    for act in secure, forgo:
        for index in sorted(found):
            order = scan.order(index)
            plan = None if order is None else inventory.planned(index, order)
            if order is None or plan is None:
                continue
            read = await plan.reached(inventory.way, inventory.session, inventory.trace)
            act(engine, read.handle.of, plan.plan)
            held = inventory.decoded(index, order, lasting=act is forgo) is not None
            if act is forgo:
                found[index] = await _planned(scan, index, plan, held)


async def _planned(scan: Scan, index: int, plan: FilePlan, held: bool) -> PlannedFile:
    inventory = scan.inventory
    read = await plan.reached(inventory.way, inventory.session, inventory.trace)
    wanted = [] if held else gets(read)
    units = () if held else plan.plan.units
    return PlannedFile(
        inventory.url(index),
        plan.rows.count,
        len(wanted),
        sum(at.size for at in wanted),
        plan.bytes,
        max((len(unit.later) for unit in units), default=0),
        sum(bound.at_most for unit in units for bound in unit.later),
        plan.plan.pruned,
    )
