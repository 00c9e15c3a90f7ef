"""The processor as a target: loops, a plan of the memory, LLVM IR, machine code.

    graph of tensor ops  ->  loop nests over buffers      ->  LLVM IR  ->  machine code
                             lower/, memory/, schedule/       llvm/        runtime/

Next room: `interpreter.py`.

Reading path, 7 of 12; next: `ir/loops/nest.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

from course_lib.ir.graph.graph import Graph
from course_lib.llvm.helpers import helpers, new_kernels
from course_lib.llvm.host import host_machine
from course_lib.llvm.jit import compile_program
from course_lib.lower.lower import lower
from course_lib.memory.plan import plan
from course_lib.passes.infra.bodies import everywhere
from course_lib.passes.infra.manager import Pass
from course_lib.passes.prepare.decompose import decompose
from course_lib.runtime.buffers import check_memory
from course_lib.runtime.executable import CompiledModel
from course_lib.schedule.schedule import looking_up, schedule
from course_lib.targets.target import Log, Options, Target


class Cpu(Target):
    """Machine code for a processor: this one, or `options.cpu`."""

    name = "cpu"

    def passes(self, options: Options) -> Sequence[Pass]:
        return options.passes

    def executable(self, graph: Graph, options: Options, log: Log) -> CompiledModel:
        machine, tuned = host_machine(options.threads, options.cpu), options.tuned
        with log.timed("lower"):
            # After `DEFAULT` there is no composite left. But every list of passes may be asked
            # for, the empty one, too, and only what is spelled out has loops.
            program = lower(everywhere(graph, decompose))
        with log.timed("memory"):
            program, memory = plan(program)
            check_memory(program, memory)
        log.see("loops", program)
        new = new_kernels(program, machine, tuned)
        with helpers(new, machine.threads - 1, options.cpu) as helped:
            with log.timed("schedule"):
                program = schedule(program, machine, helped.choosing(looking_up(tuned)))
            log.see("scheduled", program)
            with log.timed("codegen"):
                code = compile_program(program, options.cpu, machine.threads, helped.generate)
        log.see("llvm", code.llvm_ir)
        log.see("optimized", code.optimized)
        log.see("assembly", code.assembly)  # a function: made when somebody looks
        return CompiledModel(graph, program, memory, code, log.stages, log.seconds)


TARGET = Cpu()
