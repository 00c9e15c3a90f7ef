"""Unit 9: its text says what the searches find, and its recorded trees are the compiler's."""

from pathlib import Path
from statistics import mean, median, stdev

import llvmlite.binding as llvm
import pytest

from autograder.check.framework import mutants_of
from autograder.edition.contents import COURSE
from autograder.units.u09.checks import score, worth
from autograder.units.u09.hidden import OTHERS
from autograder.units.u09.makers import PROBLEMS
from course_lib.cost.machine import AVX512, Machine
from course_lib.cost.nest import CLOCK, predict
from course_lib.exercises import baselines, slot
from course_lib.ir.loops.nest import Kernel
from course_lib.llvm import host
from course_lib.schedule.choose import choose
from course_lib.schedule.search.beam import beam
from course_lib.schedule.search.problem import Budget, Decision, Problem, nameless
from course_lib.schedule.search.space import children, count
from lessons.u09 import wild
from lessons.u09.landscapes import (
    AVX2,
    LAYERS,
    SHAPES,
    landscape,
    problem_of,
)
from lessons.u09.luck import (
    DEPTH,
    LUCK,
    so_far,
)
from lessons.u09.makers import PRICES, SEARCHES, WALKS, as_text, recorded
from lessons.u09.measuring import points, scatter_of, times
from lessons.u09.searches import (
    BEST_KNOWN,
    FIRST,
    best_after,
    clocks,
    double,
    impatient,
    layer,
    on_record,
    price,
    progress_plot,
    searches,
    tree_picture,
    wide,
)

SMALL = "512 → 512, 7 × 7"
TEXT = " ".join((COURSE / "notebooks/u09_beam.md").read_text("utf-8").split())  # one line


def kernels_of(problem: Problem, depth: int) -> set[str]:
    def below(kernel: Kernel, decided: tuple[Decision, ...]) -> set[str]:
        found = {nameless(kernel)}
        if len(decided) < depth:
            for made, after in children(problem, kernel, decided):
                found |= below(after, (*decided, made))
        return found

    return below(problem.kernel, ())


def test_the_spaces_of_the_text():
    assert [count(double(), depth) for depth in (0, 1, 2)] == [1, 11, 58]
    assert "402 lists, which make 118 different kernels" in TEXT
    assert len(kernels_of(double(), 6)) == 118
    walks = LUCK["walks"]
    assert len(walks) == WALKS == 100
    assert round(mean(walks), -3) == 41_000 and round(stdev(walks) / 10, -3) == 8_000
    assert "41,000 lists" in TEXT and "standard error of 8,000" in TEXT
    space = slot("u09.space").reference
    ways = space((64, 56, 56, 64, 3, 3), 4)
    assert f"{ways:,} ways" in TEXT
    assert round(ways * 0.1 / 3600 / 24 / 365.25, 1) == 2.3


def test_what_beams_find_on_the_first_layer():
    one, two = wide(FIRST, 1), wide(FIRST, 2)
    best = BEST_KNOWN[FIRST]
    assert round(100 * (clocks(one.best) / best - 1)) == 10
    assert clocks(two.best) / best == pytest.approx(1, abs=1e-4)
    assert two.priced == 86 and "BEAM looks at 86 of them" in TEXT
    assert sum(len(c.decisions) == 1 and c.predicted is not None for c in two.candidates) == 42
    path = [clocks(c) for c in reversed(two.path(two.best.number))]
    assert len(path) == 5
    assert path[3] > 0.999 * path[2]  # the round that gains nothing
    assert path[4] < 0.81 * path[3]


@pytest.mark.parametrize("name", list(SHAPES)[1:])
def test_greedy_is_enough_for_the_others_if_it_is_patient(name):
    assert on_record(name, 1)[0] / BEST_KNOWN[name] == pytest.approx(1, abs=1e-4)
    assert impatient(LAYERS[name])[0] > 1.2 * BEST_KNOWN[name]


@pytest.mark.parametrize("width", [1, 2])
def test_a_beam_sees_the_same_on_a_recorded_layer(width):
    record = wide(SMALL, width)
    assert on_record(SMALL, width) == (pytest.approx(clocks(record.best), abs=1), record.priced)


