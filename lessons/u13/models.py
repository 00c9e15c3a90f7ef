"""Whole models on the chip, with whatever is plugged in.

    model = on_the_chip("mobilenet_v2")     agrees(model)   ->   True

Next room: hand.py.
"""

from __future__ import annotations

import numpy as np

import course_lib
from course_lib.ir.graph.graph_interp import run as interpret
from course_lib.models import example_inputs
from course_lib.models.traced import traced
from course_lib.targets.systolic import SystolicModel


def on_the_chip(name: str, chip: str = "npu") -> SystolicModel:
    """A model in 8-bit integers, compiled for the chip."""
    model = course_lib.compile(traced(name), example_inputs(name), target="systolic", chip=chip)
    assert isinstance(model, SystolicModel)
    return model


def agrees(model: SystolicModel) -> bool:
    """Does the chip compute the bits of the interpreter?"""
    rng = np.random.default_rng(13)
    inputs = [rng.standard_normal(x.type.dims).astype(np.float32) for x in model.graph.inputs]
    due = interpret(model.graph, inputs)
    return all((a == b).all() for a, b in zip(model.run(inputs), due, strict=True))
