"""Visible checks of unit 6, Code generation.

The functions that judge an answer (`covers`, `sound`, `legal`) are used by the hidden checks, too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hypothesis import strategies as st

from autograder.check.framework import Score, Wrong, background, checks
from autograder.check.properties import seal_of
from autograder.check.steps import with_steps
from autograder.units.u06.answers.programs import (
    random_lives,
    random_needs,
    random_tiles,
    random_tree,
)
from course_lib import exercises
from course_lib.ir.loops.parse import parse_kernel
from course_lib.machine.block import block_of
from course_lib.machine.build import AFTER, BEFORE, build, measure
from course_lib.machine.core import Core
from course_lib.machine.cover import TILES, Tiles, Tree, placed, shown
from course_lib.machine.depends import bound, cycles_of, starts
from course_lib.machine.lives import Live, pressure

SEEDS = st.integers(0, 9999)

# ── machine.cover ──

COVER = ("the names of the tiles, in the order in which they are executed", "come before it",
         "those of its left operand first", "A register is there already and needs no tile",
         "some tile fits every operation and leaf",
         "Cover an expression tree with tiles")  # fmt: skip
LEAST = ("so that the sum of their costs is as small as possible", "any of them will do",
         "{name: (pattern, cost)}; costs are positive")  # fmt: skip

# A tree, costs that are not 1, and the least cost of a cover.
AXPY = ("add", ("mul", "v1", ("const", 0.5)), ("load", "y", 0))
TWO = ("add", ("mul", "v1", ("load", "x", 0)), ("mul", "v2", ("load", "y", 0)))
STEP = ("sub", "v1", ("mul", ("broadcast", "w", 3), "v2"))
POLY = ("add", ("mul", ("add", ("mul", "v1", ("const", 2.0)), ("const", 3.0)), "v1"),
        ("const", 1.0))  # fmt: skip
KNOWN: list[tuple[Tree, dict[str, int], int]] = [
    ("v7", {}, 0),
    (("load", "x", 8), {}, 1),
    (AXPY, {}, 2),
    (AXPY, {"muli": 5}, 3),
    (TWO, {}, 2),
    (TWO, {"fmam": 4}, 3),
    (TWO, {"fmam": 9, "mulm": 9}, 4),
    (STEP, {}, 2),
    (STEP, {"fnma": 3}, 3),
    (POLY, {}, 4),
    (POLY, {"fma": 4}, 4),
    (("relu", AXPY), {"relu": 7}, 9),
]

background("machine.cover", 'tree     a register such as "v1", or a tuple', because="what is given")


def covers(cover: Any, tree: Tree, tiles: Tiles) -> int:
    """The cost of the answer's cover; Wrong if it is none."""
    names = cover(tree, tiles)
    program = shown(tree)
    if isinstance(names, str) or not isinstance(names, Sequence):
        said = "nothing (is a `return` missing?)" if names is None else repr(names)[:200]
        raise Wrong("The answer must be a list of names.", program=program, got=said, spec=COVER[0])
    try:
        list(placed(tree, names, tiles))
    except (ValueError, TypeError) as error:
        problem = "The names must be a cover of the tree, in the order in which they are executed"
        raise Wrong(f"{problem}: {error}.", program=program, got=", ".join(map(str, names)),
                    spec=COVER[0]) from None  # fmt: skip
    return sum(tiles[name][1] for name in names)


def priced(costs: Mapping[str, int]) -> dict[str, tuple[Any, int]]:
    return {name: (pattern, costs.get(name, 1)) for name, (pattern, _) in TILES.items()}


@checks("machine.cover", spec=[*COVER, *LEAST])
def the_least_cost_is_found(cover):
    """Trees whose least cost is known, with several prices of the instructions."""
    for tree, costs, least in KNOWN:
        cost = covers(cover, tree, priced(costs))
        if cost != least:
            dear = f", with {costs} and 1 for all others" if costs else ""
            raise Wrong(
                f"The cover costs {cost}; the cheapest must cost {least}{dear}.",
                program=shown(tree),
                got=", ".join(cover(tree, priced(costs))) or "no tile",
                spec=LEAST[0],
            )
    return f"{len(KNOWN)} trees"


@checks("machine.cover", given=SEEDS, examples=60, what="random trees and tiles", spec=COVER)
def it_is_a_cover(cover, seed):
    """Each operation and leaf is computed by one tile, operands first."""
    covers(cover, random_tree(seed), random_tiles(seed))


