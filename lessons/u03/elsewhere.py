"""What other compilers make of a softmax over f32[512,1024], recorded (unit 3, "In the wild").

The texts stand in inductor.txt and xla.txt, shortened: Inductor's by lessons/inductor.py, which
also has the whole text of any function; XLA's lost its layouts, its kinds of fusion, its metadata
and the functions that say how to reduce. The two ynn_fusions are of kind kCustom: a library,
YNNPACK, computes them. Next room: measuring.py.
"""

from __future__ import annotations

import re
from math import prod

from course_lib.ir.graph.build import softmax, trace
from course_lib.maker import maker
from course_lib.peers.peer import peer
from course_lib.recorded import recorded
from lessons.inductor import calls, shortened, written

INDUCTOR, XLA = (recorded(__file__, f"{tool}.txt") for tool in ("inductor", "xla"))
INDUCTOR_SOFTMAX, XLA_SOFTMAX = INDUCTOR["softmax"], XLA["softmax"]

FLOAT = 4  # bytes


def recorded_costs() -> dict[str, tuple[int, float]]:
    """Kernels, and the MB that they read and write, by the texts above."""
    row, image = 512 * FLOAT, 512 * 1024 * FLOAT
    inductor = image + 2 * row + image  # reads in_ptr0, writes out_ptr0, out_ptr1 and out_ptr2
    return {
        "Inductor, torch 2.13": (INDUCTOR_SOFTMAX.count("kernel("), inductor / 1e6),
        "XLA, jax 0.10.2": (XLA_SOFTMAX.count("fusion("), _moved(XLA_SOFTMAX) / 1e6),
    }


def _moved(hlo: str) -> int:
    """What the fusions of the entry computation read and write, each operand once."""
    entry = hlo[hlo.index("ENTRY") :]
    typed = re.findall(r"([\w.]+)(?::| =) f32\[([\d,]+)\]", entry)
    sizes = {name: FLOAT * prod(map(int, dims.split(","))) for name, dims in typed}
    return sum(
        sizes[result] + sum(sizes[operand] for operand in operands.split(", "))
        for result, operands in re.findall(r"([\w.]+) = \S+ fusion\(([^)]*)\)", entry)
    )


@maker("torch", "torch", seconds=3)
def by_inductor() -> dict[str, str]:
    """Inductor's one kernel, by the rule of lessons/inductor.py."""
    import torch  # torch is heavy

    code = written(lambda x: torch.softmax(x, -1), torch.zeros(512, 1024))
    (kernel,) = calls(code)
    return {"softmax": shortened(code, kernel)}


@maker("jax", "jax", compared="names of texts", seconds=3)
def by_xla() -> dict[str, str]:
    """XLA's program for the processor that runs here: which library computes what depends on it."""
    scores = trace(lambda x: softmax(x), "f32[512,1024]")
    hlo = peer("jax").prepare(scores).stages()["optimized hlo"]
    return {"softmax": readable(hlo.replace("inputs_0_", "x"))}


FUNCTION = re.compile(r"^(ENTRY )?%([\w.]+) (\([^\n]*) \{\n(.*?)^\}", re.M | re.S)
NOISE = re.compile(r"\{[\d,]*\}(?= )|, (?:kind|metadata|backend_config)=.*?(?=, calls=|$)|%", re.M)


def readable(hlo: str) -> str:
    """The program and its fusions, in the order of its calls: numbers, and how a sum or a maximum
    is taken, stand where they are used."""
    found = {name: (f"{entry}{name} {types}", body)
             for entry, name, types, body in FUNCTION.findall(hlo)}  # fmt: skip
    reduces = {name: re.findall(r"ROOT .* (\w+)\(", body)[-1] for name, (_, body) in found.items()}
    main = next(name for name, (head, _) in found.items() if head.startswith("ENTRY"))
    names = [*re.findall(r"calls=%([\w.]+)", found[main][1]), main]
    return "\n".join(_function(*found[name], reduces) for name in names)


def _function(head: str, body: str, reduces: dict[str, str]) -> str:
    """Its lines, without those of parameters and numbers."""
    body = re.sub(r"to_apply=%([\w.]+)", lambda m: f"to_apply={reduces[m[1]]}", body)
    for name, value in re.findall(r"%([\w.]+) = .* constant\((.*?)\)", body):
        body = re.sub(rf"%{re.escape(name)}(?=[,)])", value, body)
    for name, value in re.findall(r"%([\w.]+) = .* (broadcast\([\w.-]+\)), dimensions=\{\}", body):
        body = re.sub(rf"%{re.escape(name)}(?=[,)])", value, body)
    lines = [line for line in body.splitlines()
             if not re.search(r" (?:parameter|constant)\(|dimensions=\{\}", line)]  # fmt: skip
    text = NOISE.sub("", "\n".join([head, *(f"  {line}" for line in lines)]))
    return re.sub(r"(param_\d+)\.\d+", r"\1", text) + "\n"
