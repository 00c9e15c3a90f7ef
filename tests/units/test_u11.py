"""Unit 11: its figures are counted here, its recorded lines are what MLIR says."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from autograder.check.framework import Wrong, mutants_of
from autograder.check.here import Here
from autograder.check.judging import judge
from course_lib.accelerator.chip import PRESETS
from course_lib.accelerator.compile.product import matrix
from course_lib.accelerator.compile.search import choose_tile, clocks
from course_lib.exercises import plugged, slot, using
from course_lib.mlir.upstream.passes import passed
from lessons.u11 import wild

pytest.importorskip("xdsl")

from autograder.units.u11.checks import careless_changes_an_array
from autograder.units.u11.exercises import hazard, tiled, turns, vmax
from course_lib.mlir.npu.example import linalg_text
from course_lib.mlir.npu.module import NpuError
from course_lib.mlir.npu.stages import compile_npu
from lessons.u11 import chip, dialect, meaning, tables

HEARD = ["u11.moved", "u11.greatest", "u11.tiled", "u11.turns", "u11.hazard", "u11.vmax"]
LAYER = (197, 768, 768)


@pytest.mark.parametrize("name", HEARD)
def test_a_wrong_answer_is_told_so_before_it_is_handed_in(name):
    """No mutant passes the visible checks."""
    for wrong in mutants_of(name).values():
        with plugged(name, wrong):
            call = Here(slot(name))
            with using({}):
                verdict = judge(name, call, shrink=False)
        assert (verdict.earned or 0) < verdict.points, wrong.__name__


def test_the_numbers_of_the_opening_question():
    first, second = (tables.library(turns) for turns in (False, True))
    assert (first[1], second[1]) == (271_664, 179_286)
    said = tables.differences()
    assert "316 instructions in the same order; 184 of them differ" in said
    assert "3 of them differ, and 2 are new" in said
    for made, _ in (first, second):
        assert sum(tables.moved(made.modules["ahead"]).values()) == 2_525_952


@pytest.mark.parametrize("name", ["chip.products", "chip.tile", "chip.slots"])
def test_no_number_depends_on_what_unit_13_asks_for(name):
    """A student who reads unit 11 has the baselines of later units."""
    tables.library.cache_clear()
    with plugged(name, slot(name).baseline):
        assert tables.library(True)[1] == 179_286
        assert [run.total for run in tables.small_runs.__wrapped__()] == [818, 706]
        assert chip.ran.__wrapped__(chip.pooling(False)).clocks == 562
    tables.library.cache_clear()


@pytest.mark.parametrize("row, pipeline", [(0, False), (1, True)])
def test_the_recorded_lines_of_the_bill(row, pipeline):
    """What the passes of the library reach with all of it."""
    m, k, n = LAYER
    made = compile_npu(linalg_text(m, k, n, pipeline=pipeline), PRESETS["npu"])
    more = [None, np.ones(n, np.float32)] if pipeline else []
    total = made.run(np.ones((m, k), np.int8), np.ones((k, n), np.int8), *more)[1].total
    bytes_ = sum(tables.moved(made.modules["ahead"]).values())
    assert tables.RECORDED[row][2:] == (len(made.assembled.program), bytes_, total)


def test_the_recorded_line_of_the_chips_compiler():
    layer = matrix(*LAYER)
    assert tables.RECORDED[2][-1] == clocks(
        layer, choose_tile(layer, PRESETS["npu"]), PRESETS["npu"]
    )


def test_a_product_that_fits_and_what_a_verifier_says_to_one_that_does_not(capsys):
    """The pattern that the notebook prints, and the last line of its refusals."""
    text = dialect.fitted(chip.product(10, 8, 3, "teaching"))
    assert chip.ran(text).right and text.count("npu.matmul") == 1
    tables.refusals()
    last = capsys.readouterr().out.splitlines()[-1]
    assert "200 rows" in last and "1,792 elements in acts, but it holds 1,024" in last


def test_the_table_of_memories_is_what_the_chips_have():
    npu, teaching = PRESETS["npu"], PRESETS["teaching"]
    assert [npu.acts, npu.weights, npu.accs, npu.params] == [64 << 10, 128 << 10, 1024, 64]
    assert [teaching.acts, teaching.weights, teaching.accs, teaching.params] == [
        1 << 10, 1 << 10, 64, 16,
    ]  # fmt: skip
    assert (npu.queue, teaching.queue) == (64, 4)
    assert (npu.banks[:3], teaching.banks[:3]) == ((4, 8, 4), (2, 4, 2))


def test_the_layer_in_tiles():
    """What the prose and the teacher's page say about tiles of 85 and 42 rows."""
    whole, more = tables.plain(85, tiled), tables.more(85, tiled, turns)
    assert (whole.clocks, more.clocks) == (301_592, 179_286)
    assert whole.words == more.words and whole.bytes == more.bytes == 2_525_952
    assert whole.right and more.right
    assert round(tables.change(tiled, turns)) == 30
    two = chip.ran(turns(chip.kept(tiled(chip.product(*LAYER), 85)), 2))
    assert two.clocks == 179_286
    with pytest.raises(NpuError, match="but it holds 65,536"):
        tiled(chip.product(*LAYER), 86)


