"""A small ONNX file that would be a huge one, written out, is refused before it is.

25 functions, each calls the next one twice   ->   "its 1 nodes would be 33,554,432"
"""

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from course_lib.frontend.onnx import functions
from course_lib.frontend.onnx.functions import without_functions
from course_lib.frontend.onnx.read import from_onnx

OPSETS = [helper.make_opsetid("", 17), helper.make_opsetid("d", 1)]
info = helper.make_tensor_value_info


def called(bodies: list[list[str]]) -> onnx.ModelProto:
    """Functions f0, f1, ... of one operand; each calls, one after the other, what it lists."""
    made = []
    for number, calls in enumerate(bodies):
        names = ["x", *(f"v{k}" for k in range(1, len(calls))), "y"]
        nodes = [helper.make_node(op, [a], [b], domain="" if op == "Relu" else "d")
                 for op, a, b in zip(calls, names, names[1:], strict=False)]  # fmt: skip
        made.append(helper.make_function("d", f"f{number}", ["x"], ["y"], nodes, OPSETS))
    first = helper.make_node("f0", ["x"], ["y"], domain="d")
    graph = helper.make_graph([first], "g", [info("x", 1, [2])], [info("y", 1, [2])])
    return helper.make_model(graph, functions=made, opset_imports=OPSETS, ir_version=8)


def chain(length: int, times: int, last: str = "Relu") -> onnx.ModelProto:
    return called([times * [f"f{k + 1}" if k + 1 < length else last] for k in range(length)])


def test_functions_that_call_each_other_are_read() -> None:
    assert [n.op for n in from_onnx(chain(3, 2)).ops] == 8 * ["relu"]


def test_what_functions_grow_to_is_counted_before_they_do() -> None:
    proto = chain(25, 2)
    assert proto.ByteSize() < 3000
    with pytest.raises(ValueError, match=r"its 1 nodes would be 33,554,432; functions may add up"):
        from_onnx(proto)
    with pytest.raises(ValueError, match=r"would be 1,267,650,600,228,229,401,496,703,205,376"):
        without_functions(chain(100, 2), "huge.onnx")


def test_a_call_in_a_branch_counts_too() -> None:
    branch = helper.make_graph([helper.make_node("f0", ["x"], ["o"], domain="d")], "b", [],
                               [info("o", 1, [2])])  # fmt: skip
    proto = chain(25, 2)
    proto.graph.node[0].CopyFrom(
        helper.make_node("If", ["c"], ["y"], then_branch=branch, else_branch=branch)
    )
    with pytest.raises(ValueError, match=r"its 3 nodes would be 67,108,865"):
        without_functions(proto, "x.onnx")


@pytest.mark.parametrize(
    ("bodies", "circle"),
    [([["f0"]], "f0 calls f0"), ([["f1"], ["f2"], ["f0"]], "f0 calls f1 calls f2 calls f0")],
)
def test_a_function_that_calls_itself_is_named(bodies: list[list[str]], circle: str) -> None:
    with pytest.raises(ValueError, match=f"its functions never end, .* itself: .*{circle[-11:]}"):
        from_onnx(called(bodies))


def test_what_onnx_refuses_about_functions_is_told_in_words() -> None:
    with pytest.raises(ValueError, match=r"onnx cannot inline its functions: .*depth"):
        from_onnx(chain(5000, 1))


def loops(depth: int, trips: int) -> onnx.ModelProto:
    """Loops in each other. The state grows, so that they have to be written out."""

    def body(depth: int) -> onnx.GraphProto:
        inner: dict[str, Any] = {"body": body(depth - 1)} if depth else {"axis": 0}
        operands = ["n", "yes", "s"] if depth else ["s", "x"]
        nodes = [helper.make_node("Identity", ["c"], ["c2"]),
                 helper.make_node("Loop" if depth else "Concat", operands, ["s2"], **inner),
                 ]  # fmt: skip
        before = [info("i", TensorProto.INT64, []), info("c", TensorProto.BOOL, [])]
        after = [info("c2", TensorProto.BOOL, []), info("s2", 1, None)]
        return helper.make_graph(nodes, "body", [*before, info("s", 1, None)], after)

    node = helper.make_node("Loop", ["n", "yes", "x"], ["y"], body=body(depth - 1))
    held = {"n": np.array(trips), "yes": np.array(True)}
    graph = helper.make_graph([node], "g", [info("x", 1, [1])], [info("y", 1, None)],
                              [numpy_helper.from_array(v, k) for k, v in held.items()])  # fmt: skip
    return helper.make_model(graph, opset_imports=OPSETS[:1], ir_version=8)


@pytest.mark.parametrize(("depth", "trips"), [(2, 40), (4, 10), (12, 2)])
def test_loops_in_loops_multiply_and_end(depth: int, trips: int, monkeypatch) -> None:
    assert len(from_onnx(loops(1, 10)).ops) == 10
    monkeypatch.setattr(functions, "MOST", 1000)
    with pytest.raises(ValueError, match="the loops of this model have more than 1,000 nodes"):
        from_onnx(loops(depth, trips))