def test_the_last_product_of_a_walk_estimates_the_leaves_alone():
    """Of the 402 lists of the unit's own `double`, 240 can go no further."""
    twice = double()

    def leaves(kernel, decided):
        after = [] if len(decided) == 6 else children(twice, kernel, decided)
        return sum(leaves(k, (*decided, made)) for made, k in after) or 1

    assert count(twice, 6) == 402 and leaves(twice.kernel, ()) == 240


def test_wider_beams_find_nothing_cheaper():
    for name, known in BEST_KNOWN.items():
        for width in (2, 4, 8, 24):
            assert on_record(name, width)[0] / known == pytest.approx(1, abs=1e-4)


def test_luck_is_recorded_by_its_script():
    """Made again by `python -m course_lib record u09/luck`, if this fails."""
    problem = problem_of(SHAPES[FIRST])
    for words, search in SEARCHES.items():
        now = so_far(search(problem, Budget(priced=7), price, seed=0, depth=DEPTH))
        recorded = [tuple(step) for step in LUCK[words][0] if step[0] <= 7]
        assert set(recorded) <= set(now)


def test_what_the_text_says_of_luck():
    best = round(BEST_KNOWN[FIRST] / 1e6, 2)
    ends = {words: [best_after(run, PRICES) / best for run in LUCK[words]] for words in SEARCHES}
    assert len(ends["random"]) == len(ends["evolution"]) == 8
    assert min(ends["random"]) > 1.005 and max(ends["random"]) < 1.03
    assert sorted(round(100 * end - 100) for end in ends["evolution"])[-2:] == [26, 26]


def test_from_which_price_to_which_the_beam_is_behind():
    runs = searches()
    (ours,) = runs["beam, width 2"]
    others = [runs[words] for words in SEARCHES]
    behind = [n for n in range(1, PRICES + 1)
              if all(median(best_after(run, n) for run in some) < best_after(ours, n)
                     for some in others)]  # fmt: skip
    assert behind == [*range(15, 85)]
    assert "From the 15th price to the 84th, the beam is behind both medians" in TEXT


def test_nothing_recorded_is_better_than_the_best_known():
    for name, land in LAYERS.items():
        assert BEST_KNOWN[name] <= land.best <= 1.0001 * BEST_KNOWN[name]


def test_recorded_prices_are_the_prices_of_today():
    """Made again by `python -m course_lib record u09/landscapes`, if this fails."""
    problem, land = problem_of(SHAPES[SMALL]), LAYERS[SMALL]
    found = [(as_text(made), kernel) for made, kernel in children(problem, problem.kernel, ())]
    listed = [state[0] for state in land.successors(())]
    assert {words for words, _ in found} >= set(listed)
    made = beam(problem, Budget(priced=12), price, width=1, depth=1)
    for candidate in made.candidates:
        if candidate.predicted is not None:
            state = tuple(map(as_text, candidate.decisions))
            assert land.price(state) == round(candidate.predicted * CLOCK)


def test_trees_are_recorded_without_a_look_at_the_processor(monkeypatch):
    """Another search for the same machine finds every state and price of the file again, although
    nobody can say which processor this is."""

    def nobody(*_):
        raise AssertionError("a search asked which processor is at hand")

    for name in ("get_host_cpu_name", "get_host_cpu_features"):
        monkeypatch.setattr(llvm, name, nobody)
    for name in ("host_machine", "_caches", "_processors"):
        monkeypatch.setattr(host, name, nobody)
    with pytest.raises(AssertionError, match="at hand"):
        llvm.get_host_cpu_name()
    found = landscape(recorded(problem_of(SHAPES[SMALL])))
    assert (found.tree, found.prices) == (LAYERS[SMALL].tree, LAYERS[SMALL].prices)


def test_another_machine_has_other_prices():
    """What a search is told decides, and nothing else: wider vectors, other schedules."""
    other = problem_of(SHAPES[SMALL], AVX512)
    kernel = other.kernel
    first = [as_text(made) for made, _ in children(other, kernel, ())]
    assert first != [as_text(made) for made, _ in children(problem_of(SHAPES[SMALL]), kernel, ())]
    made = problem_of(SHAPES[SMALL])
    assert made.machine == AVX2 == Machine("AVX2", 32, 16, 1, 32 << 10, 256 << 10)
    assert predict(choose(kernel, AVX512, made.constants), AVX512).clocks < 0.7 * predict(
        choose(kernel, AVX2, made.constants), AVX2
    ).clocks  # fmt: skip


