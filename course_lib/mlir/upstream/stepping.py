"""The other side of `passes.py` for torch-mlir: a pipeline, pass by pass, in one process.

    {"text": ..., "passes": [...]}     ->     {"text": as it came}, {"text": after the first}, ...

One line of JSON for each pass, written as soon as it is done; so what came before a crash is known.
A pass that fails says {"trouble": ...}, and is the last. Next room:
`recordings.py`.
"""

from __future__ import annotations

import json
import sys


def main() -> None:
    from torch_mlir import ir  # need not be installed
    from torch_mlir.passmanager import PassManager

    asked = json.load(sys.stdin)
    with ir.Context(), ir.Location.unknown():
        try:
            module = ir.Module.parse(asked["text"])
            for name in ["", *asked["passes"]]:
                if name:
                    PassManager.parse(f"builtin.module({name})").run(module.operation)
                say(text=module.operation.get_asm(use_local_scope=True))
        except Exception as error:  # MLIR's own errors are of many kinds
            say(trouble=str(error).strip())


def say(**what: str) -> None:
    print(json.dumps(what), flush=True)


if __name__ == "__main__":
    main()
