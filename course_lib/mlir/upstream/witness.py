"""Does upstream MLIR compute what our interpreter computes? A row for each op, or model.

    op        result      as
    matmul    agrees      linalg.matmul, linalg.generic
    argsort   refused     argsort has no loop form

A subject is a graph and its inputs. Integers and truth values must be equal, floats close: sums are
taken in another order, and `math.exp` is not numpy's. Next room: `pipelines.py`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.graph_interp import run
from course_lib.mlir.out.to_mlir import to_mlir, weights_of
from course_lib.mlir.upstream.engine import Job, Outcome, run_all

Subject = tuple[Graph, Sequence[np.ndarray]]
TOLERANCE = {2: 5e-3, 4: 2e-5, 8: 1e-9}  # by the bytes of a float
STRUCTURED = re.compile(r"(linalg\.(?!yield|index|fill)\w+|tensor\.(?!yield|empty)\w+|scf\.for)")


@dataclass(frozen=True)
class Row:
    """What became of one subject: "agrees", "refused" (by us) or "differs", and why or as what."""

    name: str
    result: str
    words: str


def witness(
    subjects: Mapping[str, Subject], named: bool = True, tool: str | None = None
) -> list[Row]:
    """A row for each subject, all run by one process. ValueError where the tool is missing."""
    refused: dict[str, str] = {}
    jobs: dict[str, Job] = {}
    for name, (graph, inputs) in subjects.items():
        try:
            jobs[name] = job(graph, inputs, named)
        except ValueError as error:
            refused[name] = str(error).splitlines()[-1].rpartition(": ")[2]
    outcomes = dict(zip(jobs, run_all(list(jobs.values()), tool), strict=True))
    return [
        Row(name, "refused", refused[name]) if name in refused
        else _row(name, subject, jobs[name], outcomes[name])
        for name, subject in subjects.items()
    ]  # fmt: skip


def job(graph: Graph, inputs: Sequence[np.ndarray], named: bool = True) -> Job:
    """The graph as the engine takes it: its weights are arguments."""
    text = to_mlir(graph, "arguments", named)
    return Job(text, "main", [*inputs, *weights_of(graph)], [n.type for n in graph.outputs])


def _row(name: str, subject: Subject, done: Job, outcome: Outcome) -> Row:
    if isinstance(outcome, str):
        return Row(name, "differs", outcome.splitlines()[0] if outcome else "no words")
    wanted = run(*subject)
    for k, (got, want) in enumerate(zip(outcome, wanted, strict=True)):
        if not agree(got, want):
            return Row(name, "differs", f"result {k} is {got.ravel()[:4]}, not {want.ravel()[:4]}")
    return Row(name, "agrees", ", ".join(sorted(set(STRUCTURED.findall(done.text)))))


def agree(got: np.ndarray, want: np.ndarray) -> bool:
    """Equal; floats up to a few roundings of the largest number that is finite."""
    if got.dtype != want.dtype or got.shape != want.shape:
        return False
    if want.dtype.kind != "f":
        return np.array_equal(got, want)
    near = TOLERANCE[want.dtype.itemsize]
    return np.allclose(got.astype("f8"), want.astype("f8"), near, near, equal_nan=True)


def table(rows: Sequence[Row]) -> str:
    """The rows as text."""
    width = max(len(row.name) for row in rows) + 2
    return "".join(f"{r.name:<{width}}{r.result:<9}{r.words}".rstrip() + "\n" for r in rows)
