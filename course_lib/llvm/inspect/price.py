"""What one vector operation costs on this processor, measured in registers, without memory.

    nanoseconds("fdiv {x}, %y")    ->  0.64        // eight divisions of f32, one instruction
    nanoseconds("fmul {x}, %y")    ->  0.13

Eight chains of the same operation run side by side in a loop, so that it is throughput that is
measured, not how long one result takes. Next room: `passes/clean/strength.py`, which acts
on such prices.
"""

from __future__ import annotations

import ctypes

import llvmlite.binding as llvm
import numpy as np

from course_lib.llvm.codegen import target_machine
from course_lib.measure.turns import in_turns

CHAINS = 8
TURNS = 20_000


def nanoseconds(operation: str, repeat: int = 20, lanes: int = 8, chains: int = CHAINS) -> float:
    """The time of one operation on <`lanes` x float>, the best of `repeat` measurements.

    `operation` is the right-hand side of an LLVM instruction. {x} stands for its operand with its
    type, %y for a second one of that type; both begin as ones.
    """
    engine = llvm.create_mcjit_compiler(
        llvm.parse_assembly(_loop(operation, f"<{lanes} x float>", range(chains))), target_machine()
    )
    engine.finalize_object()
    signature = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64)
    run = signature(engine.get_function_address("f"))
    ones = np.ones(lanes, np.float32)
    seconds = min(in_turns([lambda: run(ones.ctypes.data, TURNS)], repeat)[0])
    return seconds / TURNS / chains * 1e9


def _loop(operation: str, type: str, chains: range) -> str:
    """A function that applies the operation to each chain, `%n` times."""
    begin = [f"%a{k} = phi {type} [%y, %start], [%b{k}, %loop]" for k in chains]
    apply = [f"%b{k} = {operation.format(x=f'{type} %a{k}')}" for k in chains]
    store = [f"store {type} %b{k}, ptr %p, align 4" for k in chains]
    return "\n".join(
        [
            "define void @f(ptr %p, i64 %n) {",
            "start:",
            f"%y = load {type}, ptr %p, align 4",
            "br label %loop",
            "loop:",
            "%i = phi i64 [0, %start], [%next, %loop]",
            *begin,
            *apply,
            "%next = add i64 %i, 1",
            "%more = icmp slt i64 %next, %n",
            "br i1 %more, label %loop, label %end",
            "end:",
            *store,
            "ret void",
            "}",
        ]
    )
