"""Functions of func, cf, arith, math and memref do as machine code what MLIR says they do."""

import math

import numpy as np
import pytest

pytest.importorskip("xdsl")
pytest.importorskip("llvmlite")

from xdsl.context import Context
from xdsl.dialects import arith, builtin, cf, func, memref
from xdsl.dialects import math as mathematics
from xdsl.parser import Parser

from course_lib.mlir.llvm.execute import Loaded, load
from course_lib.mlir.llvm.scalars import CASTS, INSTRUCTIONS, INTRINSICS, LIBRARY
from course_lib.mlir.llvm.to_llvm import to_llvm


def parsed(text: str) -> builtin.ModuleOp:
    context = Context()
    for dialect in (builtin.Builtin, func.Func, cf.Cf, arith.Arith, mathematics.Math,
                    memref.MemRef):  # fmt: skip
        context.load_dialect(dialect)
    return Parser(context, text).parse_module()


def loaded(text: str, **runtime) -> Loaded:
    return load(parsed(text), runtime)


def binary(op: str, type: str, result: str = "") -> str:
    return f"""func.func @f(%a: {type}, %b: {type}) -> {result or type} {{
      %c = {op} %a, %b : {type}
      func.return %c : {result or type}
    }}"""


WHOLE = [(a, b) for a in (-128, -7, -1, 0, 3, 127) for b in (-128, -3, -1, 1, 2, 5, 127)]
WRAPPED = [(a, b) for a, b in WHOLE if (a, b) != (-128, -1)]  # a quotient of 128 is nobody's


def byte(n: int) -> int:
    return (n + 128) % 256 - 128


