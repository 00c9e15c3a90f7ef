"""Named lists of passes, each with what it decides.

    PIPELINES["loops"].passes  ->  ("linalg-generalize-named-ops", "one-shot-bufferize{...}", ...)

What a level leaves open, a pass decides, and what was plain before has to be found out or proved
from then on: where a tensor lies (bufferization), in which order the points of a loop nest come
(loops), which block follows which (cf). The passes are upstream's; `passes.py` runs them. Next
room: `passes.py`.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Pipeline:
    """What it is for, and its steps: a pass as MLIR's command line writes it, and what it does.

    schedule   text of the transform dialect that has to stand in the module, for
               `transform-interpreter`
    """

    title: str
    steps: tuple[tuple[str, str], ...]
    schedule: str = ""

    @property
    def passes(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.steps)

    def prepared(self, text: str) -> str:
        """The module with the schedule in it. ValueError if it does not begin with `module`."""
        if not self.schedule:
            return text
        head, brace, rest = text.partition(" {\n")
        body, end, behind = rest.rpartition("\n}")
        if not (head.startswith("module") and brace and end):
            raise ValueError(
                f"a schedule needs a text that begins with `module`, got {text[:60]!r}"
            )
        marked = f"{head} attributes {{transform.with_named_sequence}} {{\n"
        return f"{marked}{body}\n{self.schedule.rstrip()}{end}{behind}"


_BUFFERS = (
    ("linalg-generalize-named-ops", "a named op is spelled out: maps, kinds of loops, a body"),
    ("eliminate-empty-tensors", "a result is made where it is needed, without a copy"),
    ("one-shot-bufferize{bufferize-function-boundaries "
     "function-boundary-type-conversion=identity-layout-map}",
     "tensors become buffers: from here on, values have places, and places are overwritten"),
    ("buffer-results-to-out-params{modify-public-functions}",
     "the caller gives the memory of the results"),
)  # fmt: skip
_LOOPS = (
    *_BUFFERS,
    ("func.func(convert-linalg-to-loops)", "maps become loops: from here on, there is an order"),
)
_BLOCKS = (
    ("expand-strided-metadata", "a view of a buffer becomes arithmetic on its offset and strides"),
    ("lower-affine", "affine indices become arithmetic"),
    ("convert-scf-to-cf", "loops become blocks and branches; a loop's values, block arguments"),
)
_LLVM = (
    ("convert-math-to-llvm", "math: LLVM's intrinsics"),
    ("convert-math-to-libm", "math that LLVM has no intrinsic for: calls of the C library"),
    ("convert-arith-to-llvm", "arithmetic in LLVM's dialect"),
    ("convert-index-to-llvm", "the operations of the dialect `index`, in LLVM's dialect"),
    ("finalize-memref-to-llvm", "a buffer is a pointer, an offset, sizes and strides"),
    ("convert-func-to-llvm", "functions in LLVM's dialect"),
    ("convert-cf-to-llvm", "branches in LLVM's dialect"),
    ("reconcile-unrealized-casts", "the casts that the steps before left meet and vanish"),
)

SCHEDULE = """\
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
    %product = transform.structured.match ops{["linalg.matmul"]} in %module
        : (!transform.any_op) -> !transform.any_op
    %tiled, %rows, %columns, %sums = transform.structured.tile_using_for %product
        tile_sizes [2, 8, 4]
        : (!transform.any_op)
        -> (!transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op)
    transform.yield
  }
"""

PIPELINES = {
    "fused": Pipeline("on tensors: elementwise ops join", (
        _BUFFERS[0],
        ("linalg-fuse-elementwise-ops", "an elementwise op is computed where its value is used"),
        ("canonicalize", "each op brings its own rewrites to a normal form"),
        ("cse", "what is computed twice is computed once"),
    )),
    "loops": Pipeline("from tensors to loops", (
        *_LOOPS,
        ("canonicalize", "each op brings its own rewrites to a normal form"),
    )),
    "llvm": Pipeline("from tensors to LLVM's dialect", (*_LOOPS, *_BLOCKS, *_LLVM)),
    "vectors": Pipeline("from tensors to tiled, vectorized loops", (
        *_BUFFERS,
        ("func.func(convert-linalg-to-affine-loops)", "loops whose bounds and indices are affine"),
        ("func.func(affine-loop-tile{tile-sizes=2,8,4})", "loops over tiles, loops in a tile"),
        ("func.func(affine-super-vectorize{virtual-vector-size=8})", "eight neighbours at once"),
        ("lower-affine", "affine indices become arithmetic"),
        ("canonicalize", "each op brings its own rewrites to a normal form"),
    )),
    "transform": Pipeline("tiles as a schedule in the module says", (
        ("transform-interpreter", "the schedule is run: it finds the product and tiles it"),
        ("canonicalize", "each op brings its own rewrites to a normal form"),
        ("cse", "what is computed twice is computed once"),
    ), SCHEDULE),
}  # fmt: skip
