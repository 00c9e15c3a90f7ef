"""Why nothing moves any more: who waits for whose token, and what could have given it.

    deadlock: no engine can go on
      load: instruction 4 (ldw ...) waits for a token from execute
        from: layer1.0.conv1
        no instruction of execute would give the next one

Next room: `hazards.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

from course_lib.accelerator.chip import Chip
from course_lib.accelerator.isa.fault import Fault
from course_lib.accelerator.isa.instruction import ENGINES, Instruction


def deadlock(
    program: Sequence[Instruction],
    queues: Sequence[Sequence[int]],
    next_fetch: int,
    chip: Chip,
    missing: Sequence[Sequence[str]],
) -> Fault:
    """The fault of a machine whose engines all wait. `queues` hold the numbers of instructions
    that were fetched; `missing` names, for each engine, those whose token its first one lacks."""
    pending = [*(n for queue in queues for n in queue), *range(next_fetch, len(program))]
    lines = []
    for name, queue, others in zip(ENGINES, queues, missing, strict=True):
        lines += _engine(program, name, queue, others, sorted(pending))
    if next_fetch < len(program) - 1:
        full = program[next_fetch]
        lines.append(
            f"  fetch: instruction {next_fetch} ({full}) does not fit, the queue of {full.engine} "
            f"is full ({chip.queue})"
        )
    look = "a `wait` above that no earlier `signal` answers, or the size of a queue"
    return Fault("deadlock", "no engine can go on", look, *lines)


def _engine(
    program: Sequence[Instruction],
    name: str,
    queue: Sequence[int],
    others: Sequence[str],
    pending: Sequence[int],
) -> list[str]:
    """What the first instruction of a queue waits for, and who could give it."""
    if not queue:
        return [f"  {name}: nothing is in its queue"]
    head, both = program[queue[0]], " and ".join(others)
    lines = [f"  {name}: instruction {queue[0]} ({head}) waits for a token from {both}"]
    if head.origin:
        lines.append(f"    from: {', '.join(head.origin)}")
    for other in others:
        givers = [n for n in pending if program[n].engine == other and name in program[n].signal]
        giver = f"instruction {givers[0]} ({program[givers[0]]})" if givers else "no instruction"
        lines.append(f"    {giver} of {other} would give the next one")
    return lines
