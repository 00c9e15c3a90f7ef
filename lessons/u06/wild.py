"""Production compilers on the kernels of unit 6: LLVM's spills, its allocators, llvm-mca, tinygrad.

What needs a tool that may be missing is recorded; a word says which of the two a table shows.
Next room: pipelined.py.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from importlib.util import find_spec

from course_lib.draw.base.listing import listing
from course_lib.draw.base.picture import Picture
from course_lib.draw.plots.table import table
from course_lib.llvm.backend import optimize
from course_lib.llvm.inspect.fixed import innermost
from course_lib.llvm.processors import llvm_ir, target_machine
from course_lib.machine.block import block_of
from course_lib.machine.build import AFTER, build
from course_lib.machine.core import Core
from course_lib.machine.lives import lives_of, pressure
from course_lib.machine.select import select
from course_lib.maker import in_rows, maker
from course_lib.recorded import recorded
from lessons.u06.kernels import tile

TILES = [(6, 2), (4, 3), (7, 2), (3, 4), (5, 3), (4, 4)]  # whose rows come one after another
OTHERS = {"3 × 4, vectors first": (3, 4), "1 × 10": (1, 10)}
LLC = ("llc-22",)
DUMP = re.compile(r"IR Dump After [^\n]*\(([\w-]+)\) \*\*\*:\n(.*?)(?=# \*\*\*|\Z)", re.S)
PASSES = {"x86-isel": "the instruction", "register-coalescer": "which copies to drop",
          "machine-scheduler": "the order", "virtregrewriter": "the register",
          "post-RA-sched": "the order, again"}  # fmt: skip
MCA = ("llvm-mca-22",)
# (rows, vectors) -> stores and loads of spilled vectors in the whole function, and instructions in
# the loop, by three allocators of LLVM
BY_LLC, BY_PASSES, BY_MCA, BY_TINYGRAD = (
    recorded(__file__, f"{tool}.txt") for tool in ("llc", "llc_passes", "llvm_mca", "tinygrad")
)
ALLOCATORS: dict[tuple[int, int], dict[str, tuple[int, int, int]]] = {
    (int(rows), int(vectors)): {name: tuple(counts) for name, counts in by.items()}
    for size, by in BY_LLC.data("allocators").items()
    for rows, vectors in [size.split(" x ")]
}
TINYGRAD: dict[str, int] = BY_TINYGRAD.data("loop")


def haswell(rows: int, vectors: int, *, rows_first: bool = True) -> tuple[str, str]:
    """LLVM IR after the optimizer, and assembly, of a tile whose loop runs 64 times."""
    machine = target_machine("x86-64")
    kernel = tile(rows, vectors, 64, rows_first=rows_first)
    module = optimize(llvm_ir(kernel, "x86-64"), machine)
    return str(module), machine.emit_assembly(module)


def spills_in(assembly: str) -> tuple[int, int]:
    """Vectors that are stored to the stack, and instructions that read one from there."""
    stores = re.findall(r"%ymm\d+, -?\d*\(%rsp\)", assembly)
    reads = re.findall(r"-?\d*\(%rsp\), .*%ymm", assembly)
    return len(stores), len(reads)


def spills_table() -> Picture:
    """Tiles on Haswell by LLVM, beside what the rule says and what our small compiler spills."""
    tiles = [(f"{r} × {v}", r, v, True) for r, v in TILES]
    tiles += [(name, r, v, False) for name, (r, v) in OTHERS.items()]
    rows = []
    for name, r, v, rows_first in tiles:
        stores, reads = spills_in(haswell(r, v, rows_first=rows_first)[1])
        kernel = tile(r, v, rows_first=rows_first)
        alive = pressure(lives_of(select(block_of(kernel))))
        ours = len(build(kernel, Core(), (AFTER,)).spilled)
        rows.append([name, r * v + v + 1, alive, stores, reads, ours])
    return table(rows, ["tile", "registers by the rule", "ours: values alive at once",
                        "LLVM: stores to the stack", "LLVM: loads from it",
                        "ours: values spilled"])  # fmt: skip


def inner_loop(assembly: str | None = None) -> str:
    """The assembly of the innermost loop: from its label to the jump back. None: of 6 × 2."""
    lines = innermost((assembly or haswell(6, 2)[1]).splitlines())
    return "\n".join(line.expandtabs(8) for line in lines)


def tool(names: tuple[str, ...]) -> str | None:
    return next(filter(None, map(shutil.which, names)), None)


def allocators() -> tuple[Picture, str]:
    """LLVM's three register allocators on the same three tiles, and where the numbers are from."""
    spills, program = dict(ALLOCATORS), tool(LLC)
    if program:
        spills = {sizes: _by_each(program, *sizes) for sizes in ALLOCATORS}
    rows = [[f"{r} × {v}", name, *counts] for (r, v), by in spills.items()
            for name, counts in by.items()]  # fmt: skip
    word = "llc ran just now" if program else BY_LLC.words
    return table(rows, ["tile", "-regalloc=", "stores to the stack", "loads from it",
                        "instructions in the loop"]), word  # fmt: skip


def _by_each(program: str, rows: int, vectors: int) -> dict[str, tuple[int, int, int]]:
    text, spills = haswell(rows, vectors)[0], {}
    for name in ("fast", "basic", "greedy"):
        command = [program, "-O3", "-mcpu=haswell", f"-regalloc={name}", "-o", "-"]
        compiled = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
        loop = re.findall(r"^\s+[a-z]", inner_loop(compiled.stdout), re.M)
        spills[name] = (*spills_in(compiled.stdout), len(loop))
    return spills


