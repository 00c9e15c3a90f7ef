"""What IREE and TVM are asked while the notebook runs; each needs its package.

    phase(SMALL, "flow")     the lines that say most of a program after a phase of IREE
    rewritten(text)          what TVM launches for the block before and after a rewrite

What is only recorded, `python -m course_lib record u16` makes again. Next room: `search.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from course_lib.peers.model import model_of
from course_lib.plugins.tvm.package import package
from course_lib.plugins.tvm.write import write
from lessons.u16 import relax as texts
from lessons.u16.texts import call, functions

SMALL = """\
func.func public @main(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %p = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] \
: (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %y = stablehlo.tanh %p : tensor<64x64xf32>
  return %y : tensor<64x64xf32>
}
"""
PHASES = {  # and what is shown of each
    "flow": r"= (linalg\.(fill|matmul|generic)|math\.|arith\.(?!constant)|flow\.dispatch)",
    "stream": r"= stream\.(resource|cmd|timepoint)|^ *(stream\.cmd\.dispatch|[rw][ow] %)",
    "hal": r"^ *(%cmd = )?hal\.(command_buffer|executable\.binary)",
}


# ── IREE ──


def phase(text: str, name: str) -> str:
    """The lines that say most of what a program has become after a phase of IREE."""
    made = compiled(text, "stablehlo", "llvm-cpu",
                    [f"--compile-to={name}", "--iree-llvmcpu-target-cpu=generic",
                     "--mlir-elide-elementsattrs-if-larger=8"]).decode()  # fmt: skip
    lines = [re.sub(r" loc\(.*$", "", line) for line in made.splitlines()]
    kept = [line.strip() for line in lines if re.search(PHASES[name], line)]
    kept = [re.sub(r"(flow\.dispatch .*?\)) : .*", r"\1", line) for line in kept]
    return "".join(f"    {line[:104]}{' ...' if len(line) > 104 else ''}\n" for line in kept)


def compiled(text: Any, kind: str, target: str, flags: list[str]) -> bytes:
    """A program of that input type, as far as the flags say."""
    from iree.compiler import tools  # iree need not be installed

    return tools.compile_str(text, input_type=kind, target_backends=[target], extra_args=flags)


# ── TVM ──


def rewritten(text: str) -> dict[str, Any]:
    """What TVM launches for the block before and after a rewrite, and the loop nests of the new
    function `attention`."""
    module = write(model_of("block").graph)
    tvm_, dpl = package(), package().relax.dpl
    inputs = [dpl.wildcard() for _ in functions(text)["before"].args.args]
    pattern = call(text, "before", inputs, {"R": _Patterns(dpl)})

    def replaced(found: Any, binding: Any) -> Any:
        operands = [binding[one] for one in inputs]
        return call(text, "after", operands, {"R": _Calls(tvm_.relax.op)})

    function = dpl.rewrite_call(pattern, replaced, module["main"])
    after = tvm_.IRModule({"main": function})
    (before_names, _), (after_names, lowered) = _lowered(module), _lowered(after)
    new = str(lowered["attention"].script()) if "attention" in after_names else ""
    return {"before": before_names, "after": after_names,
            "nests": len(re.findall(r"^    for ", new, re.M)),
            "buffers": new.count("T.sblock_alloc_buffer")}  # fmt: skip


def _lowered(module: Any) -> tuple[list[str], Any]:
    """The launches after TVM's fusion, and the module."""
    passes = package().relax.transform
    for step in (passes.FoldConstant, passes.LegalizeOps, passes.AnnotateTIROpPattern,
                 passes.FoldConstant, passes.FuseOps, passes.FuseTIR):  # fmt: skip
        module = step()(module)
    return re.findall(r"R\.call_tir\(cls\.(\w+)", module.script()), module


class _Patterns:
    """The room `R` whose operations are patterns of TVM. A constant has to be equal, and the
    language of patterns cannot say so: `texts.matches` did."""

    def __init__(self, dpl: Any) -> None:
        self._dpl = dpl

    def any(self, name: str) -> Callable[..., Any]:
        def operation(*given: Any, **named: Any) -> Any:
            if name == "const":
                return self._dpl.is_const()
            names = texts.PARAMETERS.get(name, ())
            operands = given[:1] if names else given
            attributes = {**dict(zip(names[1:], given[1:], strict=False)), **named}
            made = self._dpl.is_op(f"relax.{name.replace('nn_', 'nn.')}")(*operands)
            kept = {k: list(v) if isinstance(v, tuple) else v for k, v in attributes.items()
                    if k not in texts.IGNORED}  # fmt: skip
            return made.has_attr(kept) if kept else made

        return operation


class _Calls:
    """The room `R` of TVM itself."""

    def __init__(self, ops: Any) -> None:
        self._ops = ops

    def nn_attention(self, *given: Any, **named: Any) -> Any:
        return self._ops.nn.attention(*given, **named)
