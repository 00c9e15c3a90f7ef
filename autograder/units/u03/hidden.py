"""Hidden checks of unit 3: other seeds, larger programs, and the answers that have one value."""

from autograder.check.framework import Score, Wrong, harder, hidden
from autograder.check.properties import number
from autograder.units.u03.answers.evidence import GROUPS
from autograder.units.u03.answers.programs import gate, masked, positions, readers, temperature
from autograder.units.u03.checks.fold_cases import blocks
from autograder.units.u03.checks.fold_cases import mixtures as mixed_blocks
from autograder.units.u03.checks.fuse import bytes_moved, fused_by, repeats_little_work
from autograder.units.u03.checks.fuse_cases import images
from autograder.units.u03.checks.horizontal_cases import families
from autograder.units.u03.checks.kernels import asked
from autograder.units.u03.checks.onnx import FOLD
from autograder.units.u03.checks.onnx_left import mixtures
from autograder.units.u03.checks.onnx_models import models
from course_lib.exercises import slot

SEED = 30_912
LIKE_OURS = 1.02  # of our bytes, at other sizes, for all points: others weigh otherwise

harder(
    "passes.bn_fold",
    "bn_fold_leaves_a_convolution_and_a_bias",
    seed=SEED,
    given=blocks(most=4),
    examples=25,
)
harder(
    "passes.bn_fold",
    "bn_fold_folds_what_it_can",
    seed=SEED + 6,
    given=mixed_blocks(most=6),
    examples=25,
)
harder(FOLD, "onnx_fold_folds_all", seed=SEED + 1, given=models(most=5), examples=25)
harder(FOLD, "onnx_fold_folds_what_it_can", seed=SEED + 3, given=mixtures(most=6), examples=35)
harder(
    "passes.fuse",
    "fuse_puts_each_node_into_its_group",
    seed=SEED + 2,
    given=asked(size=20),
    examples=40,
)
harder("passes.fuse", "fuse_groups_convolutions", seed=SEED + 5, given=images(12), examples=25)
harder(
    "passes.horizontal",
    "horizontal_makes_one_product_of_each_family",
    seed=SEED + 4,
    given=families(most=8),
    examples=40,
)
harder("u03.cycle", "the_two_would_wait_for_themselves", seed=SEED)


@hidden("passes.should_fuse", seed=SEED, spec="no program may execute more than 1.1 times")
def should_fuse_knows_no_sizes_by_heart(should_fuse, rng):
    """The same kinds of programs at sizes of this run: no work repeated, bytes saved like ours."""
    made = [make(int(rng.integers(130, 500))) for make in (masked, positions, gate, readers)]
    programs = {graph.name: graph for graph in [*made, temperature(int(rng.integers(600, 900)))]}
    repeats_little_work(should_fuse, programs)
    entry, graphs = slot("passes.should_fuse"), programs.values()
    mine, stand_in, ours = (
        sum(bytes_moved(fused_by(heuristic, graph)) for graph in graphs)
        for heuristic in (should_fuse, entry.baseline, entry.reference)
    )
    fraction = 0.3 + 0.7 * (stand_in - mine) / (stand_in - LIKE_OURS * ours)
    return Score(fraction, f"{mine / 1e6:.2f} MB at other sizes, {ours / 1e6:.2f} ours")


@hidden("u03.saved", seed=SEED)
def is_the_right_number_of_megabytes(saved):
    """What need not be read and written any more."""
    number(saved(), slot("u03.saved").reference(), unit="MB", rtol=0.015)


@hidden("u03.illegal", seed=SEED)
def are_the_illegal_groups(illegal):
    """The illegal groups and their reasons."""
    wanted = slot("u03.illegal").reference()
    answer = {
        str(k).strip().upper(): " ".join(str(v).lower().split()) for k, v in illegal().items()
    }
    wrong = [group for group in GROUPS if answer.get(group) != wanted.get(group)]
    if wrong:
        raise Wrong(f"Group {wrong[0]} is not judged rightly.", got=repr(answer))
