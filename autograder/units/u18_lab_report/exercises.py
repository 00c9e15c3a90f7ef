"""The lab of unit 18, report: a model, what a report supports, advice from facts, and a defence.

The bodies are our answers and never ship. The recorded report and the facts stand in
lessons/u18_lab_report.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import permutations
from typing import Any

import numpy as np

from autograder.check.rubrics import Rubric, Sample
from course_lib.exercises import exercise
from course_lib.ir.graph import build
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node

Interval = Callable[[Sequence[float], Sequence[float]], tuple[float, float]]


@exercise("u18_lab_report.model", unit=18, lab="report", points=3)
def model(seed: int) -> Graph:
    """Make a model of your own that can be benchmarked.

    seed     a whole number; equal seeds give equal weights, and different seeds different ones
    returns  the graph, as `read` or `trace` makes it

    It has one input and one output, both f32, whose sizes are numbers. It has at least 20
    operations of at least 6 kinds, among them at least 3 products (`conv`, `matmul`). One run takes
    1 to 300 million floating-point operations, as `flops` counts them. The constants take at most
    20 MB. The seed changes only weights, so every seed gives the same operations and sizes.

    `to_onnx` can write it. For standard normal inputs, all results are finite, and another input
    gives another result. It is steady: if the input changes by a millionth of itself, no result
    changes by more than a thousandth of the largest.
    """
    rng = np.random.default_rng(seed)

    def weights(*shape: int) -> np.ndarray:
        fan_in = np.prod(shape[1:]) if len(shape) > 2 else shape[0]
        return (rng.standard_normal(shape) / np.sqrt(fan_in)).astype(np.float32)

    def net(x: Node) -> Node:
        for inside, outside in ((3, 16), (16, 32), (32, 32)):
            x = build.relu(build.conv(x, weights(outside, inside, 3, 3)) + weights(outside, 1, 1))
            gate = build.sigmoid(build.conv(x, weights(outside, outside, 1, 1)))
            x = x * gate
        features = build.mean(x, axes=(2, 3))
        hidden = build.tanh(build.matmul(features, weights(32, 64)))
        return build.softmax(build.matmul(hidden, weights(64, 10)))

    return build.trace(net, "f32[1,3,32,32]", name="gated")


@exercise("u18_lab_report.claims", unit=18, lab="report", points=5)
def claims(report: Mapping[str, Any], interval: Interval) -> list[tuple]:
    """What does a report support?

    report    what `bench --json` writes, of any model
    interval  interval(first, second) is the lowest and the highest ratio first / second that the
              seconds of two lists of rounds are compatible with
    returns   all claims of these forms that hold, each once, in any order:

    ("faster", threads, system, other, by)    `other` takes at least `by` times as long
    ("fastest", threads, system)              all others are slower
    ("smaller", threads, system, other, by)   `other` needs `by` times the memory

    Only systems on the same number of threads are compared. Whoever has a problem, or no rounds,
    takes part in nothing. `by` of "faster" is the lowest ratio of the interval, which must be above
    1.02: two processes of one program can differ by 2 %. "fastest" needs "faster" against each of
    the others, and at least one other. `by` of "smaller" is the ratio of the peaks and must be at
    least 1.1, because a peak is measured once; some are unknown.
    """
    found: list[tuple] = []
    for threads in {row["threads"] for row in report["rows"]}:
        rows = {row["system"]: row for row in _sound(report) if row["threads"] == threads}
        beaten: dict[str, int] = dict.fromkeys(rows, 0)
        for system, other in permutations(rows, 2):
            low, _ = interval(rows[other]["rounds"], rows[system]["rounds"])
            if low > 1.02:
                found.append(("faster", threads, system, other, low))
                beaten[system] += 1
            peaks = [rows[name]["peak_bytes"] for name in (system, other)]
            if None not in peaks and peaks[1] >= 1.1 * peaks[0]:
                found.append(("smaller", threads, system, other, peaks[1] / peaks[0]))
        best = [name for name, count in beaten.items() if count == len(rows) - 1 > 0]
        found += [("fastest", threads, name) for name in best]
    return found


def _sound(report: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The rows that may be compared."""
    return [row for row in report["rows"] if row["rounds"] and not row["problem"]]


