"""A network as TVM's C, and the C of a student around it: what it computes here, and how large it
is for a Cortex-M4.

    network = networks(recording)["sequence"]
    network.about                         what `runner` is given
    network.source(text, network.values(0), harness=True)

The kernels are TVM's, character by character; its four headers are replaced by `small.h`, which has
the same structures. The weights are constants. Next room: gxx.py.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from course_lib.ir.graph.build import add, conv, matmul, relu, softmax, trace
from course_lib.ir.graph.graph_interp import run
from course_lib.ir.graph.node import Node
from course_lib.memory.liveness import Interval
from course_lib.memory.offsets import arena_size
from course_lib.memory.planners import exact
from course_lib.recorded import Recording

SMALL = Path(__file__).with_name("small.h").read_text()
# Without -Bsymbolic, the process in which the library is called would lend its own expf.
FLAGS = ("-x", "c", "-std=gnu11", "-O1", "-ffreestanding", "-nostdlib", "-Wl,-z,defs,-Bsymbolic",
         "-fno-stack-protector", "-Werror=implicit-function-declaration", "-w")  # fmt: skip
ALLOCATED = re.compile(r"TVMBackendAllocWorkspace\(1, dev_id, \(uint64_t\)(\d+)ULL")
MEANING: Mapping[str, Callable[..., Node]] = {
    "add": add, "softmax": softmax,
    "dense": lambda x, w, b: matmul(x, w) + b,
    "dense_relu": lambda x, w, b: relu(matmul(x, w) + b),
    "conv_relu": lambda x, w, b: relu(conv(x, w, pads=(w.type.dims[-1] // 2,) * 4) + b),
}  # fmt: skip
# What a check, or a report, calls: the arena holds no numbers before main, and `launch` notes where
# its arrays lie.
HARNESS = """
int64_t harness_arena(void) { return sizeof arena; }
int64_t harness_workspace(void) { return sizeof workspace; }
int64_t harness_alignment(void) { return __alignof__(workspace); }
int64_t harness_run(const float *from, float *to, int64_t *seen, int64_t *where) {
  for (unsigned k = 0; k < sizeof arena / sizeof arena[0]; ++k) arena[k] = 0.0f / 0.0f;
  for (unsigned k = 0; k < sizeof INPUT / 4; ++k) INPUT[k] = from[k];
  harness_count = 0;
  int64_t code = main();
  for (unsigned k = 0; k < sizeof OUTPUT / 4; ++k) to[k] = OUTPUT[k];
  for (int k = 0; k < 128; ++k) {
    const char *at = k < harness_count ? harness_data[k] : 0;
    where[k] = at && at >= (char *)arena && at < (char *)(arena + sizeof arena / sizeof arena[0])
                   ? at - (char *)arena : -1;
  }
  seen[0] = harness_count;
  return code;
}
int64_t harness_memory(const int64_t *asked, int64_t count, int64_t *at) {
  void *given[16];
  int64_t code = 0, live = 0;
  for (int64_t k = 0; k < count; ++k) {
    if (asked[k] < 0) {
      code |= live ? TVMBackendFreeWorkspace(1, 0, given[--live]) : 1;
      continue;
    }
    char *made = TVMBackendAllocWorkspace(1, 0, asked[k], 2, 32);
    at[k] = !made ? INT64_MIN : (uintptr_t)made % 16 ? -1 : made - (char *)workspace;
    if (made) given[live++] = made;
  }
  while (live) code |= TVMBackendFreeWorkspace(1, 0, given[--live]);
  return code;
}
"""
NOTE = "// Here a check notes where the arrays lie.\n"
NOTED = """
  for (int32_t k = 0; k < count; ++k)
    if (harness_count < 128) harness_data[harness_count++] = tensors[k].data;
