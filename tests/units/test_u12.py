"""Unit 12: its clocks are the library's, its figures are counted here, others' are recorded."""

import numpy as np
import pytest

from autograder.check.exemplars import mutants_of
from autograder.check.verdict import WRONG
from autograder.edition.contents import COURSE
from autograder.notebook import check
from autograder.units.u12.checks.counts import LETTERS
from autograder.units.u12.checks.rows import due
from course_lib.accelerator.array import closed
from course_lib.accelerator.array.dataflow import Folding
from course_lib.accelerator.array.presets import preset
from course_lib.accelerator.array.registers import registers
from course_lib.accelerator.array.timing import timing
from course_lib.accelerator.systolic import SystolicArray
from course_lib.exercises import plugged, slot
from lessons.u12 import tables, verilog
from lessons.u12.grid import (
    Fault,
    leaving,
    multiplied,
    overwritten,
    planted,
    shown_fault,
    trace,
)

CLOCKS, expected = slot("u12.clocks").reference, slot("u12.clock").reference
SMALL = SystolicArray(2, 2, dataflow="ws")
SHADOW = [SystolicArray(side, side, dataflow="ws", shadow=True) for side in tables.SIDES]


def million(model, array, wait=1):
    return round(tables.on_clocks(model, array, CLOCKS, wait) / 1e6, 3)


def test_the_three_numbers_of_the_opening_question():
    which = slot("u12.which").reference
    found = [which(4, 4, 4, 4, 4, cycles) for cycles in (9, 10, 14)]
    assert found == ["B", "A", "CDE"]
    assert closed.cycles(4, 4, 4, preset("teaching")[0]) == 14
    assert tables.REPORTED["os"] == (9, round(100 * 64 / (16 * 9), 2))


def test_our_grid_takes_fourteen_clocks_and_multiplies():
    rng = np.random.default_rng(1)
    for m, k, n, clocks in ((4, 4, 4, 14), (49, 16, 8, 87)):
        a, b = rng.integers(-9, 10, (m, k)), rng.integers(-9, 10, (k, n))
        product, took = multiplied(slot("u12.clock").reference, a, b)
        assert took == clocks == closed.cycles(m, k, n, SystolicArray(k, n, dataflow="ws"))
        np.testing.assert_array_equal(product, a @ b)


def test_a_trace_is_what_the_library_clocks():
    rng = np.random.default_rng(2)
    a, b = rng.integers(-9, 10, (5, 7)), rng.integers(-9, 10, (7, 4))
    array = SystolicArray(3, 2, dataflow="ws")
    made, states = trace(a, b, array), [s for s in registers(a, b, array) if s.counted]
    assert len(made.right) == len(states) == closed.cycles(5, 7, 4, array)
    nothing = np.zeros((3, 2), int)
    held = nothing, nothing, nothing
    for n, state in enumerate(states):
        held = expected(*held, made.shift[n], made.enters[n], made.weights[n])
        for mine, theirs in zip(held, (state.right, state.down, state.stay), strict=True):
            np.testing.assert_array_equal(mine, theirs)


def test_two_registers_of_a_planted_trace_are_wrong():
    for seed in range(100):
        given, first, second = planted(seed, 5)
        nothing, wrong = np.zeros_like(given.right[0]), []
        held = nothing, nothing, nothing
        for n in range(len(given.right)):
            due = expected(*held, given.shift[n], given.enters[n], given.weights[n])
            held = given.right[n], given.down[n], given.stay[n]
            wrong += [n + 1 for d, h in zip(due, held, strict=True) for _ in np.argwhere(d != h)]
        assert wrong == [first.clock, second.clock]


def test_a_fault_in_one_column_shows_in_another():
    a, b = np.array([[1, 2], [3, 4], [5, 6]]), np.array([[1, 0, 2], [3, 1, 1]])
    array = SystolicArray(2, 3, dataflow="ws")
    fault = Fault(4, "right", 0, 0, 3)
    right, wrong = trace(a, b, array), trace(a, b, array, fault)
    assert shown_fault(right, wrong, 4).count("!") == 5
    differ = leaving(right.down[:, -1], 2, 3) != leaving(wrong.down[:, -1], 2, 3)
    assert np.argwhere(differ).tolist() == [[1, 2]]
    broken = overwritten()
    assert slot("u12.fault").reference(*broken.trace) == (5, "stay", 0, 1)
    assert np.argwhere(broken.got != broken.due).tolist() == [[1, 0], [2, 1]]


