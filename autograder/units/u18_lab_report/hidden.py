"""Hidden checks of the lab of unit 18: other seeds, reports and tables, beside our answers."""

from __future__ import annotations

from typing import Any

from autograder.check.framework import harder, hidden
from autograder.units.u18_lab_report.checks import as_report, as_table, keyed, reports, same, widest
from autograder.units.u18_lab_report.checks.advice import RETURNS, agrees, tables
from autograder.units.u18_lab_report.checks.claims import ALL, TUPLES, five, form
from autograder.units.u18_lab_report.checks.model import alike, results, written
from course_lib.exercises import slot

SEED = 18_671


@hidden("u18_lab_report.model", seed=SEED)
def other_seeds(model, rng):
    """Two seeds that were drawn for this run."""
    seed, other = (int(n) for n in rng.choice(1 << 30, 2, replace=False))
    graph, _ = alike(model, seed, other)
    results(graph, f"model({seed})", rng)
    written(graph, f"model({seed})")


@hidden("u18_lab_report.claims", seed=SEED + 1, given=reports(4, 9), examples=80)
def the_claims_of_any_report(claims, entries):
    """Random reports, with the interval of unit 18 and with the widest one."""
    compared(claims, "u18_lab_report.claims", entries, form, ALL)


@hidden("u18_lab_report.scales", seed=SEED + 2, given=reports(4, 9), examples=80)
def the_gains_of_any_report(scales, entries):
    """Random reports, with the interval of unit 18 and with the widest one."""
    compared(scales, "u18_lab_report.scales", entries, five, TUPLES)


def compared(answer: Any, name: str, entries: Any, forms: Any, spec: str) -> None:
    report = as_report(entries)
    table = as_table(report)
    for interval in (widest, slot("measure.interval").reference):
        right = keyed(slot(name).reference(report, interval), forms, table, spec)
        same(keyed(answer(report, interval), forms, table, spec), right, table, spec)


@hidden("u18_lab_report.advice", seed=SEED + 3, given=tables(16), examples=200)
def any_table_gives_its_advice(advice, table):
    """Random models, devices and tables of facts."""
    *asked, facts = table
    right = slot("u18_lab_report.advice").reference(*asked, facts)
    agrees(advice, tuple(asked), facts, right, RETURNS)


for _name, _check in (
    ("claims", "what_all_systems_share_changes_nothing"),
    ("scales", "a_slower_machine_changes_nothing"),
):
    harder(f"u18_lab_report.{_name}", _check, seed=SEED + 4, given=reports(4, 9), examples=40)
