"""Linalg on tensors comes back as a graph that computes the same.

from_mlir(to_mlir(graph, "resources"))  ~  graph          and what torch-mlir prints, too
"""

import importlib.util
import random
import re

import numpy as np
import pytest

from course_lib.__main__ import main
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.graph_interp import run
from course_lib.ir.graph.node import apply, inp
from course_lib.mlir.into.read import from_mlir
from course_lib.mlir.out.to_mlir import to_mlir
from course_lib.mlir.upstream import engine
from course_lib.mlir.upstream.witness import agree

# What has loops that carry a tensor (scf.for), or a sum so far as a second result, is not read.
NOT_READ = {"pow", "cumsum", "scatter_elements", "scatter_nd", "winograd_tiles"}

RELU = """\
#map = affine_map<(d0, d1) -> (d0, d1)>
module {
  func.func @main(%arg0: tensor<2x3xf32>, %arg1: tensor<3x4xf32>) -> tensor<2x4xf32> {
    %cst = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<2x4xf32>
    %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<2x4xf32>) -> tensor<2x4xf32>
    %2 = linalg.matmul ins(%arg0, %arg1 : tensor<2x3xf32>, tensor<3x4xf32>) \
outs(%1 : tensor<2x4xf32>) -> tensor<2x4xf32>
    %3 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} \
ins(%2 : tensor<2x4xf32>) outs(%0 : tensor<2x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %4 = arith.cmpf ugt, %in, %cst : f32
      %5 = arith.select %4, %in, %cst : f32
      linalg.yield %5 : f32
    } -> tensor<2x4xf32> loc("encoder.act")
    return %3 : tensor<2x4xf32>
  }
}
"""


@pytest.fixture(scope="module")
def script(root):
    spec = importlib.util.spec_from_file_location("mlir_rows", root / "scripts/mlir_rows.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def signless(array: np.ndarray) -> np.ndarray:
    """The same bits as MLIR has them: its integers have no sign, and ours are read with one."""
    return array.view(array.dtype.str.replace("u", "i")) if array.dtype.kind == "u" else array


def test_a_product_and_a_relu_as_torch_mlir_prints_them():
    graph = from_mlir(RELU)
    assert [n.op for n in graph.nodes] == ["input", "input", "matmul", "relu"]
    assert [n.name for n in graph.inputs] == ["arg0", "arg1"]


@pytest.mark.parametrize("named", [True, False])
def test_rows_come_back(script, named):
    """Every fourth case of each row; a row is read as a whole or not at all."""
    lost = set()
    for op in script.rows():
        for graph, arrays in script.single_cases([op], every=4).values():
            try:
                text = to_mlir(graph, "resources", named)
            except ValueError:
                continue  # it has no loop form
            try:
                back = from_mlir(text)
            except ValueError as error:
                lost.add(op)
                assert op in NOT_READ, error
                continue
            (got,), (want,) = run(back, [*map(signless, arrays)]), run(graph, arrays)
            assert agree(got, signless(want)), op
    assert lost == NOT_READ


@pytest.mark.parametrize("model", ["block", "small"])
def test_what_torch_mlir_makes_of_a_model_is_read(model, missing):
    torch = pytest.importorskip("torch")
    if not engine.available():
        missing("torch-mlir")
    from torch_mlir import fx

    from course_lib.models import MODELS, example_inputs

    if model == "small":
        x = np.random.default_rng(0).standard_normal((1, 3, 16, 16)).astype(np.float32)
        torch.manual_seed(0)
        net = torch.nn
        module = net.Sequential(
            net.Conv2d(3, 8, 3, 2, 1), net.BatchNorm2d(8), net.ReLU6(),
            net.Conv2d(8, 8, 3, 1, 1, groups=8), net.MaxPool2d(2), net.AdaptiveAvgPool2d(1),
            net.Flatten(), net.Linear(8, 4),
        )  # fmt: skip
        inputs = [x]
    else:
        module, inputs = MODELS[model].build(), list(example_inputs(model))
    module = module.eval()
    tensors = [torch.from_numpy(x) for x in inputs]
    text = str(fx.export_and_import(module, *tensors, output_type="linalg-on-tensors"))
    with torch.no_grad():
        want = module(*tensors).numpy()
    (got,) = run(from_mlir(text), inputs)
    assert np.abs(got - want).max() <= 1e-5 * np.abs(want).max()


def test_what_the_importer_of_onnx_files_makes_is_read(script, missing):
    """torch-mlir's importer of ONNX files, whose text comes out of passes of its own."""
    onnx = pytest.importorskip("onnx")
    pytest.importorskip("torch")
    if not engine.available():
        missing("torch-mlir")
    from torch_mlir import ir
    from torch_mlir.dialects import torch as dialect
    from torch_mlir.extras import onnx_importer
    from torch_mlir.passmanager import PassManager

    from course_lib.frontend.onnx.write import to_onnx

    graph, inputs = script.models(["block"])["block"]
    context = ir.Context()
    dialect.register_dialect(context)
    info = onnx_importer.ModelInfo(onnx.shape_inference.infer_shapes(to_onnx(graph)))
    module = info.create_module(context=context)
    onnx_importer.NodeImporter.define_function(info.main_graph, module.operation).import_all()
    passes = ("torch-onnx-to-torch-backend-pipeline{backend-legal-ops=aten.flatten.using_ints}",
              "torch-backend-to-linalg-on-tensors-backend-pipeline")  # fmt: skip
    with context:
        PassManager.parse(f"builtin.module({','.join(passes)})").run(module.operation)
    (got,), (want,) = run(from_mlir(str(module)), inputs), run(graph, inputs)
    assert np.abs(got - want).max() <= 1e-5 * np.abs(want).max()


def test_a_location_is_where_a_node_came_from():
    x = inp("x", "f32[4]")
    made = apply("exp", x, origin=("encoder.act", "softmax"))
    assert 'loc(fused["encoder.act", "softmax"])' in to_mlir(Graph.of([x], [made]))
    assert from_mlir(to_mlir(Graph.of([x], [made]))).outputs[0].origin == ("encoder.act", "softmax")
    assert from_mlir(RELU).outputs[0].origin == ("encoder.act",)


def test_everything_that_cannot_be_read_is_listed_with_its_line():
    text = RELU.replace("linalg.matmul ins", "linalg.winograd ins").replace("ugt", "unheard")
    text = text.replace("return %3", "%9 = arith.constant 1 : i3\n    return %3")
    with pytest.raises(ValueError) as caught:
        from_mlir(text)
    assert str(caught.value).splitlines() == [
        "this MLIR cannot be read:",
        "  line 7: linalg.winograd: no op of ours says this",
        "  line 14: arith.constant: i3 is no element type of ours",
    ]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("tensor<2x3xf32>,", "tensor<?x3xf32>,", "only tensors whose sizes are numbers"),
        ("%arg0, %arg1 :", "%arg0, %nobody :", "line 7: linalg.matmul: %nobody is not defined"),
        ('["parallel", "parallel"]', '["parallel"]', "a loop whose length no operand shows"),
        ("= [#map, #map]", "= [#map]", "line 8 (encoder.act): linalg.generic: 1 maps for 2 op"),
        ("return %3", "return %0#1", "%0#1 is not defined before"),
        ("cmpf ugt", "cmpf weird", "line 10: arith.cmpf: a comparison `weird`"),
        ("linalg.yield %5", "linalg.stop %5", "the body does not end with linalg.yield"),
        ("  }\n}\n", "", "the text ends inside brackets"),
        ("module", "€", "line 2: this is no text of MLIR's: '€ {'"),
        ("func.func", "func.other", "there is no func.func in this text"),
        ("0.000000e+00", "0.0e+00 0", "line 4: arith.constant"),
        ("tensor<2x4xf32>\n    %1", "tensor<9999999x999999xf32>\n    %1", "up to 268,435,456"),
    ],
)
def test_bad_text_is_refused_in_words(old, new, said):
    assert old in RELU
    with pytest.raises(ValueError) as caught:
        from_mlir(RELU.replace(old, new, 1))
    assert said in str(caught.value)


