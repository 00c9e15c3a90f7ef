"""Changes of our answers to unit 3 that leave them right, by exercise and reason: what stands in
the line before, and after."""

from __future__ import annotations

from autograder.check.exemplars import in_the_library
from autograder.check.framework import equivalent
from autograder.units.u03.checks.onnx import FOLD
from autograder.units.u03.checks.onnx_relu import RELU

NEGATIVE = "numpy takes any negative size for the one that it has to find"
ORDER = "in any order"
NAMES = "the text asks for no names, and for the origins of operations, not of constants"
A_COPY = "a copy is the same"
A_SET = "a set is only quicker to look into"
ONCE = "nothing stands there before"
EITHER = "a sum or product in either order"

# Whatever is legal earns something, and the more it saves the more.
in_the_library("passes.should_fuse", "course_lib.passes.fusion.should_fuse.same_shape",
               because="the stand-in, which the task gives: it saves a part")  # fmt: skip
in_the_library("passes.should_fuse", "autograder.units.u02.checks.signs._passes_on",
               because="a rule about two nodes that happens to hold where it pays")  # fmt: skip

SCORE = "any answer is correct, and in the programs of the score "
NO_MOVES = SCORE + "fuse never asks about a movement that is read at another size"
NO_READER = SCORE + "no movement of other elements than all of them could hold its operand"
IN_MOVES, NO_EXPAND = "if consumer.op in MOVES:", "return consumer.op != 'expand'"

IN_A_ROW = "the text leaves open what becomes of the second of two norms in a row"
TYPES = "until opset 21 a Conv of ONNX takes no other element types than these three"
FIVE = "a norm has five inputs"
LAST = "a Conv, a norm and a Relu have one output, a Relu has one input"
FIRST = "a norm or Relu that reads a Conv is not the first node, and its Conv is not the last"
ANY, BOTH = "if any((constants[name].data_type", "((weight, 'weight'), (bias, 'bias'))"
RETURNED = ("pass", *map("return {}".format, ("True", "norm", "conv", "constants", "uses")))
WRITES = "writer[norm.output[0]] = conv"

NORMS = "only norms change on the way, so what stood before a norm stands before the new one"
ROUNDED = "float64 is rounded to another float by either rule"
NEAR = "the answer counts within 1 %"
BIASES = "all have a bias or all have none"
CHECKER = "all have a bias here; the condition is for the type checker"
KEYS = "a key in another order, or the opposite, tells the same families apart"
NO_GROUP = "inputs and constants are in no group, and the first node is one of them"
ONE_GROUP = "if a node joins, its readers are in one group, that of the first reader"
ALONE = "without readers the group is a new list, so the node is alone in it all the same"
ROWS = "of two equal shapes, one is one number for each row of the other, a row of one"
OPEN = 'a bias that is left out by the name "" may make the pair stay'
FREE = "no two norms write the same value, after which the new initializers are named"
FAMILY = "(branch.matmul.inputs[0], branch.bias is not None)"
OUTPUTS, BACKWARDS = "set(graph.outputs)", "reversed(graph.nodes)"
FILED, KNOWN_TYPE = "constants[tensor.name] = tensor", "in FOLDABLE for name in parameters"

