"""Hidden checks of unit 4: other seeds, larger runs and lives, and the answers with one value."""

from autograder.check.framework import Wrong, harder, hidden
from autograder.check.programs import BINARY, UNARY, graphs
from autograder.check.properties import same_meaning
from autograder.units.u04.answers.lives import random_lives, random_tasks
from autograder.units.u04.checks import LAYOUTS, names
from autograder.units.u04.checks.layout import moving, networks
from autograder.units.u04.checks.memory import sound
from autograder.units.u04.checks.order import legal, no_higher
from autograder.units.u04.checks.shared import lives, runs
from course_lib.exercises import slot

SEED = 40_961

harder(
    "schedule.memory.liveness",
    "lives_are_long_enough_and_no_longer",
    seed=SEED,
    given=runs(16),
    examples=150,
)
harder(
    "schedule.memory.assign_offsets",
    "living_values_share_no_byte",
    seed=SEED + 1,
    given=lives(16),
    examples=150,
)
harder(
    "schedule.in_place.may_overwrite",
    "overwriting_changes_no_number",
    seed=SEED + 2,
    given=graphs(size=12),
    examples=25,
)
harder(
    "schedule.in_place.may_overwrite",
    "every_elementwise_kernel_may_overwrite",
    seed=SEED + 3,
    given=graphs(size=10, ops=(*UNARY, *BINARY), constants=False),
    examples=20,
)
harder("u04.first_fit_wins", "first_fit_meets_the_bound", seed=SEED)


@hidden("schedule.memory.assign_offsets", seed=SEED)
def large_sets_of_lives(assign_offsets):
    """Sound on hundreds of lives, too."""
    for seed in range(SEED, SEED + 6):
        intervals = random_lives(seed, most=300)
        sound(intervals, assign_offsets(intervals))


@hidden("schedule.order.order", seed=SEED)
def orders_of_other_tasks(order):
    """Legal on other tasks, and never a higher peak than as given."""
    for seed in range(SEED, SEED + 40):
        tasks = random_tasks(seed, 4 + seed % 12)
        no_higher(tasks, legal(tasks, order(tasks)))


@hidden("u04.clash", seed=SEED)
def is_the_value_that_is_lost(clash):
    """The value that loses its bytes, who takes them, and what comes out wrong."""
    got = names(clash())
    if got != slot("u04.clash").reference():
        raise Wrong("These are not the three.", got=repr(got))


@hidden("u04.lines", seed=SEED)
def is_the_right_count(lines):
    """The cache lines of one window, in three layouts."""
    got, expected = lines(), slot("u04.lines").reference()
    wrong = [name for name in LAYOUTS if got.get(name) != expected[name]]
    if wrong:
        raise Wrong(f"The count for {wrong[0]} is another one.", got=repr(got))


@hidden(
    "passes.sink_relayouts",
    seed=SEED + 4,
    given=networks(12),
    examples=40,
    what="random networks",
)
def leaves_no_more_than_needed(sink_relayouts, graph):
    """On larger networks, no relayout is left that one walk can cancel."""
    after = same_meaning(graph, sink_relayouts(graph))
    ours = slot("passes.sink_relayouts").reference(graph)
    if len(moving(after)) > len(moving(ours)):
        raise Wrong(
            f"{len(moving(ours))} relayouts of images should be left; here are "
            f"{len(moving(after))}.",
            program=graph,
            got=after,
        )
