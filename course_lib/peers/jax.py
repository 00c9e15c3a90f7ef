"""JAX: a function that it traces, and XLA, which compiles what it traced for the processor.

    jaxpr            what `jax.jit` traced
    stablehlo        the same, as it is given to XLA
    hlo              XLA's own form, before it does anything
    optimized hlo    after its passes: fused, laid out, scheduled
    llvm ir          of the fusions that it wrote itself, after LLVM's passes

XLA joins elementwise ops and small reductions in fusions, for which it writes LLVM IR. Products,
convolutions and reductions become fusions of the kind `__ynn_fusion`, which a library (YNNPACK)
computes and of which there is no text. XLA lays convolutions out with their channels last, weights
when it compiles, images with a transpose before and after.

Threads: XLA's pool has one for each processor of the process, or `PJRT_NPROC`, which is set here:
with 1, one thread does all the work, as the times of the threads show (JAX 0.10.2, two processors;
with the flag `--xla_cpu_multi_thread_eigen=false`, which is often given for it, four still work).
It is read once, when JAX is first used. Next room: `iree.py`.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import jax
import numpy as np

from course_lib.peers.arrays.in_jax import in_jax
from course_lib.peers.model import Model
from course_lib.peers.peer import Prepared
from course_lib.scratch import Folder

NOTHING_RUNS = {"parameter", "constant", "bitcast", "tuple", "get-tuple-element"}
LINE = re.compile(r"\s+(?:ROOT )?%(?P<name>\S+) = .*? (?P<op>[\w-]+)\((?:%(?P<operand>[\w.-]+))?")
STARTED: list[int] = []  # the number of threads, once there is one
ORIGIN = re.compile(r'op_name="([^"]*)"')


class Jax(Prepared):
    """The compiled function, its inputs on JAX's device. To lower it is part of compiling it."""

    def __init__(self, model: Model, threads: int) -> None:
        start(threads)
        function = in_jax(model.graph)
        self.inputs = [jax.device_put(x) for x in model.inputs]
        self.traced = jax.jit(function).trace(*self.inputs)
        self.lowered = self.traced.lower()
        self.compiled = self.lowered.compile()

    def call(self) -> list[np.ndarray]:
        return [np.asarray(result) for result in self.compiled(*self.inputs)]

    def stages(self) -> dict[str, str]:
        module: Any = self.lowered.compiler_ir("stablehlo")
        hlo: Any = self.lowered.compiler_ir("hlo")
        return {
            "jaxpr": str(self.traced.jaxpr),
            "stablehlo": module.operation.get_asm(large_elements_limit=16),
            "hlo": hlo.as_hlo_text(),
            "optimized hlo": str(self.compiled.as_text()),
            **self.written(),
        }

    def written(self) -> dict[str, str]:
        """The LLVM IR, which XLA only writes to a folder, and only while it compiles: once more."""
        folder = Folder("course-jax-")
        try:
            self.lowered.compile({"xla_dump_to": folder.path})
            files = sorted(Path(folder.path).glob("*ir-with-opt*.ll"))
            return {"llvm ir": "\n".join(file.read_text("utf-8") for file in files)}
        finally:
            folder.close()

    def kernels(self) -> list[str]:
        """The instructions of the entry computation that run, in their order, with their origin."""
        return instructions(str(self.compiled.as_text()))


def instructions(hlo: str) -> list[str]:
    """What runs of the entry computation of a scheduled module.

    An instruction that a pass of XLA made may have no name. Where it is a convolution that was
    laid out anew, the bitcast that reads it has the name.
    """
    entry = hlo[hlo.index("\nENTRY ") :].partition("\n}")[0].splitlines()
    lines = [match for line in entry if (match := LINE.match(line))]
    origins = {line["name"]: origin[1] for line in lines if (origin := ORIGIN.search(line.string))}
    for line in lines:
        if line["op"] == "bitcast" and line["name"] in origins:
            origins.setdefault(line["operand"], origins[line["name"]])
    runs = [line for line in lines if line["op"] not in NOTHING_RUNS]
    return [f"{r['op']} {r['name']} {origins.get(r['name'], '')}".strip() for r in runs]


def start(threads: int) -> None:
    """Before JAX looks for its devices, for the first time and for good."""
    if STARTED not in ([], [threads]):
        raise ValueError(f"JAX has {STARTED[0]} threads in this process for good, not {threads}: "
                         "`Running` gives it a process of its own")  # fmt: skip
    STARTED[:] = [threads]
    os.environ["PJRT_NPROC"] = str(threads)
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_traceback_in_locations_limit", 0)  # no lines of ours in XLA's texts


def prepare(model: Model, threads: int) -> Jax:
    """The graph as a function of JAX, compiled for its inputs."""
    return Jax(model, threads)
