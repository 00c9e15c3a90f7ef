"""One model in many systems: who is right, and how long each takes, in turns.

    found = contest(model_of("mlp"), ["course", "openvino"], threads=[1, 2])
    found.entries[0].rounds     ->   [3.7e-05, 3.8e-05, ...]    seconds: the median of each round
    found.fastest(1)            ->   the entries of which none is told to be slower

Each system runs in a process of its own, all of them on the same processors. A round calls each one
again and again for the same short time; every other round goes through them backwards. Who is
wrong, or cannot run the model, gets no time but a reason, and the others go on. Ctrl-C ends the
contest: what was found until then is returned. Next room: `report.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from course_lib.measure.apart import Ended
from course_lib.measure.claim import Claim, claim, quartiles
from course_lib.peers.agree import errors
from course_lib.peers.around import Watch, available, pinned, spent
from course_lib.peers.model import Model
from course_lib.peers.peer import lacking, peer
from course_lib.peers.running import Failed, Running
from course_lib.peers.witness import Witness, witness

# Those of which each takes seconds to compile a model, not minutes: one way to use each system.
USUAL = ("course", "course+winograd", "torch-eager", "torch.compile+freezing", "onnxruntime",
         "openvino", "mnn", "jax", "iree")  # fmt: skip
TROUBLE = (Failed, Ended, ValueError, OSError, MemoryError)
Tell = Callable[[str], object]  # hears what is done now


@dataclass
class Entry:
    """One system on a number of threads. `problem`: why it has no times, in words."""

    system: str
    threads: int
    version: str = ""
    problem: str = ""
    error: float | None = None  # relative to the largest value of the right result
    import_seconds: float | None = None
    compile_seconds: float | None = None
    peak_bytes: int | None = None
    kernels: int | None = None
    rounds: list[float] = field(default_factory=list)
    calls: int = 0

    @property
    def seconds(self) -> float | None:
        """The middle one of its rounds."""
        return median(self.rounds) if self.rounds and not self.problem else None

    @property
    def quartiles(self) -> tuple[float, float] | tuple[None, None]:
        return quartiles(self.rounds)


@dataclass
class Contest:
    """What was found. `others`: by number of threads, the share of the processors' time that went
    to other processes while it was measured; None where the system does not say."""

    model: str
    right: str = ""
    entries: list[Entry] = field(default_factory=list)
    others: dict[int, float | None] = field(default_factory=dict)
    interrupted: bool = False

    def timed(self, threads: int) -> list[Entry]:
        """Those that have times, the fastest first."""
        timed = [(e.seconds, k, e) for k, e in enumerate(self.entries)
                 if e.threads == threads and e.seconds is not None]  # fmt: skip
        return [entry for _, _, entry in sorted(timed, key=lambda one: one[:2])]

    def base(self, threads: int) -> Entry | None:
        """With whom the others are compared: our compiler, or who was named first."""
        timed = self.timed(threads)
        named = [entry for entry in self.entries if entry in timed]
        ours = [entry for entry in named if entry.system == "course"]
        return next(iter([*ours, *named]), None)

    def fastest(self, threads: int) -> list[Entry]:
        """The fastest one, and all that cannot be told from it."""
        return told_apart(self.timed(threads))

    @property
    def thread_counts(self) -> list[int]:
        return list(dict.fromkeys(entry.threads for entry in self.entries))


def claim_of(base: Entry, other: Entry) -> Claim:
    """How many times as long the other one takes, from the rounds that both have."""
    count = min(len(base.rounds), len(other.rounds))
    return claim(base.rounds[:count], other.rounds[:count])


def told_apart(timed: Sequence[Entry]) -> list[Entry]:
    """Of entries that are in order, the first, and those that cannot be told from it."""
    claims = [(entry, claim_of(timed[0], entry)) for entry in timed]
    return [entry for entry, one in claims if not one.told and not one.order]


def contest(
    model: Model,
    systems: Sequence[str] = USUAL,
    threads: Sequence[int] = (1,),
    rounds: int = 7,
    seconds: float = 2.0,
    tell: Tell = lambda words: None,
) -> Contest:
    """Compare these systems. `seconds` are those of one system on one number of threads, over all
    rounds; `tell` hears what is done next.

    ValueError in words for a model of which nobody can say what is right, for a system that is not
    in the table, and for more threads than processors.
    """
    check_threads(threads)
    for name in systems:
        peer(name)
    found = Contest(model.name)
    found.entries = [Entry(name, count) for count in threads for name in systems]
    try:
        tell("what is right")
        right = witness(model)
        found.right = right.name
        for count in threads:
            mine = [entry for entry in found.entries if entry.threads == count]
            with ExitStack() as stack:
                running = list(started(stack, model, mine, right, tell))
                found.others[count] = _measured(running, rounds, seconds / rounds, tell)
                _finish(running, tell)
    except KeyboardInterrupt:
        found.interrupted = True
    for entry in found.entries:
        if not entry.rounds and not entry.problem:
            entry.problem = "it was not measured: interrupted"
    return found


def check_threads(threads: Sequence[int]) -> None:
    """ValueError in words if a system cannot have a processor for each thread."""
    most = len(available())
    if any(count > most for count in threads):
        raise ValueError(
            f"each thread gets a processor of its own, and there are {most}; got {max(threads)}"
        )


def started(
    stack: ExitStack, model: Model, entries: Sequence[Entry], right: Witness, tell: Tell
) -> Iterator[tuple[Entry, Running]]:
    """Those of the systems that are there, run the model, and are right."""
    for entry in entries:
        tell(f"{entry.system} compiles, {counted(entry.threads)}")
        entry.problem = lacking(peer(entry.system))
        if entry.problem:
            continue
        with _told(entry):
            cores = pinned(entry.threads)
            engine = Running(entry.system, model, entry.threads, cores)
            stack.callback(engine.close)
            for name in ("version", "import_seconds", "compile_seconds"):
                setattr(entry, name, engine.about[name])
            apart = errors(engine.outputs(), right.outputs, right.steps)
            entry.error = apart["max_rel_error"]
            if apart["agrees"]:
                yield entry, engine
            else:
                entry.problem = wrong(apart["max_rel_error"], right)
                engine.close()


def wrong(error: float, right: Witness) -> str:
    """What is said of a system whose results are not right."""
    return f"its result is wrong: {error:.1e} of the largest value away from {right.name}"


def _measured(
    running: Sequence[tuple[Entry, Running]], rounds: int, seconds: float, tell: Tell
) -> float | None:
    """Round after round; returns which share of the processors others had."""
    if not running:
        return None
    watch = Watch(pinned(running[0][0].threads) or available())
    before = sum(spent(engine.process) for _, engine in running)
    try:
        for k in range(rounds):
            for entry, engine in running if k % 2 == 0 else reversed(running):
                if entry.problem:
                    continue
                tell(f"round {k + 1} of {rounds}, {counted(entry.threads)}")
                with _told(entry):
                    times = engine.times(seconds)
                    entry.rounds.append(median(times))
                    entry.calls += len(times)
    finally:
        _whole_rounds(running)
    return watch.others(sum(spent(engine.process) for _, engine in running) - before)


def _whole_rounds(running: Sequence[tuple[Entry, Running]]) -> None:
    """An interrupted round counts for nobody: it would be compared with another one."""
    timed = [entry for entry, _ in running if not entry.problem]
    done = min((len(entry.rounds) for entry in timed), default=0)
    for entry in timed:
        del entry.rounds[done:]


def _finish(running: Sequence[tuple[Entry, Running]], tell: Tell) -> None:
    """What else there is to know of each, now that nothing is timed any more."""
    for entry, engine in running:
        if not entry.problem:
            tell(f"the kernels of {entry.system}")
            entry.peak_bytes = _asked(engine.peak)
            names = _asked(engine.kernels)
            entry.kernels = None if names is None else len(names)


def _asked(question: Callable[[], Any]) -> Any:
    """None where the system does not say: that is no reason to throw its times away."""
    try:
        return question()
    except TROUBLE:
        return None


@contextmanager
def _told(entry: Entry) -> Iterator[None]:
    """What goes wrong is this system's trouble, and not that of the others."""
    try:
        yield
    except TROUBLE as error:
        entry.problem = str(error) or "it needs more memory than there is"


def counted(threads: int) -> str:
    return f"{threads} thread{'' if threads == 1 else 's'}"
