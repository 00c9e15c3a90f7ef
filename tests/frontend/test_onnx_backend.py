"""ONNX's own backend node tests, and our committed table of what becomes of each.

    python tests/frontend/test_onnx_backend.py            run all of them and say what has changed
    python tests/frontend/test_onnx_backend.py --write    rewrite onnx_backend_table.json

The `onnx` wheel carries about 1900 small models, each with inputs and the outputs that it must
give. The table says for each either "passes" or why we do not claim it. All that are claimed run
here, on the interpreter and as machine code, so a claim that breaks fails the build.
"""

from __future__ import annotations

import json
import pickle
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest

import course_lib
from course_lib.frontend import coverage
from course_lib.frontend.onnx.read import from_onnx
from course_lib.frontend.onnx.values import NeedsConstant
from course_lib.frontend.onnx.write import to_onnx
from course_lib.frontend.provenance import UnsupportedOps
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.graph_interp import run

TABLE = Path(__file__).with_name("onnx_backend_table.json")
PASSES = "passes"
# What these want is the rounding of their own float32 where 0 is right.
OWN_ERROR = {"test_dft_inverse": 1e-6, "test_dft_inverse_opset19": 1e-6}
IN_SCOPE = {
    onnx.TensorProto.FLOAT,
    onnx.TensorProto.DOUBLE,
    onnx.TensorProto.INT32,
    onnx.TensorProto.INT64,
    onnx.TensorProto.BOOL,
    onnx.TensorProto.INT8,
    onnx.TensorProto.UINT8,
}


def node_tests() -> dict[str, Any]:
    """All node tests of the installed onnx, by name. Loading them computes what they must give."""
    from onnx.backend.test.loader import load_model_tests

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the cases compute overflows on purpose
        return {case.name: case for case in load_model_tests(kind="node")}


@pytest.fixture(scope="module")
def cases(once: Callable[..., Path]) -> dict[str, Any]:
    """The same, loaded by one worker for all."""
    folder = once("onnx-node-tests", lambda f: (f / "all").write_bytes(pickle.dumps(node_tests())))
    return pickle.loads((folder / "all").read_bytes())


def out_of_scope(case: Any) -> str:
    """Why a test is not about what this compiler is for; empty if it is."""
    infos = [*case.model.graph.input, *case.model.graph.output]
    kinds = {info.type.WhichOneof("value") for info in infos}
    if kinds - {"tensor_type"}:
        return "out of scope: sequences, maps or optionals"
    if any("training" in opset.domain for opset in case.model.opset_import):
        return "out of scope: training"
    codes = {info.type.tensor_type.elem_type for info in infos} - IN_SCOPE
    if codes:
        names = sorted(onnx.TensorProto.DataType.Name(code).lower() for code in codes)
        return f"out of scope: element type {', '.join(names)}"
    return ""


def graph_of(case: Any, inputs: Sequence[np.ndarray]) -> tuple[Graph, list[np.ndarray]]:
    """The test's model as a graph, and the inputs that are left.

    The tests pass shapes and axes as run-time inputs. We need them at compile time, so whichever
    input an op asks for is frozen to the value that the test gives.
    """
    given = {i.name: _array(x) for i, x in zip(case.model.graph.input, inputs, strict=False)}
    frozen: dict[str, np.ndarray] = {}
    while True:
        try:
            graph = from_onnx(case.model, given, freeze=frozen)
        except NeedsConstant as error:
            frozen |= {name: given[name] for name in error.inputs}
        else:
            return graph, [given[node.name] for node in graph.inputs]


def _array(value: Any) -> np.ndarray:
    """A few tests hold their values as TensorProto."""
    proto = isinstance(value, onnx.TensorProto)
    return onnx.numpy_helper.to_array(value) if proto else np.asarray(value)


def failure(case: Any, target: str = "interpreter") -> str:
    """Run one test. Empty if it passes, else what went wrong in one line."""
    for inputs, wanted in case.data_sets:
        graph, arguments = graph_of(case, inputs)
        if target == "interpreter":
            got = run(graph, arguments)
        else:
            result = course_lib.compile(graph, target=target)(*arguments)
            got = result if isinstance(result, (list, tuple)) else [result]
        for have, want in zip(got, wanted, strict=True):
            try:
                atol = max(case.atol, OWN_ERROR.get(case.name, 0))
                compare(np.asarray(have), _array(want), case.rtol, atol)
            except AssertionError as error:
                return " ".join(str(error).split())[:200]
    return ""


def compare(have: np.ndarray, want: np.ndarray, rtol: float, atol: float) -> None:
    """As onnx's own runner compares: same element type, same shape, close values."""
    assert have.dtype == want.dtype, f"element type {have.dtype}, wanted {want.dtype}"
    assert have.shape == want.shape, f"shape {have.shape}, wanted {want.shape}"
    np.testing.assert_allclose(have, want, rtol=rtol, atol=atol)


def verdict(case: Any) -> str:
    """What the table says about a test: "passes", or the reason why it is not claimed."""
    reason = out_of_scope(case)
    if reason:
        return reason
    try:
        wrong = failure(case)
    except UnsupportedOps as error:
        return f"unsupported: {', '.join(sorted({op for op, _ in error.ops}))}"
    except ValueError as error:
        return f"refused: {str(error).splitlines()[0]}"
    return f"differs: {wrong}" if wrong else PASSES


def table() -> dict[str, str]:
    return json.loads(TABLE.read_text())["tests"]


