"""What LLVM says of its own work: the module after each pass that changed it, and its remarks.

    changes(text)  ->  [("as emitted", ...), ("SROA", ...), ("LoopRotate on loop %k", ...), ...]
    remarks(text)  ->  [(10, "loop not vectorized"), (3, "completely unrolled loop with ...")]

llvmlite runs the O3 pipeline as a whole and has no place to look in between; but LLVM prints every
form on request (`-print-changed`), and why it did or did not do something (`-pass-remarks`). Such a
request holds for a whole process, so a process of its own does the work. LLVM prints nothing for a
pass that removes the loop which it works on: what it did appears in the next step. Next room:
`looking.py`.
"""

from __future__ import annotations

import re
import subprocess
import sys

import llvmlite.binding as llvm

from course_lib.llvm.backend import optimize
from course_lib.llvm.codegen import target_machine
from course_lib.llvm.inspect.fixed import HASWELL, fixed_machine

_NAME = re.compile(r'@("[^"]*"|[\w.$-]+)')
_HEAD = re.compile(r"^\*\*\* IR Dump After (\w+) on (.+?) \*\*\*.*$", re.M)


def changes(text: str, cpu: str = "host") -> list[tuple[str, str]]:
    """(what ran, all functions after it) for each pass that changed something.

    cpu  as `target_machine` takes it, or "haswell", for which any machine can ask

    ValueError with LLVM's words if the text is not valid LLVM IR.
    """
    parts = _HEAD.split(_output(text, cpu, "-print-changed=quiet", "-print-loop-func-scope"))[1:]
    forms = _functions(str(llvm.parse_assembly(text)))
    alone = len(forms) == 1
    steps = [("as emitted", _joined(forms))]
    for name, where, form in zip(*(iter(parts),) * 3, strict=True):
        changed = _functions(form)
        forms = changed if where == "[module]" else {**forms, **changed}
        if _joined(forms) != steps[-1][1]:  # attributes are not shown
            steps.append((name.removesuffix("Pass") + _short(where, alone), _joined(forms)))
    return steps


def _short(where: str, alone: bool) -> str:
    """Where a pass ran: in a loop, or in which function if there is more than one."""
    where = where.partition(" in function ")[0] if alone else where
    return f" on {where}" if where.startswith("loop ") or not alone else ""


def _functions(form: str) -> dict[str, str]:
    """The functions with a body by name, without attributes and comments."""
    bodies = re.findall(r"^define .*?^\}", form, re.M | re.S)
    plain = [re.sub(r"\s*; preds = .*", "", body) for body in bodies]
    plain = [re.sub(r" (#\d+ )?\{$", " {", body, count=1, flags=re.M) for body in plain]
    return {_NAME.findall(body)[0]: body for body in plain}


def _joined(forms: dict[str, str]) -> str:
    return "\n\n".join(forms.values()) + "\n"


def remarks(text: str, cpu: str = "host") -> list[tuple[int | None, str]]:
    """(line of the source, what was done to it or why not) in order, each once.

    The module needs debug locations (`source.located`). None: LLVM names no line.
    """
    report = _output(text, cpu, "-pass-remarks=.*", "-pass-remarks-missed=.*")
    lines = re.findall(r"^remark: .*?:(\d+):\d+: (.*)$", report, re.M)
    return [(int(line) or None, words) for line, words in dict.fromkeys(lines)]


def _output(text: str, cpu: str, *requests: str) -> str:
    """What LLVM prints while it optimizes a module and generates its machine code."""
    command = [sys.executable, "-m", __name__, cpu, *requests]
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    if done.returncode:
        raise ValueError(f"LLVM refuses this module:\n{done.stderr.strip()}")
    return done.stderr


def _run(cpu: str, *requests: str) -> None:
    for request in requests:
        llvm.set_option("", request)
    machine = fixed_machine() if cpu == HASWELL else target_machine(cpu)
    try:
        machine.emit_object(optimize(sys.stdin.read(), machine))
    except RuntimeError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    _run(*sys.argv[1:])
