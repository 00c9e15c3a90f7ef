"""ONNX models for the surgery of unit 3 in which batch norms have to stay: `left_alone` has one
reason each, `mixtures` draws pairs that can be folded beside pairs that cannot.

Next room: onnx_results.py, what must be true of a result.
"""

from __future__ import annotations

import functools

import onnx
from hypothesis import strategies as st

from autograder.units.u03.checks import onnx_models as given
from autograder.units.u03.checks.onnx_models import CONV, OTHERS, PAIR, Case, choice, norm, small

READER = "if anything else reads c, or if c is an output of the graph"
TRAINING, SECOND = "if it is in training mode", "a second output with a name"
CONSTANT = "if w, b or one of the four vectors is not a constant"
REPLACED = "also an input of the graph"
PATTERN = "into the Conv before it"
DOMAIN = "if one of the two has a `domain` that is not empty"
INSIDE = "What stands in a graph inside a node (the branches of an If) stays as it is"
BIASED = "c = Conv(x, w, b)\n" + norm()
PARAMETERS = ("w", "b", *OTHERS)


@functools.cache
def left_alone() -> list[Case]:
    """Models in which nothing may be folded, each for one reason."""
    trained = norm(attrs="training_mode=1", more=", new_mean, new_var")
    older = norm(more=", new_mean, new_var, saved_mean, saved_var")
    outputs = "Until opset 13, more outputs than one mean training mode."
    replaced = small("v = Identity(w) c = Conv(x, v)\n" + norm(), "y", inputs=["w"])
    return [
        *((model, why, READER) for model, why in given.read_elsewhere(PAIR)),
        (small(PAIR + norm("c", "z"), "y", "z"), "Two batch norms read c.", READER),
        (small(CONV + trained, "y"), "The batch norm is in training mode.", TRAINING),
        (small(CONV + older, "y", opset=13), outputs, SECOND),
        (small(CONV + norm(more=', new_mean, "", "", ""'), "y", opset=9), outputs, SECOND),
        (small(CONV + norm(attrs="training_mode=1"), "y"), "The batch norm is in training mode.",
         "attribute `training_mode` 1"),
        *((small(f"{name} = Abs({name}_raw) {BIASED}", "y"), f"{name} is computed by a node.",
           CONSTANT) for name in PARAMETERS),
        *((small(BIASED, "y", inputs=[name]), f"A caller may replace {name}.", REPLACED)
          for name in PARAMETERS),
        (replaced, "A caller may replace what v is.", REPLACED),
        (small(PAIR.replace("Conv", "ConvTranspose"), "y"), "The weight of a ConvTranspose begins "
         "with its input channels.", "A ConvTranspose keeps its batch norm"),
        (small(norm("x"), "y"), "The norm reads what the caller gives.", PATTERN),
        *((small(f"{CONV} r = {op} {norm('r')}", "y"), f"The {op[:4].strip('(')} stands between "
           "the two.", PATTERN) for op in ("Relu(c)", "Add(c, offset)", "Mul(c, offset)")),
        *((small(PAIR.replace(op, f"nobody.{op}"), "y"), f"The {op} is of another domain.", DOMAIN)
          for op in ("Conv", "BatchNormalization")),
        (small(choice(PAIR, r="y"), "z"),
         "The pair stands in the branches of an If.", INSIDE),
    ]  # fmt: skip


FREE = ("plain", "biased", "held", "renamed")  # these pairs can be folded
STUCK = ("read", "returned", "replaceable", "computed", "transposed", "between")


@st.composite
def mixtures(draw: st.DrawFn, most: int = 3) -> tuple[onnx.ModelProto, int]:
    """Pairs in a row of which some cannot be folded, and how many norms have to stay; one of the
    parameters of each is replaceable, computed, renamed, or held by a Constant."""
    kinds = draw(st.lists(st.sampled_from((*FREE, *STUCK)), min_size=1, max_size=most))
    nodes, x, outputs, inputs, constants = "", "x", [], [], []
    for k, kind in enumerate(kinds):
        which, c = draw(st.integers(0, 5)), f"c{k}"
        parameters = [f"w{k}", *[f"b{k}"] * (kind == "biased" or which % 2)]
        op = "ConvTranspose" if kind == "transposed" else "Conv"
        nodes += f"{c} = {op}({', '.join([x, *parameters])})\n"
        nodes += f"t{k} = Tanh({c})\n" if kind == "between" else ""
        end = f"t{k}" if kind == "between" else c
        nodes += norm(end, f"y{k}", f"epsilon={0.01 * which + 0.01}")
        parameters += [name.replace("y", f"y{k}", 1) for name in OTHERS]
        name, x = parameters[which % len(parameters)], f"y{k}"
        inputs += [name] * (kind == "replaceable")
        constants += [name] * (kind == "held")
        outputs += [c] * (kind == "returned")
        if kind in ("computed", "renamed"):
            nodes = f"{name} = {'Abs' if kind == 'computed' else 'Identity'}({name}_raw)\n{nodes}"
        if kind == "read":
            nodes, x = nodes + f"n{k} = Neg({c}) s{k} = Add({x}, n{k})\n", f"s{k}"
        if draw(st.booleans()):
            nodes, x = nodes + f"r{k} = Relu({x})\n", f"r{k}"
    model = small(nodes, x, *outputs, x=(1, 4, 4), inputs=inputs, seed=draw(st.integers(0, 99)))
    for name in constants:
        given.held(model, name)
    return model, sum(kind in STUCK for kind in kinds)
