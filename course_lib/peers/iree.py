"""IREE: its ONNX importer, its compiler for this processor, and its runtime.

    peer("iree").prepare("block").kernels()    ->   ["main$async_dispatch_0_...", ...]   12 of them
    peer("iree+O3")                           9: it fuses more, and says itself when it does
    peer("iree+data-tiling")                  25: operands of products are packed first

The importer is the one that IREE's users call as `iree-import-onnx`: an ONNX file becomes one call
of `torch.operator "onnx.MatMul"` for each of its nodes, and the compiler takes it from there; names
of our nodes stay as locations. The compiler is a program of its own, and writes its phases where it
is told to. The runtime has its threads from a flag that counts for the whole process; on one thread
its driver `local-sync` runs all where the call was made, and needs no other thread. Next room:
`tvm.py`.
"""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from iree import runtime
from iree.compiler import tools
from iree.compiler.extras import onnx_importer
from iree.compiler.ir import Context

from course_lib.peers.model import Model
from course_lib.peers.peer import Prepared
from course_lib.scratch import Folder

FLAGS = ("--iree-llvmcpu-target-cpu=host",)
SHOWN = 16  # numbers of a constant that are written out; of a longer one there is its type
# What becomes of all kernels together, in a file each: by the end of the file's name.
DISPATCHES = {"codegen.ll": "LLVM IR", "optimized.ll": "LLVM IR, optimized", "s": "assembly"}
LAUNCH = re.compile(r"stream\.cmd\.dispatch @[^\s{]+::@([^\s{(\[]+)")


class Iree(Prepared):
    """The model as a module of IREE's virtual machine, loaded on a device."""

    def __init__(self, model: Model, threads: int, flags: Sequence[str]) -> None:
        self.flags = (*FLAGS, *flags)
        self.name, self.imported, self.text = imported(model.onnx)
        config = runtime.Config(device=device(threads))
        module = runtime.VmModule.copy_buffer(config.vm_instance, self._compiled())
        self.context = runtime.SystemContext(config=config)
        self.context.add_vm_module(module)
        self.function = self.context.modules[module.name][self.name]
        self.inputs = [runtime.asdevicearray(config.device, np.asarray(x)) for x in model.inputs]

    def call(self) -> list[np.ndarray]:
        results = self.function(*self.inputs)
        listed = results if isinstance(results, (list, tuple)) else [results]
        return [result.to_host() for result in listed]

    def stages(self) -> dict[str, str]:
        return {"imported": self.text, **self.written}

    def kernels(self) -> list[str]:
        """The dispatches of a call. Those that prepare constants ran when the module was loaded."""
        functions = re.split(r"^  (?=\S)", self.written["stream"], flags=re.M)
        called = [text for text in functions if text.startswith("util.func public")]
        return [name for text in called for name in LAUNCH.findall(text)]

    @cached_property
    def written(self) -> dict[str, str]:
        """The text after each phase, and what became of the dispatches, from a second run of the
        compiler: the first one writes none of it."""
        folder = Folder("course-iree-")
        phases, parts = (Path(folder.path) / name for name in ("phases", "parts"))
        try:
            self._compiled(
                f"--dump-compilation-phases-to={phases}",
                f"--iree-hal-dump-executable-intermediates-to={parts}",
                f"--mlir-elide-elementsattrs-if-larger={SHOWN}",
                f"--mlir-elide-resource-strings-if-larger={SHOWN}",
            )
            return {**dict(_phases(phases)), **dict(_parts(parts))}
        finally:
            folder.close()

    def _compiled(self, *more: str) -> bytes:
        return tools.compile_str(
            self.imported,
            target_backends=["llvm-cpu"],
            input_type="onnx",
            extra_args=[*self.flags, *more],
        )


def prepare(model: Model, threads: int, flags: Sequence[str] = ()) -> Iree:
    """The model, compiled for this processor; ValueError for one that IREE cannot compile.

    flags  of `iree-compile`, besides those that it always gets
    """
    try:
        return Iree(model, threads, flags)
    except tools.CompilerToolError as error:
        first = next((line for line in str(error).splitlines() if "error:" in line), str(error))
        raise ValueError(f"IREE cannot compile this model: {first}") from error
    except Exception as error:  # the importer's errors have no one base
        raise ValueError(f"IREE cannot run this model: {error}") from error


def imported(file: bytes) -> tuple[str, bytes, str]:
    """An ONNX file as MLIR: the name of its function, the module's bytes, its text for people."""
    proto = onnx.shape_inference.infer_shapes(onnx.load_from_string(file), data_prop=True)
    about = onnx_importer.ModelInfo(proto)
    module = about.create_module(context=Context()).operation
    onnx_importer.NodeImporter.define_function(about.main_graph, module).import_all()
    module.verify()
    data = io.BytesIO()
    module.write_bytecode(data)
    text = module.get_asm(large_elements_limit=SHOWN, large_resource_limit=SHOWN)
    return proto.graph.name, data.getvalue(), text


def device(threads: int) -> Any:
    """A device of so many threads, each on whichever of the process's processors is free."""
    if threads == 1:
        return runtime.get_device("local-sync")
    runtime.flags.parse_flags(f"--task_topology_group_count={threads}")
    return runtime.get_driver("local-task").create_default_device()


def _phases(folder: Path) -> list[tuple[str, str]]:
    """By name, in order: files are called `module.1.input.mlir`, ..., `module.12.vm.mlir`."""
    files = sorted(folder.iterdir(), key=lambda file: int(file.name.split(".")[-3]))
    return [(file.name.split(".")[-2], file.read_text("utf-8")) for file in files]


def _parts(folder: Path) -> list[tuple[str, str]]:
    return [
        (name, "\n".join(file.read_text("utf-8") for file in sorted(folder.glob(f"*.{end}"))))
        for end, name in DISPATCHES.items()
    ]
