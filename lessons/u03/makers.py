"""What makes the recorded softmaxes of unit 3 again: Inductor's, and XLA's for this processor.

Next room: elsewhere.py.
"""

from __future__ import annotations

import re

from course_lib.ir.graph.build import softmax, trace
from course_lib.maker import maker
from course_lib.peers.peer import peer
from lessons.makers import calls, shortened, written

FUNCTION = re.compile(r"^(ENTRY )?%([\w.]+) (\([^\n]*) \{\n(.*?)^\}", re.M | re.S)
NOISE = re.compile(r"\{[\d,]*\}(?= )|, (?:kind|metadata|backend_config)=.*?(?=, calls=|$)|%", re.M)


@maker("torch", "torch", seconds=3)
def by_inductor() -> dict[str, str]:
    """Inductor's one kernel, by the rule of lessons/makers.py."""
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
