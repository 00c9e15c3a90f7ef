"""Hidden checks of unit 3: other seeds, larger programs, and the answers that have one value."""

import numpy as np

from autograder.check.framework import Score, Wrong, harder, hidden
from autograder.check.properties import number
from autograder.units.u03.checks import fold_cases, judged, onnx_left
from autograder.units.u03.checks.fold_cases import blocks
from autograder.units.u03.checks.fuse_cases import fans, images
from autograder.units.u03.checks.groups_cases import grouped
from autograder.units.u03.checks.horizontal_cases import families
from autograder.units.u03.checks.kernels import asked
from autograder.units.u03.checks.onnx import FOLD
from autograder.units.u03.checks.onnx_models import models
from autograder.units.u03.checks.onnx_relu import RELU
from autograder.units.u03.checks.onnx_relu_cases import chains
from autograder.units.u03.checks.should_fuse import bytes_moved, fused_by, repeats_little_work
from course_lib.exercises import slot
from course_lib.ir.graph.build import exp, reduce_sum, relu
from course_lib.ir.graph.graph import Graph, value_names
from course_lib.ir.graph.node import inp
from lessons.u03.programs import gate, masked, positions, readers, temperature

SEED = 30_912
LIKE_OURS = 1.02  # of our bytes, at other sizes, for all points: others weigh otherwise

HARDER = [  # exercise, check, seed, other programs, how many
    ("passes.bn_fold", "bn_fold_leaves_a_convolution_and_a_bias", 0, blocks(most=4), 40),
    ("passes.bn_fold", "bn_fold_folds_what_it_can", 6, fold_cases.mixtures(most=6), 25),
    (FOLD, "onnx_fold_folds_all", 1, models(most=5), 25),
    (FOLD, "onnx_fold_folds_what_it_can", 3, onnx_left.mixtures(most=6), 35),
    ("passes.fuse", "fuse_puts_each_node_into_its_group", 2, asked(size=20) | fans(9), 60),
    ("passes.fuse", "fuse_groups_convolutions", 5, images(12), 25),
    ("passes.horizontal", "horizontal_makes_one_product_of_each_family", 4, families(most=8), 40),
    (RELU, "relu_fuses_what_it_can", 7, chains(most=7), 40),
]
for exercise, check, offset, given, examples in HARDER:
    harder(exercise, check, seed=SEED + offset, given=given, examples=examples)


@hidden("passes.should_fuse", seed=SEED, spec="no program may execute more than 1.1 times")
def should_fuse_knows_no_sizes_by_heart(should_fuse, rng):
    """The same kinds of programs at sizes of this run: no work repeated, bytes saved like ours."""
    resized = [make(int(rng.integers(130, 500))) for make in (masked, positions, gate, readers)]
    programs = {graph.name: graph for graph in [*resized, temperature(int(rng.integers(600, 900)))]}
    repeats_little_work(should_fuse, programs)
    entry, graphs = slot("passes.should_fuse"), programs.values()
    mine, stand_in, ours = (
        sum(bytes_moved(fused_by(heuristic, graph)) for graph in graphs)
        for heuristic in (should_fuse, entry.baseline, entry.reference)
    )
    fraction = 0.3 + 0.7 * (stand_in - mine) / (stand_in - LIKE_OURS * ours)
    return Score(fraction, f"{mine / 1e6:.2f} MB at other sizes, {ours / 1e6:.2f} ours")


@hidden("u03.saved", seed=SEED)
def is_right_for_programs_of_this_run(saved, rng):
    """Chains, trees and shared values of sizes that were drawn for this run."""
    for _ in range(20):
        graph = _any_program(rng)
        number(saved(graph), slot("u03.saved").reference(graph), unit="MB", rtol=0.011)


def _any_program(rng):
    """Two inputs, up to eight operations, all of them needed by one output."""
    kind = f"f32[{rng.integers(200, 900)},{rng.integers(200, 900)}]"
    inputs = [inp("x", kind), inp("y", kind)]
    end = inputs[0] + inputs[1]
    for _ in range(int(rng.integers(1, 5))):
        other = rng.choice(np.array([end, *inputs], dtype=object))
        end = relu(end) if rng.integers(3) == 0 else end * exp(other)
    return Graph.of(inputs, [reduce_sum(end, (1,)) if rng.integers(2) else end], "drawn")


@hidden("u03.illegal", seed=SEED, given=grouped(), examples=60)
def are_judged_as_said(illegal, case):
    """Random groups of random programs."""
    graph, groups = case
    wanted, given = slot("u03.illegal").reference(graph, groups), judged(illegal, graph, groups)
    for letter, members in groups.items():
        if given.get(letter) != wanted.get(letter):
            names = value_names(graph)
            problem = f"A group is not judged rightly: {', '.join(names[n] for n in members)}."
            raise Wrong(problem, program=graph, got=repr(given))
