"""One operation in all its forms: Python with xDSL, a record with C++, data.

    python -m course_lib npu --forms dma_load     # the texts, one below the other
    forms("dma_load")                             # the same for who draws them side by side

Counted are lines with code: no empty ones, no remarks, no docstrings. What operations share with
all others (rules.py; the first part of verify.cpp) is not among them, on neither side; what the two
transfers share is. In Python constructors and accessors are declared by hand; mlir-tblgen writes
them. Next room: `counts.py`.

>>> print(table("dma_load"))
npu.dma_load             xDSL        ODS and C++    IRDL
lines declared           32          12             9
lines of code            31          43             0
operands                 declared    declared       declared
their memory             code        declared       -
sizes that agree         code        code           -
limits of the machine    code        code           -
short text               declared    declared       -
effects                  -           declared       -
"""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from dataclasses import dataclass
from pathlib import Path

from xdsl.irdl import IRDLOperation

from course_lib.mlir.npu.irdl_text import DEFINITION
from course_lib.mlir.npu.module import NPU

HERE = Path(__file__).parent
OPS = {op.name.removeprefix("npu."): op for op in NPU.operations}
TRANSFER = ("checkPanel", "checkWindow", "checkTransfer")
MORE = {"dma_load": TRANSFER, "dma_store": TRANSFER}  # C++ that a verifier calls

SAYS = {  # by which words one can tell
    "operands": r"_def\(MEMREF\)|\(ins |irdl.operands|irdl.results|\(outs ",
    "their memory": r"is_in|is_array|== DRAM|NPU_(Dram|OnChip|Weights|Acts|Accs|Params)",
    "sizes that agree": r"\bsame\(",
    "limits of the machine": r"chip_of|chipOf",
    "short text": r"assembly_?[fF]ormat",
    "effects": r"NoMemoryEffect|NPU_Read|NPU_Write|MemAlloc|Pure|MemoryEffectsOpInterface",
}


@dataclass(frozen=True)
class Form:
    """An operation in one language: what is declared, and the code that verifies the rest."""

    title: str
    declared: str
    code: str

    @property
    def text(self) -> str:
        return "\n\n".join(part for part in (self.declared, self.code) if part)


def forms(name: str) -> tuple[Form, Form, Form]:
    """An operation, such as `dma_load`, in xDSL, in ODS and C++, and in IRDL.

    ValueError if the dialect has none of this name.
    """
    if name not in OPS:
        raise ValueError(f"there is no operation {name!r}; there are {', '.join(sorted(OPS))}")
    op = OPS[name]
    return (
        Form("xDSL", *_python(op)),
        Form("ODS and C++", _record(op.__name__), _cpp(op.__name__, MORE.get(name, ()))),
        Form("IRDL", _data(name), ""),
    )


def table(name: str) -> str:
    """How many lines each form takes, and what is declared, what is code and what is not said."""
    shown = forms(name)
    rows = [[f"npu.{name}", *(form.title for form in shown)]]
    rows.append(["lines declared", *(str(lines(form.declared)) for form in shown)])
    rows.append(["lines of code", *(str(lines(form.code)) for form in shown)])
    rows += [[what, *(_stated(form, pattern) for form in shown)] for what, pattern in SAYS.items()]
    wide = [max(len(row[at]) for row in rows) for at in range(4)]
    cells = [[cell.ljust(size) for cell, size in zip(row, wide, strict=True)] for row in rows]
    return "\n".join("    ".join(row).rstrip() for row in cells)


def _stated(form: Form, pattern: str) -> str:
    if re.search(pattern, form.declared):
        return "declared"
    return "code" if re.search(pattern, form.code) else "-"


def page(name: str) -> str:
    """The table, and below it the three texts."""
    parts = [f"── {form.title} ──\n\n{form.text}" for form in forms(name)]
    return "\n\n".join([table(name), *parts])


def lines(text: str) -> int:
    """Lines with code: not empty ones, remarks and docstrings.

    >>> lines("# a remark\\n\\nx = 1  # one\\n"), lines("// C++\\nint x;")
    (1, 1)
    """
    bare = re.sub(r'^ *""".*?"""$', "", text, flags=re.MULTILINE | re.DOTALL)
    return sum(bool(line.strip()) and not line.lstrip().startswith(("#", "//"))
               for line in bare.split("\n"))  # fmt: skip


# ── where the texts stand ──


def _python(op: type) -> tuple[str, str]:
    """The classes of an operation without its verifier, and the verifier."""
    declared, code = [], []
    for each in reversed(op.__mro__[: op.__mro__.index(IRDLOperation)]):
        source = textwrap.dedent(inspect.getsource(each))
        rows = source.split("\n")
        (tree,) = ast.parse(source).body
        assert isinstance(tree, ast.ClassDef)
        for part in reversed(tree.body):
            if isinstance(part, ast.FunctionDef) and part.name.startswith(("verify_", "check_")):
                assert part.end_lineno is not None
                code.insert(0, "\n".join(rows[part.lineno - 1 : part.end_lineno]))
                del rows[part.lineno - 1 : part.end_lineno]
        declared.append(re.sub(r"\n{2,}(?=    )", "\n\n", "\n".join(rows)).strip())
    return "\n\n".join(declared), "\n\n".join(code)


def _record(name: str) -> str:
    text = (HERE / "npu.td").read_text()
    record = re.search(rf"^def NPU_{name} .*?^}}$", text, re.MULTILINE | re.DOTALL)
    assert record is not None
    return record[0]


def _cpp(name: str, more: tuple[str, ...]) -> str:
    """Functions of verify.cpp, each with its remark; empty if a record says it all."""
    text = (HERE / "verify.cpp").read_text()
    texts = []
    for each in (*more, f"{name}::verify"):
        head = rf"^(?://[^\n]*\n)*(?:template [^\n]*)?LogicalResult {each}\("
        function = re.search(rf"{head}(?:[^\n]*}}$|.*?^}}$)", text, re.MULTILINE | re.DOTALL)
        texts += [function[0]] if function else []
    return "\n\n".join(texts)


def _data(name: str) -> str:
    text = DEFINITION.read_text()
    operation = re.search(rf"^  irdl\.operation @{name} .*?^  }}$", text, re.MULTILINE | re.DOTALL)
    assert operation is not None
    return textwrap.dedent(operation[0])
