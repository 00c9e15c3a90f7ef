"""The model that a command is about: a file or one of the course's, with its inputs.

    prepare(options)   ->   Task("model.onnx", [x], ...)      --inputs FILE.npz, or random numbers
    --freeze shape=FILE.npy                                   an input becomes a constant

Next room: `course_lib/compiler.py`, the front door.
"""

from __future__ import annotations

import math
import struct
import zlib
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from course_lib.commands.infra.options import number
from course_lib.files import read_text, readable
from course_lib.frontend import signature
from course_lib.ir.graph.graph import Graph
from course_lib.ir.types import TensorType
from course_lib.limits import check_room
from course_lib.mlir.into.read import from_mlir
from course_lib.models import MODELS
from course_lib.models.traced import traced

# What numpy and the modules below it say of a file that is no .npy or .npz, or a damaged one.
DAMAGED = (OSError, ValueError, EOFError, MemoryError, NotImplementedError, RuntimeError,
           BadZipFile, zlib.error, struct.error)  # fmt: skip


@dataclass(frozen=True)
class Task:
    """A model and its inputs as `compile` takes them, and the same as onnxruntime takes them: to it
    an input that was frozen is one like the others."""

    model: str | Graph
    inputs: list[np.ndarray]
    source: str | bytes
    peer_inputs: list[np.ndarray]


def about_a_model(sub: ArgumentParser) -> None:
    """Add what every command about a model takes; `prepare` reads it."""
    sub.add_argument("model", metavar="MODEL", help="an ONNX or .mlir file, or one of the course")
    sub.add_argument("--inputs", metavar="FILE.npz", help="inputs by name (or arr_0, arr_1, …)")
    sub.add_argument("--freeze", metavar="NAME=FILE.npy", action="append", default=[],
                     help="the value of an input that must be known at compile time, such as "
                     "a shape (of an ONNX file; may be repeated)")  # fmt: skip
    sub.add_argument("--seed", type=number(0), default=0, help="of the random inputs otherwise")


def prepare(options: Namespace) -> Task:
    """MODEL with --inputs or random ones, and with what --freeze says.

    A file is translated here only if something is frozen; otherwise `compile` does it.
    """
    model, source = find_model(options.model)
    frozen, wanted = load_frozen(options.freeze), signature(model)
    names = [name for name in wanted if name not in frozen]
    arrays = load_inputs({name: wanted[name] for name in names}, options.inputs, options.seed)
    given = dict(zip(names, arrays, strict=True))
    if frozen:
        if isinstance(model, Graph):
            raise ValueError(
                f"--freeze is for ONNX files; {options.model} is a model of the course"
            )
        from course_lib.frontend.onnx.read import from_onnx  # onnx is heavy

        model = from_onnx(model, given, frozen)
    return Task(model, arrays, source, [{**given, **frozen}[name] for name in wanted])


def load_frozen(words: Sequence[str]) -> dict[str, np.ndarray]:
    """["shape=FILE.npy"] -> {"shape": array}"""
    frozen = {}
    for word in words:
        name, _, path = word.partition("=")
        if not name or not path:
            raise ValueError(f"--freeze takes NAME=FILE.npy, got {word}")
        try:
            with readable(path).open("rb") as file:
                array = np.load(file, allow_pickle=False)
        except DAMAGED as error:
            raise ValueError(f"{path}: cannot be read as an .npy file: {error}") from None
        if not isinstance(array, np.ndarray):
            raise ValueError(f"{path} holds several arrays; --freeze takes an .npy file of one")
        frozen[name] = array
    return frozen


def find_model(model: str) -> tuple[str | Graph, str | bytes]:
    """Something that `compile` takes, and the same model as onnxruntime takes it (path or bytes).

    A file is not translated yet: the inputs give numbers to its symbolic sizes, and some ops, such
    as Split, can be translated for numbers only.
    """
    if model in MODELS and not Path(model).exists():
        from course_lib.frontend.onnx.write import to_onnx  # onnx is heavy

        graph = traced(model)
        return graph, to_onnx(graph).SerializeToString()
    if Path(model).suffix == ".mlir" and Path(model).exists():
        from course_lib.frontend.onnx.write import to_onnx  # onnx is heavy

        graph = from_mlir(read_text(model))
        return graph, to_onnx(graph).SerializeToString()
    if not Path(model).exists():
        raise ValueError(f"{model}: there is no such file, nor is it one of {', '.join(MODELS)}")
    readable(model)
    return model, model


def load_inputs(
    wanted: Mapping[str, TensorType | None], path: str | None, seed: int
) -> list[np.ndarray]:
    """Inputs from a file by name or in order; otherwise random, with 1 for each symbolic size."""
    if path is None:
        return random_inputs(wanted, seed)
    try:
        with readable(path).open("rb") as file:
            stored = np.load(file, allow_pickle=False)
            if isinstance(stored, np.ndarray):
                raise ValueError("it holds one array, as an .npy file does")
            check_room(sum(part.file_size for part in stored.zip.infolist()), "its arrays")
            arrays = {name: stored[name] for name in stored.files}
    except DAMAGED as error:
        raise ValueError(f"{path}: cannot be read as an .npz file of arrays: {error}") from None
    strange = [name for name, array in arrays.items() if not isinstance(array, np.ndarray)]
    if strange:
        raise ValueError(f"{path}: {strange[0]!r} in it is not an array")
    if set(wanted) <= set(arrays):
        return [arrays[name] for name in wanted]
    if len(arrays) != len(wanted):
        raise ValueError(f"{path} holds {list(arrays)}, but the model takes {list(wanted)}")
    return list(arrays.values())


def random_inputs(wanted: Mapping[str, TensorType | None], seed: int) -> list[np.ndarray]:
    """Standard normal floats, small whole numbers, random truth values."""
    rng = np.random.default_rng(seed)
    arrays = []
    for name, t in wanted.items():
        if t is None:
            raise ValueError(f"input {name!r} has no shape: give --inputs FILE.npz")
        shape = tuple(d if isinstance(d, int) else 1 for d in t.shape)
        check_room(8 * math.prod(shape), f"input {name!r} of random numbers, {t},")
        if t.dtype.is_float:
            array = rng.standard_normal(shape)
        else:
            array = rng.integers(0, 2 if t.dtype.kind == "bool" else 8, shape)
        arrays.append(np.asarray(array).astype(t.dtype.numpy))
    return arrays