@maker("llc", "llc-22", seconds=2)
def allocators_by_llc() -> dict[str, str]:
    found = {f"{r} x {v}": _by_each(LLC[0], r, v) for r, v in ALLOCATORS}
    return {"allocators": in_rows(found)}


def passes_table() -> tuple[Picture, str]:
    """The loop of the tile 6 × 2 after each pass of LLVM that makes one of the unit's choices."""
    program = tool(LLC)
    counts = _after_each(program) if program else BY_PASSES.data("passes")
    rows = [[slug, choice, *counts[slug]] for slug, choice in PASSES.items()]
    header = ["LLVM's pass", "what it chooses", "instructions in the loop",
              "virtual registers", "vector registers", "order changed"]  # fmt: skip
    return table(rows, header), "llc ran just now" if program else BY_PASSES.words


def _after_each(program: str) -> dict[str, tuple[int, int, int, str]]:
    """{pass: instructions in the loop, registers of both kinds, whether it changed their order}."""
    command = [program, "-O3", "-mcpu=haswell", "-print-after-all", "-o", os.devnull]
    done = subprocess.run(command, input=haswell(6, 2)[0], capture_output=True, text=True,
                          check=True)  # fmt: skip
    found, before = {}, []
    for name, dump in DUMP.findall(done.stderr):
        code = _loop_of(dump)
        # an instruction by its name and what it reads from memory, whatever its registers
        now = [" ".join(re.findall(r"\b[A-Z]\w+|%ir[\w.]+", line)) for line in code]
        moved = now != before and sorted(now) == sorted(before)
        registers = (len(set(re.findall(kind, " ".join(code)))) for kind in (r"%\d+", r"\$ymm\d+"))
        found[name], before = (len(code), *registers, "yes" if moved else "no"), now
    return {name: found[name] for name in PASSES}


@maker("llc", "llc-22")
def passes_by_llc() -> dict[str, str]:
    return {"passes": in_rows(_after_each(LLC[0]))}


def _loop_of(dump: str) -> list[str]:
    """The instructions between the label of the loop and the next one."""
    loop = re.search(r"bb\.\d+\.k\.body[^\n]*:\n(.*?)^(?:\d+B\t)?(?:bb\.|# End)", dump, re.M | re.S)
    lines = [re.sub(r"^\d+B", "", line).strip() for line in loop[1].splitlines()] if loop else []
    return [line for line in lines if line and not line.startswith((";", "successors", "liveins"))]


def tinygrad_counts() -> tuple[dict[str, int], str]:
    """Instructions that touch floats in tinygrad's loop for the same product, for an A100: made now
    where tinygrad is installed, else as recorded; and a word on which of the two it is."""
    if find_spec("tinygrad") is None:
        return dict(TINYGRAD), BY_TINYGRAD.words
    limit = sys.getrecursionlimit()  # importing tinygrad raises it, for everything in the process
    try:
        text = _tinygrad_ptx()
    finally:
        sys.setrecursionlimit(limit)
    loop = text.split("LOOP_ridx_s32_0:")[1].split("bra LOOP_ridx_s32_0")[0]
    seen = Counter(re.findall(r"^\s*([a-z.]+(?:v4\.)?f32)\b", loop, re.M))
    return {name: seen[name] for name in TINYGRAD}, "made just now"


@maker("tinygrad", "tinygrad", seconds=2)
def counts_by_tinygrad() -> dict[str, str]:
    return {"loop": in_rows(tinygrad_counts()[0])}


def _tinygrad_ptx() -> str:
    """PTX of a product of 64 × 128 and 128 × 96, with tinygrad's own optimizations; no GPU."""
    os.environ.setdefault("CACHELEVEL", "0")  # no file in the home directory
    from tinygrad.codegen import to_program
    from tinygrad.helpers import Target
    from tinygrad.renderer.ptx import PTXRenderer
    from tinygrad.tensor import Tensor

    x, w = Tensor.empty(64, 128, device="PYTHON"), Tensor.empty(128, 96, device="PYTHON")
    kernel = (x @ w).schedule_linear().src[-1].src[0]
    renderer = PTXRenderer(Target(device="CUDA", renderer="PTX", arch="sm_80"))
    return {part.op.name: part for part in to_program(kernel, renderer).src}["SOURCE"].arg


def loads_table(ours: object) -> tuple[Picture, str]:
    """A thread's loop, ours with so many bytes loaded and tinygrad's: bytes for a multiplication.
    And a word on where tinygrad's numbers are from."""
    seen, word = tinygrad_counts()
    loaded = 16 * seen["ld.global.v4.f32"] + 4 * seen["ld.global.f32"]
    products = seen["fma.rn.f32"] + seen["mul.f32"]
    mine = float(str(ours))
    rows = [["ours, one point", 4, mine, mine / 4],
            ["tinygrad, 12 points", products, loaded, loaded / products]]  # fmt: skip
    return table(rows, ["a thread's loop", "multiplications", "bytes that its loads name",
                        "bytes for each multiplication"]), word  # fmt: skip


def mca() -> Picture:
    """llvm-mca on the inner loop of the tile 6 × 2, for Haswell, or as recorded."""
    program = tool(MCA)
    if program is None:
        return listing(f"llvm-mca is not installed; {BY_MCA.words}", BY_MCA["summary"])
    return listing("llvm-mca: the loop of the tile 6 × 2 on Haswell, 100 times", _summary())


def _summary() -> str:
    command = [*MCA, "-mtriple=x86_64", "-mcpu=haswell", "-iterations=100"]
    done = subprocess.run(command, input=inner_loop(), capture_output=True, text=True, check=True)
    return done.stdout.split("Instruction Info:")[0].strip()


@maker("llvm-mca", *MCA)
def summary_by_mca() -> dict[str, str]:
    return {"summary": _summary()}
