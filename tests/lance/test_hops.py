"""How many hops and bytes opening costs, counted: few bytes, few hops, and the next file."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pytest
from wide import ROWS, columns, encoded, wide

from rangeio.formats.format import Hint, Stale
from rangeio.formats.lance.format import Lance
from rangeio.plan import Rows
from rangeio.ranges import CostModel
from rangeio.schema import Schema
from rangeio.testing.formats import COST, InMemory

META = ("lance.tail", "lance.metadata", "lance.column_offsets", "lance.column_meta", "lance.schema")


class Session:
    """One file opened and two columns read, by the steps in the order in which a reader goes."""

    def __init__(
        self,
        data: bytes,
        *,
        few_bytes: bool | None = None,
        hint: Hint | None = None,
        cost: CostModel = COST,
        tail: int = 64 << 10,
    ) -> None:
        self.memory = InMemory(Lance(), data, few_bytes=few_bytes, hint=hint, cost=cost, tail=tail)
        self.format = self.memory.format
        self.table = self.memory.open()

    def read(self, names: list[str], rows: Rows | None = None) -> pa.Table:
        format_, run = self.format, self.memory.run
        schema = format_.assumed(self.table) or run(format_.schema(self.table))
        fields = [schema[name] for name in names]
        self.metas = run(format_.columns(self.table, fields))
        count = run(format_.num_rows(self.table))
        return self.memory.read(lambda s: [s[n] for n in names], rows or Rows.span(0, count))

    @property
    def hops(self) -> list[str]:
        return [one.why for one in self.memory.needs]

    @property
    def size(self) -> int:
        return sum(at.size for one in self.memory.needs for at in one.ranges)


def opened(session: Session, names: list[str]) -> tuple[list[str], int]:
    """Hops and bytes of the metadata of the columns: the tail included, the data not."""
    format_, run = session.format, session.memory.run
    schema = format_.assumed(session.table) or run(format_.schema(session.table))
    run(format_.columns(session.table, [schema[name] for name in names]))
    run(format_.num_rows(session.table))
    return session.hops, session.size


def thirds(count: int) -> list[str]:
    return [f"feature_{count // 3:05d}", f"feature_{2 * count // 3:05d}"]


def behind_schema(data: bytes) -> int:
    """Bytes from global buffer 0 to the end, which pylance reads in any case."""
    return len(data) - InMemory(Lance(), data).open().described.start


@pytest.mark.parametrize(("count", "most"), [(3000, 250_000), (10_000, 650_000)])
@pytest.mark.parametrize("version", ["2.0", "2.1", "2.2"])
def test_few_bytes(count: int, most: int, version: str) -> None:
    session = Session(wide(count, version), few_bytes=True)
    hops, size = opened(session, thirds(count))
    assert len(hops) <= 3, hops
    assert size <= most
    assert session.table.choice.startswith("few bytes (")
    assert "as was asked" in session.table.choice


@pytest.mark.parametrize("count", [3000, 10_000])
@pytest.mark.parametrize("version", ["2.0", "2.1", "2.2"])
def test_few_hops(count: int, version: str) -> None:
    data = wide(count, version)
    session = Session(data, few_bytes=False)
    hops, size = opened(session, thirds(count))
    assert hops == ["lance.tail", "lance.metadata"]
    assert size <= 1.1 * behind_schema(data)
    assert session.table.choice.startswith("few hops (")


def test_the_cost_model_chooses() -> None:
    data = wide(10_000, "2.1")
    far = Session(data, cost=CostModel(0.5, 85 << 20))
    near = Session(data, cost=CostModel(0.000_01, 10 << 20))
    s3 = Session(data)
    assert far.table.choice.startswith("few hops")
    assert near.table.choice.startswith("few bytes")
    assert s3.table.choice.startswith("few hops")
    assert "rather than few bytes" in s3.table.choice
    assert "ms" in s3.table.choice


def test_both_choices_read_the_same() -> None:
    data = wide(3000, "2.0")
    names = thirds(3000)
    content = columns(3000).select(names)
    for few_bytes in (True, False):
        assert Session(data, few_bytes=few_bytes).read(names).equals(content)


def test_a_small_file_is_one_hop() -> None:
    data = encoded(columns(5), "2.0")
    session = Session(data)
    hops, _ = opened(session, ["feature_00001"])
    assert hops == ["lance.tail"]
    assert session.table.choice == ""


@pytest.mark.parametrize("count", [3000, 10_000])
@pytest.mark.parametrize("version", ["2.0", "2.1"])
def test_the_next_file_costs_one_hop_less_and_its_own_bytes(count: int, version: str) -> None:
    first = Session(wide(count, version))
    _, paid = opened(first, thirds(count))
    hint = first.format.learn(first.table)
    data = encoded(columns(count, ROWS + 37), version)
    second = Session(data, hint=hint, tail=hint.tail)
    assert second.format.assumed(second.table) is not None
    hops, size = opened(second, thirds(count))
    assert hops == ["lance.tail", "lance.column_meta"]
    assert size <= 0.6 * paid
    described = second.table.described.size
    offsets = len(data) - second.table.footer.cmo_start
    assert size <= offsets + described + 400 + 2048
    assert second.format.assumed(second.table) is None
    assert second.memory.run(second.format.num_rows(second.table)) == ROWS + 37
    assert "assumed" in second.table.choice


def test_a_tail_that_fell_short_costs_a_hop_and_no_more() -> None:
    first = Session(wide(10_000, "2.1"))
    opened(first, thirds(10_000))
    hint = first.format.learn(first.table)
    second = Session(wide(10_000, "2.1"), hint=hint, tail=4096)
    hops, _ = opened(second, thirds(10_000))
    assert hops == ["lance.tail", "lance.column_offsets", "lance.column_meta"]


def test_a_tail_of_a_small_neighbour_holds_all() -> None:
    data = encoded(columns(100), "2.1")
    first = Session(data)
    opened(first, ["feature_00001"])
    hint = first.format.learn(first.table)
    assert hint.tail <= 1.2 * behind_schema(data) + 2048
    second = Session(encoded(columns(100, 999), "2.1"), hint=hint, tail=hint.tail)
    hops, _ = opened(second, ["feature_00001"])
    assert hops == ["lance.tail"]
    assert second.format.assumed(second.table) is None


def permuted(content: pa.Table) -> pa.Table:
    names = content.column_names
    return content.select([names[1], names[0], *names[2:]])


def renamed(content: pa.Table) -> pa.Table:
    return content.rename_columns(["feature_0000X", *content.column_names[1:]])


def retyped(content: pa.Table) -> pa.Table:
    kind = pa.field("feature_00001", pa.uint32())
    return content.set_column(1, kind, pa.array(np.arange(content.num_rows), pa.uint32()))


def swapped(content: pa.Table) -> pa.Table:
    """The same names, the types of two columns exchanged: the same number of bytes."""
    one = pa.array(np.arange(content.num_rows))
    two = pa.array(np.zeros(content.num_rows, "f4"))
    content = content.set_column(0, "feature_00000", one)
    return content.set_column(1, "feature_00001", two)


@pytest.mark.parametrize("change", [permuted, renamed, retyped, swapped])
@pytest.mark.parametrize("version", ["2.0", "2.1"])
def test_a_similar_schema_is_caught(change: Callable[[pa.Table], pa.Table], version: str) -> None:
    first = Session(wide(3000, version))
    opened(first, thirds(3000))
    hint = first.format.learn(first.table)
    changed = change(columns(3000))
    assert len(changed.schema) == 3000
    for ask in ("columns", "schema"):
        second = Session(encoded(changed, version), hint=hint, tail=hint.tail)
        assumed = second.format.assumed(second.table)
        assert isinstance(assumed, Schema)
        steps = {
            "columns": second.format.columns(second.table, [assumed[0]]),
            "schema": second.format.schema(second.table),
        }
        with pytest.raises(Stale):
            second.memory.run(steps[ask])


def test_other_counts_and_versions_are_not_assumed() -> None:
    first = Session(wide(3000, "2.1"))
    opened(first, thirds(3000))
    hint = first.format.learn(first.table)
    for data in (encoded(columns(2999), "2.1"), wide(3000, "2.2")):
        second = Session(data, hint=hint, tail=hint.tail)
        assert second.format.assumed(second.table) is None
        assert second.read(["feature_00002"]).num_rows == ROWS


def test_nothing_is_learnt_before_the_schema_was_read() -> None:
    session = Session(wide(3000, "2.1"), few_bytes=True)
    assert session.format.learn(session.table) is None


def test_a_short_tail_still_opens() -> None:
    data = wide(3000, "2.0")
    for tail in (0, 39, 40, 41, 1000):
        session = Session(data, tail=tail)
        assert session.read(["feature_02999"]).num_rows == ROWS


def test_100_rows_of_two_columns_cost_their_own_bytes() -> None:
    data = encoded(columns(10, 20_000), "2.0")
    session = Session(data)
    names = ["feature_00003", "feature_00006"]
    content = session.read(names, Rows.span(7001, 7101))
    assert content.equals(columns(10, 20_000).select(names).slice(7001, 100))
    own = sum(at.size for n in session.memory.needs if n.why not in META for at in n.ranges)
    assert own == 100 * (8 + 4)
