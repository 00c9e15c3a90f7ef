"""Hidden checks of unit 5: other turns, other lengths, larger modules and calls."""

from __future__ import annotations

from autograder.check.blocks import programs
from autograder.check.framework import Wrong, harder, hidden
from autograder.check.properties import a_number
from autograder.units.u05.checks.counter import compared_text, modules
from autograder.units.u05.checks.flow import calls, same
from autograder.units.u05.checks.known import same as same_constants
from autograder.units.u05.checks.written import CHAIN, ONCE, checked, ran
from course_lib.exercises import slot

SEED = 51_283

harder("llvm.fma.arithmetic", "whole_modules", seed=SEED, given=modules(4, 7, 3), examples=25)
harder("llvm.control.balanced", "all_that_follows", seed=SEED, given=calls(7), examples=100)


@hidden("llvm.control.balanced", seed=SEED + 1, given=calls(6), examples=100, what="random calls")
def nothing_is_guessed(balanced, example):
    """On larger calls, exactly what the two rules give."""
    edges, known, _ = example
    expected = slot("llvm.control.balanced").reference(edges, known)
    same(balanced, edges, known, expected, "")


@hidden("llvm.constants", seed=SEED + 1, given=programs(6), examples=150, what="random programs")
def all_that_follows_from_the_rules(constants, blocks):
    """On larger programs, exactly the result that the text asks for."""
    same_constants(constants, blocks, *slot("llvm.constants").reference(blocks))


@hidden("llvm.fma.arithmetic", seed=SEED + 2)
def instructions_in_any_order(arithmetic, rng):
    """What our counter says of functions in which every value may be an operand of every other."""
    for _ in range(12):
        text = anything(rng)
        compared_text(arithmetic, text, slot("llvm.fma.arithmetic").reference(text), "")
    return "12 functions drawn instruction by instruction"


def anything(rng) -> str:
    """Three blocks, one behind the other, of instructions on two types."""
    kinds = {"float": ["%a", "%b"], "<4 x double>": ["%c", "%d"]}
    lines = ["define float @f(float %a, float %b, <4 x double> %c, <4 x double> %d, ptr %m) {"]
    for number in range(36):
        if not number % 12:
            lines += [f"  br label %b{number}"] * bool(number) + [f"b{number}:"]
        kind = rng.choice(["float", "<4 x double>"], p=[0.7, 0.3])
        values = kinds[kind]
        x, y = (values[max(0, len(values) - 1 - int(rng.exponential(2)))] for _ in range(2))
        op = rng.choice(["fmul", "fadd", "fsub", "fneg", "fdiv", "store"],
                        p=[0.45, 0.25, 0.15, 0.05, 0.05, 0.05])  # fmt: skip
        if op == "store":
            lines.append(f"  store {kind} {x}, ptr %m")
            continue
        flags = rng.choice(["contract", "fast", "reassoc nsz", ""], p=[0.5, 0.2, 0.1, 0.2])
        lines.append(f"  %v{number} = {op} {flags} {kind} {x}" + f", {y}" * (op != "fneg"))
        values.append(f"%v{number}")
    return "\n".join([*lines, f"  ret float {kinds['float'][-1]}", "}"])


@hidden("u05.offset", seed=SEED)
def is_where_other_loads_read(offset, rng):
    """Where the load reads in turns that were drawn for this run."""
    for turn, channel in zip(rng.integers(0, 5000, 24), [0, 1, 2] * 8, strict=True):
        got = a_number(offset(int(turn), channel), unit="bytes")
        if got != slot("u05.offset").reference(int(turn), channel):
            raise Wrong("The load does not read there.", program=f"offset({turn}, {channel})",
                        got=f"{got:g}")  # fmt: skip


@hidden("u05.four_sums", seed=SEED)
def other_lengths(four_sums, rng):
    """The dot product, the loads and the chain for lengths that were drawn for this run."""
    text = checked(four_sums())
    for size in (4, 256, *(4 * int(n) for n in rng.integers(2, 100, 6))):
        execution = ran(text, size)
        if execution.chain > size // 4 + 4:
            raise Wrong(f"The chain is too long for n = {size}.", program=text, spec=CHAIN)
        if execution.loads != 2 * size:
            raise Wrong(f"Each element must be read once, n = {size}.", program=text, spec=ONCE)