def test_weights_that_are_loaded_too_early_are_no_fault_of_a_cell():
    broken = overwritten()
    given = trace(np.array([[1, 2], [3, 4], [5, 6]]), np.array([[1, 4], [3, 1]]), SMALL)
    given.shift[4, 0, 1], given.weights[4, 1] = True, 9
    held, states = [np.zeros((2, 2), int)] * 3, []
    for shift, enters, weights in zip(given.shift, given.enters, given.weights, strict=True):
        held = expected(held[0], held[1], held[2], shift, enters, weights)
        states.append(held)
    right, down, stay = (np.array(one) for one in zip(*states, strict=True))
    np.testing.assert_array_equal(leaving(down[:, -1], 2, 3)[:, 1], broken.got[:, 1])
    with pytest.raises(ValueError, match="no register"):
        slot("u12.fault").reference(right, down, stay, *given[3:])


@pytest.mark.parametrize("shadow", [False, True])
def test_the_clocks_are_those_of_the_controller(shadow):
    rng = np.random.default_rng(3)
    for folds, time, rows, cols in rng.integers(1, 9, (50, 4)).tolist():
        array = SystolicArray(rows, cols, dataflow="ws", shadow=shadow)
        due = timing(Folding(array, time, rows * folds, cols))[-1].end
        assert (
            CLOCKS(folds, time, array, 1) == due == closed.cycles(time, rows * folds, cols, array)
        )


@pytest.mark.parametrize("shadow", [False, True])
def test_slow_weights_are_those_of_an_event_by_event_count(shadow):
    rng = np.random.default_rng(4)
    for folds, time, rows, cols, wait in rng.integers(1, 9, (50, 5)).tolist():
        free = start = end = 0
        for fold in range(folds):
            loaded = free + wait * rows
            start = max(loaded, start + time) if shadow and fold else loaded
            end = start + time + rows + cols - 2
            free = start if shadow else end
        array = SystolicArray(rows, cols, dataflow="ws", shadow=shadow)
        assert CLOCKS(folds, time, array, wait) == end


def test_a_larger_array_makes_mobilenet_slower():
    assert [million("mobilenet_v2", a) for a in SHADOW] == [3.861, 3.334, 3.840, 5.148, 7.872]
    assert [million("resnet18", a) for a in SHADOW] == [7.158, 1.800, 0.494, 0.216, 0.123]
    depthwise = [p for p in tables.parts_of("mobilenet_v2") if p.n == 1]
    array = SHADOW[1]
    cycles = sum(p.count * closed.cycles(p.m, p.k, p.n, array) for p in depthwise)
    macs = sum(p.macs for p in depthwise) / sum(p.macs for p in tables.parts_of("mobilenet_v2"))
    assert round(cycles / 1e6 / million("mobilenet_v2", array), 2) == 0.89
    assert round(macs, 2) == 0.07


def test_the_tpu_waits_for_weights():
    array = SystolicArray(256, 256, dataflow="ws", shadow=True)
    busy = {batch: 300 * batch / CLOCKS(300, batch, array, 5) for batch in (200, 1280)}
    assert round(busy[200], 2) == 0.16
    assert busy[1280] > 0.99


def test_packed_channels_make_the_larger_array_the_faster_one():
    lines = str(tables.packed_table(slot("u12.pack").reference)).splitlines()[1:]
    apart, packed = zip(*[line.replace("▸", "").split()[3:] for line in lines], strict=True)
    assert apart == ("3,860", "3,330", "3,840", "5,150", "7,870")
    assert packed == ("2,550", "1,030", "545", "338", "258")


def test_as_many_channels_as_columns_are_best_on_square_arrays_and_not_on_all():
    pack, oblong = slot("u12.pack").reference, SystolicArray(128, 32, dataflow="ws", shadow=True)

    def cycles(layer, g, array):
        whole, left = divmod(layer.count, g)
        sizes = [g] * whole + [left] * (left > 0)
        return sum(closed.cycles(layer.m, one * layer.k, one, array) for one in sizes)

    for layer in {p for p in tables.parts_of("mobilenet_v2") if p.n == 1}:
        for array in SHADOW:
            best = pack(layer.count, layer.m, layer.k, array)
            columns = min(layer.count, array.cols)
            assert cycles(layer, columns, array) == cycles(layer, best, array)
        fewer = cycles(layer, 28, oblong) < cycles(layer, 32, oblong)
        assert fewer == (layer.count > 32)