def test_what_is_asserted_is_tried():
    holds = RELU.replace("    %2 =", '    %c = arith.cmpf oeq, %cst, %cst : f32\n'
                         '    cf.assert %c, "zero"\n    %2 =')  # fmt: skip
    assert len(from_mlir(holds).nodes) == 4
    with pytest.raises(ValueError, match=r"line 8: cf\.assert: what it asserts does not hold"):
        from_mlir(holds.replace("oeq", "one"))


def test_a_reduction_that_looks_back_is_refused():
    """%4 needs what was summed before, so it is no sum of terms."""
    text = RELU.replace('"parallel", "parallel"', '"parallel", "reduction"')
    text = text.replace("[#map, #map]", "[#map, affine_map<(d0, d1) -> (d0)>]")
    text = text.replace("outs(%0 : tensor<2x4xf32>) {", "outs(%s : tensor<2xf32>) {")
    text = text.replace("%4 = arith.cmpf ugt, %in, %cst", "%4 = arith.mulf %in, %out")
    text = text.replace("%5 = arith.select %4, %in, %cst", "%5 = arith.addf %4, %out")
    text = text.replace("%0 = tensor.empty", "%s = arith.constant dense<0.0> : tensor<2xf32>\n"
                        "    %0 = tensor.empty")  # fmt: skip
    with pytest.raises(ValueError, match="whose terms depend on what was summed before"):
        from_mlir(text)


def test_a_function_is_chosen_by_its_name():
    inside = RELU.split("module {\n")[1].removesuffix("}\n")
    both = RELU.replace("module {\n", "module {\n" + inside.replace("@main", "@other"))
    assert from_mlir(both, "other").name == "other"
    with pytest.raises(ValueError, match="there is no @third, but @other, @main"):
        from_mlir(both, "third")


def test_no_text_ends_in_anything_but_a_graph_or_words(script):
    rng = random.Random(0)
    texts = [RELU, *(to_mlir(graph, "resources") for graph, _ in script.whole_rows(
        ["matmul", "max_pool", "pad", "gather", "concat", "cast"], every=5).values())]  # fmt: skip
    read = 0
    for _ in range(150):
        parts = re.findall(r"\s+|[%#@^]?[\w.]+|.", rng.choice(texts))
        k = rng.randrange(len(parts))
        parts[k : k + rng.randrange(3)] = [rng.choice([*parts, "(", "}", "<", "-1", "999999999"])]
        try:
            from_mlir("".join(parts))
            read += 1
        except ValueError:
            pass
    assert 5 < read < 145


def test_a_file_of_mlir_is_a_model_for_every_command(tmp_path, capsys):
    pytest.importorskip("onnx")
    path = tmp_path / "small.mlir"
    path.write_text(RELU)
    assert main(["show", str(path), "--stage", "import"]) == 0
    assert "%0 = matmul(%arg0, %arg1) : f32[2,4]" in capsys.readouterr().out
    assert main(["run", str(path), "--target", "interpreter", "--repeat", "1"]) == 0
    path.write_text(RELU.replace("linalg.matmul", "linalg.other"))
    assert main(["show", str(path)]) == 1
    assert "line 7: linalg.other: no op of ours says this" in capsys.readouterr().err
