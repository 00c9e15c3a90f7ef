"""Hidden checks of the lab of unit 16: dumps, logs and networks that students do not have."""

from __future__ import annotations

from collections import Counter

from autograder.check.framework import Wrong, harder, hidden
from autograder.units.u16_lab_stages import checks as found_checks
from autograder.units.u16_lab_stages.checks import firmware, log, writers
from course_lib.bridges.firmware import networks, shuffled
from course_lib.exercises import slot
from course_lib.peers.align.rows import rows
from course_lib.recorded import recorded
from lessons.u16_lab_stages.logs import unpacked

SEED = 160_916
BY = {system: recorded(__file__, f"{system}.txt") for system in ("xla", "iree", "tvm", "triton")}
LAYERS = {name: unpacked(text) for name, text in recorded(__file__, "layers.txt").texts.items()}
NETWORKS = networks(recorded(__file__, "c.txt"))
SOFTMAXES = {"twice": 3, "thrice": 3, "shifted": 0, "squares": 1, "logarithm": 0}

harder("u16_lab_stages.found", "softmaxes_and_what_only_looks_like_one", seed=SEED,
       given=writers(6), examples=120)  # fmt: skip
harder("u16_lab_stages.winner", "what_the_fastest_decided", seed=SEED + 1, given=log.logs(6),
       examples=50)  # fmt: skip


@hidden("u16_lab_stages.found", seed=SEED)
def those_of_other_programs(found):
    """Other programs as four compilers had them."""
    ours = slot("u16_lab_stages.found").reference
    seen: Counter[str] = Counter()
    for recording in BY.values():
        for title, text in recording.texts.items():
            program, of_stage, stage = title.partition(": ")
            if of_stage:
                some = rows(text)
                found_checks.as_due(found(some), ours(some), some, f"a program in {stage}")
                seen[program] += 1
    if set(seen) != set(SOFTMAXES):
        raise Wrong("The recordings are not those of the check.")
    return f"{seen.total()} texts"


@hidden("u16_lab_stages.winner", seed=SEED)
def the_logs_of_other_layers(winner):
    """Searches for three other layers."""
    ours = slot("u16_lab_stages.winner").reference
    for name, one in LAYERS.items():
        got = winner(one)
        log.agrees(got, one, name)
        log.as_due(got, ours(one), f"the log of another {name}")


@hidden("u16_lab_stages.runner", seed=SEED)
def computes_networks_of_other_kernels(runner, rng):
    """A network of convolutions, a chain of layers, and two that were drawn for this run."""
    for network in NETWORKS.values():
        firmware.runs(runner, network, 1 + int(rng.integers(1000)))
    for steps in (2, 9):
        firmware.runs(runner, shuffled(firmware.NETWORK, int(rng.integers(1 << 20)), steps))
    firmware.refuses(runner, NETWORKS["image"], 1)
    firmware.gives_memory(runner, NETWORKS["chain"])
