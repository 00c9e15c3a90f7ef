"""Hardware and compilers: what their own pages say, each with its source.

    facts_text()        the facts, numbered
    matrix(paths())     hardware x compilers: the number of a fact in each cell

Next room: autograder/units/u16/checks.
"""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import fill
from typing import NamedTuple

from course_lib.draw.base.picture import Picture
from course_lib.draw.plots.table import table

COMPILERS = ("XLA", "IREE", "TVM", "Triton")
DEVICES = {  # and what their makers say is inside
    "NVIDIA H200": "multiprocessors with tensor cores",
    "AMD MI300X": "compute units of CDNA 3 (gfx942)",
    "Google TPU v5e": "systolic arrays (MXU)",
    "Intel Gaudi 3": "matrix engines and vector processors (TPC)",
    "Apple Neural Engine": "a part of Apple's chips",
    "Coral Edge TPU": "8-bit integers only",
    "Cortex-M, no system": "a microcontroller",
}


class Fact(NamedTuple):
    """What a page says, where, and on which day it was read here, written or run."""

    words: str
    source: str
    day: str


READ = "read 2026-11-29"
FACTS = (
    Fact("JAX, which compiles with XLA, is installed for CPUs, NVIDIA GPUs and AMD GPUs (ROCm, "
         "Linux x86-64); for Intel and Apple GPUs it is experimental",
         "docs.jax.dev, Installation", READ),
    Fact("code that runs on Cloud TPUs must be compiled by XLA",
         "docs.cloud.google.com/tpu, Introduction to Cloud TPU", READ),
    Fact("a plugin (PJRT) makes XLA compile for Intel's Data Center GPUs Max and Flex",
         "github.com/intel/intel-extension-for-openxla, README", READ),
    Fact("IREE's stable configurations with an operating system: CPU, Vulkan (by SPIR-V), ROCm, "
         "CUDA, Metal for Apple's GPUs", "iree.dev, Deployment configurations", READ),
    Fact("IREE compiles by LLVM for bare-metal platforms, which have no operating system; ARM is "
         "one of its CPU targets", "iree.dev, Bare-metal and CPU", READ),
    Fact("Triton's hardware: NVIDIA GPUs from compute capability 8.0, AMD GPUs by ROCm; CPUs are "
         "under development", "github.com/triton-lang/triton, README", READ),
    Fact("TVM 0.27 makes code for llvm, cuda, rocm, metal and opencl, and `c`: text in C, which "
         "any compiler of C, also one for a microcontroller, takes; the package for Linux lacks "
         "the target vulkan", "run here", "2026-11-29"),
    Fact("TVM's microTVM, with its runtime for microcontrollers, was phased out",
         "github.com/apache/tvm, pull request 17554", "written 2024-12-06"),
    Fact("the system selects where a Core ML model runs; a program may only say whether the "
         "Neural Engine, the GPU or the CPU are allowed",
         "developer.apple.com, Core ML, MLComputeUnits", READ),
    Fact("Gaudi has a graph compiler of its own, reached from PyTorch (also by torch.compile), "
         "with a library of kernels, to which you may add kernels in TPC-C",
         "docs.habana.ai 1.23, Gaudi Software Suite and TPC", READ),
    Fact("the Edge TPU runs only TensorFlow Lite models in 8 bits that its own compiler has "
         "compiled", "coral.ai, Edge TPU inferencing overview and Compiler", READ),
    Fact("LiteRT for Microcontrollers (TFLM) runs a model; its core takes 16 KB on a Cortex-M3 "
         "and needs no operating system", "ai.google.dev/edge, LiteRT for Microcontrollers", READ),
)  # fmt: skip


def facts_text() -> str:
    """The facts, numbered from 1, each with its source and day."""
    return "\n".join(fill(f"{k:>2}  {fact.words} ({fact.source}; {fact.day})", 110,
                          subsequent_indent="    ") for k, fact in enumerate(FACTS, 1))  # fmt: skip


def matrix(paths: Mapping[str, Mapping[str, int]]) -> Picture:
    """The table of an answer."""
    rows = [
        [name, inside, *(str(paths.get(name, {}).get(c, "")) for c in COMPILERS)]
        for name, inside in DEVICES.items()
    ]
    return table(rows, ["hardware", "inside", *COMPILERS])
