"""The lab of unit 18, report: a model, what a report supports, advice from facts, and a defence.

The bodies are our answers and never ship. The recorded report and the facts stand in
lessons/u18_lab_report.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import permutations
from typing import Any

import numpy as np

from autograder.check.rubrics import Rubric, Sample
from course_lib.exercises import exercise
from course_lib.ir.graph import build
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node


@exercise("u18_lab_report.model", unit=18, lab="report", points=3, kind="inverse")
def model(seed: int) -> Graph:
    """Make a model of your own that can be benchmarked.

    seed     a whole number; equal seeds give equal weights, and different seeds different ones
    returns  the graph, as `read` or `trace` makes it

    It has one input and one output, both f32, with sizes that are numbers. It has at least 20
    operations of at least 6 kinds, among them at least 3 products (`conv`, `matmul`). One run takes
    1 to 300 million floating-point operations, as `flops` counts them. The constants take at most
    20 MB. The seed changes nothing but weights. `to_onnx` can write it.

    For standard normal inputs, all results are finite, and another input gives another result. It
    is steady: if the input changes by a millionth of itself, no result changes by more than a
    thousandth of the largest result. It keeps its digits: computed in f64, no result differs from
    that in f32 by more than a thousandth of the largest, since `bench` takes f64 for right.
    """
    rng = np.random.default_rng(seed)

    def weights(*shape: int) -> np.ndarray:
        terms = np.prod(shape[1:] if len(shape) > 2 else shape[:1])
        return (rng.standard_normal(shape) / np.sqrt(terms)).astype(np.float32)

    def net(x: Node) -> Node:
        for inside, outside in ((3, 16), (16, 32), (32, 32)):
            x = build.relu(build.conv(x, weights(outside, inside, 3, 3)) + weights(outside, 1, 1))
            x = x * build.sigmoid(build.conv(x, weights(outside, outside, 1, 1)))
        hidden = build.tanh(build.matmul(build.mean(x, axes=(2, 3)), weights(32, 64)))
        return build.softmax(build.matmul(hidden, weights(64, 10)))

    return build.trace(net, "f32[1,3,32,32]")


@exercise("u18_lab_report.claims", unit=18, lab="report", points=5)
def claims(report: Mapping[str, Any], interval: Callable[..., tuple[float, float]]) -> list[tuple]:
    """What does a report support?

    report    what `bench --json` writes, of any model
    interval  interval(first, second) is the lowest and the highest ratio first / second that the
              seconds of two lists of rounds are compatible with
    returns   all claims of these forms that hold, each once, in any order:

    ("faster", threads, system, other, by)    `other` takes at least `by` times as long
    ("fastest", threads, system)              all other systems are slower
    ("smaller", threads, system, other, by)   `other` needs `by` times the memory

    Only systems on the same number of threads are compared. A row with a problem, or without
    rounds, takes part in no claim. `by` of "faster" is the lowest ratio `other` / `system` of the
    interval, and must be above 1.02, since two processes of one program can differ by 2 %.
    "fastest" needs "faster" against each of the others, and at least one other. `by` of "smaller"
    is the ratio of the peaks, and must be at least 1.1, since a peak is measured once; some peaks
    are unknown.
    """
    rows, found = _sound(report), []
    for one, other in permutations(rows, 2):
        head = (one["threads"], one["system"], other["system"])
        if one["threads"] == other["threads"]:
            low, _ = interval(other["rounds"], one["rounds"])
            if low > 1.02:
                found.append(("faster", *head, low))
            peaks = other["peak_bytes"], one["peak_bytes"]
            if None not in peaks and (by := peaks[0] / peaks[1]) >= 1.1:
                found.append(("smaller", *head, by))
    slower = Counter(claim[1:3] for claim in found if claim[0] == "faster")
    for (threads, system), count in slower.items():
        if count == sum(row["threads"] == threads for row in rows) - 1:
            found.append(("fastest", threads, system))
    return found


def _sound(report: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The rows that may be compared."""
    return [row for row in report["rows"] if row["rounds"] and not row["problem"]]


@exercise("u18_lab_report.scales", unit=18, lab="report", points=4, further=True)
def scales(report: Mapping[str, Any], interval: Callable[..., tuple[float, float]]) -> list[tuple]:
    """Which systems gain more from more threads than others do?

    report    what `bench --json` writes, with any numbers of threads
    interval  as for `claims`: gives the lowest and the highest ratio first / second of two lists
    returns   all tuples (system, other, fewer, more, by) that the rounds support, each once:
              from `fewer` threads to `more`, `system` becomes at least `by` times as much faster as
              `other` does

    Systems take turns on one number of threads. The next number comes after that, and by then the
    machine may have become slower or faster, by the same factor for all systems. No result may
    depend on this factor. `by` is the largest number that follows from intervals of rounds that
    took turns, and must be above 1.02. `fewer` and `more` are any two numbers of threads on which
    both systems ran without a problem.
    """
    rounds = {(row["threads"], row["system"]): row["rounds"] for row in _sound(report)}
    counts, systems = {n for n, _ in rounds}, dict.fromkeys(name for _, name in rounds)
    found = []
    for system, other in permutations(systems, 2):
        both = [n for n in counts if (n, system) in rounds and (n, other) in rounds]
        behind = {n: interval(rounds[n, other], rounds[n, system]) for n in both}
        for fewer, more in permutations(both, 2):
            by = behind[more][0] / behind[fewer][1]
            if fewer < more and by > 1.02:
                found.append((system, other, fewer, more, by))
    return found