def towards_zero(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


WHOLE_NUMBERS = {
    "addi": lambda a, b: a + b,
    "subi": lambda a, b: a - b,
    "muli": lambda a, b: a * b,
    "divsi": towards_zero,
    "remsi": lambda a, b: a - b * towards_zero(a, b),
    "divui": lambda a, b: a % 256 // (b % 256),
    "remui": lambda a, b: a % 256 % (b % 256),
    "floordivsi": lambda a, b: a // b,
    "ceildivsi": lambda a, b: -(-a // b),
    "minsi": min,
    "maxsi": max,
    "minui": lambda a, b: min(a, b, key=lambda n: n % 256),
    "maxui": lambda a, b: max(a, b, key=lambda n: n % 256),
    "andi": lambda a, b: a & b,
    "ori": lambda a, b: a | b,
    "xori": lambda a, b: a ^ b,
}


@pytest.mark.parametrize("op", WHOLE_NUMBERS)
def test_whole_numbers(op):
    f = loaded(binary(f"arith.{op}", "i8"))["f"]
    for a, b in WRAPPED:
        assert f(a, b) == byte(WHOLE_NUMBERS[op](a, b)), (a, b)


@pytest.mark.parametrize("op, wanted", [("shli", -8), ("shrsi", -1), ("shrui", 63)])
def test_shifts(op, wanted):
    assert loaded(binary(f"arith.{op}", "i8"))["f"](-2, 2) == wanted


COMPARED = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "slt": lambda a, b: a < b,
    "sle": lambda a, b: a <= b,
    "sgt": lambda a, b: a > b,
    "sge": lambda a, b: a >= b,
    "ult": lambda a, b: a % 256 < b % 256,
    "ule": lambda a, b: a % 256 <= b % 256,
    "ugt": lambda a, b: a % 256 > b % 256,
    "uge": lambda a, b: a % 256 >= b % 256,
}


@pytest.mark.parametrize("name", COMPARED)
def test_whole_numbers_compared(name):
    f = loaded(binary(f"arith.cmpi {name},", "i8", "i1"))["f"]
    for a, b in WHOLE:
        assert f(a, b) == COMPARED[name](a, b), (a, b)


@pytest.mark.parametrize("name", ["false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq",
                                  "ugt", "uge", "ult", "ule", "une", "uno", "true"])  # fmt: skip
def test_floats_compared(name):
    f = loaded(binary(f"arith.cmpf {name},", "f32", "i1"))["f"]
    signs = {"eq": "==", "gt": ">", "ge": ">=", "lt": "<", "le": "<=", "ne": "!="}
    for a, b in [(1.0, 1.0), (1.0, 2.0), (2.0, 1.0), (math.nan, 1.0), (math.nan, math.nan)]:
        strange = math.isnan(a) or math.isnan(b)
        fixed = {"false": False, "true": True, "ord": not strange, "uno": strange}
        wanted = fixed[name] if name in fixed else (
            name[0] == "u" if strange else eval(f"a {signs[name[1:]]} b"))  # fmt: skip
        assert f(a, b) == wanted, (a, b)


@pytest.mark.parametrize("type, close", [("f32", 1e-6), ("f64", 1e-15)])
@pytest.mark.parametrize("op, wanted", [
    ("math.absf", abs), ("math.ceil", math.ceil), ("math.cos", math.cos), ("math.erf", math.erf),
    ("math.exp", math.exp), ("math.exp2", lambda x: 2**x), ("math.floor", math.floor),
    ("math.log", math.log), ("math.log2", math.log2), ("math.log10", math.log10),
    ("math.round", lambda x: math.floor(x + 0.5)), ("math.roundeven", round),
    ("math.sin", math.sin), ("math.sqrt", math.sqrt), ("math.tanh", math.tanh),
    ("math.trunc", math.trunc), ("arith.negf", lambda x: -x),
])  # fmt: skip
def test_mathematics(op, wanted, type, close):
    f = loaded(f"func.func @f(%a: {type}) -> {type} {{ %c = {op} %a : {type} "
               f"func.return %c : {type} }}")["f"]  # fmt: skip
    for x in (0.5, 1.0, 2.5, 3.25):
        assert f(x) == pytest.approx(wanted(x), rel=close)


def test_the_smaller_of_two_floats_and_what_is_not_a_number():
    numbers = (math.nan, 1.0)
    assert math.isnan(loaded(binary("arith.minimumf", "f64"))["f"](*numbers))
    assert loaded(binary("arith.minnumf", "f64"))["f"](*numbers) == 1
    assert loaded(binary("arith.maxnumf", "f64"))["f"](3.0, -2.0) == 3
    assert loaded(binary("math.powf", "f64"))["f"](3.0, -2.0) == pytest.approx(1 / 9)


@pytest.mark.parametrize("op, source, target, given, wanted", [
    ("sitofp", "i8", "f32", -3, -3.0), ("uitofp", "i8", "f32", -3, 253.0),
    ("fptosi", "f32", "i8", -3.9, -3), ("fptoui", "f32", "i16", 300.9, 300),
    ("extf", "f32", "f64", 0.5, 0.5), ("truncf", "f64", "f32", 0.1, np.float32(0.1)),
    ("extsi", "i8", "i32", -3, -3), ("extui", "i8", "i32", -3, 253),
    ("trunci", "i32", "i8", 259, 3), ("index_cast", "index", "i32", 2**32 + 5, 5),
    ("index_cast", "i32", "index", -5, -5), ("bitcast", "f32", "i32", 1.0, 0x3F800000),
])  # fmt: skip
def test_casts(op, source, target, given, wanted):
    f = loaded(f"func.func @f(%a: {source}) -> {target} {{ %c = arith.{op} %a : {source} to "
               f"{target} func.return %c : {target} }}")["f"]  # fmt: skip
    assert f(given) == wanted


def test_every_operation_of_the_tables_is_one_of_the_dialects():
    kinds = {*arith.Arith.operations, *mathematics.Math.operations}
    assert {*INSTRUCTIONS, *CASTS, *INTRINSICS, *LIBRARY} <= kinds


def test_blocks_with_arguments_that_change_places():
    """Fibonacci: both arguments of the loop's block are replaced at once."""
    f = loaded("""
      func.func @f(%n: index) -> i64 {
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %a = arith.constant 0 : i64
        %b = arith.constant 1 : i64
        cf.br ^loop(%c0, %a, %b : index, i64, i64)
      ^exit(%r: i64):
        func.return %r : i64
      ^body:
        %s = arith.addi %x, %y : i64
        %j = arith.addi %i, %c1 : index
        cf.br ^loop(%j, %y, %s : index, i64, i64)
      ^loop(%i: index, %x: i64, %y: i64):
        %c = arith.cmpi slt, %i, %n : index
        cf.cond_br %c, ^body, ^exit(%x : i64)
      ^never:
        cf.br ^never
      }""")["f"]
    assert [f(n) for n in range(10)] == [0, 1, 1, 2, 3, 5, 8, 13, 21, 34]


def test_a_branch_to_one_block_from_both_sides():
    f = loaded("""
      func.func @f(%c: i1, %a: i32, %b: i32) -> i32 {
        cf.cond_br %c, ^end(%a : i32), ^end(%b : i32)
      ^end(%r: i32):
        func.return %r : i32
      }""")["f"]
    assert (f(True, 3, 4), f(False, 3, 4)) == (3, 4)


def test_functions_call_themselves_each_other_and_python():
    heard = []
    f = loaded("""
      func.func private @tell(i32) -> i32
      func.func @f(%n: i32) -> i32 {
        %m = func.call @tell(%n) : (i32) -> i32
        %zero = arith.constant 0 : i32
        %done = arith.cmpi eq, %m, %zero : i32
        cf.cond_br %done, ^end(%m : i32), ^again
      ^again:
        %r = func.call @f(%m) : (i32) -> i32
        %s = arith.addi %r, %n : i32
        cf.br ^end(%s : i32)
      ^end(%t: i32):
        func.return %t : i32
      }""", tell=lambda n: heard.append(n) or n - 1)["f"]  # fmt: skip
    assert f(4) == 4 + 3 + 2
    assert heard == [4, 3, 2, 1]


SUM_OF_A_PART = """
  "memref.global"() <{sym_name = "weights", type = memref<2x3xi32>, sym_visibility = "private",
    initial_value = dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>, constant}> : () -> ()
  "memref.global"() <{sym_name = "zeros", type = memref<2x3xi32>, sym_visibility = "private",
    initial_value}> : () -> ()
  func.func @f(%x: memref<4x6xi32>, %row: index, %y: memref<2x3xi32>) {
    %part = memref.subview %x[%row, 1] [2, 3] [1, 2]
      : memref<4x6xi32> to memref<2x3xi32, strided<[6, 2], offset: ?>>
    %w = memref.get_global @weights : memref<2x3xi32>
    %z = memref.get_global @zeros : memref<2x3xi32>
    %room = memref.alloc() : memref<2x3xi32>
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    cf.br ^rows(%c0 : index)
  ^rows(%i: index):
    %more = arith.cmpi slt, %i, %c2 : index
    cf.cond_br %more, ^columns(%c0 : index), ^end
  ^columns(%j: index):
    %within = arith.cmpi slt, %j, %c3 : index
    cf.cond_br %within, ^body, ^next
  ^body:
    %a = memref.load %part[%i, %j] : memref<2x3xi32, strided<[6, 2], offset: ?>>
    %b = memref.load %w[%i, %j] : memref<2x3xi32>
    %p = arith.muli %a, %b : i32
    %zero = memref.load %z[%i, %j] : memref<2x3xi32>
    %s = arith.addi %p, %zero : i32
    memref.store %s, %room[%i, %j] : memref<2x3xi32>
    %j2 = arith.addi %j, %c1 : index
    cf.br ^columns(%j2 : index)
  ^next:
    %i2 = arith.addi %i, %c1 : index
    cf.br ^rows(%i2 : index)
  ^end:
    "memref.copy"(%room, %y) : (memref<2x3xi32>, memref<2x3xi32>) -> ()
    memref.dealloc %room : memref<2x3xi32>
    func.return
  }"""


def test_memory_parts_of_it_globals_and_copies():
    f = loaded(SUM_OF_A_PART)["f"]
    x, y = np.arange(24, dtype=np.int32).reshape(4, 6), np.zeros((2, 3), np.int32)
    f(x, 2, y)
    assert (y == x[2:4, 1:6:2] * [[1, 2, 3], [4, 5, 6]]).all()


def test_memory_on_the_stack_is_taken_once():
    """A thousand megabytes, if each time around the loop took its own."""
    f = loaded("""
      func.func @f(%n: index) -> f64 {
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        cf.br ^loop(%c0 : index)
      ^loop(%i: index):
        %m = memref.alloca() : memref<1000xf64>
        %v = arith.constant 2.5 : f64
        memref.store %v, %m[%c1] : memref<1000xf64>
        %r = memref.load %m[%c1] : memref<1000xf64>
        %j = arith.addi %i, %c1 : index
        %c = arith.cmpi slt, %j, %n : index
        cf.cond_br %c, ^loop(%j : index), ^end
      ^end:
        func.return %r : f64
      }""")["f"]
    assert f(125_000) == 2.5


def test_another_shape_or_a_type_that_says_less_is_the_same_memory():
    f = loaded("""
      func.func @f(%x: memref<2x3xi32>, %i: index) -> i32 {
        %flat = memref.collapse_shape %x [[0, 1]] : memref<2x3xi32> into memref<6xi32>
        %any = "memref.cast"(%flat) : (memref<6xi32>) -> memref<?xi32>
        %r = func.call @g(%any, %i) : (memref<?xi32>, index) -> i32
        func.return %r : i32
      }
      func.func @g(%x: memref<?xi32>, %i: index) -> i32 {
        %r = memref.load %x[%i] : memref<?xi32>
        func.return %r : i32
      }""")
    x = np.arange(6, dtype=np.int32).reshape(2, 3)
    assert [f["f"](x, i) for i in range(6)] == list(range(6))
    assert f["g"](np.arange(9, dtype=np.int32), 7) == 7


def test_truth_values_in_memory_are_bytes():
    f = loaded("""
      func.func @f(%x: memref<3xi1>, %i: index) -> i1 {
        %r = memref.load %x[%i] : memref<3xi1>
        func.return %r : i1
      }""")["f"]
    assert [f(np.array([True, False, True]), i) for i in range(3)] == [True, False, True]


REFUSED = {
    "func.func @f(%x: tensor<2xf32>) { func.return }": "there is no LLVM type for tensor<2xf32>",
    "func.func @f(%x: memref<?x?xf32>) { func.return }": "sizes and strides of a memref have to be",
    "func.func @f(%x: bf16) { func.return }": "there is no LLVM type for bf16",
    "func.func @f(%a: i32) -> (i32, i32) { func.return %a, %a : i32, i32 }": "at most one value",
    "func.func @f() { %c = arith.constant dense<1> : tensor<2xi32> func.return }": "no LLVM type",
    "func.func @f(%a: i8) { %l, %h = arith.mulsi_extended %a, %a : i8 func.return }": "no case",
    "func.func @f(%n: index) { %m = memref.alloc(%n) : memref<?xf32> func.return }": "all sizes",
    "func.func private @nobody()\n func.func @f() { func.call @nobody() : () -> () func.return }":
    "nobody defines the function 'nobody'",
}  # fmt: skip


@pytest.mark.parametrize("text", REFUSED)
def test_what_cannot_be_lowered_is_refused_in_words(text):
    with pytest.raises(ValueError, match=REFUSED[text].replace("(", "[(]")):
        loaded(text)


@pytest.mark.parametrize("arguments, said", [
    ((), "takes 3 arguments, got 0"),
    ((1, 2, 3), "expected an array for a memref<4x6xi32>, got 1"),
    ((np.zeros((4, 6)), 0, np.zeros((2, 3))), "got an array of float64 with shape"),
    ((np.zeros((6, 4), "i4"), 0, np.zeros((2, 3), "i4")), "with shape [(]6, 4[)]"),
    ((np.zeros(24, "i4"), 0, np.zeros((2, 3), "i4")), "with shape [(]24,[)]"),
    ((np.zeros((4, 6), ">i4"), 0, np.zeros((2, 3), "i4")), "got an array of >i4"),
    ((np.zeros((6, 4), "i4").T, 0, np.zeros((2, 3), "i4")), "contiguous"),
])  # fmt: skip
def test_arguments_that_do_not_fit_are_refused(arguments, said):
    with pytest.raises(ValueError, match=said):
        loaded(SUM_OF_A_PART)["f"](*arguments)


def test_an_unknown_function_is_named():
    with pytest.raises(ValueError, match="there is no function 'g' here; there are: f"):
        loaded(SUM_OF_A_PART)["g"]


def test_the_text_is_llvms():
    text = str(to_llvm(parsed(binary("arith.addf", "f64"))))
    assert "fadd double" in text
