"""Four plain PyTorch models that the course compiles, and their table.

    model = MODELS["resnet18"].build()        # torch.nn.Module in eval mode, same weights each time
    shapes = MODELS["resnet18"].shapes        # ((1, 3, 224, 224),)

The weights are random but fixed by a seed: the course compares compilers, not accuracies. torch is
imported when a model is built, not before. The models themselves: `mlp.py`, the smallest, then
`block.py`, `resnet18.py` and `mobilenet_v2.py`; `resnet50.py` is unit 4's alone. Next room:
`course_lib/frontend`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from course_lib.arguments import takes
from course_lib.packages import need

if TYPE_CHECKING:
    from torch import nn


class Model(NamedTuple):
    """How to build a model, and the shape of each of its float32 inputs."""

    build: Callable[..., nn.Module]
    shapes: tuple[tuple[int, ...], ...]


@takes
def build(name: str, seed: int = 0) -> nn.Module:
    """The model of that name in eval mode; equal seeds give equal weights."""
    if name not in (*MODELS, *ALONE):
        raise ValueError(f"there is no model {name!r}; the course has {', '.join(MODELS)}")
    need("torch")
    from course_lib.models.weights import seeded

    constructor = getattr(import_module(f"course_lib.models.{name}"), name)
    return seeded(constructor, seed)


@takes
def example_inputs(name: str, seed: int = 0) -> tuple[np.ndarray, ...]:
    """One standard-normal float32 array for each input of the model."""
    if name not in MODELS:
        raise ValueError(f"there is no model {name!r}; the course has {', '.join(MODELS)}")
    rng = np.random.default_rng(seed)
    return tuple(rng.standard_normal(shape, dtype=np.float32) for shape in MODELS[name].shapes)


ALONE = ("resnet50",)  # built by name, too, but only one unit compiles it
MODELS: dict[str, Model] = {
    "mlp": Model(partial(build, "mlp"), ((1, 784),)),
    "block": Model(partial(build, "block"), ((1, 128, 256),)),
    "resnet18": Model(partial(build, "resnet18"), ((1, 3, 224, 224),)),
    "mobilenet_v2": Model(partial(build, "mobilenet_v2"), ((1, 3, 224, 224),)),
}
