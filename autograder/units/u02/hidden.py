"""Hidden checks of unit 2: other seeds, larger programs, and the answers that have one value."""

from autograder.check.framework import Wrong, harder, hidden
from autograder.check.programs import graphs
from autograder.check.properties import number
from autograder.units.u02.checks.match import patterns
from course_lib.exercises import slot

SEED = 20_641

harder("passes.dce", "dce_keeps_the_meaning", seed=SEED, given=graphs(size=25), examples=60)
harder("passes.dce", "dce_leaves_nothing_dead", seed=SEED, given=graphs(size=25), examples=80)
harder("passes.fold", "fold_keeps_every_bit", seed=SEED + 1, given=graphs(size=20), examples=50)
harder(
    "passes.fold", "fold_leaves_nothing_to_compute", seed=SEED + 2, given=graphs(20), examples=80
)
harder("passes.cse", "cse_keeps_every_bit", seed=SEED + 3, given=graphs(size=20), examples=50)
harder(
    "passes.cse",
    "cse_merges_operands_in_either_order",
    seed=SEED + 4,
    given=graphs(size=15, repeats=False),
    examples=60,
)
harder("passes.match", "match_binds_what_it_says", seed=SEED + 5, given=patterns(7), examples=150)
harder("passes.simplify", "simplify_keeps_every_bit", seed=SEED + 6, given=graphs(15), examples=100)
harder(
    "passes.strength",
    "strength_halves_exactly",
    seed=SEED + 7,
    given=graphs(size=15, ops=("half", "relu", "add", "neg", "mul")),
    examples=80,
)
harder(
    "passes.strength", "strength_keeps_the_meaning", seed=SEED + 8, given=graphs(15), examples=80
)
harder("passes.fixpoint", "runs_until_nothing_changes", seed=SEED)
harder("passes.fixpoint", "gives_up_after_limit_rounds", seed=SEED)
harder("u02.after_fold", "cse_needs_fold_here", seed=SEED)
harder("u02.witnesses", "the_two_sides_differ", seed=SEED)
harder("u02.every_pass", "all_five_change_it", seed=SEED)


@hidden("passes.match", seed=SEED + 9, given=patterns(6), examples=150)
def agrees_on_whether_it_matches(match, example):
    """It finds a match exactly where there is one."""
    pattern, node, _ = example
    mine, ours = match(pattern, node), slot("passes.match").reference(pattern, node)
    if (mine is None) != (ours is None):
        raise Wrong(
            "There is a match." if mine is None else "There is no match.",
            program=f"{pattern!r}\n{node!r}",
            got="None" if mine is None else "a match",
        )


@hidden("u02.sevenths", seed=SEED)
def is_the_right_percentage(sevenths):
    """The share of the 2**23 numbers for which the two results differ."""
    number(sevenths(), slot("u02.sevenths").reference(), unit="percent", rtol=0.005)


@hidden("u02.broken", seed=SEED)
def is_the_broken_pass(broken):
    """The broken pass and the value that it lost."""
    answer = broken()
    parts = answer if isinstance(answer, (list, tuple)) else []
    got = tuple(str(part).strip().lstrip("%") for part in parts)
    if got != slot("u02.broken").reference():
        raise Wrong("This is not the pass, or not the value.", got=repr(got))
