"""Steps: one need, many needs, and many steps joined hop by hop."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rangeio.ranges import ByteRange, Suffix
from rangeio.steps import Need, Steps, need, needs, together

DATA = bytes(range(256))


def answer(asked: Need) -> list[memoryview]:
    view = memoryview(DATA)
    return [
        view[-at.size :] if isinstance(at, Suffix) else view[at.start : at.stop]
        for at in asked.ranges
    ]


def run(steps):
    """The result of steps over DATA, and the needs that they asked."""
    asked = []
    try:
        one = next(steps)
        while True:
            asked.append(one)
            one = steps.send(answer(one))
    except StopIteration as stop:
        return stop.value, asked


class Chain:
    """Steps of some hops, each of some ranges, that record how they end."""

    def __init__(self, hops: list[int], why: str = "a.b", fail_at: int | None = None) -> None:
        self.hops, self.why, self.fail_at = hops, why, fail_at
        self.ended = False

    def steps(self) -> Steps[list[bytes]]:
        got: list[bytes] = []
        try:
            for hop, count in enumerate(self.hops):
                if hop == self.fail_at:
                    raise ValueError("broken")
                at = [ByteRange(10 * hop + i, 10 * hop + i + 1) for i in range(count)]
                got += [bytes(view) for view in (yield from needs(at, self.why))]
            return got
        finally:
            self.ended = True

    @property
    def result(self) -> list[bytes]:
        return [bytes([10 * h + i]) for h, n in enumerate(self.hops) for i in range(n)]


CHAINS = st.lists(st.lists(st.integers(0, 3), max_size=4), max_size=6)


def test_one_need_is_one_view():
    value, asked = run(need(Suffix(3), "x.tail"))
    assert bytes(value) == DATA[-3:]
    assert asked == [Need((Suffix(3),), "x.tail")]


def test_no_needs_cost_no_hop():
    assert run(needs([], "x.y")) == ((), [])


@settings(deadline=None)
@given(CHAINS)
def test_joined_steps_get_what_each_would_get_alone(chains):
    made = [Chain(hops) for hops in chains]
    value, _ = run(together([c.steps() for c in made]))
    assert value == [run(c.steps())[0] for c in made] == [c.result for c in made]
    assert all(c.ended for c in made)


@settings(deadline=None)
@given(CHAINS)
def test_joined_steps_cost_the_hops_of_the_longest(chains):
    made = [Chain(hops) for hops in chains]
    _, asked = run(together([c.steps() for c in made]))
    alone = [run(c.steps())[1] for c in made]
    assert len(asked) == max(map(len, alone), default=0)
    for hop, one in enumerate(asked):
        wanted = [at for needs in alone if hop < len(needs) for at in needs[hop].ranges]
        assert list(one.ranges) == wanted


def test_a_reason_that_all_share_is_kept_else_the_given_one_stands():
    same = [Chain([1]).steps(), Chain([1, 1]).steps()]
    assert [n.why for n in run(together(same, "z"))[1]] == ["a.b", "a.b"]
    mixed = [Chain([1]).steps(), Chain([1, 1], "c.d").steps()]
    assert [n.why for n in run(together(mixed, "z"))[1]] == ["z", "c.d"]


def test_none_at_all_is_an_empty_list():
    assert run(together([])) == ([], [])


@pytest.mark.parametrize("fail_at", [0, 1, 2])
def test_a_failure_ends_all_of_them(fail_at):
    made = [Chain([1, 1, 1]), Chain([1, 1, 1], fail_at=fail_at), Chain([2, 2, 2])]
    begun = [c.steps() for c in made]
    with pytest.raises(ValueError, match="broken"):
        run(together(begun))
    assert all(one.gi_frame is None for one in begun)
    assert made[0].ended
    assert made[1].ended


def test_closing_ends_all_of_them():
    made = [Chain([1, 1]), Chain([1, 1])]
    steps = together([c.steps() for c in made])
    next(steps)
    steps.close()
    assert all(c.ended for c in made)


def test_closing_before_the_start_ends_nothing_that_began():
    made = Chain([1])
    steps = together([made.steps()])
    steps.close()
    assert not made.ended
    with pytest.raises(StopIteration):
        next(steps)


def test_an_error_thrown_in_comes_out_and_ends_all():
    made = [Chain([1, 1]), Chain([1, 1])]
    steps = together([c.steps() for c in made])
    next(steps)
    with pytest.raises(OSError, match="gone"):
        steps.throw(OSError("gone"))
    assert all(c.ended for c in made)


class Catching:
    """Steps that take a failed hop for an absent one."""

    def steps(self) -> Steps[str]:
        try:
            yield from need(ByteRange(0, 1), "x.y")
        except OSError:
            return "absent"
        return "there"


def test_an_error_thrown_into_one_of_them_alone_may_be_caught():
    steps = Catching().steps()
    next(steps)
    with pytest.raises(StopIteration) as stop:
        steps.throw(OSError())
    assert stop.value.value == "absent"


def of_neighbour(name: str, optional: bool) -> Steps[int]:
    (view,) = yield Need((ByteRange(0, 4),), "index.footer", of=name, optional=optional)
    return len(view)


def test_needs_of_one_neighbour_are_joined_and_keep_its_name():
    steps = together([of_neighbour("i", True), of_neighbour("i", True)])
    asked = next(steps)
    assert (asked.of, asked.optional) == ("i", True)
    assert len(asked.ranges) == 2


def test_needs_of_different_objects_take_a_hop_each():
    steps = together([of_neighbour("i", False), of_neighbour("j", True), Chain([1]).steps()])
    value, asked = run(steps)
    assert value == [4, 4, [b"\x00"]]
    assert [(n.of, n.optional, len(n.ranges)) for n in asked] == [
        ("i", False, 1),
        ("j", True, 1),
        ("", False, 1),
    ]


def index_then_file(name: str) -> Steps[list[int]]:
    sizes = [(yield from of_neighbour(name, True))]
    for size in (1, 2):
        (view,) = yield Need((ByteRange(0, size),), "x.y")
        sizes.append(len(view))
    return sizes


def test_steps_that_change_the_object_do_not_mix_their_replies():
    steps = together([index_then_file("i"), Chain([3, 2]).steps(), index_then_file("i")])
    value, asked = run(steps)
    assert value == [[4, 1, 2], Chain([3, 2]).result, [4, 1, 2]]
    assert [(n.of, len(n.ranges)) for n in asked] == [("i", 2), ("", 3), ("", 4), ("", 2)]