@exercise("u18_lab_report.scales", unit=18, lab="report", points=4)
def scales(report: Mapping[str, Any], interval: Interval) -> list[tuple]:
    """Which systems gain more from more threads than others do?

    report    what `bench --json` writes, with one or several numbers of threads
    interval  as for `claims`
    returns   all tuples (system, other, fewer, more, by) that the rounds support, each once:
              from `fewer` threads to `more`, `system` becomes at least `by` times as much faster as
              `other` does

    Systems take turns on the same number of threads. The numbers of threads are measured one after
    the other, though, and in between, the machine may have become slower or faster by any factor.
    This factor is the same for all systems, and no result may depend on it. `by` is the largest
    factor that follows from intervals of rounds that took turns, and must be above 1.02. `fewer`
    and `more` are any two numbers of threads on which both systems ran without a problem.
    """
    rounds = {(row["threads"], row["system"]): row["rounds"] for row in _sound(report)}
    counts, systems = {threads for threads, _ in rounds}, {system for _, system in rounds}
    found = []
    for system, other in permutations(systems, 2):
        both = [n for n in counts if (n, system) in rounds and (n, other) in rounds]
        behind = {n: interval(rounds[n, other], rounds[n, system]) for n in both}
        for fewer, more in permutations(both, 2):
            by = behind[more][0] / behind[fewer][1]
            if fewer < more and by > 1.02:
                found.append((system, other, fewer, more, by))
    return found


@exercise("u18_lab_report.advice", unit=18, lab="report", points=5)
def advice(model: Mapping[str, Any], device: str, facts: Sequence[tuple]) -> dict[str, Any]:
    """Which compilers bring a model to a device, and which facts say so?

    model    {"operations": a list of names, "sizes": for each format in which it exists, such as
             "int8", the bytes of its "weights" and of its "activations"}
    device   its name
    facts    tuples (number, about, says, value), as above
    returns  for each compiler that targets anything: for each format in which it works, the sorted
             numbers of the facts behind that; or, if it works in none, a word

    The word is the first of these that is missing: "target", if the device is nothing that the
    compiler targets and does not drop; "format", if the model exists in none that the device
    computes and for which the compiler has any "runs"; "operations", if in each of those formats
    some operation runs nowhere; "memory", if in the others something exceeds a limit. Where no fact
    sets a limit, there is none.

    Behind a format are all facts about the shared target, the format, limits of the device, and the
    "runs" of that format with one of the operations.
    """
    known: dict[tuple[str, str], dict[int, Any]] = {}
    for number, about, says, value in facts:
        known.setdefault((about, says), {})[number] = value
    answer: dict[str, Any] = {}
    for compiler in dict.fromkeys(about for _, about, says, _ in facts if says == "targets"):
        sides = [known.get((device, "is"), {}), known[compiler, "targets"]]
        shared = set(sides[0].values()) & set(sides[1].values())
        shared -= set(known.get((compiler, "drops"), {}).values())
        used = {n for side in sides for n, value in side.items() if value in shared}
        ways = {name: _way(model, name, device, compiler, known) for name in model["sizes"]}
        works = {name: sorted(used | way) for name, way in ways.items() if isinstance(way, set)}
        missing = sorted({w for w in ways.values() if isinstance(w, str)}, key=_WORDS.index)
        answer[compiler] = (works or missing[-1]) if shared else "target"
    return answer


_WORDS = ("format", "operations", "memory")


