"""Hidden checks of the lab of unit 18: other seeds, reports and tables, beside our answers."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograder.check.framework import hidden
from autograder.units.u18_lab_report.checks import CRASHED, WRONG, agrees, entry, widest
from autograder.units.u18_lab_report.checks import advice as tables_of
from autograder.units.u18_lab_report.checks.claims import ALL, CLAIM, TUPLE, TUPLES
from autograder.units.u18_lab_report.checks.model import SEEDS, alike, results, written
from course_lib.exercises import slot
from course_lib.peers.contest import Entry

SEED, REPORTS = 18_671, 60
NAMES = ("course", "course+winograd", "onnxruntime", "torch-eager", "openvino")


@hidden("u18_lab_report.model", seed=SEED, spec=SEEDS)
def other_seeds(model, rng):
    """A seed that was drawn for this run, and the next one."""
    seed = int(rng.integers(1 << 30))
    graph, _ = alike(model, seed, seed + 1)
    results(graph, f"model({seed})", rng)
    written(graph, f"model({seed})")


def a_report(rng: np.random.Generator) -> list[Entry]:
    """Any rows. A round has something in common for all systems, each system something of its own;
    rows are missing, have problems and more rounds or fewer, or no peak."""
    names, found = rng.permutation(NAMES)[: rng.integers(2, 5)], []
    speeds = rng.choice([1.0, 1.01, 1.1, 1.5, 4.0], len(names))
    for threads in rng.permutation([1, 2, 3, 8])[: rng.integers(2, 5)].tolist():
        common = rng.choice([0.5, 1.0, 3.0], rng.choice([1, 5, 6, 7, 8, 9]))
        for name, speed in zip(names.tolist(), speeds, strict=True):
            own = np.exp(rng.choice([0, 0, 0.01, 0.1]) * rng.standard_normal(len(common)))
            mine = (speed / rng.choice([1.0, 1.05, 1.6, 2.5]) * common * own).tolist()
            kind = str(rng.choice([*[""] * 8, WRONG, CRASHED, "it needs clang", "no row"]))
            rounds = mine[: {CRASHED: len(mine) // 2, "it needs clang": 0}.get(kind)]
            peak = [None, 100, 104, 160, 400][rng.integers(5)]
            found += [entry(name, rounds, threads, peak, kind)] * (kind != "no row")
    return [found[k] for k in rng.permutation(len(found))]


@hidden("u18_lab_report.claims", seed=SEED + 1)
def the_claims_of_any_report(claims, rng):
    """Random reports, with the interval of unit 18 and with the widest one."""
    compared(claims, "u18_lab_report.claims", rng, CLAIM, ALL)


@hidden("u18_lab_report.scales", seed=SEED + 2)
def the_gains_of_any_report(scales, rng):
    """Random reports, with the interval of unit 18 and with the widest one."""
    compared(scales, "u18_lab_report.scales", rng, TUPLE, TUPLES)


def compared(answer: Any, name: str, rng: np.random.Generator, forms: Any, spec: str) -> None:
    for entries in (a_report(rng) for _ in range(REPORTS)):
        for interval in (widest, slot("measure.interval").reference):
            agrees(answer, entries, interval, slot(name).reference, forms, spec)


@hidden("u18_lab_report.advice", seed=SEED + 3, given=tables_of.tables(), examples=200)
def any_table_gives_its_advice(advice, table):
    """Random models, devices and tables of facts."""
    *asked, facts = table
    right = slot("u18_lab_report.advice").reference(*asked, facts)
    tables_of.agrees(advice, tuple(asked), facts, right, tables_of.RETURNS)
