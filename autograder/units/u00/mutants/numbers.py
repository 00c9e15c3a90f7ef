"""Answers to unit 0: FLOP per byte of a layer. Next room: evidence.py."""

import numpy as np

from autograder.check.framework import alternative, mutant
from course_lib.exercises import slot
from course_lib.ir.graph.build import relu, trace
from course_lib.ir.registry import flops


@mutant("u00.intensity")
def counts_elements(images, inputs, outputs):
    """Elements, not bytes."""
    return 4 * slot("u00.intensity").reference(images, inputs, outputs)


@mutant("u00.intensity")
def counts_a_multiply_add_once(images, inputs, outputs):
    flop = images * inputs * outputs + 2 * images * outputs
    return flop / moved(images, inputs, outputs)


@mutant("u00.intensity")
def bytes_per_flop(images, inputs, outputs):
    return 1 / slot("u00.intensity").reference(images, inputs, outputs)


@mutant("u00.intensity")
def not_a_number(images, inputs, outputs):
    return "half"


@mutant("u00.intensity")
def images_share_nothing(images, inputs, outputs):
    """The weights are counted as if each image read its own."""
    flop = 2 * images * inputs * outputs + 2 * images * outputs
    return flop / (images * moved(1, inputs, outputs))


@mutant("u00.intensity")
def without_the_weights(images, inputs, outputs):
    """They are in memory already, so only x, b and the result move."""
    flop = 2 * images * inputs * outputs + 2 * images * outputs
    return flop / (moved(images, inputs, outputs) - 4 * inputs * outputs)


@mutant("u00.intensity")
def only_the_product(images, inputs, outputs):
    """As if the bias and relu were for nothing."""
    return 2 * images * inputs * outputs / moved(images, inputs, outputs)


@mutant("u00.intensity")
def learned_by_heart(images, inputs, outputs):
    return 0.49839


def moved(images, inputs, outputs):
    return 4 * (images * inputs + inputs * outputs + outputs + images * outputs)


@alternative("u00.intensity")
def by_arrays(images, inputs, outputs):
    """The arrays say how large they are."""
    x, w, b = (
        np.zeros(shape, np.float32) for shape in ((images, inputs), (inputs, outputs), outputs)
    )
    result = np.maximum(x @ w + b, 0)
    flop = 2 * x.size * b.size + 2 * result.size
    return np.array([flop / sum(array.nbytes for array in (x, w, b, result))])


@alternative("u00.intensity")
def by_the_library(images, inputs, outputs):
    """What each node of the graph does, and what the four tensors weigh."""

    def layer(x, w, b):
        return relu(x @ w + b)

    graph = trace(layer, f"f32[{images},{inputs}]", f"f32[{inputs},{outputs}]", f"f32[{outputs}]")
    return sum(map(flops, graph.ops)) / sum(
        node.type.nbytes for node in (*graph.inputs, *graph.outputs)
    )


@alternative("u00.intensity")
def for_each_result(images, inputs, outputs):
    """Each result: a product and a sum for each input, the bias, relu."""
    results = images * outputs
    return np.float64(results * (inputs + inputs + 1 + 1)) / moved(images, inputs, outputs)