@checks(
    "machine.cover", spec="Each subtree is worked out once, however many tiles could lead to it"
)
def a_deep_tree_takes_no_longer(cover):
    """A chain of 20 multiply-adds."""
    few = with_steps(cover, 60_000, "40 operations",
                     "a subtree is worked out again for every tile that leads to it")  # fmt: skip
    tree: Tree = "v0"
    for k in range(20):
        tree = ("add", ("mul", tree, ("load", "x", 8 * k)), ("const", float(k)))
    cost = covers(few, tree, priced({}))
    if cost != 40:
        raise Wrong(f"The cover costs {cost}; the cheapest must cost 40.", spec=LEAST[0])
    return "a chain of 40 operations"


# ── machine.linear_scan ──

REGISTERS = ("Two values whose lives meet have different registers", "numbered from 0",
             "{name: number of its register}", "A value that has a register has the same one",
             "in any order; no two start", "at least 1; they are numbered")  # fmt: skip
FEWEST = ("so that as few values as possible go without one", "If none is free, spill the one that "
          "ends last", "no allocation has fewer", "Walk through the lives in the order of their "
          "starts", "the registers of those that have ended are free again",
          "a value that is not in it is spilled")  # fmt: skip
SHARE = "A life that starts at the instruction at which another one ends may have its register"

# Lives, registers, and the fewest values that can be spilled.
SPILLS: list[tuple[list[Live], int, int]] = [
    ([], 4, 0),
    ([Live("a", 0, 9), Live("b", 1, 3), Live("c", 2, 4), Live("d", 3, 5)], 2, 1),
    ([Live("a", 0, 2), Live("b", 1, 3), Live("c", 2, 4), Live("d", 3, 5)], 2, 0),
    ([Live("a", 0, 4), Live("b", 1, 9), Live("c", 2, 9), Live("d", 4, 9)], 2, 2),
    ([Live(f"v{k}", k, 20 - k) for k in range(8)], 3, 5),
    ([Live("a", 0, 99), *(Live(f"b{k}", 2 * k + 1, 2 * k + 3) for k in range(9))], 1, 1),
    ([Live("late", 7, 8), Live("a", 0, 6), Live("b", 1, 5), Live("c", 2, 3)], 2, 1),
]


def sound(linear_scan: Any, lives: list[Live], registers: int) -> int:
    """How many values the answer spills; Wrong if two living ones share a register."""
    found = linear_scan(lives, registers)
    text = told(lives, registers)
    if not isinstance(found, Mapping):
        said = "nothing (is a `return` missing?)" if found is None else repr(found)[:200]
        raise Wrong("The answer must be a dict.", program=text, got=said, spec=REGISTERS[2])
    known = {live.name: live for live in lives}
    for name, register in found.items():
        whole = hasattr(register, "__index__") and not isinstance(register, bool)
        if name not in known or not whole or not 0 <= register < registers:
            raise Wrong(f"{name} must be one of the values, and its register a whole number from 0 "
                        f"to {registers - 1}, not {register!r}.", program=text,
                        got=repr(found)[:300],
                        spec=REGISTERS[1])  # fmt: skip
    kept = [live for live in lives if live.name in found]
    for k, a in enumerate(kept):
        for b in kept[k + 1 :]:
            if a.meets(b) and found[a.name] == found[b.name]:
                raise Wrong(
                    f"{a.name} and {b.name} are both alive at instruction {max(a.start, b.start)} "
                    f"and must not both be in register {found[a.name]}.",
                    program=told([a, b], registers),
                    got=f"{a.name} and {b.name} in register {found[a.name]}",
                    spec=REGISTERS[0],
                )
    return len(lives) - len(kept)


def told(lives: Sequence[Live], registers: int) -> str:
    rows = [f"{live.name:<6} {live.start} .. {live.end}" for live in lives[:16]]
    more = [f"and {len(lives) - 16} more"] if len(lives) > 16 else []
    return "\n".join([f"{registers} registers", *rows, *more])


@checks("machine.linear_scan", spec=[*REGISTERS, *FEWEST, SHARE, "an instruction reads before it"])
def as_few_as_possible_are_spilled(linear_scan):
    """Lives for which the fewest spills are known."""
    for lives, registers, fewest in SPILLS:
        spilled = sound(linear_scan, lives, registers)
        if spilled > fewest:
            raise Wrong(
                f"{spilled} of the {len(lives)} values are spilled; {fewest} must be enough.",
                program=told(lives, registers),
                got=repr(dict(linear_scan(lives, registers))),
                spec=FEWEST[0] if fewest else SHARE,
            )
    return f"{len(SPILLS)} sets of lives"


@checks("machine.linear_scan", given=st.tuples(SEEDS, st.integers(1, 8)), examples=60,
        what="random lives", spec=[*REGISTERS, FEWEST[0]])  # fmt: skip
