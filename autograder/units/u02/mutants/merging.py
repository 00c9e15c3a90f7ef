"""Mutants and alternatives of unit 2: common subexpressions. Next room: matching.py."""

from __future__ import annotations

import hashlib
from collections import Counter

from autograder.check.edits import edited
from autograder.check.framework import alternative, equivalent, mutant, mutants
from course_lib.exercises import slot
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.verify import verify
from course_lib.passes.clean.cse import cse, exactly
from course_lib.passes.clean.dce import dce
from course_lib.passes.infra.match import COMMUTATIVE

# ── passes.cse ──

_KEY = "(node.op, tuple(operands), attrs)"
_KEPT = f"kept = first.setdefault({_KEY}, rebuilt)"


def _arrays_by(key):
    """The edit which compares constants by something else than their type, shape and bytes."""
    return "exactly(value)", f"(({key}) if isinstance(value, np.ndarray) else exactly(value))"


def _elements_by(key):
    return _arrays_by(f"(str(value.dtype), value.shape, {key})")


mutants(
    "passes.cse",
    everything_commutes=("node.op in COMMUTATIVE", "True"),
    nothing_commutes=("node.op in COMMUTATIVE", "False"),
    # max(x, y) is max(y, x), it thinks; for 0.0 and -0.0 it need not be.
    min_and_max_too=("in COMMUTATIVE", "in {*COMMUTATIVE, 'max', 'min'}"),
    # Knows two of the ten operations that commute.
    only_sums_and_products=("in COMMUTATIVE", "in ('add', 'mul')"),
    # Tells the order of two or three operands, and not that of four.
    more_than_three_in_any_order=("in COMMUTATIVE", "in COMMUTATIVE or len(operands) > 3"),
    # A select has three. A concat may have more.
    looks_at_three_operands=("tuple(operands)", "(len(operands), *operands[:3])"),
    # An operation with more operands stays as it is.
    never_more_than_four=("tuple(operands)", "tuple(operands) if len(operands) < 5 else object()"),
    only_one_level=("number[i] for i in inputs", "id(i) for i in node.inputs"),
    ignores_attributes=("attrs = tuple", "attrs = node.op == 'constant' and tuple"),
    # 0.0 == -0.0, so both pads are one to it.
    attributes_as_python_compares_them=(
        "exactly(value)", "(exactly(value) if isinstance(value, np.ndarray) else value)"),
    # An attribute that is 0, false or None is as good as none to it.
    attributes_that_are_said=(
        "exactly(value)",
        "(exactly(value) if isinstance(value, np.ndarray) else repr(value or None))"),
    # 0.0 == -0.0.
    compares_numbers=_elements_by("tuple(value.ravel().tolist())"),
    # Looks at the first elements of a constant only.
    by_printed_constants=_elements_by("repr(value.ravel()[:1].tolist())"),
    # Constants are compared to six digits.
    what_is_close_is_equal=_elements_by("value.astype('f8').round(6).tobytes()"),
    # Looks at each constant as f32 numbers, and so at few digits of an f64.
    in_single_precision=_elements_by("value.astype('f4').tobytes()"),
    # Large constants are hardly ever equal, it thinks.
    only_small_constants=_arrays_by("exactly(value) if value.nbytes <= 4096 else id(value)"),
    # Two equal nodes from two layers stay two.
    origins_count=(_KEY, "(node.op, tuple(operands), attrs, node.origin)"),
    # Two inputs with the same name and type are one to it.
    inputs_by_name=("    first:", "    named = {(i.name, i.type): i for i in graph.inputs}\n"
                    "    number = {i: number[named[i.name, i.type]] for i in graph.inputs}\n"
                    "    first:", "len(number)", "len(number) + len(graph.inputs)"),
    # Merges, and takes away what was dead before: that is dce.
    and_swept=lambda graph: dce(slot("passes.cse").reference(graph)),
    # Of equal nodes the last one gives its name and its origin.
    keeps_the_last=(
        "    def visit", "    from dataclasses import replace\n    last = {}\n\n    def visit",
        "return kept", "last[kept] = node\n        return kept",
        "rebuild(visit)",
        "rebuild(visit).rebuild(lambda node, inputs: replace(node.with_inputs(inputs),"
        " name=last[node].name, origin=last[node].origin))"),
    # Right, and compares each node with all that are kept.
    all_pairs=(_KEPT, f"kept = next((n for k, n in first.items() if k == {_KEY}), rebuilt)\n"
               f"        first[{_KEY}] = kept"),
    # Compares each node with those of the same operands: with all of them, if one is popular.
    all_that_read_the_same=(
        _KEPT, "readers = first.setdefault(tuple(operands), {})\n"
        "        kept = next((n for k, n in readers.items() if k == (node.op, attrs)), rebuilt)\n"
        "        readers[node.op, attrs] = kept"),
)  # fmt: skip

