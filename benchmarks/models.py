"""The course's compiler beside PyTorch and onnxruntime, on the course's four models.

    make bench            (or: python benchmarks/models.py --threads 1 --model resnet18)

All engines run the same weights on the same input in one process and in turns, so that noise
disturbs them alike. A figure is the median over the rounds. Only ratios mean anything elsewhere.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable, Sequence

import numpy as np
from tqdm import tqdm

import course_lib
from course_lib.bridges.peers import onnxruntime_session
from course_lib.frontend.onnx.write import to_onnx
from course_lib.llvm.host import host_machine
from course_lib.models import MODELS, example_inputs

Engine = Callable[[], Sequence[np.ndarray]]


def engines(name: str, threads: int) -> dict[str, Engine]:
    """The model in each engine, as a call without arguments."""
    import torch

    torch.set_num_threads(threads)
    model, arrays = MODELS[name].build(), example_inputs(name)
    tensors = [torch.from_numpy(a) for a in arrays]
    ours = course_lib.compile(model, arrays, threads=threads)
    proto = to_onnx(ours.stage("import").form).SerializeToString()
    peer = onnxruntime_session(proto, threads)

    def eager() -> Sequence[np.ndarray]:
        with torch.inference_mode():
            return [model(*tensors).numpy()]

    return {
        "course": lambda: ours.run(arrays),
        "torch eager": eager,
        "onnxruntime": lambda: peer(arrays),
    }


def measure(calls: dict[str, Engine], rounds: int, seconds: float) -> dict[str, float]:
    """Median milliseconds of each engine. A round calls each one for the same short time."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    for call in calls.values():
        call()
    for _ in range(rounds):
        for name, call in calls.items():
            stop = time.perf_counter() + seconds / rounds
            while True:
                start = time.perf_counter()
                call()
                end = time.perf_counter()
                times[name].append(1e3 * (end - start))
                if end > stop:
                    break
    return {name: statistics.median(found) for name, found in times.items()}


def check(calls: dict[str, Engine]) -> None:
    """No figure without agreement: a fast wrong answer is worth nothing."""
    reference = np.asarray(calls["torch eager"]()[0], np.float64)
    for name, call in calls.items():
        error = (
            np.abs(np.asarray(call()[0], np.float64) - reference).max() / np.abs(reference).max()
        )
        if not error < 1e-4:
            raise SystemExit(f"{name} differs from torch by {error:.1e}: no figures")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--model", choices=MODELS, action="append", help="only this one")
    parser.add_argument("--threads", type=int, action="append", help="default: 1 and all")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=2.0, help="for each engine and model")
    parser.add_argument("--json", action="store_true", help="one JSON object on the last line")
    options = parser.parse_args()
    machine = host_machine()
    counts = options.threads or sorted({1, machine.threads})
    jobs = [(name, count) for name in options.model or MODELS for count in counts]
    print(f"{machine}\n\nmedian ms (and time relative to the course's compiler)\n")
    rows = []
    for name, count in tqdm(jobs, disable=not sys.stderr.isatty()):
        calls = engines(name, count)
        check(calls)
        found = measure(calls, options.rounds, options.seconds)
        rows.append({"model": name, "threads": count, "ms": found})
    print(_table(rows))
    if options.json:
        print(json.dumps({"machine": str(machine), "rows": rows}))


def _table(rows: list[dict]) -> str:
    names = list(rows[0]["ms"])
    lines = ["| model | threads | " + " | ".join(names) + " |", "|---|--:|" + "--:|" * len(names)]
    for row in rows:
        ours = row["ms"]["course"]
        cells = [
            f"{ms:.3g}" + ("" if ms is ours else f" ({ms / ours:.2f}×)")
            for ms in row["ms"].values()
        ]
        lines.append(f"| {row['model']} | {row['threads']} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