def living_values_have_registers_of_their_own(linear_scan, example):
    """No two living values share a register, and nothing is spilled without need."""
    seed, registers = example
    lives = random_lives(seed)
    if sound(linear_scan, lives, registers) and pressure(lives) <= registers:
        raise Wrong(
            f"Never more than {pressure(lives)} values are alive together, so with {registers} "
            "registers no value must be spilled.",
            program=told(lives, registers),
            spec=FEWEST[0],
        )


# ── machine.list_schedule ──

ORDER = ("returns  the numbers of the instructions in the order in which they shall start",
         "Where needs[n] names m, m must stand before n", "m is smaller than n",
         "Perhaps no instruction at all")  # fmt: skip
SOON = ("so that the last of them starts as early as possible", "so many instructions start in one "
        "cycle, at least 1", "List scheduling goes cycle by cycle", "In each, it starts those",
        "needs[n] is {m: cycles}")  # fmt: skip
GOOD = 1.02  # mean of cycles / bound from which an answer earns all points
RANDOM = [(random_needs(500 + k), 1 + k % 3) for k in range(30)]

background(
    "machine.list_schedule",
    "The processor starts them in that order ... stands earlier in the list",
    because="how the cycles are counted",
)
background("machine.list_schedule", "It is a good rule ... is NP-hard", because="about the rule")


def legal(list_schedule: Any, needs: list[dict[int, int]], width: int) -> list[int]:
    """The answer's order; Wrong if it is no order, or breaks a wait."""
    order = list_schedule(needs, width)
    text = "\n".join(f"{n}: waits {wait or 'for nothing'}" for n, wait in enumerate(needs[:24]))
    text = f"width {width}\n{text}" + (f"\nand {len(needs) - 24} more" if len(needs) > 24 else "")
    if isinstance(order, (str, Mapping)) or not isinstance(order, Sequence):
        said = "nothing (is a `return` missing?)" if order is None else repr(order)[:200]
        raise Wrong("The answer must be a list of numbers.", program=text, got=said, spec=ORDER[0])
    try:
        starts(order, needs, width)
    except (ValueError, TypeError) as error:
        raise Wrong(f"The order cannot run: {error}.", program=text, got=repr(list(order))[:300],
                    spec=ORDER[1]) from None  # fmt: skip
    return list(order)


def ratio(list_schedule: Any, needs: list[dict[int, int]], width: int) -> float:
    return cycles_of(legal(list_schedule, needs, width), needs, width) / bound(needs, width)


def worth(ratios: Sequence[float]) -> tuple[float, float]:
    """The mean of cycles / bound, and the part of the points that it earns."""
    mean = sum(ratios) / len(ratios)
    return mean, min(1.0, max(0.25, 1.0 - 5 * (mean - GOOD)))


@checks("machine.list_schedule", spec=ORDER)
def small_programs_run(list_schedule):
    """No instruction, one, two that start together, and one that must wait for neither."""
    small = [[], [{}], [{}, {0: 0}], [{}, {0: 4}, {}], [{}, {}, {0: 4, 1: 0}, {2: 1}]]
    for needs in small:
        for width in (1, 2):
            legal(list_schedule, needs, width)
    return f"{len(small)} small programs"


@checks("machine.list_schedule", given=SEEDS, examples=40, what="random programs", spec=ORDER)
def every_wait_is_kept(list_schedule, seed):
    """Each instruction once, and none before one that it waits for."""
    legal(list_schedule, random_needs(seed, 30), 1 + seed % 3)


@checks("machine.list_schedule", spec=[*ORDER, *SOON])
def the_last_starts_early(list_schedule):
    """The cycles are near a bound that no order can beat."""
    mean, fraction = worth([ratio(list_schedule, *one) for one in RANDOM])
    said = f"cycles / bound: {mean:.3f} on average over {len(RANDOM)} programs; "
    return Score(fraction, said + f"all points from {GOOD}, the order of the program has 1.87")


# ── numbers and evidence ──

TILE_SEALS = {8: "48f1e20e20a3", 16: "cb4da5565429", 32: "c8c8cc62d5b2"}
FIT = ("keeps that many running sums in registers", "For each k, the program loads the vectors of "
       "b and keeps them in registers, too", "one register for a number of a in all lanes",
       "both at least 1", "how many vector registers there are in all")  # fmt: skip
MOST = ("does the most multiply-adds for each load", "Whole numbers, exactly",
        "So every k costs rows + vectors loads",
        "any of them will do")  # fmt: skip


