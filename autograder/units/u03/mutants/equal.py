"""Changes of our answers to unit 3 that leave them right."""

from __future__ import annotations

from autograder.check.exemplars import in_the_library
from autograder.check.framework import equivalent
from autograder.units.u03.checks.onnx import FOLD

NEGATIVE = "numpy takes any negative size for the one that it has to find"
ORDER = "in any order"
NAMES = "the text asks for no names, and for the origins of operations, not of constants"
A_SET = "a set is only quicker to look into"
ONCE = "nothing stands there before"
LAST = "there is one: the first is the last"

# ── passes.bn_fold ──

equivalent("passes.bn_fold", "reshape(-1", "reshape(-2", because=NEGATIVE)
equivalent("passes.bn_fold", "reshape(1, -1", "reshape(1, -2", because=NEGATIVE)
equivalent("passes.bn_fold", "w2 =", "w2 = replace(const(weights), ", because="a copy is the same")
equivalent("passes.bn_fold", "given=True", "given=False", because="a copy is the same")
equivalent("passes.bn_fold", "given=True), name=w.name", "given=True), origin", because=NAMES)
equivalent("passes.bn_fold", "name=w.name, origin", "given=True), name=w.name)", because=NAMES)
equivalent("passes.bn_fold", "name=w.name", "name=w.op", because=NAMES)
equivalent("passes.bn_fold", "origins(w, norm)", "origins(norm, w)", because=NAMES)
equivalent("passes.bn_fold", "multiply(w.value, column", "multiply(column, w.value",
           because="a product in either order")  # fmt: skip
equivalent("passes.bn_fold", "out=weights, casting", "column, out=weights)",
           because="float64 is rounded to another float by either rule")  # fmt: skip
equivalent("passes.bn_fold", "b2 =", "b2 = replace(const(bias, w.type.dtype), ", because=NAMES)
equivalent(
    "passes.bn_fold", "name=before.conv.name, ", "apply('conv', x, w2, origin", because=NAMES
)
equivalent("passes.bn_fold", "name=before.conv.name", "name=before.conv.op", because=NAMES)
equivalent("passes.bn_fold", "'add', conv, b2", "'add', b2, conv", because="a sum in either order")
equivalent("passes.bn_fold", "conv, b2, name=norm.name", "conv, b2, origin", because=NAMES)
equivalent("passes.bn_fold", "name=norm.name", "name=norm.op", because=NAMES)
equivalent(
    "passes.bn_fold",
    "if old is None or new is None",
    "if old is None:",
    because="only norms change on the way, so what stood before a norm stands before the new one",
)
equivalent("passes.bn_fold", "set(graph.outputs)", "graph.users(), graph.outputs", because=A_SET)

# ── u03.saved ──

equivalent("u03.saved", "graph.ops", "graph.nodes", because="the program has no constants")
equivalent("u03.saved", "(*graph.inputs, *graph.outputs)", "(*graph.outputs, *", because=ORDER)
for near in ("1000001", "999999"):
    equivalent("u03.saved", "1000000", near, because="the answer counts within 1 %")

# ── passes.horizontal ──

equivalent(
    "passes.horizontal", "(b.matmul, b.end)", "(b.end, b.matmul)", because="origins in any order"
)
equivalent("passes.horizontal", "origin=origin), origin", ")), origin=origin)", because=NAMES)
equivalent("passes.horizontal", "stops=stops, name=end.name, ", "stops=stops, ", because=NAMES)
for other in ("family[1].bias", "family[-1].bias"):
    equivalent(
        "passes.horizontal", "family[0].bias", other, because="all have a bias or all have none"
    )
equivalent(
    "passes.horizontal",
    "for b in family if b.bias is not None",
    "for b in family])",
    because="all have a bias here; the condition is for the type checker",
)
equivalent("passes.horizontal", "reshape(-1)", "reshape(-2)", because=NEGATIVE)
equivalent(
    "passes.horizontal", "'add', product, ", "'add', replace", because="a sum in either order"
)
equivalent(
    "passes.horizontal",
    "(branch.matmul.inputs[0], branch.bias is not None)",
    "(branch.bias is not None, branch.matmul.inputs[0])",
    because="a key in another order tells the same families apart",
)
equivalent(
    "passes.horizontal",
    "branch.bias is not None",
    "branch.bias is None",
    because="the opposite tells the same families apart",
)
equivalent("passes.horizontal", "operand[node] = inputs[0]", "setdefault", because=ONCE)
equivalent("passes.horizontal", "merged[first.end] = _merged", "setdefault", because=ONCE)

# ── passes.fuse ──

equivalent(
    "passes.fuse",
    "reversed(graph.nodes)",
    "reversed(graph.ops)",
    because="inputs and constants are in no group",
)
equivalent(
    "passes.fuse",
    "readers[0]",
    "readers[-1]",
    because="if a node joins, its readers are in one group",
)
equivalent(
    "passes.fuse",
    "bool(readers) and ",
    "joins = node not in outputs",
    because="without readers the group is a new list, so the node is alone in it all the same",
)
equivalent(
    "passes.fuse",
    "reversed(graph.nodes)",
    "[:-1]",
    because="the first node is an input or constant",
)
equivalent("passes.fuse", "set(graph.outputs)", "graph.users(), graph.outputs", because=A_SET)
equivalent("passes.fuse", "group_of[node] = group", "setdefault", because=ONCE)
equivalent(
    "passes.fuse",
    "for reader in readers)) and fits",
    "list(readers)[1:]",
    because="the group is that of the first reader",
)