def claimed() -> list[str]:
    return [name for name, said in table().items() if said == PASSES]


def compiled() -> list[str]:
    """Tests for machine code. `x_expanded` is `x` written in simpler ops: one of them is enough."""
    names = claimed()
    return [name for name in names if name.removesuffix("_expanded") not in set(names) - {name}]


@pytest.mark.parametrize("name", claimed())
def test_claimed_node_test_passes_on_the_interpreter(cases: dict[str, Any], name: str) -> None:
    assert failure(cases[name]) == ""


@pytest.mark.parametrize("name", compiled())
def test_claimed_node_test_passes_on_the_cpu(cases: dict[str, Any], name: str) -> None:
    assert failure(cases[name], target="cpu") == ""


@pytest.mark.parametrize("target", ["interpreter", "cpu"])
@pytest.mark.parametrize("name", ["test_scan9_sum", "test_scan9_scalar", "test_scan9_multi_state"])
def test_node_test_for_scan_passes(cases: dict[str, Any], name: str, target: str) -> None:
    """They are of opset 9, which is not claimed; their few ops mean the same in opset 13."""
    model = onnx.ModelProto()
    model.CopyFrom(cases[name].model)
    model.opset_import[0].version = 13
    assert "scan" in [node.op for node in from_onnx(model).nodes]
    assert failure(replace(cases[name], model=model), target) == ""


# lppool uses sum_pool, which ONNX must spell as a convolution: equal up to rounding.
ROUNDED = ("test_lppool_2d_pads", "test_lppool_2d_strides", "test_lppool_3d_default")


# With zero points these are convolutions of i32, which ONNX does not have.
NOT_EXPORTED = ("test_convinteger_with_padding", "test_convinteger_without_padding",
                "test_qlinearconv")  # fmt: skip


@pytest.mark.parametrize("name", NOT_EXPORTED)
def test_what_onnx_has_no_op_for_is_refused_in_words(cases: dict[str, Any], name: str) -> None:
    graph, _ = graph_of(cases[name], cases[name].data_sets[0][0])
    with pytest.raises(ValueError, match="ONNX has convolutions of floats"):
        to_onnx(graph)


@pytest.mark.parametrize("name", [name for name in compiled() if name not in NOT_EXPORTED])
def test_claimed_node_test_survives_our_export(cases: dict[str, Any], name: str) -> None:
    """ONNX -> Graph -> ONNX: onnxruntime gives the wanted values, and we read our own file back."""
    case = cases[name]
    for inputs, wanted in case.data_sets:
        graph, arguments = graph_of(case, inputs)
        proto = to_onnx(graph)
        session = onnxruntime.InferenceSession(
            proto.SerializeToString(), providers=["CPUExecutionProvider"]
        )
        names = [value.name for value in session.get_inputs()]
        for have, want in zip(
            session.run(None, dict(zip(names, arguments, strict=True))), wanted, strict=True
        ):
            compare(np.asarray(have), _array(want), max(case.rtol, 1e-3), max(case.atol, 1e-6))
        back, there = run(from_onnx(proto), arguments), run(graph, arguments)
        for have, want in zip(back, there, strict=True):
            compare(have, want, 1e-5 if name in ROUNDED else 0, 0)


def test_table_names_every_test_of_the_installed_onnx(cases: dict[str, Any]) -> None:
    assert json.loads(TABLE.read_text())["onnx"] == onnx.__version__, "rewrite the table"
    assert sorted(table()) == sorted(cases)


def test_most_of_the_tests_in_scope_are_claimed(cases: dict[str, Any]) -> None:
    in_scope = [name for name, case in cases.items() if not out_of_scope(case)]
    assert len(set(claimed()) & set(in_scope)) / len(in_scope) >= 0.85


def test_whatever_is_not_claimed_has_a_reason() -> None:
    reasons = {said.split(":")[0] for said in table().values() if said != PASSES}
    assert reasons <= {"out of scope", "unsupported", "refused"}, "a wrong answer is a bug"


def test_no_op_that_has_a_rule_is_called_unsupported() -> None:
    refused = [said for said in table().values() if said.startswith("unsupported: ")]
    ops = {op for said in refused for op in said.removeprefix("unsupported: ").split(", ")}
    stale = ops & {name for names in coverage().values() for name in names}
    assert not stale, f"a new rule: python {Path(__file__).name} --write lists what passes now"


def summary(verdicts: dict[str, str]) -> str:
    in_scope = [said for said in verdicts.values() if not said.startswith("out of scope")]
    passing = sum(said == PASSES for said in in_scope)
    return (f"onnx {onnx.__version__}: {len(verdicts)} node tests, {len(in_scope)} in scope "
            f"(float32, float64, int32, int64, int8, uint8, bool tensors), {passing} pass "
            f"({passing / len(in_scope):.0%})")  # fmt: skip


def main(arguments: Sequence[str]) -> Iterator[str]:
    found = {name: verdict(case) for name, case in sorted(node_tests().items())}
    known = table() if TABLE.exists() else {}
    for name, said in found.items():
        if known.get(name) != said:
            yield f"{name}: {known.get(name, 'not in the table')}  ->  {said}"
    yield summary(found)
    if "--write" in arguments:
        content = {"onnx": onnx.__version__, "summary": summary(found), "tests": found}
        TABLE.write_text(json.dumps(content, indent=1) + "\n")
        yield f"wrote {TABLE.name}"


if __name__ == "__main__":
    for line in main(sys.argv[1:]):
        print(line)
