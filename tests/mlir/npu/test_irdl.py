"""The dialect as IRDL text: the same operations as in Python, and what MLIR's own tool refuses."""

import re
import subprocess

import pytest

pytest.importorskip("xdsl")

from xdsl.context import Context
from xdsl.dialects import builtin, irdl
from xdsl.irdl import IRDLOperation, OptionalDef, VariadicDef
from xdsl.parser import Parser

from course_lib.accelerator.chip import PRESETS
from course_lib.mlir.npu.example import linalg_text
from course_lib.mlir.npu.irdl_text import DEFINITION, generic
from course_lib.mlir.npu.module import NPU
from course_lib.mlir.npu.stages import compile_npu


def in_irdl():
    """Name -> operands with how many, results, attributes that must be there."""
    context = Context()
    for dialect in (builtin.Builtin, irdl.IRDL):
        context.load_dialect(dialect)
    module = Parser(context, DEFINITION.read_text()).parse_module()
    module.verify()
    found = {}
    for op in module.walk():
        if isinstance(op, irdl.OperationOp):
            operands, results, attributes = [], [], set()
            for inner in op.body.block.ops:
                match inner:
                    case irdl.OperandsOp(names=names, variadicity=many):
                        each = zip(names.data, many.value.data, strict=True)
                        operands = [(name.data, kind.data) for name, kind in each]
                    case irdl.ResultsOp(names=names):
                        results = [name.data for name in names.data]
                    case irdl.AttributesOp(attribute_value_names=names):
                        attributes = {name.data for name in names.data}
            found[op.qualified_name] = operands, results, attributes
    return found


def in_python():
    def many(kind):
        words = {OptionalDef: "optional", VariadicDef: "variadic"}
        return next((w for k, w in words.items() if isinstance(kind, k)), "single")

    found = {}
    for op in NPU.operations:
        assert issubclass(op, IRDLOperation)
        made = op.get_irdl_definition()
        needed = {name for name, kind in made.properties.items()
                  if not isinstance(kind, OptionalDef) and "Segment" not in name}  # fmt: skip
        found[op.name] = ([(name, many(kind)) for name, kind in made.operands],
                          [name for name, _ in made.results], needed)  # fmt: skip
    return found


def test_both_definitions_say_the_same():
    assert in_irdl() == in_python()


def asked(require_tool, text):
    command = [require_tool("mlir-opt-22"), f"--irdl-file={DEFINITION}"]
    done = subprocess.run(command, input=text, text=True, capture_output=True)
    return done.returncode, done.stderr


@pytest.mark.parametrize("stage", ["product", "tile", "double_buffer", "ahead"])
def test_mlirs_own_tool_reads_every_stage(require_tool, stage):
    compiled = compile_npu(linalg_text(9, 8, 5, low=0), PRESETS["teaching"])
    assert asked(require_tool, generic(compiled.modules[stage])) == (0, "")


@pytest.mark.parametrize("old, new, said", [
    ('dataflow = "ws"', 'dataflow = "is"', '\'"is"\' does not satisfy the constraint'),
    (r'#npu.space<"accs">', '#npu.space<"cache">', '\'"cache"\' does not satisfy the constraint'),
    (r'"npu.clear"\((%\w+)\) : \((.*)\) ->', r'"npu.clear"(\1, \1) : (\2, \2) ->',
     "expects exactly 1 operands, but got 2"),
    (r'"npu.matmul"', '"npu.multiply"', "unregistered operation 'npu.multiply'"),
])  # fmt: skip
def test_what_irdl_can_say_is_refused(require_tool, old, new, said):
    compiled = compile_npu(linalg_text(9, 8, 5), PRESETS["teaching"], until="tile")
    status, error = asked(require_tool, re.sub(old, new, generic(compiled.modules["tile"])))
    assert status != 0 and said in error


def test_what_irdl_cannot_say_is_not(require_tool):
    """The wrong memory for an operand: refused by our verifier, whatever IRDL thinks of it."""
    text = generic(compile_npu(linalg_text(9, 8, 5), PRESETS["teaching"]).modules["tile"])
    assert asked(require_tool, text.replace('"accs"', '"params"')) == (0, "")