def test_slots_of_the_layer():
    """One slot for x with 85 rows, two with 42; four for w and for the sums."""
    for rows, wanted in ((85, [1, 4, 4]), (42, [2, 4, 4])):
        text = turns(chip.kept(tiled(chip.product(*LAYER), rows)), 64)
        found = dialect.buffers(dialect.parsed(text))
        assert [op.result.type.get_shape()[0] for op in found] == wanted


def test_twice_the_memory_for_inputs():
    """What the missing slot for x costs, and which slots save loads."""
    assert tables.more_room(tiled, turns).endswith(" 168,178 clocks")
    small = chip.kept(tiled(chip.product(64, 16, 8, "teaching"), 16))
    more = turns(small, 64)
    assert [chip.ran(one).bytes for one in (small, more, chip.kept(more))] == [3_584, 3_584, 3_200]


def test_a_tile_that_is_smaller_than_what_is_read():
    """`turns` is wrong where its promise is broken: so the promise is needed."""
    x, slot_ = "memref<12x4xi8, #npu.space<dram>>", "memref<1x4x4xi8, #npu.space<acts>>"
    four, two = (f"memref<{rows}x4xi8, #npu.space<acts>>" for rows in (4, 2))
    text = f"""module attributes {{npu.chip = {{preset = "teaching"}}}} {{
      func.func @f(%x: {x}, %y: {x}) {{
        %b = npu.buffer : {slot_}
        %0 = npu.slot %b[0] [4, 4] : {slot_} to {four}
        %1 = npu.slot %b[0] [2, 4] : {slot_} to {two}
        npu.dma_load %x[0, 0] [4, 4] to %0 : {x} to {four}
        npu.dma_load %x[8, 0] [2, 4] to %1 : {x} to {two}
        npu.dma_store %0 to %y[0, 0] [4, 4] : {four} to {x}
        func.return
      }}
    }}"""
    assert meaning.equal(text, text) and not meaning.equal(text, turns(text, 2))


@pytest.mark.parametrize("queue, before, after", [(2, 1_328, 1_028), (64, 1_028, 1_028)])
def test_moving_loads_up_saves_nearly_a_quarter_with_short_queues(queue, before, after):
    text = chip.product(64, 16, 8, "teaching")
    text = text.replace('"teaching"', f'"teaching", queue = {queue} : i64')
    text = turns(chip.kept(tiled(text, 16)), 2)
    found = [chip.ran(one).clocks for one in (text, dialect.careless(text))]
    assert found == [before, after]
    assert meaning.equal(text, dialect.careless(text))


def test_a_program_that_is_read_twice_is_two_modules():
    """A pass may do to its module what it likes; and both print as what was read."""
    text = chip.kept(tiled(chip.product(8, 8, 8), 4))
    one, other = (dialect.parsed(text) for _ in range(2))
    assert str(one) == str(other) and dialect.written(one) == dialect.written(dialect.read(text))
    dialect.resized(dialect.buffers(one)[0], 2)
    assert str(one) != str(other) == str(dialect.parsed(text))


def test_nothing_but_the_results_tells_that_a_program_was_broken():
    """It is valid, and the simulator finds no race in it."""
    broken = dialect.careless(hazard())
    assert chip.ran(broken).right
    assert not meaning.equal(hazard(), broken)


def test_a_program_that_stays_right_is_shown_after_the_pass():
    """Without the types, below a line that says what it is."""
    store = "npu.dma_load %y[0, 0]", "npu.dma_load %x[0, 0]"
    for text, says in ((tables.START, "moves no load"), (hazard().replace(*store), "is harmless")):
        with pytest.raises(Wrong, match=says) as caught:
            careless_changes_an_array(lambda text=text: text)
        after = dialect.careless(text)
        assert caught.value.got == f"// after careless\n{chip.brief(after)}"


def test_the_pooled_program_stores_the_greatest():
    plain, pooled = chip.pooling(False), chip.pooling(True)
    all_rows, greatest = chip.ran(plain), chip.ran(pooled, vmax)
    assert (all_rows.bytes, greatest.bytes) == (832, 640)
    assert (all_rows.clocks, greatest.clocks) == (562, 578)
    assert all_rows.right
    rows = [_stored(run) for run in (all_rows, greatest)]
    assert np.array_equal(rows[0].reshape(16, 4, 4).max(1), rows[1])


def _stored(ran: chip.Ran) -> np.ndarray:
    """y, the last array."""
    store = ran.run.program[-2]
    assert store.name == "st"
    at, rows = getattr(store, "dram"), getattr(store, "w")  # noqa: B009
    return ran.run.state.dram[at : at + 4 * rows].reshape(rows, 4)