def _way(model: Any, name: str, device: str, compiler: str, known: Any) -> set[int] | str:
    """The facts behind this format, or what is missing."""
    asked = set(model["operations"])
    computes = {n for n, value in known.get((device, "computes"), {}).items() if value == name}
    runs = {n: asked & set(ops) for n, (format, ops) in known.get((compiler, "runs"), {}).items()
            if format == name}  # fmt: skip
    if not (computes and runs):
        return "format"
    if asked - {op for ops in runs.values() for op in ops}:
        return "operations"
    limits = [(what, known.get((device, what), {})) for what in ("weights", "activations")]
    if any(model["sizes"][name][what] > most for what, row in limits for most in row.values()):
        return "memory"
    return {*computes, *(n for n, ops in runs.items() if ops), *(n for _, row in limits for n in row)}


@exercise("u18_lab_report.report", unit=18, lab="report", points=4, kind="explain")
def report() -> Rubric:
    """Write your report: 200 to 300 words for somebody who has to choose. Begin with the model, the
    machine, the versions and how busy the machine was. Defend three claims of your lists, of three
    different forms. For each, give the figure, say what would have refuted it, and name one thing
    that it does not say. Name one comparison that a reader would like to see and that your report
    does not support, and why. Then recommend a compiler for each of the three devices, or none, and
    put the numbers of the facts behind each sentence. Say what you would have to find out before
    anybody spends money on it.
    """
    return Rubric(
        criteria="Half a point for the conditions: model, machine, versions, share of other "
        "processes. 1.5 points for the claims, half a point each: a claim of the list with its "
        "figure (a quarter), and what would have refuted it or what it does not say (a quarter). "
        "At most 1 point if all are of one form. Half a point for a comparison that is not "
        "supported, with the reason (interval across 1.02, a problem, too few rounds, one system's "
        "own times on two numbers of threads, peaks too near). 1 point for the advice: every "
        "sentence about a device has facts behind it (half a point), and none says more than its "
        "facts (half a point); that no compiler is left is a recommendation, too. Half a point for "
        "what is not known: no fact says how fast, how exact in int8, or what a device costs; a "
        "page may be out of date.",
        samples=(
            Sample(4, "Model: 24 operations, 17 MFLOP. Machine: 2 processors, onnxruntime 1.31.1, "
                   "openvino 2026.4.1, course-lib 0.1.0; others had 3 % of the time. (1) On one "
                   "thread, torch eager takes at least 1.6 times as long as onnxruntime: the "
                   "interval of 7 rounds starts there, and one round below 1.02 would have refuted "
                   "it. It says nothing about batches. (2) From 1 to 2 threads, openvino gains at "
                   "least 1.2 times as much as the course's compiler. A slower machine in between "
                   "would have slowed both. It does not say that openvino is fast. (3) torch needs "
                   "2.1 times the memory of onnxruntime; less than 1.1 would have refuted it. It is "
                   "the whole process, measured once. I cannot say whether openvino or onnxruntime "
                   "is faster on one thread: 0.97 to 1.06. H200: TensorRT, whose list has all my "
                   "operations, in f32 and int8 (facts 1, 2, 5, 6, 8). Arduino: LiteRT Micro in "
                   "int8, as the f32 weights exceed the flash (9, 10, 12, 14, 16). Edge TPU: none, "
                   "for no fact says that it runs my gelu. No fact says how fast any of them is, "
                   "or what int8 costs in accuracy; I would measure both first."),
            Sample(2, "onnxruntime is at least 1.6 times as fast as torch eager on one thread, by "
                   "the interval, and 1.3 times as fast as the course. It needs half the memory of "
                   "torch. The machine was quiet. On the H200 use TensorRT (facts 1, 2, 5), on the "
                   "Arduino LiteRT Micro (9, 12), on the Edge TPU its compiler, which will be the "
                   "fastest. I would try all of them before buying."),
            Sample(0, "onnxruntime won. For GPUs TensorRT is always best, and small devices should "
                   "use TVM, because it supports everything."),
        ),
    )  # fmt: skip
