"""`python -m course_lib ops`: the op table, by kind.

    python -m course_lib ops matmul     ->  matmul(a, b) {...}    its formula in words

Next room: `course_lib/ir/registry.py`.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import Any

from course_lib.commands.infra.result import Result
from course_lib.ir.attributes import REQUIRED
from course_lib.ir.registry import KINDS, OPS, Op

HELP = "the op table as documentation"


def arguments(sub: ArgumentParser) -> None:
    sub.add_argument("op", nargs="?", help="only this op")


def ops(options: Namespace) -> Result:
    """The op table, by kind."""
    if options.op is not None and options.op not in OPS:
        raise ValueError(f"there is no op {options.op!r}; `python -m course_lib ops` lists all")
    rows = [OPS[options.op]] if options.op else list(OPS.values())
    lines: list[str] = []
    for kind, meaning in KINDS.items():
        mine = sorted((row for row in rows if row.kind == kind), key=lambda row: row.name)
        if mine:
            lines += [f"{kind}: {meaning}", *(f"  {_signature(r):<58} {r.doc}" for r in mine), ""]
    return Result("\n".join(lines).rstrip(), {"ops": [_as_dict(row) for row in rows]})


def _signature(row: Op) -> str:
    least, most = (row.arity, row.arity) if isinstance(row.arity, int) else row.arity
    shown = "abcdefghi"[: least + 1 if most is None else most]
    args = [name if k < least else f"[{name}]" for k, name in enumerate(shown)]
    args += ["..."] if most is None else []
    attrs = ", ".join(
        f"{name}: {attr.kind}" if attr.default is REQUIRED else f"{name} = {_plain(attr.default)}"
        for name, attr in row.attrs.items()
    )
    return f"{row.name}({', '.join(args)})" + (f" {{{attrs}}}" if attrs else "")


def _plain(default: Any) -> str:
    if default is None:
        return "none"
    return str(default).lower() if isinstance(default, bool) else str(default)


def _as_dict(row: Op) -> dict[str, Any]:
    return {
        "name": row.name,
        "kind": row.kind,
        "doc": row.doc,
        "arity": row.arity,
        "attrs": {n: None if a.default is REQUIRED else a.default for n, a in row.attrs.items()},
        "kinds": {n: a.kind for n, a in row.attrs.items()},
        "required": [n for n, a in row.attrs.items() if a.default is REQUIRED],
        "has_loops": row.loops is not None,
        "composite": row.kind == "composite",
    }