def test_what_torch_mlir_was_recorded_to_say_mlir_opt_says_too(mlir_tool):
    tool = mlir_tool("mlir-opt-22")
    done = passed(wild.LOOP, wild.MULTIBUFFER, tool)
    assert done.trouble == ""
    assert wild.changed(done.states[-1].text) == wild.RECORDED
    assert wild.REFUSED in passed(wild.OTHER_ORDER, wild.MULTIBUFFER, tool).trouble
    trusting = wild.SCHEDULE.replace("factor = 2 : i64", "factor = 2 : i64, skip_analysis")
    done = passed(wild.OTHER_ORDER, replace(wild.MULTIBUFFER, schedule=trusting), tool)
    assert done.trouble == "" and "memref<2x16xi8, 1>" in done.states[-1].text


def test_without_a_tool_the_lines_are_recorded(monkeypatch):
    def nothing(*_):
        raise ValueError("no tool of MLIR's is here")

    monkeypatch.setattr(wild, "passed", nothing)
    assert wild.multibuffer().startswith(
        "recorded with torch-mlir 20261001 (any machine, 2026-11-23)\n%alloc"
    )


T = "memref<4x4xi8, #npu.space<acts>>"
HOSTILE = {
    "no text": "",
    "brackets": "(" * 10_000,
    "regions": "module {" * 40 + "}" * 40,
    "a string without end": 'module { "' + "a\\" * 40,
    "a long text": "// " + "x" * 500_000,
    "no function": "module {}",
    "a branch": "module { func.func @f() { ^0: cf.br ^1 ^1: func.return } }",
    "a large array": "module { func.func @f(%x: memref<9999999x9xi8, #npu.space<dram>>) "
    "{ func.return } }",
    "a chip that cannot be": "module attributes {npu.chip = {rows = -1 : i64}} "
    "{ func.func @f() { func.return } }",
    "another chip": 'module attributes {npu.chip = {preset = "npu"}} '
    "{ func.func @f() { func.return } }",
    "a loop": 'module attributes {npu.chip = {preset = "teaching"}} { func.func @f() { '
    '"affine.for"() <{lowerBoundMap = affine_map<() -> (0)>, upperBoundMap = affine_map<() -> '
    "(100000)>, step = 1 : index, operandSegmentSizes = array<i32: 0, 0, 0>}> ({ ^0(%i: index): "
    '"affine.yield"() : () -> () }) : () -> () func.return } }',
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_text_is_a_wrong_answer(text):
    from autograder.units.u11 import checks
    from autograder.units.u11.checks import tiles
    from autograder.units.u11.checks import turns as slots

    with pytest.raises(Wrong):
        tiles.right_tiles(lambda given, rows: text, *tiles.CASES[0])
    with pytest.raises(Wrong):
        slots.right_turns(lambda given, most: text, *slots.FITS[1])
    with pytest.raises(Wrong):
        checks.careless_changes_an_array(lambda: text)


def test_what_checks_ask_the_library_agrees_with_our_formula():
    from autograder.units.u11.hidden import counted

    rng = np.random.default_rng(11)
    for _ in range(6):
        m, k, n, tm, tn = (int(size) for size in rng.integers(1, 14, 5))
        for outer in ("rows", "columns"):
            wanted = slot("u11.moved").reference(m, k, n, tm, tn, outer)
            assert counted(m, k, n, tm, tn, outer) == wanted


def test_a_buffer_with_more_slots_is_the_same_value():
    """A dictionary by values finds it again."""
    module = dialect.parsed(tables.START)
    (buffer,) = dialect.buffers(module)
    kept, users = {buffer.result: "b"}, len([*buffer.result.uses])
    dialect.resized(buffer, 3)
    assert kept[buffer.result] == "b" and len([*buffer.result.uses]) == users
    assert "memref<3x4x4xi8" in dialect.finished(module)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("vmax src=0 acts=256 h=2 w=1 bytes=4 step=4 line=16 kh=3 kw=1 kline=4", "instruction for"),
        ("vmax src=0 acts=252 h=2 w=1 bytes=4 step=4 line=16 kh=4 kw=1 kline=4", "begin"),
        ("vmax src=0 acts=256 h=2 w=1 bytes=4 step=4 line=16 kh=16 kw=1 kline=4", "above 15"),
        ("vmax src=0", "src=.. acts=.."),
    ],
)
def test_a_wrong_byte_quotes_what_it_breaks(line, says):
    from autograder.units.u11.checks.operations import right_vmax

    with pytest.raises(Wrong) as caught:
        right_vmax(lambda *_: line, (0, 256, 8, 4, 4), PRESETS["teaching"])
    assert says in caught.value.spec


def test_programs_of_visible_checks_are_read_before_there_is_an_answer():
    from autograder.grading import worker

    text = tables.START.replace("%b", "%buffer")
    worker._read_early("call", "u11.turns", (text, 2), {}, None)
    before = dialect._parsed.cache_info().hits
    dialect.parsed(text)
    assert dialect._parsed.cache_info().hits == before + 1