# ── passes.should_fuse ──

# Whatever is legal earns something, and the more it saves the more.
in_the_library("passes.should_fuse", "course_lib.passes.fusion.should_fuse.same_shape",
               because="the stand-in, which the task gives: it saves a part")  # fmt: skip
in_the_library("passes.should_fuse", "autograder.units.u02.checks.signs._passes_on",
               because="a rule about two nodes that happens to hold where it pays")  # fmt: skip

SCORE = "any answer is correct, and in the programs of the score "
NO_MOVES = SCORE + "fuse never asks about a movement that is read at another size"
NO_READER = SCORE + "no movement of other elements than all of them could hold its operand"
for new in ("pass", "producer.name in MOVES"):
    equivalent("passes.should_fuse", "if producer.op in MOVES:", new, because=NO_MOVES)
equivalent("passes.should_fuse", "return True", "pass", because=NO_MOVES)
for old, new in (
    ("if consumer.op in MOVES:", "pass"),
    ("if consumer.op in MOVES:", "consumer.name in MOVES"),
    ("return consumer.op != 'expand'", "pass"),
    ("return consumer.op != 'expand'", "return consumer.op == 'expand'"),
    ("return consumer.op != 'expand'", "return consumer.name != 'expand'"),
    ("return consumer.op != 'expand'", "return consumer.op != 'floor'"),
):
    equivalent("passes.should_fuse", old, new, because=NO_READER)
equivalent(
    "passes.should_fuse",
    "return same or per_row(",
    "return per_row(",
    because="of two equal shapes, one is one number for each row of the other, a row of one",
)

# ── frontend.onnx_surgery.fold_batch_norms ──

TYPES = "until opset 21 a Conv of ONNX takes no other element types than these three"
IN_A_ROW = "the text leaves open what becomes of the second of two norms in a row"

for old, new in (
    ("if any((constants[name].data_type", "pass"),
    ("if any((constants[name].data_type", "if all((constants[name].data_type"),
    ("return False", "pass"),
    *(("return False", f"return {name}") for name in ("True", "norm", "conv", "constants", "uses")),
):
    equivalent(FOLD, old, new, because=TYPES)
equivalent(FOLD, "parameters = [name", "in reversed(list(", because=ORDER)
equivalent(FOLD, "parameters = [name", "(*norm.input[1:], *conv.input[1:])", because=ORDER)
equivalent(
    FOLD,
    "*norm.input[1:]) if name]",
    "*norm.input[1:])]",
    because='a bias that is left out by the name "" may make the pair stay',
)
equivalent(FOLD, "uses[conv.output[0]]", "uses[conv.output[-1]]", because=LAST)
equivalent(FOLD, "conv.output[0] = norm", "conv.output[-1] = norm", because=LAST)
equivalent(FOLD, "norm.input[1:5]", "norm.input[1:])", because="a norm has five inputs")
equivalent(FOLD, "norm.input[1:5]", "norm.input[1:6]", because="a norm has five inputs")
equivalent(FOLD, "factor.reshape(-1", "factor.reshape(-2", because=NEGATIVE)
equivalent(
    FOLD,
    "taken.add(name)",
    "pass",
    because="no two norms write the same value, after which the new initializers are named",
)
equivalent(FOLD, "for norm in [n for n in", "in reversed(list(", because=IN_A_ROW)
equivalent(FOLD, "((weight, 'weight'), (bias, 'bias'))", "in reversed(list(", because=ORDER)
equivalent(FOLD, "((weight, 'weight'), (bias, 'bias'))", "((bias, 'bias'), (", because=ORDER)
equivalent(FOLD, "writer[norm.output[0]] = conv", "pass", because=IN_A_ROW)
equivalent(FOLD, "writer[norm.output[0]] = conv", "writer[norm.output[-1]]", because=IN_A_ROW)
equivalent(FOLD, "constants[tensor.name] = tensor", "pass", because=IN_A_ROW)
equivalent(FOLD, "writer[norm.output[0]] = conv", "setdefault", because=IN_A_ROW)
equivalent(FOLD, "constants[tensor.name] = tensor", "setdefault", because=ONCE)
equivalent(FOLD, "graph.initializer.append(tensor)", "insert(0", because=ORDER)
for part in ("[1:]", "[:-1]"):
    equivalent(FOLD, "in FOLDABLE for name in parameters", part, because=TYPES)
equivalent(FOLD, "writer = {name: node for node in graph.node", "[:-1]",
           because="behind the last node stands no norm")  # fmt: skip
equivalent(FOLD, "for norm in [n for n in graph.node", "[1:]",
           because="before the first node stands no Conv")  # fmt: skip
