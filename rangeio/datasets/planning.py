"""From a scan that is prepared to a plan that travels."""

from __future__ import annotations

from rangeio.datasets.evolving.fitting import Fit
from rangeio.datasets.plan import DatasetPlan, Part, Result
from rangeio.datasets.scan import Scan
from rangeio.errors import BadRows


async def planned(scan: Scan) -> DatasetPlan:
    """The plans of all files; of a file of which nothing is read there is none."""
    if scan.selection is not None and scan.selection.take is not None:
        raise BadRows("a plan takes a slice, or row numbers that ascend: its parts have an order")
    inventory, wanted = scan.inventory, scan.wanted
    found: dict[int, Part] = {}
    bare: dict[int, Fit] = {}

    async def one(index: int) -> None:
        plan, order = await scan.plan(index), scan.order(index)
        if plan is None or order is None or not plan.rows.count:
            return
        fit = bare.setdefault(id(order.fit), order.fit.bare())
        found[index] = Part(plan, fit, tuple(scan.values(index).items()))

    await scan.each(scan.files, one)
    result = Result(scan.arrow, wanted.selection, wanted.predicate, scan.request.flatten)
    return DatasetPlan(tuple(found[i] for i in sorted(found)), result, inventory.way)