@pytest.mark.parametrize("name", list(OTHERS))
def test_hidden_layers_are_recorded_by_their_script(name):
    problem, land = problem_of(*PROBLEMS[name]), OTHERS[name]
    firsts = {(as_text(made),) for made, _ in children(problem, problem.kernel, ())}
    assert firsts >= set(land.successors(())) and len(firsts) <= len(land.successors(())) + 2
    assert land.price(()) == round(predict(problem.kernel, problem.machine).clocks)


def test_without_an_answer_the_compiler_keeps_its_default():
    with baselines("schedule.beam_search"):
        record = wide(FIRST, 2)
        assert record.best.number == 0 and record.priced == 1


def test_scores_that_the_text_names():
    wrong = mutants_of("u09.search")
    greedy, luck = (score(wrong[n], LAYERS) for n in ("greedy_until_it_is_spent", "at_random"))
    assert greedy.fraction == luck.fraction == 0
    assert "1.16 to 1.50" in TEXT and str(luck.seen).startswith("1.310")
    assert worth(1.03) == 1 and worth(1.23) == 0
    assert worth(1.08) == pytest.approx(0.75)
    assert score(wrong["the_first_tiles_of_the_list"], LAYERS).seen.startswith("1.22")
    at_once = score(wrong["the_first_two_inner_decisions_of_the_list"], {**LAYERS, **OTHERS})
    assert round(4 * at_once.fraction, 1) == 3.2
    assert score(slot("u09.search").reference, LAYERS).seen.startswith("1.019")


def test_hidden_layers_are_others():
    assert not OTHERS.keys() & LAYERS.keys()
    ours = score(slot("u09.search").reference, {**OTHERS, **LAYERS})
    assert ours.fraction == 1 and ours.seen.startswith("1.024")


def test_the_tree_is_drawn_with_every_candidate(tmp_path: Path):
    record = beam(layer("512 → 512, 7 × 7"), Budget(priced=40), price, width=2, depth=3)
    picture = tree_picture(record, "a tree")
    assert picture.svg.count("<circle") == record.priced
    assert "1 decision: " in picture.text and "2 decisions: " in picture.text


def test_the_curves_end_at_the_best():
    plot = progress_plot()
    assert "(86, 8.51)" in plot.text and "evolution" in plot.text


def test_schedules_are_priced_for_two_processors():
    found = points(6)
    assert len(found) == 6 and found[0].unrolled
    assert all(p.here > 0 and p.measured > 0 for p in found)
    assert "this processor" in scatter_of(found).text


def test_schedules_are_timed_in_turns():
    problem = double()
    made = beam(problem, Budget(priced=6), price, width=1, depth=1)
    kernels = [c.kernel for c in made.candidates if c.kernel][:3]
    assert all(0 < seconds < 1 for seconds in times(kernels, rounds=2, places=2))


def test_tinygrad_chooses_by_hand_what_is_recorded(missing):
    found = wild.tinygrad(0) or missing("tinygrad or clang")
    assert found["kernels"] == len(wild.RECORDED[0][1])
    assert found["opts"] == wild.RECORDED[0][1]


def test_the_log_of_tvm_says_what_the_text_says():
    log, found = wild.LOG, wild.trials()
    assert "untuned 168.8 ms" in log and "169 ms" in TEXT
    assert len(found) == 192
    assert min(found[:16]) == 5.744 and "5.7 ms" in TEXT
    assert min(found) == found[126] == 4.136 and "4.14 ms with it" in TEXT
    assert min(found[:112]) == 4.167 and "4.17 ms without" in TEXT
    middle = [median(found[k : k + wild.ROUND]) for k in range(0, 192, wild.ROUND)]
    assert min(middle[:7]) > 19.5 and max(middle[:7]) < 69.5
    assert min(middle[8:]) > 7 and max(middle[8:]) < 12.5
    assert wild.tvm_trace().count("n=4") == 4 and wild.tvm_trace().count("n=2") == 3
    assert "median of its round" in wild.tvm_plot().text


def test_how_many_ways_tvm_has():
    ways = slot("u09.space").reference
    least = [n for n in range(1, 257) if 256 % n == 0 and n > 64]
    four = ways((256,), 4) - sum(ways((256 // n,), 3) for n in least)
    two = ways((256,), 2) - len(least)
    assert four * two * ways((14, 14), 4) * ways((3, 3), 2) == 1_154_048 and "1,154,048" in TEXT
