"""What makers' own pages say of three devices and of what compiles for them, each with its source.

    FACTS                      (1, "NVIDIA H200", "is", "NVIDIA GPU"), ...
    SOURCES[1]                 where that stands, in which version; all were read on the day `READ`
    needs(graph, "int8")       what a model asks for: its operations, its bytes

"runs" has the names of our operations for those that a page lists under its own names. A fact says
no more than its page: where a page has no list, there is no fact. Next room: shown.py.
"""

from __future__ import annotations

from typing import Any

from course_lib.ir.graph.graph import Graph, value_names
from course_lib.ir.graph.node import Node
from course_lib.memory.liveness import Task
from course_lib.memory.order import as_given, peak
from course_lib.passes.clean.bn_fold import bn_fold
from course_lib.passes.clean.fold import fold

READ = "2026-11-29"
H200, ARDUINO, EDGE = "NVIDIA H200", "Arduino Nano 33 BLE Sense Rev2", "Coral Edge TPU"
DEVICES = (H200, ARDUINO, EDGE)
FORMATS = ("f32", "int8")
SAYS = {
    "is": "a target that this device is",
    "computes": "a format that the device computes in",
    "weights": "the device has room for this many bytes of weights",
    "activations": "the device has room for this many bytes of activations",
    "targets": "a target that this compiler makes programs for",
    "drops": "a target that this compiler no longer makes programs for",
    "runs": "a format, and the operations that this compiler runs in it",
}
_HOPPER = "nvidia.github.io, TensorRT-LLM 0.18.2, Support Matrix: Hopper"
_MEMORY = "MLPerf Inference 4.1, NVIDIA's description of its system: 141 GB, for both"
_BOARD = "github.com/arduino/docs-content, datasheet of the board: Cortex-M4F with FPU, 1 MB flash"
_OPERATORS = "github.com/onnx/onnx-tensorrt, docs/operators.md for TensorRT 8.4"
_KERNELS = "github.com/tensorflow/tflite-micro at 90b983c2, types in the kernels"
_TRT_BOTH = (
    "avg_pool clamp relu6 concat conv conv_transpose elu gather gather_elements hard_sigmoid "
    "leaky_relu max_pool pad relu reshape round scatter_elements scatter_nd sigmoid sign slice "
    "softplus softsign tanh transpose"
)
_TRT_F32 = (
    "abs acos acosh add argmax argmin asin asinh atan atanh batch_norm ceil cos cosh cumsum div eq "
    "erf exp expand floor ge gt isnan le log log_softmax lt matmul max mean min mul neg pow "
    "reduce_max reduce_min reduce_prod reduce_sum select sin sinh softmax sqrt sub tan"
)
_MICRO_BOTH = (
    "abs add argmax argmin avg_pool concat conv conv_transpose cumsum div elu eq expand gather ge "
    "gt hard_swish le leaky_relu log_softmax lt matmul max max_pool mean min mul ne pad reduce_max "
    "reduce_min reduce_sum relu relu6 reshape rsqrt select sigmoid slice softmax sub tanh transpose"
)
_MICRO_F32 = "ceil cos exp floor log neg round sin sqrt"
_EDGE = (
    "add avg_pool concat conv matmul max max_pool mean min mul pad reduce_max reduce_min relu "
    "relu6 reshape sigmoid"
)


def _runs(format: str, *names: str) -> tuple[str, list[str]]:
    return format, " ".join(names).split()


_ROWS = (
    (H200, "is", "NVIDIA GPU", "nvidia.github.io, TransformerEngine, support matrix: 9.0"),
    (H200, "computes", "f32", _HOPPER),
    (H200, "computes", "int8", _HOPPER),
    (H200, "weights", 141 * 10**9, _MEMORY),
    (H200, "activations", 141 * 10**9, _MEMORY),
    ("TensorRT", "targets", "NVIDIA GPU", "docs.nvidia.com, TensorRT 10.1, Support Matrix"),
    ("TensorRT", "runs", _runs("f32", _TRT_BOTH, _TRT_F32), _OPERATORS),
    ("TensorRT", "runs", _runs("int8", _TRT_BOTH), _OPERATORS),
    ("Triton", "targets", "NVIDIA GPU", "github.com/triton-lang/triton, README: from 8.0 up"),
    ("IREE", "targets", "NVIDIA GPU", "iree.dev, Deployment configurations: CUDA"),
    ("XLA", "targets", "NVIDIA GPU", "docs.jax.dev, Installation"),
    (ARDUINO, "is", "Cortex-M", _BOARD),
    (ARDUINO, "computes", "f32", _BOARD),
    (ARDUINO, "computes", "int8", f"{_KERNELS}, folder cmsis_nn"),
    (ARDUINO, "weights", 1 << 20, _BOARD),
    (ARDUINO, "activations", 256 << 10, f"{_BOARD}, 256 KB RAM"),
    ("LiteRT Micro", "targets", "Cortex-M", "github.com/tensorflow/tflite-micro, docs/arm.md"),
    ("LiteRT Micro", "runs", _runs("f32", _MICRO_BOTH, _MICRO_F32), _KERNELS),
    ("LiteRT Micro", "runs", _runs("int8", _MICRO_BOTH), _KERNELS),
    ("TVM", "targets", "Cortex-M", "tvm.apache.org, docs 0.9, Work With microTVM"),
    ("TVM", "drops", "Cortex-M", "github.com/apache/tvm, pull request 17554, December 2024"),
    (EDGE, "is", "Edge TPU", "coral.ai, TensorFlow models on the Edge TPU"),
    (EDGE, "computes", "int8", "coral.ai, TensorFlow models on the Edge TPU: 8 bits only"),
    ("edgetpu_compiler", "targets", "Edge TPU", "coral.ai, Edge TPU Compiler"),
    ("edgetpu_compiler", "runs", _runs("int8", _EDGE),
     "developer.axis.com, ARTPEC-7 (an Edge TPU), Supported ops, as far as Reshape"),
)  # fmt: skip
FACTS: tuple[tuple[int, str, str, Any], ...] = tuple(
    (n, about, says, value) for n, (about, says, value, _) in enumerate(_ROWS, 1)
)
SOURCES = {n: source for n, (*_, source) in enumerate(_ROWS, 1)}


def needs(graph: Graph, format: str) -> dict[str, Any]:
    """What a model asks for in a format, "f32" or "int8", its constants and batch norms folded: the
    names of its operations, the bytes of its weights, and of the activations that are alive at
    once, at most, if each operation is a step of its own. In int8, a number takes one byte."""
    folded, size = fold(bn_fold(graph)), {"f32": 4, "int8": 1}[format]
    names = value_names(folded)
    steps = [Task(names[n], tuple(names[i] for i in n.inputs), size * n.type.numel)
             for n in folded.ops]  # fmt: skip
    inputs = sum(node.type.numel for node in folded.inputs)
    return {
        "format": format,
        "operations": sorted({_named(node) for node in folded.ops}),
        "weights": size * sum(node.type.numel for node in folded.constants),
        "activations": size * inputs + peak(steps, as_given(steps)),
    }


def _named(node: Node) -> str:
    """Its operation; a clamp from 0 to 6 is what every page calls ReLU6."""
    limits = [node.attrs.get(name) for name in ("min", "max")]
    return "relu6" if node.op == "clamp" and limits == [0, 6] else node.op