def test_what_packing_saves_on_the_largest_array():
    array, pack = SHADOW[-1], slot("u12.pack").reference
    parts = [p for p in tables.parts_of("mobilenet_v2") if p.n == 1]
    channels, cycles = sum(p.count for p in parts), 0
    for p in parts:
        g = pack(p.count, p.m, p.k, array)
        whole, left = divmod(p.count, g)
        for count, one in ((whole, g), (1, left)) if left else ((whole, g),):
            cycles += count * closed.cycles(p.m, one * p.k, one, array)
    assert channels == 7136
    assert round(channels * (2 * 256 + 256 - 2) / 1e6, 1) == 5.5
    assert round(cycles, -3) == 154_000


def test_a_batch_of_images_does_not_make_the_larger_array_the_faster_one():
    parts = tables.parts_of("mobilenet_v2")
    cycles = [sum(p.count * closed.cycles(8 * p.m, p.k, p.n, array) for p in parts)
              for array in (SHADOW[1], SHADOW[-1])]  # fmt: skip
    assert [round(one / 8e6, 2) for one in cycles] == [2.71, 3.05]


def test_most_of_what_shadow_registers_save_is_fill():
    array = SHADOW[1]
    for model in tables.NAMES:
        load = fill = 0
        for p in tables.parts_of(model):
            folding = Folding(array, p.m, p.k, p.n)
            later = p.count * (folding.folds - 1)
            load += later * min(32, folding.time)
            fill += later * 62
        plain = tables.on_clocks(model, SystolicArray(32, 32, dataflow="ws"), CLOCKS)
        assert plain - tables.on_clocks(model, array, CLOCKS) == load + fill
        assert fill > 1.9 * load


def test_the_formulas_count_what_the_verilog_was_recorded_to_count(monkeypatch):
    monkeypatch.setattr(tables, "installed", lambda: False)
    picture, word = tables.witnesses()
    lines = [line.split() for line in str(picture).splitlines()[1:]]
    assert word == tables.BY_ICARUS.words
    assert [(int(a), int(b)) for a, b in (_counts(line) for line in lines)] == [
        (10, 10), (14, 14), (14, 14), (14, 14), (14, 14)]  # fmt: skip


RIGHT = "right <= right_in; down <= down_in + right_in * stay; if (shift) stay <= chain_in;"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (RIGHT, "Every register is right in every clock.\n[2, 3] x [3, 4]: 10 clocks"),
        (RIGHT.replace("right_in * stay", "right * stay"), "`down` of cell (0, 0) is 0, and must"),
        (RIGHT.replace("down_in + ", ""), "in clock 5, `down` of cell (1, 0) is -24, and must be"),
        (RIGHT.replace("if (shift) ", ""), "in clock 4, `stay` of cell (0, 0) is 0, and must be"),
        (RIGHT.replace("<=", "="), "`stay` of cell"),
        (RIGHT.replace("right_in;", "..."), "There are dots left"),
        ("right <= right_in", "syntax error"),
        ("$finish;", "wrote no result"),
    ],
)
def test_a_cell_in_verilog_is_told_its_first_wrong_register(text, said, require_tool, capsys):
    require_tool("iverilog")
    verilog.verilog_cell(text)
    assert said in capsys.readouterr().out


def test_a_cell_that_never_ends_is_stopped(require_tool, monkeypatch, capsys):
    require_tool("iverilog")
    monkeypatch.setattr(verilog, "SECONDS", 1)
    verilog.verilog_cell("forever right <= 1;")
    assert "endless loop" in capsys.readouterr().out


def test_without_icarus_the_cell_is_not_run(monkeypatch, capsys):
    monkeypatch.setattr(verilog, "installed", lambda: False)
    verilog.verilog_cell(RIGHT)
    assert "not installed here" in capsys.readouterr().out


def _counts(line):
    numbers = [word for word in line if word.isdigit()]
    return numbers[0], numbers[1]


def wrong(name, answer):
    with plugged(name, answer):
        verdict = check(name)
    assert verdict.kind == WRONG
    return verdict


