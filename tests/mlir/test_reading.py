"""A type that a text repeats is read once, and everything reads as xDSL's own parser reads it."""

from __future__ import annotations

import pytest

pytest.importorskip("xdsl")

from xdsl.parser import Parser
from xdsl.utils.exceptions import ParseError

from course_lib.mlir.npu.example import linalg_text
from course_lib.mlir.npu.module import context
from course_lib.mlir.reading import Reader

TYPES = [
    "memref<4x4xi8, #npu.space<acts>>",
    "memref<4x6xi8, #npu.panels<4>, #npu.space<dram>>",
    "memref<?x4xf32>",
    "memref<8xf32, strided<[1], offset: ?>, 1>",
    "memref<8x8xf32, affine_map<(a, b) -> (b, a)>>",
    "tensor<*xf64>",
    "tensor<2x3xf64>",
    "tensor<f32>",
]


def _twice(type: str) -> str:
    return f'"test.op"() : () -> ({type}, i8, {type})\n"test.op"() : () -> ({type})\n'


@pytest.mark.parametrize("type", TYPES)
def test_a_repeated_type_is_the_same_type(type):
    made = context()
    made.allow_unregistered = True
    mine, theirs = (str(kind(made, _twice(type), "f").parse_module()) for kind in (Reader, Parser))
    assert mine == theirs and mine.count(type.partition("<")[0]) == 3


def test_a_whole_program_is_what_it_was():
    text = linalg_text(64, 16, 2)
    mine, theirs = (kind(context(), text, "f").parse_module() for kind in (Reader, Parser))
    assert mine.is_structurally_equivalent(theirs)


@pytest.mark.parametrize("type", ["memref<4x4xi9z>", "tensor<2x3xf64", "memref<2x<i8>>"])
def test_what_is_wrong_is_found_where_it_is(type):
    said = []
    for kind in (Reader, Parser):
        with pytest.raises(ParseError) as caught:
            kind(context(), _twice("tensor<2xf32>") + _twice(type), "f").parse_module()
        said.append(str(caught.value))
    assert said[0] == said[1]
