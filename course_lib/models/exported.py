"""The course's models as ONNX files: what PyTorch's exporter writes, kept from the first time on.

    onnx_model("resnet18")                  # just as it was traced
    onnx_model("resnet18", clean=True)      # after the exporter's own clean-up

Exporting all four takes about 15 seconds; where they are kept: `course_lib/keep.py`. Next room:
`course_lib/frontend`.
"""

from __future__ import annotations

import contextlib
import io
import logging
import warnings
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import onnx
import torch

from course_lib.keep import kept
from course_lib.models import MODELS, example_inputs

EXPORTER = ("torch", "onnx", "onnxscript")


def onnx_model(name: str, clean: bool = False) -> onnx.ModelProto:
    """The model of that name; `clean`: with what the exporter does to it by default.

    Raises ValueError for a name that is not in `MODELS`.
    """
    if name not in MODELS:
        raise ValueError(f"there is no model {name!r}; the course has {', '.join(MODELS)}")
    sources = [path.read_text() for path in sorted(Path(__file__).parent.glob("*.py"))]
    key = repr((name, *map(version, EXPORTER), sources))
    traced, cleaned = kept("models", key, lambda: _export(name))
    return onnx.load_from_string(cleaned if clean else traced)


def _export(name: str) -> tuple[bytes, bytes]:
    """The model as traced and after the clean-up, one after the other."""
    model, inputs = MODELS[name].build(), tuple(map(torch.from_numpy, example_inputs(name)))
    with quiet():
        program = torch.onnx.export(model, inputs, dynamo=True, optimize=False, verbose=False)
        assert program is not None
        traced = program.model_proto.SerializeToString()
        program.optimize()
    return traced, program.model_proto.SerializeToString()


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """What the exporter prints: its progress, PyTorch's own deprecations, no torchvision."""
    logger = logging.getLogger("torch.onnx._internal.exporter._registration")
    before, logger.disabled = logger.disabled, True
    try:
        with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.disabled = before