"""


@dataclass(frozen=True)
class Network:
    """Kernels in C, the steps that call them, and the shape of each array."""

    name: str
    code: str
    steps: Sequence[Mapping[str, Any]]
    shapes: Mapping[str, Sequence[int]]

    @property
    def input(self) -> str:
        return self.steps[0]["reads"][0]

    @property
    def output(self) -> str:
        return self.steps[-1]["writes"]

    @property
    def between(self) -> list[str]:
        return [step["writes"] for step in self.steps[:-1]]

    @property
    def weights(self) -> list[str]:
        read = dict.fromkeys(name for step in self.steps for name in step["reads"])
        return [name for name in read if name not in (self.input, *self.between)]

    @property
    def workspace(self) -> int:
        """The bytes that a kernel asks for, at the most."""
        parts = re.split(r"^TVM_DLL int32_t ", self.code, flags=re.M)
        return max(sum(map(int, ALLOCATED.findall(part))) for part in parts)

    @property
    def numbers(self) -> int:
        """How many numbers the arrays between the steps need, at the least."""
        last = {name: k for k, step in enumerate(self.steps) for name in step["reads"]}
        lives = [Interval(name, 4 * self.size(name), k, last.get(name, k))
                 for k, name in enumerate(self.between)]  # fmt: skip
        return arena_size(lives, exact(lives)) // 4

    @property
    def about(self) -> dict[str, Any]:
        """What `runner` is given."""
        steps = [{key: step[key] for key in ("call", "reads", "writes")} for step in self.steps]
        shapes = {name: list(shape) for name, shape in self.shapes.items()}
        return {"steps": steps, "shapes": shapes, "numbers": self.numbers,
                "workspace": self.workspace}  # fmt: skip

    def size(self, name: str) -> int:
        return int(np.prod(self.shapes[name]))

    def values(self, seed: int) -> dict[str, np.ndarray]:
        """An input and weights, small multiples of 1/64."""
        rng = np.random.default_rng(seed)
        drawn = (self.input, *self.weights)
        return {name: (rng.integers(-32, 33, self.shapes[name]) / 64).astype(np.float32)
                for name in drawn}  # fmt: skip

    def computed(self, values: Mapping[str, np.ndarray]) -> np.ndarray:
        """What our interpreter makes of them."""
        names = list(values)

        def network(*nodes: Node) -> Node:
            known = dict(zip(names, nodes, strict=True))
            for step in self.steps:
                operands = [known[name] for name in step["reads"]]
                known[step["writes"]] = MEANING[step["kind"]](*operands)
            return known[self.output]

        types = [f"f32[{','.join(map(str, values[name].shape))}]" for name in names]
        (result,) = run(trace(network, *types), [values[name] for name in names])
        return result

    def source(self, runner: str, values: Mapping[str, np.ndarray], harness: bool) -> str:
        """One text of C: what TVM's headers say, TVM's kernels, the arrays, and the runner."""
        code = re.sub(r"^#include .*\n", "", self.code, flags=re.M)
        arrays = [f"static const float {name}[] = {{{_numbers(values[name])}}};"
                  for name in self.weights]  # fmt: skip
        arrays += [f"float {name}[{self.size(name)}];" for name in (self.input, self.output)]
        noted = "static const char *harness_data[128];\nstatic int harness_count;\n"
        around = HARNESS.replace("INPUT", self.input).replace("OUTPUT", self.output)
        parts = [noted if harness else "", SMALL.replace(NOTE, NOTED if harness else ""), code,
                 *arrays, runner, around if harness else ""]  # fmt: skip
        return "\n".join(parts) + "\n"


def networks(recording: Recording) -> dict[str, Network]:
    """The networks of a recording, by name."""
    names = [title.partition(": ")[0] for title in recording.texts if title.endswith(": model")]
    return {name: Network(name, recording[f"{name}: C"], **recording.data(f"{name}: model"))
            for name in names}  # fmt: skip


def _numbers(array: np.ndarray) -> str:
    return ", ".join(f"{x:.9g}f" if "." in f"{x:.9g}" else f"{x:.1f}f" for x in array.reshape(-1))


def shuffled(kernels: Network, seed: int, steps: int) -> Network:
    """Another network of five kernels: the first layer, then middle ones and sums of earlier arrays
    of 16 x 32, each of which may be read again later, and at the end a softmax, or none."""
    rng = random.Random(seed)
    first, middle, add, last, softmax = (step["call"] for step in kernels.steps)
    names = iter(rng.sample([f"t{k}" for k in range(10, 99)], 60))
    shapes: dict[str, list[int]] = {}
    made: list[dict[str, Any]] = []

    def array(*shape: int) -> str:
        shapes[name := next(names)] = [*shape]
        return name

    def step(call: str, reads: Sequence[str], *shape: int) -> str:
        kind = re.sub(r"__tvm_ffi_|_\d+$", "", call)
        made.append({"kind": kind, "call": call, "reads": [*reads], "writes": array(*shape)})
        return made[-1]["writes"]

    known = [step(first, [array(16, 64), array(64, 32), array(32)], 16, 32)]
    for _ in range(steps):
        recent = known[-3:]
        if rng.random() < 0.5 and len(recent) > 1:
            known.append(step(add, rng.sample(recent[:-1], 1) + recent[-1:], 16, 32))
        else:
            known.append(step(middle, [recent[-1], array(32, 32), array(32)], 16, 32))
    out = step(last, [known[-1], array(32, 16), array(16)], 16, 16)
    if rng.random() < 0.7:
        step(softmax, [out], 16, 16)
    return Network("drawn", kernels.code, made, shapes)
