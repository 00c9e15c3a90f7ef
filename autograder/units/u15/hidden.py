"""Hidden checks of unit 15: other seeds, larger programs, other inputs."""

from __future__ import annotations

from autograder.check.framework import harder, hidden
from autograder.units.u15.checks import as_it_must
from autograder.units.u15.checks.division import OURS, divided, drawn
from autograder.units.u15.checks.rows import programs
from autograder.units.u15.checks.text import graphs_score, inputs, read, same_result
from course_lib.exercises import slot
from lessons.u15.cache import drawn_calls

SEED = 151_115
harder("u15.functional", "other_programs", seed=SEED, given=programs(12), examples=150)
harder("u15.parts", "steps_that_can_run", seed=SEED, given=drawn(16), examples=100)


@hidden("u15.compiled", seed=SEED)
def calls_that_were_drawn(compiled, rng):
    """Conditions and calls that were drawn for this run."""
    for _ in range(150):
        conditions, calls = drawn_calls(rng)
        right = slot("u15.compiled").reference(conditions, calls)
        as_it_must(compiled, conditions, calls, right)


@hidden("u15.parts", seed=SEED, given=drawn(14), examples=100)
def as_few_parts_as_ours(parts, nodes):
    """No graph is divided into more parts than ours is."""
    fewest = sum(step[0] == "ours" for step in slot("u15.parts").reference(nodes, OURS))
    divided(parts, nodes, OURS, fewest, "there are as few parts as possible")


@hidden("u15.repaired", seed=SEED)
def does_it_for_other_inputs(repaired, rng):
    """Inputs of sizes that were drawn for this run."""
    text = read(repaired())
    given = []
    for _ in range(12):
        n, k, m = (int(x) for x in rng.integers(1, 9, 3))
        given.append(inputs((n, k, m, float(rng.choice([0.1, 0.6, 1.0, 3.0]))), rng))
        same_result(text, *given[-1])
    return graphs_score(text, given)
