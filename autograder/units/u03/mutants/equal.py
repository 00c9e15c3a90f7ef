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

EQUIVALENT: dict[str, dict[str, list[tuple[str, str]]]] = {
    "passes.bn_fold": {
        NEGATIVE: [("reshape(-1", "reshape(-2"), ("reshape(1, -1", "reshape(1, -2")],
        A_COPY: [("w2 =", "w2 = replace(const(weights), "), ("given=True", "given=False")],
        NAMES: [
            ("given=True), name=w.name", "given=True), origin"),
            ("name=w.name, origin", "given=True), name=w.name)"),
            ("name=w.name", "name=w.op"),
            ("origins(w, norm)", "origins(norm, w)"),
            ("b2 =", "b2 = replace(const(bias, w.type.dtype), "),
            ("name=before.conv.name, ", "apply('conv', x, w2, origin"),
            ("name=before.conv.name", "name=before.conv.op"),
            ("conv, b2, name=norm.name", "conv, b2, origin"),
            ("name=norm.name", "name=norm.op"),
        ],
        EITHER: [
            ("multiply(w.value, column", "multiply(column, w.value"),
            ("'add', conv, b2", "'add', b2, conv"),
        ],
        "float64 is rounded to another float by either rule": [
            ("out=weights, casting", "column, out=weights)")
        ],
        "only norms change on the way, so what stood before a norm stands before the new one": [
            ("if old is None or new is None", "if old is None:")
        ],
        A_SET: [("set(graph.outputs)", "graph.users(), graph.outputs")],
    },
    "u03.saved": {
        "the program has no constants": [("graph.ops", "graph.nodes")],
        ORDER: [("(*graph.inputs, *graph.outputs)", "(*graph.outputs, *")],
        "the answer counts within 1 %": [("1000000", "1000001"), ("1000000", "999999")],
    },
    "passes.horizontal": {
        "origins in any order": [("(b.matmul, b.end)", "(b.end, b.matmul)")],
        NAMES: [
            ("origin=origin), origin", ")), origin=origin)"),
            ("stops=stops, name=end.name, ", "stops=stops, "),
        ],
        "all have a bias or all have none": [
            ("family[0].bias", "family[1].bias"),
            ("family[0].bias", "family[-1].bias"),
        ],
        "all have a bias here; the condition is for the type checker": [
            ("for b in family if b.bias is not None", "for b in family])")
        ],
        NEGATIVE: [("reshape(-1)", "reshape(-2)")],
        EITHER: [("'add', product, ", "'add', replace")],
        "a key in another order, or the opposite, tells the same families apart": [
            (
                "(branch.matmul.inputs[0], branch.bias is not None)",
                "(branch.bias is not None, branch.matmul.inputs[0])",
            ),
            ("branch.bias is not None", "branch.bias is None"),
        ],
        ONCE: [
            ("operand[node] = inputs[0]", "setdefault"),
            ("merged[first.end] = _merged", "setdefault"),
        ],
    },
    "passes.fuse": {
        "inputs and constants are in no group": [("reversed(graph.nodes)", "reversed(graph.ops)")],
        "the first node is an input or constant": [("reversed(graph.nodes)", "[:-1]")],
        "if a node joins, its readers are in one group": [("readers[0]", "readers[-1]")],
        "without readers the group is a new list, so the node is alone in it all the same": [
            ("bool(readers) and ", "joins = node not in outputs")
        ],
        A_SET: [("set(graph.outputs)", "graph.users(), graph.outputs")],
        ONCE: [("group_of[node] = group", "setdefault")],
        "the group is that of the first reader": [
            ("for reader in readers)) and fits", "list(readers)[1:]")
        ],
    },
    "passes.should_fuse": {
        NO_MOVES: [
            ("if producer.op in MOVES:", "pass"),
            ("if producer.op in MOVES:", "producer.name in MOVES"),
            ("return True", "pass"),
        ],
        NO_READER: [
            (IN_MOVES, "pass"),
            (IN_MOVES, "consumer.name in MOVES"),
            (NO_EXPAND, "pass"),
            (NO_EXPAND, "return consumer.op == 'expand'"),
            (NO_EXPAND, "return consumer.name != 'expand'"),
            (NO_EXPAND, "return consumer.op != 'floor'"),
        ],
        "of two equal shapes, one is one number for each row of the other, a row of one": [
            ("return same or per_row(", "return per_row(")
        ],
    },
    FOLD: {
        TYPES: [
            *((ANY, new) for new in ("pass", "if all((constants[name].data_type")),
            *(
                ("return False", f"return {name}")
                for name in ["True", "norm", "conv", "constants", "uses"]
            ),
            ("return False", "pass"),
            *(("in FOLDABLE for name in parameters", part) for part in ("[1:]", "[:-1]")),
        ],
        ORDER: [
            ("parameters = [name", "in reversed(list("),
            ("parameters = [name", "(*norm.input[1:], *conv.input[1:])"),
            (BOTH, "in reversed(list("),
            (BOTH, "((bias, 'bias'), ("),
            ("graph.initializer.append(tensor)", "insert(0"),
        ],
        'a bias that is left out by the name "" may make the pair stay': [
            ("*norm.input[1:]) if name]", "*norm.input[1:])]")
        ],
        LAST: [
            ("uses[conv.output[0]]", "uses[conv.output[-1]]"),
            ("conv.output[0] = norm", "conv.output[-1] = norm"),
        ],
        FIVE: [("norm.input[1:5]", "norm.input[1:])"), ("norm.input[1:5]", "norm.input[1:6]")],
        NEGATIVE: [("factor.reshape(-1", "factor.reshape(-2")],
        "no two norms write the same value, after which the new initializers are named": [
            ("taken.add(name)", "pass")
        ],
        IN_A_ROW: [
            ("for norm in [n for n in", "in reversed(list("),
            *((WRITES, new) for new in ("pass", "writer[norm.output[-1]]", "setdefault")),
            ("constants[tensor.name] = tensor", "pass"),
        ],
        ONCE: [("constants[tensor.name] = tensor", "setdefault")],
        FIRST: [
            ("writer = {name: node for node in graph.node", "[:-1]"),
            ("for norm in [n for n in graph.node", "[1:]"),
        ],
    },
    RELU: {
        LAST: [
            ("uses[conv.output[0]]", "uses[conv.output[-1]]"),
            ("conv.output[0] = relu", "conv.output[-1] = relu"),
            ("relu.output[0]", "relu.output[-1]"),
            ("relu.input[0]", "relu.input[-1]"),
        ],
        ORDER: [
            ("for relu in [n for n in", "in reversed(list("),
            ("conv.attribute.append(", "conv.attribute.insert(0"),
            ("[known.domain", "reversed(list(model.opset_import))"),
            ("model.opset_import.append(", "model.opset_import.insert(0"),
        ],
        FIRST: [
            ("for relu in [n for n in", "list(graph.node)[1:]"),
            ("{name: node for node in", "list(graph.node)[:-1]"),
        ],
    },
}
for exercise, reasons in EQUIVALENT.items():
    for reason, changes in reasons.items():
        for old, new in changes:
            equivalent(exercise, old, new, because=reason)
