"""Visible checks of unit 18: faults of logs, claims about a recorded run, orders, and a choice.

Next room: ../hidden.
"""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from autograder.check.answer import Answer
from autograder.check.framework import Wrong, background, checks, ours, shows
from autograder.check.shown import returned
from course_lib import exercises
from course_lib.measure.interval import interval
from lessons.u18.bench import FULL, MODELS, Full
from lessons.u18.evidence import FAULTS, logs

# ── faults ──

WHICH = "Which claims do the logs above support, and what is wrong with the others"
ONE_WORD = "for each of the eight logs, its number and one word"
KEYS = "The words are the keys of FAULTS"
SUPPORTED = '"none" means that the measurement supports the claim as it stands'
THE_ONE = "choose the one without which the claim would be supported, or would not have been made"


@checks("u18.faults", spec=[WHICH, ONE_WORD, KEYS, SUPPORTED, THE_ONE])
def each_log_has_its_word(faults):
    """The eight logs of the notebook."""
    got = faults()
    if not isinstance(got, dict):
        raise Wrong("The answer must be a dict.", got=returned(got), spec=ONE_WORD)
    if missing := [number for number in logs() if number not in got]:
        raise Wrong("Every log needs a word.", got=f"no word for log {missing[0]}", spec=ONE_WORD)
    if other := [number for number in got if number not in logs()]:
        raise Wrong(
            "The numbers are those of the eight logs.", got=returned(other[0]), spec=ONE_WORD
        )
    for number, word in got.items():
        if not isinstance(word, str) or word not in FAULTS:
            raise Wrong("Each word must be a key of FAULTS.", got=f"log {number}: {returned(word)}",
                        expected=", ".join(FAULTS), spec=KEYS)  # fmt: skip
    right = ours("u18.faults")
    wrong = [number for number in right if got[number] != right[number]]
    if wrong:
        raise Wrong(f"{len(wrong)} of the eight words {'is' if len(wrong) == 1 else 'are'} wrong.",
                    got=returned(got), spec=THE_ONE)  # fmt: skip
    return "eight logs"


# ── claims ──

THREE = "three tuples, one of each form, in this order"
FASTER = "a run of the model takes `other` at least `by` times as long as `system`"
OVERALL = "the same, for the geometric mean over all four models"
PAYS = "`system` takes longer to compile, but from that many runs on"
NUMBERS = "`by` is a number of at least 1.1, and `runs` is a whole number"
SUPPORT = "The recorded run must support each claim"
INTERVAL = '"faster" counts as supported only if the interval of the recorded rounds, by your'
WEAK = "Claims must not be weak either: `by` is at least 75 % of what was recorded, and `runs` is"
AGAIN = "The grader has a second recording of these systems, made on the same"
AMONG = "The systems are among `FULL.repeated()`"
MAKE = "Make three claims about the recorded benchmark that a second run will confirm"
FORMS = {"faster": (FASTER, 5), "overall": (OVERALL, 4), "pays": (PAYS, 5)}


def as_claims(got: Any, full: Full) -> list[tuple[Any, ...]]:
    """The three tuples; Wrong if they have not the form."""
    listed = isinstance(got, (list, tuple)) and len(got) == 3
    if not listed or not all(isinstance(one, (list, tuple)) and one for one in got):
        raise Wrong("The answer must be three tuples.", got=returned(got), spec=THREE)
    for one, (form, (spec, length)) in zip(got, FORMS.items(), strict=True):
        if one[0] != form or len(one) != length:
            raise Wrong(f'This claim must be ("{form}", ...), with {length} entries.',
                        got=returned(one), spec=spec)  # fmt: skip
        *_, system, other, number = one
        if form != "overall" and (not isinstance(one[1], str) or one[1] not in MODELS):
            raise Wrong(
                "There is no such model.", got=returned(one), expected=", ".join(MODELS), spec=spec
            )
        known = full.repeated()
        for name in (system, other):
            if not isinstance(name, str) or name not in known:
                raise Wrong(
                    "There is no such system.",
                    got=returned(name),
                    expected=", ".join(known),
                    spec=AMONG,
                )
        whole = isinstance(number, Integral) or (form != "pays" and isinstance(number, Real))
        if not whole or isinstance(number, bool) or not math.isfinite(number):
            raise Wrong("The last entry must be a number, of runs a whole one.", got=returned(one),
                        spec=NUMBERS)  # fmt: skip
        if form != "pays" and number < 1.1:
            raise Wrong("`by` must be at least 1.1.", got=returned(one), spec=NUMBERS)
    return [tuple(one) for one in got]