_by_bytes = edited(cse, *_arrays_by("value.tobytes()"))


@mutant("passes.cse")
def by_bytes_alone(graph):
    """Constants of other types or shapes have the same bytes: eight zeros, say."""
    try:
        return verify(_by_bytes(graph))
    except ValueError:
        return cse(graph)


@alternative("passes.cse")
def by_asking_twice(graph):
    """Looks the operands up as they are written, then the other way round."""
    first = {}

    def key(node, inputs):
        return (node.op, inputs, node.type, tuple((k, exactly(v)) for k, v in node.attrs.items()))

    def visit(node, inputs):
        turned = key(node, inputs[::-1])
        if node.op in COMMUTATIVE and turned in first:
            return first[turned]
        return first.setdefault(key(node, inputs), node.with_inputs(inputs))

    return graph.rebuild(visit)


@alternative("passes.cse")
def by_digests(graph):
    """A digest of each value from those of its operands; no two nodes are ever compared."""
    digests = {i: f"input {k}" for k, i in enumerate(graph.inputs)}
    first = {}

    def visit(node, inputs):
        operands = [digests[i] for i in inputs]
        if node.op in COMMUTATIVE:
            operands.sort()
        key = (node.op, str(node.type), operands, [exactly(v) for v in node.attrs.values()])
        digest = hashlib.sha256(repr(key).encode()).hexdigest()
        merged = first.setdefault(digest, node.with_inputs(inputs))
        digests[merged] = digest
        return merged

    return graph.rebuild(visit)


@alternative("passes.cse")
def in_a_loop_of_its_own(graph):
    """Without rebuild; operands that commute as a bag of them."""
    new, kept, nodes = {}, {}, []
    for node in graph.nodes:
        inputs = tuple(new[i] for i in node.inputs)
        copy = node if node.op == "input" else node.with_inputs(inputs)
        operands = frozenset(Counter(inputs).items()) if node.op in COMMUTATIVE else inputs
        attrs = tuple((k, exactly(v)) for k, v in sorted(node.attrs.items()))
        key = node if node.op == "input" else (node.op, operands, attrs, node.type)
        if key not in kept:
            kept[key] = copy
            nodes.append(copy)
        new[node] = kept[key]
    return Graph(graph.name, graph.inputs, tuple(nodes), tuple(new[n] for n in graph.outputs))


equivalent("passes.cse", "enumerate(graph.inputs)", "enumerate(graph.nodes)",
           because="a number has to be another one for each node, and nothing more")  # fmt: skip
equivalent("passes.cse", "for i in inputs]", "for i in reversed(list(inputs))]",
           because="turned around, operands tell apart what they told apart")  # fmt: skip
equivalent("passes.cse", "((name, exactly(value))", "((exactly(value)",
           because="nodes of one op have the same attributes in the same order")  # fmt: skip
equivalent("passes.cse", "(node.op, tuple(operands), attrs)",
           "(attrs, tuple(operands), node.op)",
           because="the parts of a key may stand in any order")  # fmt: skip
