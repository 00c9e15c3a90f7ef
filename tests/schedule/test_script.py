"""A schedule as a value: printed, read back, applied again; what does not fit is named."""

import pytest

from course_lib.cost.machine import Machine
from course_lib.ir.graph.build import conv, inp, matmul
from course_lib.ir.loops.nest import print_kernel
from course_lib.ir.loops.parse import parse_kernel
from course_lib.lower.lower import lower_node
from course_lib.schedule.choose import choose, schedule_for
from course_lib.schedule.script import Schedule, Script, parse_schedule
from course_lib.schedule.steps import STEPS, Cache, Demote, Pack, Reorder, Split, Vectorize

KERNELS = {
    "product": matmul(inp("x", "f32[6,5]"), inp("w", "f32[5,8]")),
    "product with odd sizes": matmul(inp("x", "f32[7,3]"), inp("w", "f32[3,10]")),
    "convolution": conv(inp("x", "f32[1,2,1,36]"), inp("w", "f32[16,2,1,1]")),
}
MACHINES = [Machine("", 16, 12), Machine("", 64, 32), Machine("", 4, 8)]
COPY = parse_kernel("kernel @copy(x: f32[8], out: f32[8]) { for n in 0..8 { out[n] = x[n] } }")


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("constants", [frozenset(), frozenset({"x1"})])
@pytest.mark.parametrize("name", KERNELS)
def test_what_choose_does_is_a_schedule(
    name: str, constants: frozenset[str], machine: Machine
) -> None:
    kernel = lower_node(KERNELS[name], "k")
    assert kernel is not None
    schedule = schedule_for(kernel, machine, constants)
    assert schedule.steps
    assert parse_schedule(str(schedule)) == schedule
    expected = print_kernel(choose(kernel, machine, constants))
    assert print_kernel(schedule.apply(kernel)) == expected


def test_every_primitive_has_a_step_that_is_read_back() -> None:
    for name, kind in STEPS.items():
        values = ["a, b, c", "a, b, 1, 2", "a, b, 1", "a, 1, 2", "a, 1", "a, b", "a"]
        read = []
        for arguments in values:
            try:
                read += parse_schedule(f"{name}({arguments})").steps
            except ValueError:
                continue
        assert read and all(type(step) is kind for step in read), name
        assert all(parse_schedule(str(step)).steps == (step,) for step in read)


def test_an_argument_that_may_be_left_out_is() -> None:
    assert str(Cache("x", "n")) == "cache(x, n)"
    assert str(Cache("x", "n", 1, 32)) == "cache(x, n, 1, 32)"
    assert parse_schedule("cache(x, n) cache(x, n, 1, 32)").steps == (
        Cache("x", "n"),
        Cache("x", "n", 1, 32),
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("split(n, 4)\nslice(n)", "line 2: no primitive 'slice'; there are cache, compute_at"),
        ("split(n)", r"line 1: split takes \(loop, factor\)"),
        ("split(n, 4, 5)", r"split takes \(loop, factor\)"),
        ("split(n, m)", "split: factor must be a whole number, not m"),
        ("vectorize(4)", "vectorize: loop must be a name, not 4"),
        ("reorder(a, 4)", "reorder: loops must be a name, not 4"),
        ("reorder()", "reorder: loops must be one name or several, and there is none"),
        ("split(n, 4", "expected"),
        ("split n 4", "expected"),
        ("split(n; 4)", "cannot read"),
    ],
)
def test_what_cannot_be_read(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        parse_schedule(text)


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        ((Split("n", 4), Vectorize("n")), r"^step 2 of 2, vectorize\(n\): .* has no loop 'n'"),
        ((Split("n", 0),), r"^step 1 of 1, split\(n, 0\): split needs a factor"),
        ((Reorder(("n", "m")),), "no loop 'm'"),
        ((Demote("acc"),), "no local 'acc'"),
        ((Pack("y", 0, 2),), "no operand 'y'"),
    ],
)
def test_a_step_that_does_not_fit_says_which_and_why(steps: tuple, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Schedule(steps).apply(COPY)


def test_an_empty_schedule_changes_nothing() -> None:
    assert parse_schedule("// nothing yet\n") == Schedule()
    assert Schedule().apply(COPY) is COPY
    assert Script(COPY).schedule == Schedule()


def test_a_schedule_can_be_kept_in_a_set_and_written_as_python() -> None:
    schedule = Schedule((Split("n", 4), Vectorize("ni")))
    names = {kind.__name__: kind for kind in (Schedule, Split, Vectorize)}
    assert {schedule, eval(repr(schedule), names)} == {schedule}