def holds(one: tuple[Any, ...], full: Full) -> str:
    """What a recorded run says against a claim; "" if it supports it in the medians."""
    form, *_, system, other, number = one
    if form == "pays":
        model = one[1]
        mine, its = (
            full.compiling(model, s) + number * full.ms(model, s) / 1e3 for s in (system, other)
        )
        if full.compiling(model, system) <= full.compiling(model, other):
            return f"{system} does not take longer to compile than {other}"
        return (
            ""
            if mine < its
            else f"{number} runs: {mine:.3g} s with {system}, {its:.3g} s with {other}"
        )
    ratio = full.ratio(one[1], system, other) if form == "faster" else full.overall(system, other)
    return "" if ratio >= number else f"it is {ratio:.3g} times as long"


@checks(
    "u18.claims", spec=[MAKE, THREE, FASTER, OVERALL, PAYS, NUMBERS, SUPPORT, INTERVAL, WEAK, AMONG]
)
def the_recorded_run_supports_them(claims):
    """Each claim against the run that the notebook shows, and whether it says enough."""
    found = as_claims(claims(), FULL)
    for one in found:
        if against := holds(one, FULL):
            raise Wrong("The recorded run does not support this claim.", program=returned(one),
                        got=against, spec=SUPPORT)  # fmt: skip
        form, *_, system, other, number = one
        if form == "faster":
            with exercises.using(Answer.of(claims).plugs):
                low, high = interval(FULL.rounds(one[1], other), FULL.rounds(one[1], system))
            if low <= number:
                raise Wrong(
                    "The interval must lie above `by`.",
                    program=returned(one),
                    spec=INTERVAL,
                    got=f"the interval is {low:.4g} to {high:.4g}",
                )
        if form == "pays":
            least = FULL.pays_after(one[1], system, other)
            weak = number > 3 * least
        else:
            least = (
                FULL.ratio(one[1], system, other)
                if form == "faster"
                else FULL.overall(system, other)
            )
            weak = number < 0.75 * least
        if weak:
            raise Wrong("The claim is weaker than it may be.", program=returned(one),
                        got=f"the recorded run has {least:.4g}", spec=WEAK)  # fmt: skip
    return "the recorded run supports them; a second run, which the grader has, has yet to do so"


background("u18.claims", AGAIN, because="the hidden check has it")

# ── orders ──

LETTERS = "a text of the letters A and B, equally many of each, at most 256 in all"
DRIFT = "run number n, counted from 0, takes its true time plus p(n) more"
SAME = "it must add the same to the sum of all runs of A as to the sum of all runs of B"
ANY = "Nobody knows p"
IN_WHICH = "In which order should A and B run, so that no drift of this degree favours either"
FOR_AB = 'For degree 0, "AB" is right; for degree 1, "AB" is wrong, because B always runs later'


@checks("u18.turns", spec=["degree   from 0 to 6", IN_WHICH, LETTERS, DRIFT, SAME, ANY, FOR_AB])
def no_drift_favours_either(turns):
    """Degrees 0 to 6."""
    for degree in range(7):
        balanced(turns, degree)
    return "degrees 0 to 6"


