"""Every rule of the passes that are lists of rules, on every element type: it keeps the meaning, or
it does not match."""

import inspect
from collections.abc import Iterator

import numpy as np
import pytest

from course_lib.ir.graph.build import abs, apply, const, inp, relu, trace
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.graph_interp import run
from course_lib.ir.graph.node import Node
from course_lib.ir.graph.verify import verify
from course_lib.ir.types import DTYPES, DType, TensorType
from course_lib.passes.clean import simplify, strength
from course_lib.passes.infra.rewrite import rewrite
from course_lib.passes.infra.rule import Rule, rule

PASSES = {"simplify": simplify.simplify, "strength": strength.strength}


def rules_of(name: str) -> list[Rule]:
    """The rules that a pass hands to `rewrite`."""
    given = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            f"course_lib.passes.clean.{name}.rewrite", lambda graph, rules: given.extend(rules)
        )
        PASSES[name](trace(lambda x: x, "f32[]"))
    return [one for one in given if isinstance(one, Rule)]


RULES = [pytest.param(name, one, id=f"{name}: {one}") for name in PASSES for one in rules_of(name)]


def odd_numbers(type: TensorType) -> np.ndarray:
    """The numbers that rules get wrong, repeated to fill the shape."""
    if type.dtype.is_float:
        odd = [0.0, -0.0, 1.5, -2.0, np.inf, -np.inf, np.nan]
    elif type.dtype.kind == "bool":
        odd = [True, False]
    else:
        info = np.iinfo(type.dtype.numpy)
        odd = [0, 1, 7, info.max, info.min]
    return np.resize(np.array(odd, type.dtype.numpy), type.dims)


def operands(one: Rule, dtype: DType, shape: str) -> Iterator[list[Node]]:
    """Inputs for the rule's variables; and numbers that no rule about signs refuses, or a constant
    for the last one."""
    names = list(inspect.signature(one.before).parameters)
    types = [one.types.get(name, f"{dtype}[]").replace("[]", shape) for name in names]
    inputs = [inp(name, type) for name, type in zip(names, types, strict=True)]
    yield inputs
    if dtype.is_float:
        yield [abs(x) if x.type.dtype.is_float else x for x in inputs]
    if dtype.kind != "bool":
        powers = np.resize(np.array([1, 2, 8], dtype.numpy), inputs[-1].type.dims)
        yield [*inputs[:-1], const(powers)]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # 1 / 0 is among the numbers
@pytest.mark.parametrize("shape", ["[7]", "[]", "[0]"])
@pytest.mark.parametrize(("name", "one"), RULES)
def test_a_rule_keeps_the_meaning_on_every_element_type(name: str, one: Rule, shape: str) -> None:
    applied = 0
    for dtype in DTYPES.values():
        if one.pattern(dtype) is None:
            continue
        for nodes in operands(one, dtype, shape):
            before = Graph.of([], [one.before(*nodes)])
            inputs = [n for n in before.nodes if n.op == "input"]
            before = Graph.of(inputs, before.outputs)
            after = verify(rewrite(before, [one]))
            applied += after.outputs != before.outputs
            assert after.outputs[0].type == before.outputs[0].type
            arrays = [odd_numbers(n.type) for n in inputs]
            old, new = run(before, arrays)[0], run(after, arrays)[0]
            exact = name == "simplify" or not dtype.is_float
            np.testing.assert_allclose(new, old, rtol=0 if exact else 4 * eps(dtype))
    assert applied or shape == "[0]"  # a constant without elements is no number


def eps(dtype: DType) -> float:
    return float(np.finfo(dtype.numpy).eps)


def test_a_rule_does_not_match_a_type_that_lacks_an_op_of_its_right_side() -> None:
    negate = rule(lambda x: 0 - x, lambda x: -x)
    for dtype in DTYPES.values():
        if dtype.kind != "bool":
            x = inp("x", f"{dtype}[4]")
            assert (negate(0 - x) is None) == (dtype.kind == "uint")


def test_a_rule_may_have_a_right_side_for_integers_only() -> None:
    masked = rule(lambda x: apply("mod", x, 2), lambda x: apply("bit_and", x, 1))
    assert str(masked) == "mod(%x, 2) -> bit_and(%x, 1)"
    assert masked(apply("mod", inp("x", "f32[4]"), 2)) is None


def test_a_rule_whose_right_side_has_no_element_type_is_refused() -> None:
    with pytest.raises(ValueError, match=r"fits no element type .*bool"):
        rule(lambda x: relu(x), lambda x: apply("not", x))
