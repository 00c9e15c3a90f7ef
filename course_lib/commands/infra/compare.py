"""`run --compare openvino`: the same model on a peer, how far apart, and how fast it is.

    compare(task, outputs, options)  ->  {"max_rel_error": 2e-07, "agrees": True, ...}

Next room: `course_lib/peers/peer.py`.
"""

from __future__ import annotations

from argparse import ArgumentTypeError, Namespace
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from course_lib.bridges import steps as stepwise
from course_lib.commands.infra.task import Task
from course_lib.measure.turns import warm_median
from course_lib.peers.agree import errors
from course_lib.peers.around import available
from course_lib.peers.model import Model, named
from course_lib.peers.onnxruntime import onnxruntime_session
from course_lib.peers.peer import PEERS, peer, unknown

ITSELF = "onnxruntime"  # can also be asked for what the file says, without its optimizations


def system(word: str) -> str:
    """What an option takes: the name of a system. argparse prints the words otherwise."""
    if word not in PEERS:
        raise ArgumentTypeError(unknown(word))
    return word


def compare(task: Task, outputs: Sequence[np.ndarray], options: Namespace) -> dict[str, Any]:
    """Errors against the peer, over all outputs, and its time. A model of integers is compared in
    steps where its results come in steps; with what onnxruntime computes without optimizing it."""
    from course_lib.frontend.onnx.steps import output_steps  # onnx is heavy

    call = _prepared(task, options)
    right, steps, more = call(), output_steps(task.source), {}
    if steps is not None and options.compare == ITSELF:
        optimized = right
        right = onnxruntime_session(task.source, options.threads, plain=True)(task.peer_inputs)
        more = {"steps": stepwise.distances(outputs, right, optimized, steps)}
    return {
        "peer": options.compare,
        **errors(outputs, right, steps or [None] * len(outputs)),
        **more,
        "peer_ms": 1e3 * warm_median(call, options.repeat),
    }


def _prepared(task: Task, options: Namespace) -> Callable[[], list[np.ndarray]]:
    """The model in that system, in this process."""
    if options.compare == ITSELF:
        session = onnxruntime_session(task.source, options.threads)
        return lambda: session(task.peer_inputs)
    model = Model(named(str(options.model)), task.source, tuple(task.peer_inputs))
    threads = options.threads or len(available())
    return peer(options.compare).prepare(model, threads=threads).call


def comparison(apart: dict[str, Any], ours_ms: float) -> str:
    """The same in words."""
    verdict = "agrees with" if apart["agrees"] else "DIFFERS from"
    plain = " (without its optimizations)" if "steps" in apart else ""
    steps = stepwise.told(apart["peer"], apart["steps"]) + "\n" if "steps" in apart else ""
    return (
        f"{verdict} {apart['peer']}{plain}: largest error {apart['max_abs_error']:.2e} absolute, "
        f"{apart['max_rel_error']:.2e} relative to its largest value\n{steps}"
        f"{apart['peer']}: {apart['peer_ms']:.3f} ms, "
        f"ours takes {ours_ms / apart['peer_ms']:.2f} times as long"
    )
