"""An operation that is no part of the library goes through the whole compiler."""

import pytest

from course_lib.mlir.toy.parser import parse
from course_lib.mlir.toy.source import ToyError
from course_lib.mlir.toy.toy_interp import run

pytest.importorskip("xdsl")
pytest.importorskip("llvmlite")

from xdsl.dialects import affine, arith
from xdsl.irdl import irdl_op_definition
from xdsl.pattern_rewriter import RewritePattern

from course_lib.mlir.llvm.execute import load
from course_lib.mlir.llvm.printer import Printer
from course_lib.mlir.toy.affine import nest, to_affine
from course_lib.mlir.toy.canonical import canonicalize
from course_lib.mlir.toy.dialect import CastOp, InfersShape, OnOne
from course_lib.mlir.toy.generate import generate
from course_lib.mlir.toy.inline import inline
from course_lib.mlir.toy.module import read, verify, written
from course_lib.mlir.toy.printing import to_cf, to_scf
from course_lib.mlir.toy.shapes import infer_shapes

PROGRAM = "def f(a) { return negate(a + a); }\ndef main() { print(f([[1, 2]])); negate(1); }\n"


@irdl_op_definition
class NegateOp(OnOne, InfersShape):
    name = "toy.negate"

    def inferred(self, shapes):
        return shapes[0]


class Twice(RewritePattern):
    """negate(negate(x))  ->  x"""

    def match_and_rewrite(self, op, rewriter):
        if isinstance(op, NegateOp) and isinstance(op.input.owner, NegateOp):
            rewriter.replace(op, CastOp(op.input.owner.input, op.result.type))


def made(call, array):
    (argument,) = call.arguments
    return NegateOp(array(argument))


def loops(op, builder, operands, target):
    def body(inside, at):
        value = inside.insert(affine.LoadOp(operands[0], at)).result
        inside.insert(affine.StoreOp(inside.insert(arith.NegfOp(value)).result, target, at))

    nest(builder, op.result.type.get_shape(), body)


def module_of(program):
    module = generate(parse(program), "a.toy", {"negate": made})
    verify(module)
    inline(module)
    infer_shapes(module)
    return module


def test_it_is_printed_read_lowered_and_run():
    module = read(written(module_of(PROGRAM)), "a.mlir", [NegateOp])
    canonicalize(module, [Twice()])
    assert written(module).count("toy.negate") == 1, "the one that nobody uses is gone"
    module = to_affine(module, {NegateOp: loops})
    text = written(module)
    assert text.count("memref.alloc") == text.count("memref.dealloc") == 2
    to_scf(module)
    to_cf(module)
    printer = Printer()
    load(module, printer.functions, "toy")["main"]()
    assert printer.text == "-2.000000 -4.000000 \n"


def test_its_patterns_are_applied_with_those_of_the_library():
    module = module_of("def main() { print(negate(transpose(transpose(negate([1, 2]))))); }\n")
    canonicalize(module, [Twice()])
    assert "negate" not in written(module) and "transpose" not in written(module)


def test_loops_that_are_read_from_text_go_on_to_blocks():
    """xDSL reads the indices of an affine access as symbols."""
    module = module_of(PROGRAM)
    canonicalize(module)
    module = read(written(to_affine(module, {NegateOp: loops})))
    to_scf(module)
    assert "affine" not in written(module)


def test_the_meaning_of_a_program_has_it_too():
    meaning = {"negate": lambda call, value: -value(call.arguments[0])}
    (array,) = run(parse(PROGRAM), meaning)
    assert array.tolist() == [[-2, -4]]


def test_its_name_is_taken_and_a_struct_is_no_array():
    with pytest.raises(ToyError, match="'negate' is a function of Toy already"):
        generate(parse("def negate(a) { return a; }"), "a.toy", {"negate": made})
    text = "struct S { var a; }\ndef main() { S s = {1}; negate(s); }"
    with pytest.raises(ToyError, match="negate needs an array, and this is a struct"):
        generate(parse(text), "a.toy", {"negate": made})