EQUIVALENT: dict[str, list[tuple[str, str, str]]] = {
    "passes.bn_fold": [
        ("reshape(-1", "reshape(-2", NEGATIVE),
        ("reshape(1, -1", "reshape(1, -2", NEGATIVE),
        ("w2 =", "w2 = replace(const(weights), ", A_COPY),
        ("given=True", "given=False", A_COPY),
        ("given=True), name=w.name", "given=True), origin", NAMES),
        ("name=w.name, origin", "given=True), name=w.name)", NAMES),
        ("name=w.name", "name=w.op", NAMES),
        ("origins(w, norm)", "origins(norm, w)", NAMES),
        ("b2 =", "b2 = replace(const(bias, w.type.dtype), ", NAMES),
        ("name=before.conv.name, ", "apply('conv', x, w2, origin", NAMES),
        ("name=before.conv.name", "name=before.conv.op", NAMES),
        ("conv, b2, name=norm.name", "conv, b2, origin", NAMES),
        ("name=norm.name", "name=norm.op", NAMES),
        ("multiply(w.value, column", "multiply(column, w.value", EITHER),
        ("'add', conv, b2", "'add', b2, conv", EITHER),
        ("out=weights, casting", "column, out=weights)", ROUNDED),
        ("if old is None or new is None", "if old is None:", NORMS),
        (OUTPUTS, "graph.users(), graph.outputs", A_SET),
    ],
    "u03.saved": [
        ("graph.ops", "graph.nodes", "the program has no constants"),
        ("(*graph.inputs, *graph.outputs)", "(*graph.outputs, *", ORDER),
        ("1000000", "1000001", NEAR),
        ("1000000", "999999", NEAR),
    ],
    "passes.horizontal": [
        ("(b.matmul, b.end)", "(b.end, b.matmul)", "origins in any order"),
        ("origin=origin), origin", ")), origin=origin)", NAMES),
        ("stops=stops, name=end.name, ", "stops=stops, ", NAMES),
        ("family[0].bias", "family[1].bias", BIASES),
        ("family[0].bias", "family[-1].bias", BIASES),
        ("for b in family if b.bias is not None", "for b in family])", CHECKER),
        ("reshape(-1)", "reshape(-2)", NEGATIVE),
        ("'add', product, ", "'add', replace", EITHER),
        (FAMILY, "(branch.bias is not None, branch.matmul.inputs[0])", KEYS),
        ("branch.bias is not None", "branch.bias is None", KEYS),
        ("operand[node] = inputs[0]", "setdefault", ONCE),
        ("merged[first.end] = _merged", "setdefault", ONCE),
    ],
    "passes.fuse": [
        (BACKWARDS, "reversed(graph.ops)", NO_GROUP),
        (BACKWARDS, "[:-1]", NO_GROUP),
        ("readers[0]", "readers[-1]", ONE_GROUP),
        ("for reader in readers)) and fits", "list(readers)[1:]", ONE_GROUP),
        ("bool(readers) and ", "joins = node not in outputs", ALONE),
        (OUTPUTS, "graph.users(), graph.outputs", A_SET),
        ("group_of[node] = group", "setdefault", ONCE),
    ],
    "passes.should_fuse": [
        ("if producer.op in MOVES:", "pass", NO_MOVES),
        ("if producer.op in MOVES:", "producer.name in MOVES", NO_MOVES),
        ("return True", "pass", NO_MOVES),
        (IN_MOVES, "pass", NO_READER),
        (IN_MOVES, "consumer.name in MOVES", NO_READER),
        (NO_EXPAND, "pass", NO_READER),
        (NO_EXPAND, "return consumer.op == 'expand'", NO_READER),
        (NO_EXPAND, "return consumer.name != 'expand'", NO_READER),
        (NO_EXPAND, "return consumer.op != 'floor'", NO_READER),
        ("return same or per_row(", "return per_row(", ROWS),
    ],
    FOLD: [
        *((ANY, new, TYPES) for new in ("pass", "if all((constants[name].data_type")),
        *(("return False", new, TYPES) for new in RETURNED),
        *((KNOWN_TYPE, part, TYPES) for part in ("[1:]", "[:-1]")),
        ("parameters = [name", "in reversed(list(", ORDER),
        ("parameters = [name", "(*norm.input[1:], *conv.input[1:])", ORDER),
        (BOTH, "in reversed(list(", ORDER),
        (BOTH, "((bias, 'bias'), (", ORDER),
        ("graph.initializer.append(tensor)", "insert(0", ORDER),
        ("*norm.input[1:]) if name]", "*norm.input[1:])]", OPEN),
        ("uses[conv.output[0]]", "uses[conv.output[-1]]", LAST),
        ("conv.output[0] = norm", "conv.output[-1] = norm", LAST),
        *(("norm.input[1:5]", new, FIVE) for new in ("norm.input[1:])", "norm.input[1:6]")),
        ("factor.reshape(-1", "factor.reshape(-2", NEGATIVE),
        ("taken.add(name)", "pass", FREE),
        ("for norm in [n for n in", "in reversed(list(", IN_A_ROW),
        *((WRITES, new, IN_A_ROW) for new in ("pass", "writer[norm.output[-1]]", "setdefault")),
        (FILED, "pass", IN_A_ROW),
        (FILED, "setdefault", ONCE),
        ("writer = {name: node for node in graph.node", "[:-1]", FIRST),
        ("for norm in [n for n in graph.node", "[1:]", FIRST),
    ],
    RELU: [
        ("uses[conv.output[0]]", "uses[conv.output[-1]]", LAST),
        ("conv.output[0] = relu", "conv.output[-1] = relu", LAST),
        ("relu.output[0]", "relu.output[-1]", LAST),
        ("relu.input[0]", "relu.input[-1]", LAST),
        ("for relu in [n for n in", "in reversed(list(", ORDER),
        ("conv.attribute.append(", "conv.attribute.insert(0", ORDER),
        ("[known.domain", "reversed(list(model.opset_import))", ORDER),
        ("model.opset_import.append(", "model.opset_import.insert(0", ORDER),
        ("for relu in [n for n in", "list(graph.node)[1:]", FIRST),
        ("{name: node for node in", "list(graph.node)[:-1]", FIRST),
    ],
}
for exercise, rows in EQUIVALENT.items():
    for old, new, reason in rows:
        equivalent(exercise, old, new, because=reason)
