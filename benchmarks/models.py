"""How fast are the four models here, beside PyTorch and onnxruntime?

    make bench
    block         onnxruntime      1.469 ms     0.50 x   error 1.0e-07

(The line above shows the form only.) The candidates of a model take turns in one process, so that
a busy machine is busy for all of them; each figure is a median. They run on one thread unless
--threads says otherwise: with more, the idle workers of one candidate spin while the next one is
being timed. The error is the largest difference from a float64 run of PyTorch, relative to the
largest output. Where the time goes in ours: `python -m course_lib run MODEL.onnx`.
"""

import argparse
import copy
import logging
import time
from collections.abc import Callable, Sequence
from statistics import median

import numpy as np
import onnxruntime
import torch
from tqdm import tqdm

import course_lib
from course_lib.models import MODELS, example_inputs

Arrays = Sequence[np.ndarray]


def bench(name: str, rounds: int) -> None:
    """Print one line per candidate for one model."""
    model, inputs = MODELS[name].build(), example_inputs(name)
    expected = eager(copy.deepcopy(model).double())([x.astype(np.float64) for x in inputs])
    candidates = {
        "torch eager": eager(model),
        "onnxruntime": onnx_session(model, inputs),
        "course_lib": ours(model, inputs),
    }
    milliseconds = take_turns(name, candidates, inputs, rounds)
    for candidate, run in candidates.items():
        ratio = milliseconds[candidate] / milliseconds["torch eager"]
        error = np.abs(run(inputs) - expected).max() / np.abs(expected).max()
        figures = f"{milliseconds[candidate]:9.3f} ms {ratio:8.2f} x   error {error:.1e}"
        print(f"{name:<13} {candidate:<12} {figures}")


def take_turns(
    name: str, candidates: dict[str, Callable], inputs: Arrays, rounds: int
) -> dict[str, float]:
    """The median milliseconds of each candidate; one warm-up, then turn by turn."""
    seconds: dict[str, list[float]] = {candidate: [] for candidate in candidates}
    for run in candidates.values():
        run(inputs)
    for _ in tqdm(range(rounds), desc=name, leave=False):
        for candidate, run in candidates.items():
            start = time.perf_counter()
            run(inputs)
            seconds[candidate].append(time.perf_counter() - start)
    return {candidate: 1000 * median(times) for candidate, times in seconds.items()}


def eager(model: torch.nn.Module) -> Callable[[Arrays], np.ndarray]:
    def run(inputs: Arrays) -> np.ndarray:
        with torch.inference_mode():
            return model(*map(torch.from_numpy, inputs)).numpy()

    return run


def onnx_session(model: torch.nn.Module, inputs: Arrays) -> Callable[[Arrays], np.ndarray]:
    program = torch.onnx.export(model, tuple(map(torch.from_numpy, inputs)), verbose=False)
    assert program is not None
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = torch.get_num_threads()
    session = onnxruntime.InferenceSession(program.model_proto.SerializeToString(), options)
    names = [argument.name for argument in session.get_inputs()]
    return lambda arrays: session.run(None, dict(zip(names, arrays, strict=True)))[0]


def ours(model: torch.nn.Module, inputs: Arrays) -> Callable[[Arrays], np.ndarray]:
    program = course_lib.compile(model, inputs, threads=torch.get_num_threads())
    return lambda arrays: program(*arrays)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Time the course's models beside two peers.")
    parser.add_argument("models", nargs="*", default=list(MODELS), help="default: all four")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    logging.getLogger("torch.onnx").setLevel(logging.ERROR)  # about torchvision, which is not used
    for each in arguments.models:
        bench(each, arguments.rounds)
