"""Programs for a student's compiler, and what is counted of them.

    bills(compiled)      loop nests, loads and stores of three programs
    below(toy, loops)    a program on each level, counted

Next room: torch.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from course_lib.draw.plots.table import table
from course_lib.mlir.llvm.to_llvm import to_llvm
from course_lib.mlir.toy.affine_interp import ran
from course_lib.mlir.toy.module import read, written
from course_lib.mlir.toy.printing import to_cf, to_scf

SUMS = """\
struct Data { var values; var weights; }

def weighted(Data d) { return sum(transpose(d.values * d.weights), 1); }

def main() {
  Data d = {[[1, 2, 3], [4, 5, 6]], [[1, 1, 1], [2, 2, 2]]};
  print(weighted(d));
  print(sum(weighted(d), 0));
}
"""
SUM = "def main() { print(sum([[1, 2, 3], [4, 5, 6]], 1)); }\n"
PARTS = {
    "transpose(x * x)": "def main() { var x = [[1, 2, 3], [4, 5, 6]]; print(transpose(x * x)); }\n",
    "sum(y, 1)": "def main() { print(sum([[1, 2], [3, 4], [5, 6]], 1)); }\n",
    "sum(transpose(x * x), 1)": "def main() { var x = [[1, 2, 3], [4, 5, 6]]; "
    "print(sum(transpose(x * x), 1)); }\n",
}


def bills(compiled: Callable[[str], tuple[str, str]]) -> Any:
    """Loop nests, loads and stores of PARTS, in the loops of a compiler, counted as they run; above
    the last one, the first two together."""
    done = [ran(compiled(program)[0]) for program in PARTS.values()]
    first, second, last = ([one.nests, one.loads, one.stores] for one in done)
    both = [sum(pair) for pair in zip(first, second, strict=True)]
    names = [*[*PARTS][:2], "these two together", [*PARTS][2]]
    rows = [[name, *row] for name, row in zip(names, (first, second, both, last), strict=True)]
    heads = ["program", "loop nests", "loads", "stores"]
    return table(rows, heads, exact=heads[1:])


def saved(compiled: Callable[[str], tuple[str, str]]) -> float:
    """The share of the loads, in percent, that the sum of the transposed square does without."""
    turned, alone, both = (ran(compiled(program)[0]).loads for program in PARTS.values())
    return round(100 - 100 * both / (turned + alone))


def below(toy: str, loops: str) -> Any:
    """A program in the Toy dialect and in loops, and what becomes of it further down."""
    module = read(loops)
    texts = {"Toy dialect": toy, "loops": loops}
    for name, step in (("loops of scf, print as calls", to_scf), ("blocks", to_cf)):
        step(module)
        texts[name] = written(module)
    texts["LLVM IR"] = str(to_llvm(module, "toy"))
    rows = [[name, len(_of_main(text))] for name, text in texts.items()]
    return table(rows, ["level", "lines of @main"], exact=["lines of @main"])


def _of_main(text: str) -> list[str]:
    """The lines of its body, without those that only close something."""
    body = re.split(r'@"?main"?\(', text)[1]
    lines = body.split("\n  }\n" if "\n  }\n" in body else "\n}\n")[0].splitlines()[1:]
    return [line for line in lines if line.strip(" {}")]
