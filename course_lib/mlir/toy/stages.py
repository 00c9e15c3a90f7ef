"""A Toy program, stage by stage: what `python -m course_lib toy FILE --emit STAGE` shows.

    compiled = compile_toy("def main() { print([1, 2] + [3, 4]); }", "sum.toy")
    compiled.text("affine")          # the module after that stage
    compiled.run().text              # "4.000000 6.000000 \\n"

    ast     the tree of the text                         (chapter 1)
    toy     the Toy dialect                              (chapter 2, structs 7)
    inline  calls replaced by what they call             (chapter 4)
    shapes  every shape known                            (chapter 4)
    opt     canonicalized, nothing computed twice        (chapter 3)
    affine  loops over memory, `toy.print` left          (chapter 5)
    scf     plain loops, printing as calls               (chapter 6)
    cf      blocks and branches
    llvm    LLVM IR
    run     what it prints

A `.mlir` file in the Toy dialect enters at `toy`. The module is verified after every stage. Next
room: `course_lib/commands/toy.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from course_lib.mlir.llvm.printer import Printer
from course_lib.mlir.toy import ast
from course_lib.mlir.toy.affine import to_affine
from course_lib.mlir.toy.canonical import canonicalize, open_structs, share
from course_lib.mlir.toy.generate import generate
from course_lib.mlir.toy.inline import inline
from course_lib.mlir.toy.module import read, verify, written
from course_lib.mlir.toy.parser import parse
from course_lib.mlir.toy.printing import to_cf, to_scf
from course_lib.mlir.toy.shapes import infer_shapes
from course_lib.mlir.toy.source import ToyError

Pass = Callable[[ModuleOp], ModuleOp | None]  # a new module, or None: the given one was changed

STAGES: dict[str, tuple[Pass, ...]] = {
    "inline": (inline,),
    "shapes": (open_structs, infer_shapes),
    "opt": (canonicalize, share),
    "affine": (to_affine,),
    "scf": (to_scf,),
    "cf": (to_cf,),
}
PASSES = {p.__name__: p for passes in STAGES.values() for p in passes}
NAMES = ("ast", "toy", *STAGES, "llvm", "run")
TOO_DEEP = "this program is nested too deeply for a compiler that calls itself for each part"


@dataclass(frozen=True)
class Compiled:
    """A program after each stage that was asked for: its tree, if it came as text, and modules."""

    tree: ast.Module | None
    modules: dict[str, ModuleOp]

    def text(self, stage: str, locations: bool = False) -> str:
        """What a stage looks like."""
        if stage == "ast":
            return ast.show(self.tree) if self.tree else "(this program came as MLIR)"
        if stage == "llvm":
            from course_lib.mlir.llvm.to_llvm import to_llvm  # llvmlite is heavy

            return str(to_llvm(self.modules["cf"], "toy"))
        return written(self.modules[stage], locations)

    def run(self) -> Printer:
        """What the program prints: its `text`, and the numbers in it."""
        return run(self.modules["cf"])


def run(module: ModuleOp) -> Printer:
    """What a module of blocks prints: its `text`, and the numbers in it."""
    from course_lib.mlir.llvm.execute import load  # llvmlite is heavy

    printer = Printer()
    load(module, printer.functions, "toy")["main"]()
    return printer


def through(module: ModuleOp, passes: Iterable[Pass]) -> ModuleOp:
    """The module after these passes, verified before the first and after each. ToyError for an
    operation that breaks its rules."""
    verify(module)
    for step in passes:
        module = step(module) or module
        verify(module)
    return module


def compile_toy(text: str, file: str = "input.toy", until: str = "run") -> Compiled:
    """All stages up to this one. ToyError for what is wrong with the program, with its lines."""
    with _explained(file, text):
        tree = None if file.endswith(".mlir") else parse(text)
        return Compiled(tree, {} if until == "ast" else _modules(tree, text, file, until))


def apply(names: list[str], text: str, file: str) -> ModuleOp:
    """Only these passes, in this order, on a program in the Toy dialect: as `mlir-opt` does it."""
    unknown = [name for name in names if name not in PASSES]
    if unknown:
        raise ValueError(f"there is no pass {unknown[0]!r}; there are {', '.join(PASSES)}")
    module = compile_toy(text, file, "toy").modules["toy"]
    with _explained(file, text):
        return through(module, [PASSES[name] for name in names])


@contextmanager
def _explained(file: str, text: str) -> Iterator[None]:
    """An error about a place shows the line."""
    try:
        yield
    except ToyError as error:
        raise error.within(file, text) from None
    except RecursionError:
        raise ToyError(f"{file}: {TOO_DEEP}") from None


def _modules(tree: ast.Module | None, text: str, file: str, until: str) -> dict[str, ModuleOp]:
    module = through(read(text, file) if tree is None else generate(tree, file), [])
    modules = {"toy": module}
    if until == "toy":
        return modules
    for stage, passes in STAGES.items():
        module = modules[stage] = through(module.clone(), passes)
        if stage == until:
            break
    return modules