def fitting(tile: Any, registers: int) -> float:
    """Multiply-adds for each load of the answer's tile; Wrong if it does not fit."""
    got = tile(registers)
    whole = isinstance(got, (list, tuple)) and len(got) == 2 and all(
        hasattr(n, "__index__") and not isinstance(n, bool) and n >= 1 for n in got)  # fmt: skip
    if not whole:
        raise Wrong("The answer must be two whole numbers, each at least 1.", got=repr(got)[:200],
                    spec="(rows, vectors), both at least 1")  # fmt: skip
    rows, vectors = got
    needed = rows * vectors + vectors + 1
    if needed > registers:
        raise Wrong(f"A tile of {rows} × {vectors} must fit into {registers} registers; it needs "
                    f"{needed}.", got=repr(got), spec=FIT[0])  # fmt: skip
    return round(rows * vectors / (rows + vectors), 6)


@checks("u06.tile", spec=[*FIT, *MOST])
def the_best_tile_fits(tile):
    """The tile fits, and no other that fits does more for each load."""
    for registers, seal in TILE_SEALS.items():
        got = fitting(tile, registers)
        if seal_of("u06.tile", (registers, f"{got:.4f}")) != seal:
            raise Wrong(f"With {registers} registers, another tile that fits must do more "
                        "multiply-adds for each load.", got=f"{tile(registers)}: {got:.2f}",
                        spec=MOST[0])  # fmt: skip
    return f"{len(TILE_SEALS)} sizes of register files"


GPU_SEALS: dict[str, str] = {
    "point": "a91509f5fc37",
    "sum": "30dc54b573a9",
    "bytes": "dd556f0aab54",
    "apart": "f14f69d39be6",
    "flying": "36e640947d45",
    "sums": "feae04366e15",
}
ASKED = {
    "point": "the register that holds the number of the thread among all threads",
    "sum": "the register that carries the running sum",
    "bytes": "how many bytes one thread loads from global memory in one iteration",
    "apart": "how many bytes lie between the addresses in %rd19 of two neighbouring threads",
    "flying": "how many of the loop's loads may still be under way",
    "sums": "how many running sums one thread keeps",
}


@checks("u06.gpu", spec=[*ASKED.values(), "return a dict with these keys", "Registers are texts"])
def the_listings_say_so(gpu):
    """Six facts about two listings."""
    got = gpu()
    if not isinstance(got, Mapping) or set(got) != set(ASKED):
        raise Wrong(f"The answer must be a dict with the keys {', '.join(ASKED)}.",
                    got=repr(got)[:300], spec="return a dict with these keys")  # fmt: skip
    right = [key for key in ASKED if seal_of("u06.gpu", (key, plain(got[key]))) == GPU_SEALS[key]]
    for key, spec in ASKED.items():
        if key not in right:
            raise Wrong(f'The listing says something else for "{key}"; {len(right)} of the six are '
                        "right.", got=f"{key}: {got[key]!r:.60}", spec=spec)  # fmt: skip
    return "six facts"


def plain(value: object) -> str:
    """A register with its %, a whole number without a point."""
    text = str(value).strip().lower()
    return text.removesuffix(".0") if not text.startswith("r") else f"%{text}"


# ── an inverse ──

EARLY = ("takes more cycles if it is scheduled before the registers are chosen than if it is "
         "scheduled after", "The core has 8 registers")  # fmt: skip
SMALL = ("It has at most 100 values, all f32", "it writes `out`", "A kernel, as loop text")


@checks("u06.too_early", spec=[*EARLY, *SMALL])
def scheduling_first_is_slower(too_early):
    """More cycles if scheduled before the registers are chosen than if scheduled after."""
    text = too_early()
    if not isinstance(text, str):
        raise Wrong("The answer must be the text of a kernel.", got=repr(text)[:200], spec=SMALL[2])
    try:
        kernel = parse_kernel(text)
        block = block_of(kernel)
    except ValueError as error:
        raise Wrong(f"The core must be able to run the kernel: {error}", program=text[:2000],
                    spec=SMALL[2]) from None  # fmt: skip
    if len(block.values) > 100 or not block.stores:
        raise Wrong(f"The kernel must write `out` and have at most 100 values; it writes "
                    f"{len(block.stores)} vectors and has {len(block.values)} values.",
                    program=text, spec=SMALL[0])  # fmt: skip
    with exercises.using(getattr(too_early, "plugs", {})):
        runs = {way: measure(build(kernel, Core(registers=8), (way,))) for way in (BEFORE, AFTER)}
    before, after = runs[BEFORE], runs[AFTER]
    if before.cycles <= after.cycles:
        raise Wrong(
            f"Scheduled before, it must take more cycles than scheduled after; it takes "
            f"{before.cycles} ({before.spills} loads and stores of the stack) and {after.cycles} "
            f"({after.spills}).",
            program=text,
            spec=EARLY[0],
        )
    return f"{before.cycles} cycles scheduled before, {after.cycles} after"
