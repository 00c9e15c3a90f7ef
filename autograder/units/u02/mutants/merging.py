"""Mutants and alternatives of unit 2: common subexpressions. Next room: rules.py."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from dataclasses import replace

import numpy as np

from autograder.check.framework import alternative, equivalent, mutant
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.verify import verify
from course_lib.passes.infra.match import COMMUTATIVE

# ── passes.cse ──


def _bytes(value):
    if isinstance(value, np.ndarray):
        return (str(value.dtype), value.shape, value.tobytes())
    return repr(value)


def _cse(graph, commutative=COMMUTATIVE, attrs=_bytes, use_attrs=True, chains=True):
    number, first = {n: k for k, n in enumerate(graph.inputs)}, {}
    old_number = {n: k for k, n in enumerate(graph.nodes)}

    def visit(node, inputs):
        made = node.with_inputs(inputs)
        operands = [number[i] for i in inputs] if chains else [old_number[i] for i in node.inputs]
        if commutative is None or node.op in commutative:
            operands.sort()
        key = tuple((k, attrs(v)) for k, v in node.attrs.items())
        if not use_attrs and node.op != "constant":
            key = ()
        kept = first.setdefault((node.op, tuple(operands), key, node.type), made)
        number.setdefault(kept, len(number) + 10_000)
        return kept

    return graph.rebuild(visit)


@mutant("passes.cse")
def everything_commutes(graph):
    return _cse(graph, commutative=None)


@mutant("passes.cse")
def nothing_commutes(graph):
    return _cse(graph, commutative=())


@mutant("passes.cse")
def ignores_attributes(graph):
    return _cse(graph, use_attrs=False)


@mutant("passes.cse")
def compares_numbers(graph):
    """0.0 == -0.0."""

    def key(value):
        if isinstance(value, np.ndarray):
            return (str(value.dtype), value.shape, tuple(value.ravel().tolist()))
        return repr(value)

    return _cse(graph, attrs=key)


@mutant("passes.cse")
def by_printed_constants(graph):
    """Looks at the first elements of a constant only."""

    def key(value):
        if isinstance(value, np.ndarray):
            return (str(value.dtype), value.shape, repr(value.ravel()[:1].tolist()))
        return repr(value)

    return _cse(graph, attrs=key)


@mutant("passes.cse")
def only_one_level(graph):
    return _cse(graph, chains=False)


@mutant("passes.cse")
def and_swept(graph):
    """Merges, and takes away what was dead before: that is dce."""
    after = _cse(graph)
    return Graph.of(after.inputs, after.outputs, after.name)


@mutant("passes.cse")
def keeps_the_last(graph):
    """Of equal nodes the last one gives its name and its origin."""

    def key(node, inputs):
        operands = sorted(map(id, inputs)) if node.op in COMMUTATIVE else map(id, inputs)
        return (node.op, tuple(operands), repr([_bytes(v) for v in node.attrs.values()]), node.type)

    def look(node, inputs):
        made = first.setdefault(key(node, inputs), node.with_inputs(inputs))
        labels[made] = node
        return made

    first, labels = {}, {}
    merged = graph.rebuild(look)

    def relabel(node, inputs):
        made, old = node.with_inputs(inputs), labels[node]
        return replace(made, name=old.name, origin=old.origin)

    return merged.rebuild(relabel)


@mutant("passes.cse")
def min_and_max_too(graph):
    """max(x, y) is max(y, x), it thinks; for 0.0 and -0.0 it need not be."""
    return _cse(graph, commutative={*COMMUTATIVE, "max", "min"})


@mutant("passes.cse")
def only_sums_and_products(graph):
    """Knows two of the ten operations that commute."""
    return _cse(graph, commutative={"add", "mul"})


@mutant("passes.cse")
def by_bytes_alone(graph):
    """Constants of other types or shapes have the same bytes: eight zeros, say."""

    def visit(node, inputs):
        made = node.with_inputs(inputs)
        return first.setdefault(made.value.tobytes(), made) if node.op == "constant" else made

    first = {}
    try:
        return _cse(verify(graph.rebuild(visit)))
    except ValueError:
        return _cse(graph)


@mutant("passes.cse")
def inputs_by_name(graph):
    """Two inputs with the same name and type are one to it."""
    first = {}
    same = {i: first.setdefault((i.name, i.type), i) for i in graph.inputs}
    one = graph.rebuild(lambda node, inputs: node.with_inputs([same.get(i, i) for i in inputs]))
    return _cse(replace(one, outputs=tuple(same.get(o, o) for o in one.outputs)))


@mutant("passes.cse")
def origins_count(graph):
    """Two equal nodes from two layers stay two."""

    def visit(node, inputs):
        made = node.with_inputs(inputs)
        operands = sorted(map(id, inputs)) if node.op in COMMUTATIVE else map(id, inputs)
        attrs = repr([_bytes(v) for v in node.attrs.values()])
        return first.setdefault((node.op, tuple(operands), attrs, node.type, node.origin), made)

    first = {}
    return graph.rebuild(visit)


@alternative("passes.cse")
def by_asking_twice(graph):
    """Looks the operands up as they are written, then the other way round."""
    first = {}

    def key(node, inputs):
        return (node.op, inputs, node.type, tuple((k, _bytes(v)) for k, v in node.attrs.items()))

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
        said = (node.op, str(node.type), operands, [_bytes(v) for v in node.attrs.values()])
        digest = hashlib.sha256(repr(said).encode()).hexdigest()
        made = first.setdefault(digest, node.with_inputs(inputs))
        digests[made] = digest
        return made

    return graph.rebuild(visit)


@alternative("passes.cse")
def in_a_loop_of_its_own(graph):
    """Without rebuild; operands that commute as a bag of them."""
    new, kept, nodes = {}, {}, []
    for node in graph.nodes:
        inputs = tuple(new[i] for i in node.inputs)
        made = node if node.op == "input" else node.with_inputs(inputs)
        operands = frozenset(Counter(inputs).items()) if node.op in COMMUTATIVE else inputs
        attrs = tuple((k, _bytes(v)) for k, v in sorted(node.attrs.items()))
        key = node if node.op == "input" else (node.op, operands, attrs, node.type)
        if key not in kept:
            kept[key] = made
            nodes.append(made)
        new[node] = kept[key]
    return Graph(graph.name, graph.inputs, tuple(nodes), tuple(new[n] for n in graph.outputs))


equivalent("passes.cse", "enumerate(graph.inputs)", "enumerate(graph.nodes)",
           because="a number has to be another one for each node, and nothing more")  # fmt: skip
equivalent(
    "passes.cse",
    "for i in inputs]",
    "for i in reversed(list(inputs))]",
    because="turned around in every key, operands tell apart what they told apart",
)
equivalent("passes.cse", "((name, exactly(value))", "((exactly(value)",
           because="nodes of one op have the same attributes in the same order")  # fmt: skip
equivalent("passes.cse", "(node.op, tuple(operands), attrs)",
           "(attrs, tuple(operands), node.op)",
           because="the parts of a key may stand in any order")  # fmt: skip


@mutant("passes.cse")
def what_is_close_is_equal(graph):
    """Constants are compared to six digits."""

    def key(value):
        if isinstance(value, np.ndarray):
            return (str(value.dtype), value.shape, value.astype(np.float64).round(6).tobytes())
        return repr(value)

    return _cse(graph, attrs=key)


@mutant("passes.cse")
def all_pairs(graph):
    """Right, and compares each node with all that are kept."""
    kept = []

    def same(a, b):
        inputs = [a.inputs, a.inputs[::-1]] if a.op in COMMUTATIVE else [a.inputs]
        if a.op != b.op or a.type != b.type or b.inputs not in inputs:
            return False
        return [_bytes(v) for v in a.attrs.values()] == [_bytes(v) for v in b.attrs.values()]

    def visit(node, inputs):
        made = node.with_inputs(inputs)
        for other in kept:
            if same(other, made):
                return other
        kept.append(made)
        return made

    return graph.rebuild(visit)


@mutant("passes.cse")
def attributes_as_python_compares_them(graph):
    """0.0 == -0.0, so both pads are one to it."""
    return _cse(graph, attrs=lambda v: _bytes(v) if isinstance(v, np.ndarray) else v)


@mutant("passes.cse")
def attributes_that_are_said(graph):
    """An attribute that is 0, false or None is as good as none to it."""
    return _cse(graph, attrs=lambda v: _bytes(v) if isinstance(v, np.ndarray) else repr(v or None))


@mutant("passes.cse")
def in_single_precision(graph):
    """Looks at each constant as f32 numbers, and so at few digits of an f64."""

    def key(value):
        if isinstance(value, np.ndarray):
            return (str(value.dtype), value.shape, value.astype(np.float32).tobytes())
        return repr(value)

    return _cse(graph, attrs=key)


@mutant("passes.cse")
def only_small_constants(graph):
    """Large constants are hardly ever equal, it thinks."""

    def key(value):
        large = isinstance(value, np.ndarray) and value.nbytes > 4096
        return id(value) if large else _bytes(value)

    return _cse(graph, attrs=key)


def _by_operands(graph, operands_of):
    first = {}

    def visit(node, inputs):
        made = node.with_inputs(inputs)
        operands = frozenset(Counter(inputs).items())
        operands = operands if node.op in COMMUTATIVE else operands_of(inputs)
        attrs = tuple((k, _bytes(v)) for k, v in node.attrs.items())
        return first.setdefault((node.op, operands, attrs, node.type), made)

    return graph.rebuild(visit)


@mutant("passes.cse")
def looks_at_three_operands(graph):
    """A select has three. A concat may have more."""
    return _by_operands(graph, lambda inputs: (*inputs[:3], len(inputs)))


@mutant("passes.cse")
def more_than_three_in_any_order(graph):
    """Tells the order of two or three operands, and not that of four."""

    def operands(inputs):
        return inputs if len(inputs) < 4 else frozenset(Counter(inputs).items())

    return _by_operands(graph, operands)


@mutant("passes.cse")
def never_more_than_four(graph):
    """An operation with more operands stays as it is."""
    return _by_operands(graph, lambda inputs: inputs if len(inputs) < 5 else object())


@mutant("passes.cse")
def all_that_read_the_same(graph):
    """Compares each node with those of the same operands: with all of them, if one is popular."""
    readers = defaultdict(list)

    def visit(node, inputs):
        made = node.with_inputs(inputs)
        attrs = [_bytes(v) for v in node.attrs.values()]
        operands = frozenset(Counter(inputs).items()) if node.op in COMMUTATIVE else inputs
        for op, theirs, other in readers[operands]:
            if (op, theirs) == (node.op, attrs):
                return other
        readers[operands].append((node.op, attrs, made))
        return made

    return graph.rebuild(visit)