@exercise("u18_lab_report.advice", unit=18, lab="report", points=4)
def advice(
    model: Mapping[str, Any], device: str, compiler: str, facts: Sequence[tuple]
) -> list[int] | str:
    """Does this compiler bring the model to the device, and which facts say so?

    model     {"format": such as "int8", "operations": a list of names, "weights": bytes,
              "activations": bytes}
    facts     tuples (number, about, says, value), as above, about any devices and compilers
    returns   if it does, the sorted numbers of all facts that say so; otherwise a word

    The word is the first of these that is missing. "target": the device is something that the
    compiler targets and does not drop. "format": the device computes in the model's format, and the
    compiler "runs" something in that format. "operations": in this format, it runs all of them.
    "memory": weights and activations are within the limits of the device, where a fact sets any.

    The facts that say so are all facts about the shared targets, about this format on the device,
    about the operations that the model has (a list with one of them is enough), and about those
    limits.
    """
    known: dict[str, dict[int, Any]] = {says: {} for says in _SAYS}
    for number, about, says, value in facts:
        if about == (compiler if says in _OF_COMPILERS else device):
            known[says][number] = value
    shared = {*known["is"].values()} & {*known["targets"].values()} - {*known["drops"].values()}
    used = {n for side in ("is", "targets") for n, value in known[side].items() if value in shared}
    asked, form = {*model["operations"]}, model["format"]
    computes = {n for n, value in known["computes"].items() if value == form}
    runs = {n: asked & {*ops} for n, (name, ops) in known["runs"].items() if name == form}
    limits = [(n, model[what] <= most) for what in _LIMITS for n, most in known[what].items()]
    steps = {"target": shared, "format": computes and runs,
             "operations": asked == {op for ops in runs.values() for op in ops},
             "memory": all(fits for _, fits in limits)}  # fmt: skip
    if missing := [word for word, there in steps.items() if not there]:
        return missing[0]
    return sorted({*used, *computes, *(n for n, ops in runs.items() if ops), *dict(limits)})


_LIMITS = ("weights", "activations")
_OF_COMPILERS = ("targets", "drops", "runs")
_SAYS = ("is", "computes", *_LIMITS, *_OF_COMPILERS)


@exercise("u18_lab_report.defended", unit=18, lab="report", points=4, kind="explain")
def defended() -> Rubric:
    """Write your report, in 200 to 300 words, for somebody who has to choose. Begin with the model,
    the machine, the versions, and how busy the machine was. Defend three claims, of two forms at
    least: for each, the figure, what would have refuted it, and what it does not say. Name a
    comparison that your report does not support, and why. Recommend a compiler for each of the
    three devices, or none, with the numbers of the facts behind each sentence. End with what you
    would have to find out first.
    """
    return Rubric(
        criteria="Half a point for the conditions: model, machine, versions, share of other "
        "processes. 1.5 points for the claims, half a point each: a claim of the list with its "
        "figure (a quarter), and what would have refuted it and what it does not say (a quarter). "
        "At most 1 point if all are of one form; a claim from Further is a form, too. Half a "
        "point for a comparison that is not supported, with the reason (an interval that reaches "
        "below 1.02, a problem, too few rounds, one system's own times on two numbers of threads, "
        "peaks too near). 1 point for the advice: every sentence about a device has facts behind "
        "it (half a point), and none says more than its facts (half a point); that no compiler is "
        "left is a recommendation, too. Half a point for what is not known: no fact says how fast "
        "or how exact a compiler is, nor what a device costs; a page may be out of date.",
        samples=(
            Sample(4, "Model: 20 operations, 24 MFLOP. Machine: 2 processors; onnxruntime 1.31.1, "
                   "openvino 2026.4.1, torch 2.13.0; others had 3 % of the time. (1) On one "
                   "thread, torch-eager takes at least 1.6 times as long as onnxruntime: the "
                   "interval of 7 rounds starts there, and one round at 1.02 or below would have "
                   "refuted it. It says nothing about batches. (2) openvino is the fastest on two "
                   "threads. Its interval against onnxruntime starts at 1.04, so a single round "
                   "could have refuted it, and another run may. It says nothing about systems that "
                   "I did not measure. (3) torch needs 2.1 times the memory of onnxruntime; less "
                   "than 1.1 would have refuted it. That is the whole process, measured once. On "
                   "one thread I cannot say whether openvino or onnxruntime is faster: the "
                   "interval is 0.97 to 1.06. H200: TensorRT in f32, as its list has all my "
                   "operations (facts 1, 2, 6, 7) and they fit (4, 5). Arduino: LiteRT Micro in "
                   "int8 (12, 14, 17, 19), which fits (15, 16); in f32, my activations exceed 256 "
                   "KB (16). Edge TPU: none, since no fact says that it runs my softmax; fact 25 "
                   "has only a part of the table, so I would read the rest first. No fact says how "
                   "fast any of them is, or what int8 costs in accuracy: I would measure both."),
            Sample(2, "onnxruntime is at least 1.6 times as fast as torch-eager on one thread, by "
                   "the interval, and 1.3 times as fast as the course. It needs half the memory of "
                   "torch. The machine was quiet. On the H200 use TensorRT (facts 1, 2, 5), on the "
                   "Arduino LiteRT Micro (9, 12), on the Edge TPU its compiler, which will be the "
                   "fastest. I would try all of them before buying."),
            Sample(0, "onnxruntime won. For GPUs TensorRT is always best, and small devices should "
                   "use TVM, because it supports everything."),
        ),
    )  # fmt: skip
