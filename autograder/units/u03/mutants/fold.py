"""Mutants and alternatives of unit 3: batch norms folded in our graphs."""

from __future__ import annotations

from autograder.check.framework import alternatives, mutants
from course_lib.exercises import slot
from course_lib.passes.clean.dce import dce

KNOWN = "if old is None or new is None"

mutants(
    "passes.bn_fold",
    whoever_else_reads_it=("any((len(users[n]) > 1 or n in outputs for n in old.nodes))", "False"),
    forgets_the_bias=("before.bias - mean", "0.0 - mean"),
    forgets_epsilon=(" + norm.attrs['eps']", ""),
    mean_after_the_factor=("(before.bias - mean) * factor", "before.bias * factor - mean"),
    scales_the_input_channels=("factor.reshape(-1, *[1] * (w.type.rank - 1))", "np.resize(factor, "
                               "(1, w.type.dims[1], *[1] * (w.type.rank - 2)))"),
    forgets_strides_and_pads=("**before.conv.attrs", "groups=before.conv.attrs.get('groups', 1)"),
    forgets_origins=("origin = origins(*before.nodes, norm)", "origin = ()"),
    # A bias of two axes behind the channel, whatever the convolution has.
    only_images=("(w.type.rank - 2)", "2"),
    reads_the_old_graph=("_folded(rebuilt, new)", "_folded(rebuilt, old)"),
    does_nothing=lambda graph: graph,
    # Believes that every model is one of f32.
    always_f32=(KNOWN, f"{KNOWN} or node.type.dtype.name != 'f32'"),
    # Mixes up whose readers matter: those of the convolution, not those of the norm.
    only_where_the_norm_has_one_reader=(KNOWN, f"{KNOWN} or len(users[node]) > 1"),
)  # fmt: skip
alternatives(
    "passes.bn_fold",
    # b' + conv, under names of its own.
    bias_on_the_left=("conv, b2, name=norm.name", "b2, conv"),
    # What nothing reads may go at once.
    then_dce=lambda graph: dce(slot("passes.bn_fold").reference(graph)),
    # Rounds in between, as most compilers do.
    in_f32=(".astype(np.float64)", ""),
)