@pytest.mark.parametrize("letter", "ABCDEF")
def test_the_definition_that_is_missing_is_quoted(letter):
    right = slot("u12.which").reference
    verdict = wrong("u12.which", lambda *case: right(*case).replace(letter, ""))
    assert verdict.problem.startswith(f"Definition {letter} gives")
    assert verdict.spec == LETTERS[letter]
    assert verdict.expected.startswith("A ") and verdict.expected.count(",") >= 5


@pytest.mark.parametrize("change, words", [
    (lambda folds, time, array, wait: CLOCKS(folds, time, array, 1), "Loading a fold takes `wait`"),
    (lambda folds, time, array, wait: CLOCKS(folds, time, array, 1) + (wait - 1) * array.rows,
     "Loading a fold takes `wait`"),
    (lambda folds, time, array, wait: CLOCKS(folds, time, array, wait)
     - (0 if array.shadow else folds - 1), "If `array.shadow` is False"),
    (lambda folds, time, array, wait: CLOCKS(min(folds, 10**6), time, array, wait),
     "Count exactly, from the first load"),
    (lambda folds, time, array, wait: CLOCKS(folds, time, array, wait) + 1, "Count exactly"),
    (lambda folds, time, array, wait: CLOCKS(folds, time, array, wait)
     + array.shadow * max(0, wait * array.rows - time), "Count exactly"),
    (lambda folds, time, array, wait: CLOCKS(folds, time, array, wait) - array.cols + 1,
     "Row i of the cells starts i clocks later, column j starts"),
    (lambda folds, time, array, wait: CLOCKS(folds, max(time, wait * array.rows), array, wait)
     if array.shadow and folds > 1 else CLOCKS(folds, time, array, wait),
     "The next fold's first operand enters in the clock after that load"),
    (lambda folds, time, array, wait: CLOCKS(folds, time + array.shadow * (folds > 1), array, wait),
     "If it is True, the next load begins"),
])  # fmt: skip
def test_a_wrong_count_of_clocks_quotes_the_sentence_that_its_case_is_about(change, words):
    assert wrong("u12.clocks", change).spec.startswith(words)


def test_a_last_group_of_rows_that_is_counted_as_a_whole_one_quotes_those_that_are_left():
    def whole(channels, height, width, window, columns):
        strips = -(-height // columns)
        pixels = strips * (columns + window - 1) * (width + window - 1)
        return channels * pixels, channels * strips * window * window

    assert wrong("u12.rows", whole).spec.startswith("It computes `columns` rows of the result")


@pytest.mark.parametrize("name, words", [
    ("weights_for_each_row", "it reads all weights of the filter once"),
    ("exchanged", "Return (pixels, weights)"),
])  # fmt: skip
def test_a_wrong_count_of_reads_quotes_its_own_sentence(name, words):
    assert wrong("u12.rows", mutants_of("u12.rows")[name]).spec.startswith(words)


def test_a_fault_in_another_register_is_not_a_clock_counted_from_zero():
    only_sums = mutants_of("u12.fault")["only_the_sums"]
    assert wrong("u12.fault", only_sums).spec.startswith("Every other value follows")


@pytest.mark.parametrize("answer", [lambda row: row + 0.5, lambda row: str(row), lambda row: None])
def test_a_row_is_a_whole_number(answer):
    right = slot("u12.fault").reference

    def fault(*states):
        clock, name, row, col = right(*states)
        return clock, name, answer(row), col

    assert "not the row" in wrong("u12.fault", fault).problem


def test_a_row_that_stays_reads_the_pixels_of_a_depthwise_layer_less_often():
    pixels, weights = slot("u12.rows").reference(144, 56, 56, 3, 32)
    assert (pixels, weights) == due((144, 56, 56, 3, 32))
    assert 144 * 9 * 56 * 56 / pixels > 8


def test_two_folds_with_slow_weights_are_as_the_notebook_draws_them():
    assert CLOCKS(2, 3, SystolicArray(2, 2, dataflow="ws", shadow=True), 2) == 13
    text = (COURSE / "notebooks" / "u12_systolic.md").read_text("utf-8")
    clock, load, first, last = text.split("```\nclock ")[1].split("```")[0].splitlines()
    assert len(load.replace("load", "    ").split()) == 8
    assert first.rstrip().endswith("2") and len(last) == len("clock " + clock)
