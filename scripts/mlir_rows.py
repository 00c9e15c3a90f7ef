"""Which rows of the op table, and which models, mean in upstream's MLIR what they mean in ours.

    python scripts/mlir_rows.py                  every row, as tests/golden/mlir_rows.txt has them
    python scripts/mlir_rows.py conv matmul      these
    python scripts/mlir_rows.py --models         the course's four models, on small images
    python scripts/mlir_rows.py --generic        each as `linalg.generic`, also where it has a name
    python scripts/mlir_rows.py --cases          a module for each case: it takes minutes
    python scripts/mlir_rows.py --engine mlir-opt     run by MLIR's programs, not by torch-mlir

The cases are those of tests/ir/test_ops_levels.py: all element types that a row accepts, the
numbers at which functions go wrong, empty tensors. It needs torch-mlir's wheel.
"""

from __future__ import annotations

import argparse
import importlib.util
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from course_lib.ir.graph.graph import Graph
from course_lib.mlir.upstream.witness import Subject, table, witness

CASES = Path(__file__).resolve().parent.parent / "tests" / "ir" / "test_ops_levels.py"


@cache
def cases() -> Any:
    """The module that has the cases of the op table."""
    spec = importlib.util.spec_from_file_location("ops_levels", CASES)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def rows() -> list[str]:
    """The ops that have cases, in the order of the table."""
    return [*cases().SCALARS, *cases().CASES]


def whole_rows(names: Sequence[str], every: int = 1) -> dict[str, Subject]:
    """One graph for each op, with an output for each of its cases, or for every third or so."""
    return {op: cases().graph_of(op, cases().cases_of(op)[::every]) for op in names}


def single_cases(names: Sequence[str], every: int = 1) -> dict[str, Subject]:
    """One graph for each case, or for every second: `conv 0`, `conv 1`, ..."""
    return {
        f"{op} {k}": cases().graph_of(op, [case])
        for op in names
        for k, case in enumerate(cases().cases_of(op)[::every])
    }


def models(names: Sequence[str] = ()) -> dict[str, Subject]:
    """The models of the course, images of 32 x 32 instead of 224 x 224."""
    from course_lib.frontend import load
    from course_lib.models import MODELS, example_inputs

    subjects: dict[str, tuple[Graph, list]] = {}
    for name in names or MODELS:
        inputs = [x[..., :32, :32].copy() if x.ndim == 4 else x for x in example_inputs(name)]
        subjects[name] = load(MODELS[name].build(), tuple(inputs)), inputs
    return dict(subjects)


def main() -> None:
    asked = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    asked.add_argument("names", nargs="*", help="ops, or models with --models; none: all")
    for flag in ("--models", "--generic", "--cases"):
        asked.add_argument(flag, action="store_true")
    asked.add_argument("--engine", choices=("torch-mlir", "mlir-opt"), help="torch-mlir if there")
    options = asked.parse_args()
    if options.models:
        subjects = models(options.names)
    else:
        make = single_cases if options.cases else whole_rows
        subjects = make(options.names or rows())
    print(table(witness(subjects, not options.generic, options.engine)), end="")


if __name__ == "__main__":
    main()