def balanced(turns: Any, degree: int) -> None:
    """The powers of the places of A have the sums of those of B; Wrong if not."""
    call = f"turns({degree})"
    with shows(call):
        got = turns(degree)
    if not isinstance(got, str) or not set(got) <= {"A", "B"} or not got:
        raise Wrong(
            "The answer must be a text of A and B.", program=call, got=returned(got), spec=LETTERS
        )
    if len(got) > 256:
        raise Wrong("The text is too long.", program=call, got=f"{len(got)} letters",
                    expected="at most 256", spec=LETTERS)  # fmt: skip
    if 2 * got.count("A") != len(got):
        raise Wrong("A and B must run equally often.", program=call, got=got, spec=LETTERS)
    for power in range(1, degree + 1):
        sums = [sum(n**power for n, x in enumerate(got) if x == letter) for letter in "AB"]
        if sums[0] != sums[1]:
            raise Wrong(
                f"The drift p(n) = n^{power} favours {'AB'[sums[0] > sums[1]]}.",
                program=call,
                got=f"{got}: it adds {sums[0]:,} to A and {sums[1]:,} to B",
                spec=SAME,
            )


# ── which system pays ──

WHO = "Which system should a program use that runs its model `runs` times and then ends"
TIMES = "seconds that each system then needs for a run; the same names"
BEGIN = "seconds that each system needs until its first run can begin"
OFTEN = "how often the program runs the model: a whole number, 0 or more"
NAME = "exactly one name: that of the system that takes the least time in all"
TIES = "If several take equally long, the one that comes first in `compiling` is the answer"


@st.composite
def offers(draw: DrawFn, most: int = 5) -> tuple[dict[str, float], dict[str, float], int]:
    """Whole numbers of 2**-20 s, so that no sum is rounded. Many totals are equal, or a unit or two
    apart, which is a millionth of a second or two."""
    names = draw(st.permutations(["course", "torch", "tvm", "iree", "b", "a", "jax"]))
    names = names[: draw(st.integers(1, most))]
    runs = draw(st.sampled_from([0, 1, 2, 3, 5, 10, 100, 10**6]))
    running = {name: draw(st.integers(1, 300)) for name in sorted(names)}
    total = max(running.values()) * runs + draw(st.sampled_from([0, 2, 1000, 2**28]))
    compiling = {}
    for name in names:
        apart = st.one_of(st.sampled_from([0, 0, 1, 2, 500]), st.integers(0, 2**28))
        compiling[name] = total - running[name] * runs + draw(apart)
    unit = 2.0**-20
    return {n: compiling[n] * unit for n in names}, {n: t * unit for n, t in running.items()}, runs


@checks("u18.pays", given=offers(), examples=100, what="random systems",
        spec=[WHO, BEGIN, TIMES, OFTEN, NAME, TIES])  # fmt: skip
def the_least_in_all(pays, given):
    """No system takes less time in all, and of several the first one is named."""
    compiling, running, runs = given
    call = f"pays({compiling}, {running}, {runs})"
    with shows(call):
        got = pays(dict(compiling), dict(running), runs)
    if not isinstance(got, str) or got not in compiling:
        raise Wrong(
            "The answer must be one of the names.", program=call, got=returned(got), spec=NAME
        )
    totals = {name: compiling[name] + runs * running[name] for name in compiling}
    least = min(totals.values())
    for name, total in totals.items():
        if total == least:
            if got != name:
                tied = totals[got] == least
                raise Wrong(
                    "Another system comes first." if tied else "Another system takes less time.",
                    program=call,
                    got=f"{got}: {totals[got]:.10g} s",
                    expected=f"{name}: {total:.10g} s",
                    spec=TIES if tied else NAME,
                )
            return


PROGRAMS = [
    ({"a": 0.0, "b": 500.0}, {"a": 1.0, "b": 0.5}, runs)
    for runs in (1, 100, 999, 1000, 1001, 10**7)
] + [({"b": 2.0, "a": 1.0}, {"a": 2.0, "b": 1.0}, runs) for runs in (0, 1, 2)]


@checks("u18.pays", spec=[NAME, OFTEN, TIES])
def a_few_programs(pays):
    """Two systems, for few runs and for many."""
    for given in PROGRAMS:
        the_least_in_all(pays, given)
    return f"{len(PROGRAMS)} programs"
