"""Hidden checks of the lab of unit 18: other seeds, reports and tables, beside our answers."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from autograder.check.framework import hidden
from autograder.units.u18_lab_report.checks import CRASHED, WRONG, agrees, entry, widest
from autograder.units.u18_lab_report.checks import advice as tables_of
from autograder.units.u18_lab_report.checks.claims import ALL, CLAIM, TUPLE, TUPLES
from autograder.units.u18_lab_report.checks.model import alike, results, written
from course_lib.exercises import slot
from course_lib.peers.contest import Entry

SEED = 18_671
NAMES = ("course", "course+winograd", "onnxruntime", "torch-eager", "openvino")


@hidden("u18_lab_report.model", seed=SEED)
def other_seeds(model, rng):
    """Two seeds that were drawn for this run."""
    seed, other = (int(n) for n in rng.choice(1 << 30, 2, replace=False))
    graph, _ = alike(model, seed, other)
    results(graph, f"model({seed})", rng)
    written(graph, f"model({seed})")


@st.composite
def reports(draw: DrawFn, most: int = 4) -> list[Entry]:
    """Any rows. A round has something in common for all systems, each system something of its own;
    rows are missing, have problems and more rounds or fewer, or no peak."""
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=most, unique=True))
    counts = draw(st.lists(st.sampled_from([1, 2, 3, 8]), min_size=1, max_size=most, unique=True))
    speeds = {name: draw(st.sampled_from([1.0, 1.01, 1.1, 1.5, 4.0])) for name in names}
    own = st.sampled_from([1.0, 1.0, 1.0, 1.0, 1.01, 0.99, 1.3])
    found = []
    for threads in counts:
        number = draw(st.sampled_from([1, 5, 6, 7, 9]))
        common = [draw(st.sampled_from([0.5, 1.0, 3.0])) for _ in range(number)]
        for name in names:
            gain = draw(st.sampled_from([1.0, 1.05, 1.6, 2.5])) if threads > 1 else 1.0
            mine = [speeds[name] / gain * each * draw(own) for each in common]
            kind = draw(st.sampled_from(["", "", "", "", WRONG, CRASHED, "it needs clang", None]))
            if kind == CRASHED:
                mine = mine[: len(mine) // 2]
            elif kind == "it needs clang":
                mine = []
            peak = draw(st.sampled_from([None, 100, 104, 160, 400]))
            if kind is not None:
                found.append(entry(name, mine, threads, peak, kind))
    return draw(st.permutations(found))


@hidden("u18_lab_report.claims", seed=SEED + 1, given=reports(), examples=80)
def the_claims_of_any_report(claims, entries):
    """Random reports, with the interval of unit 18 and with the widest one."""
    compared(claims, "u18_lab_report.claims", entries, CLAIM, ALL)


@hidden("u18_lab_report.scales", seed=SEED + 2, given=reports(), examples=80)
def the_gains_of_any_report(scales, entries):
    """Random reports, with the interval of unit 18 and with the widest one."""
    compared(scales, "u18_lab_report.scales", entries, TUPLE, TUPLES)


def compared(answer: Any, name: str, entries: Any, forms: Any, spec: str) -> None:
    for interval in (widest, slot("measure.interval").reference):
        agrees(answer, entries, interval, slot(name).reference, forms, spec)


@hidden("u18_lab_report.advice", seed=SEED + 3, given=tables_of.tables(), examples=200)
def any_table_gives_its_advice(advice, table):
    """Random models, devices and tables of facts."""
    *asked, facts = table
    right = slot("u18_lab_report.advice").reference(*asked, facts)
    tables_of.agrees(advice, tuple(asked), facts, right, tables_of.RETURNS)
