"""Pipelines: plausible ones that do not get there, and other right ones."""

from __future__ import annotations

from autograder.check.framework import alternatives, mutants

BUFFERS = ("one-shot-bufferize{bufferize-function-boundaries "
           "function-boundary-type-conversion=identity-layout-map}")  # fmt: skip
OUT = "buffer-results-to-out-params{modify-public-functions hoist-static-allocs}"
LOOPS = "convert-linalg-to-loops,convert-scf-to-cf"
LLVM = "convert-arith-to-llvm,finalize-memref-to-llvm,convert-func-to-llvm,convert-cf-to-llvm"
COPIED = "buffer-results-to-out-params{modify-public-functions}"
ALIGNED = LLVM.replace("to-llvm,convert-func", "to-llvm{use-aligned-alloc},convert-func")
CASTS = "reconcile-unrealized-casts"


def _of(*parts: str) -> object:
    return lambda: ",".join(parts)


mutants(
    "u10_lab_toy.pipeline",
    nothing=_of(),
    a_list_of_passes=lambda: [BUFFERS, OUT, LOOPS, LLVM, CASTS],
    as_the_source_documents_write_it=lambda: "--linalg-tile --convert-linalg-to-loops "
    "--lower-affine --convert-to-llvm",
    no_casts_at_the_end=_of(BUFFERS, OUT, LOOPS, LLVM),
    casts_first=_of(BUFFERS, OUT, CASTS, LOOPS, LLVM),
    loops_before_buffers=_of(LOOPS, BUFFERS, OUT, LLVM, CASTS),
    arith_before_the_blocks=_of(BUFFERS, OUT, "convert-linalg-to-loops,convert-arith-to-llvm,"
                                "convert-scf-to-cf,finalize-memref-to-llvm,convert-func-to-llvm,"
                                "convert-cf-to-llvm", CASTS),
    without_the_boundaries=_of("one-shot-bufferize", OUT, LOOPS, LLVM, CASTS),
    returns_its_result=_of(BUFFERS, LOOPS, LLVM, CASTS),
    loses_memory=_of(BUFFERS, COPIED, LOOPS, LLVM, CASTS),
    loses_aligned_memory=_of(BUFFERS, COPIED, LOOPS, ALIGNED, CASTS),
)  # fmt: skip
alternatives(
    "u10_lab_toy.pipeline",
    gives_the_memory_back=_of(BUFFERS, COPIED, "buffer-deallocation-pipeline", LOOPS, LLVM, CASTS),
    gives_aligned_memory_back=_of(BUFFERS, COPIED, "buffer-deallocation-pipeline", LOOPS, ALIGNED,
                                  CASTS),
    through_affine_loops=_of(BUFFERS, OUT, "func.func(convert-linalg-to-affine-loops)",
                             "lower-affine", "convert-scf-to-cf", LLVM, CASTS),
    named_operations_first=_of(" linalg-generalize-named-ops", "canonicalize", "cse", BUFFERS, OUT,
                               LOOPS, "convert-func-to-llvm", LLVM, CASTS, "canonicalize"),
)  # fmt: skip
