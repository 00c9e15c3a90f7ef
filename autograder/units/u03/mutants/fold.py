"""Mutants and alternatives of unit 3: batch norms folded in our graphs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from autograder.check.framework import alternative, mutant
from course_lib.ir.graph.node import apply, const
from course_lib.ir.graph.provenance import origins
from course_lib.passes.clean.bn_fold import convolution_before
from course_lib.passes.clean.dce import dce

# ── passes.bn_fold ──


def _bn_fold(graph, *, users=True, bias=True, eps=True, order="right", axis=0, origin=origins,
             attrs=None, ones=None, fresh=True):  # fmt: skip
    readers, outputs = graph.users(), set(graph.outputs)

    def visit(node, inputs):
        made = node.with_inputs(inputs)
        old, new = convolution_before(node), convolution_before(made)
        if old is None or new is None:
            return made
        if users and any(len(readers[n]) > 1 or n in outputs for n in old.nodes):
            return made
        x, w = new.conv.inputs if fresh else old.conv.inputs
        scale, shift, mean, variance = (v.value for v in made.inputs[1:])
        factor = scale / np.sqrt(variance + (made.attrs["eps"] if eps else 0.0))
        sizes = [1] * w.type.rank
        sizes[axis] = -1
        if axis and w.type.dims[1] != len(factor):
            return made
        b = new.bias if bias else 0.0
        b = (b - mean) * factor + shift if order == "right" else b * factor - mean + shift
        come = origin(*new.nodes, made)
        weight = replace(const(w.value * factor.reshape(sizes), w.type.dtype), origin=come)
        offset = const(b.reshape(1, -1, *[1] * (ones or w.type.rank - 2)), w.type.dtype)
        kept = {k: v for k, v in new.conv.attrs.items() if attrs is None or k in attrs}
        conv = apply("conv", x, weight, origin=come, **kept)
        return apply("add", conv, replace(offset, origin=come), origin=come)

    return graph.rebuild(visit)


@mutant("passes.bn_fold")
def whoever_else_reads_it(graph):
    return _bn_fold(graph, users=False)


@mutant("passes.bn_fold")
def forgets_the_bias(graph):
    return _bn_fold(graph, bias=False)


@mutant("passes.bn_fold")
def forgets_epsilon(graph):
    return _bn_fold(graph, eps=False)


@mutant("passes.bn_fold")
def mean_after_the_factor(graph):
    return _bn_fold(graph, order="mean last")


@mutant("passes.bn_fold")
def scales_the_input_channels(graph):
    return _bn_fold(graph, axis=1)


@mutant("passes.bn_fold")
def forgets_strides_and_pads(graph):
    return _bn_fold(graph, attrs=("groups",))


@mutant("passes.bn_fold")
def forgets_origins(graph):
    return _bn_fold(graph, origin=lambda *nodes: ())


@mutant("passes.bn_fold")
def only_images(graph):
    """A bias of two axes behind the channel, whatever the convolution has."""
    return _bn_fold(graph, ones=2)


@mutant("passes.bn_fold")
def reads_the_old_graph(graph):
    return _bn_fold(graph, fresh=False)


@mutant("passes.bn_fold")
def does_nothing(graph):
    return graph


@mutant("passes.bn_fold")
def always_f32(graph):
    """Believes that every model is one of f32."""
    floats = [n for n in graph.nodes if n.op == "batch_norm" and n.type.dtype.name != "f32"]
    return graph if floats else _bn_fold(graph)


@mutant("passes.bn_fold")
def only_where_the_norm_has_one_reader(graph):
    """Mixes up whose readers matter: those of the convolution, not those of the norm."""
    users = graph.users()
    many = any(len(users[n]) > 1 for n in graph.nodes if n.op == "batch_norm")
    return graph if many else _bn_fold(graph)


@alternative("passes.bn_fold")
def bias_on_the_left(graph):
    """b' + conv, under names of its own."""
    folded = _bn_fold(graph)
    made = {n for n in folded.ops if n.op == "add" and n not in graph.nodes}

    def turned(node, inputs):
        return node.with_inputs(inputs[::-1]) if node in made else None

    return folded.rebuild(turned)


@alternative("passes.bn_fold")
def then_dce(graph):
    """What nobody reads may go at once."""
    return dce(_bn_fold(graph))


@alternative("passes.bn_fold")
def in_f32(graph):
    """Rounds in between, as most compilers do."""
    return _bn_fold(graph)
