"""Your compiler: what the four models cost with what is plugged in, beside the library's own
functions and the stand-ins.

    your_compiler()              counts, in a few seconds
    your_compiler(seconds=20)    and the time of two models, measured in turns

Three compilers are counted: with every stand-in (the simple thing that is right and slow), with
this library as it is, and with this library and whatever is plugged in in this kernel. In the
edition of a class the library has stand-ins for what the class has not solved yet.

Next room: page.py, which shows the last counts on the start page.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date
from functools import partial
from typing import Any

import course_lib
from autograder.check.cards import Card, Note, Table
from autograder.check.plugs import has_fallen
from autograder.check.shown import error_text
from autograder.check.working import Working
from autograder.progress.keep import PROGRESS, Data, change, keeping, number, read, table
from course_lib import exercises
from course_lib.exercises import MODULES
from course_lib.lower.lower import lower
from course_lib.measure.duel import ratio, verdict
from course_lib.measure.turns import for_seconds
from course_lib.memory.plan import plan
from course_lib.models import MODELS, example_inputs
from course_lib.models.traced import traced
from course_lib.passes.infra.bodies import everywhere
from course_lib.passes.prepare.decompose import decompose

STAND_INS, LIBRARY, YOURS = "stand-ins", "library", "yours"
COLUMNS = (STAND_INS, LIBRARY, YOURS)
QUANTITIES = ("kernels", "MB moved", "MB of memory")
TIMED = ("mlp", "block")  # the models that compile and run in no time
ROUNDS = 15
NOTHING = (
    "Nothing is plugged in in this kernel. `use_my()` takes your answers that pass from the other "
    "notebooks."
)
HEAD = ("Model", "Counted", *COLUMNS)


def your_compiler(seconds: float = 0.0) -> Card | Note:
    """What the four models cost, counted; of two of them the time as well, if `seconds` are given
    to measure it. The result is kept for the start page. It says how far it is, and can be stopped:
    then nothing is kept."""
    exercises.load_all()
    mine = exercises.plugs_now()
    timed = TIMED if seconds > 0 else ()
    result: Data = {"on": date.today().isoformat()}
    try:
        with Working(len(MODELS) * len(COLUMNS) + len(timed)) as working:
            result["counts"] = {name: _columns(name, mine, working) for name in MODELS}
            result["ratios"] = {
                name: _ratios(name, mine, seconds / len(timed), working) for name in timed
            }
    except KeyboardInterrupt:
        return Note("You stopped it. Nothing was kept; what the start page shows is from before.")
    result["plugged"] = sorted(n for n in MODULES.keys() & mine if not has_fallen(mine[n]))
    if keeping() and mine:
        change(PROGRESS, lambda data: data.update(compiler=result))
    return as_card(result)


def kept_costs() -> Card | None:
    """What was counted last with something plugged in, or None."""
    result = table(read(PROGRESS), "compiler")
    return as_card(result) if table(result, "counts") else None


def as_card(result: Data) -> Card:
    """The counts as a table. `result` may have been read from a file, so nothing of it is sure."""
    counts = table(result, "counts")
    rows = [row for name in MODELS for row in _rows(name, table(counts, name))]
    names = [str(n) for n in found] if isinstance(found := result.get("plugged"), list) else []
    plugged = ", ".join(f"`{name}`" for name in names)
    what = f"Plugged in: {plugged}. {_compared(counts)}" if names else NOTHING
    parts: list[str | Table] = [what, Table(HEAD, tuple(rows), numbers=len(COLUMNS))]
    for name in MODELS:
        told = table(counts, name).items()
        parts += [f"{name}, {how}: {why}" for how, why in told if isinstance(why, str)]
    parts += [f"{n}: {t}" for n, t in table(result, "ratios").items() if isinstance(t, str)]
    small = (
        "MB moved: what all kernels read and write. MB of memory: for the values between the "
        "kernels, weights not included."
    )
    return Card("Your compiler", tuple(parts), str(result.get("on", "")), small, tone="open")


def _compared(counts: Data) -> str:
    """In which models yours differs from the library, in one sentence."""
    tables = {name: table(counts, name) for name in MODELS}
    differ = [name for name, how in tables.items() if how.get(YOURS) != how.get(LIBRARY)]
    if not differ:
        return "With that, every number is the library's own."
    return f"With that, other numbers than the library's: {', '.join(differ)}."


def _columns(
    name: str, mine: dict[str, Callable[..., Any]], working: Working
) -> dict[str, list[float] | str]:
    counts = {}
    for how in COLUMNS:
        working.number += 1
        working.say(f"counting {name}, {how}")
        counts[how] = _counts(name, how, mine)
    return counts


@contextmanager
def _compiler(how: str, mine: dict[str, Callable[..., Any]]) -> Iterator[None]:
    """Run the block with one of the three compilers."""
    if how == STAND_INS:
        names = [entry.name for entry in exercises.slots() if entry.baseline is not None]
        with exercises.using({}), exercises.baselines(*names):
            yield
    else:
        with exercises.using(mine if how == YOURS else {}):
            yield


def _counts(name: str, how: str, mine: dict[str, Callable[..., Any]]) -> list[float] | str:
    """Kernels, MB that they move, MB between them; or why there are none. Counted on the graph and
    its plan, so nothing is generated or run."""
    try:
        with _compiler(how, mine):
            run = course_lib.compile(traced(name), example_inputs(name), target="interpreter")
            report = run.report()
            memory = plan(lower(everywhere(run.graph, decompose)))[1]
    except Exception as error:  # an answer may raise anything, and the other columns are right
        return error_text(error)
    return [report.kernels, report.traffic / 1e6, memory.size / 1e6]


def _ratios(
    name: str, mine: dict[str, Callable[..., Any]], seconds: float, working: Working
) -> str:
    """How the times compare, in words: only what the rounds tell apart."""
    working.number += 1
    working.say(f"measuring {name} for {seconds:.0f} seconds")
    runs, inputs = [], example_inputs(name)
    for how in COLUMNS:
        try:
            with _compiler(how, mine):
                run = course_lib.compile(traced(name), inputs, threads=1)
        except Exception as error:  # an answer may raise anything
            return f"not measured, {how}: {error_text(error)}"
        runs.append(partial(run, *inputs))
    with exercises.using({}):
        slow, ours, yours = for_seconds(runs, seconds, ROUNDS)
        return f"{_told(yours, ours, LIBRARY)} {_told(yours, slow, 'stand-ins')}"


def _told(yours: list[float], other: list[float], name: str) -> str:
    if verdict(other, yours) == "not told apart":
        return f"With yours and with the {name}, the times cannot be told apart."
    return f"With the {name} it takes {ratio(other, yours):.2f} times as long as with yours."


def _rows(name: str, columns: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    for place, quantity in enumerate(QUANTITIES):
        cells = [_cell(columns.get(how), place) for how in COLUMNS]
        yield (name if not place else "", quantity, *cells)


def _cell(counts: Any, place: int) -> str:
    if not isinstance(counts, list) or len(counts) != len(QUANTITIES):
        return "–"
    value = number(counts[place])
    return f"{value:,.0f}" if place == 0 else f"{value:,.3g}"
