"""Tuned schedules are a text: it comes back as it was, fits its machine, is never half there."""

import json
import threading
import warnings
from dataclasses import replace

import pytest

from course_lib.cost.machine import Machine
from course_lib.ir.loops.parse import parse_kernel
from course_lib.schedule.choose import choose
from course_lib.schedule.schedule import looking_up
from course_lib.schedule.script import Schedule, parse_schedule
from course_lib.schedule.search.choice import Choice
from course_lib.schedule.search.tuned import (
    Kept,
    Tuned,
    key_of,
    load_tuned,
    parse_tuned,
    schedules,
)

MACHINE = Machine("small", vector_bytes=16, threads=2)
ROWS = parse_kernel("""kernel @rows(x: f32[4,6], out: f32[4,6]) {
  for i in 0..4 { for j in 0..6 { out[i, j] = x[i, j] + x[i, j] } } }""")
SCHEDULE = parse_schedule("split(j, 3)\nvectorize(ji)\nparallelize(i)\n")
NONE = frozenset[str]()


def tuned(schedule: Schedule | None = SCHEDULE) -> Tuned:
    entry = Choice(schedule, (2e-6, 1e-6), (3e-6, 2e-6), 40, name="rows")
    return Tuned(MACHINE, {"course_lib": "0.1.0"}, {}).with_schedule(ROWS, NONE, entry)


@pytest.mark.parametrize("schedule", [SCHEDULE, Schedule(), None])
def test_the_text_comes_back(schedule):
    value = tuned(schedule)
    assert parse_tuned(str(value)) == value
    assert str(parse_tuned(str(value))) == str(value)
    assert value.schedule_of(ROWS, NONE) == schedule


def test_a_kernel_is_found_by_what_it_does():
    renamed = replace(ROWS, name="other", origin=("somewhere",))
    assert tuned().schedule_of(renamed, NONE) == SCHEDULE
    assert tuned().schedule_of(ROWS, frozenset({"x"})) is None
    assert key_of(ROWS, NONE) != key_of(choose(ROWS, MACHINE), NONE)


def test_a_schedule_is_applied_and_others_are_chosen():
    chooser = looking_up(tuned())
    assert chooser(ROWS, MACHINE, NONE) == SCHEDULE.apply(ROWS)
    other = parse_kernel("kernel @k(x: f32[4], out: f32[4]) { for i in 0..4 { out[i] = x[i] } }")
    assert chooser(other, MACHINE, NONE) == choose(other, MACHINE)
    assert looking_up(None)(ROWS, MACHINE, NONE) == choose(ROWS, MACHINE)


def test_a_schedule_that_does_not_fit_any_more_is_not_used():
    chooser = looking_up(tuned(parse_schedule("split(gone, 3)")))
    with pytest.warns(UserWarning, match=r"@rows: its tuned schedule does not fit: step 1 of 1"):
        assert chooser(ROWS, MACHINE, NONE) == choose(ROWS, MACHINE)


def test_schedules_for_another_machine_are_not_used(tmp_path):
    tuned().save(tmp_path / "t.json")
    here = replace(MACHINE, threads=8)
    for given in (tuned(), tmp_path / "t.json", str(tmp_path / "t.json")):
        with pytest.warns(UserWarning, match=r"another machine.*threads 2 \(here 8\)"):
            assert schedules(given, here) is None
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert schedules(given, MACHINE) == tuned()
    assert schedules(None, MACHINE) is None


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "Expecting value"),
        ("[1, 2]", "no tuned schedules"),
        ('{"machine": {}}', "'format' is missing"),
        ('{"format": "something else"}', "its format is 'something else'"),
        (str(tuned()).replace("split(j, 3)", "splat(j, 3)"), "no primitive 'splat'"),
        (str(tuned()).replace("vector_bytes", "vector_bites"), "vector_bites"),
        (str(tuned())[:200], "no tuned schedules"),
        (str(tuned()).replace('"tried"', '"dried"'), "'tried'"),
        (100_000 * "[", "it is nested too deeply"),
        (100_000 * '{"kernels":', "it is nested too deeply"),
        (str(tuned()).replace('"tried": 40', '"tried": 1e999'), "infinity"),
        (str(tuned()).replace('"tried": 40', f'"tried": {5000 * "9"}'), "digits"),
        (str(tuned()).replace('"kernels": {', '"kernels": 3, "x": {'), "no tuned schedules"),
        ("null", "it holds a NoneType"),
    ],
)
def test_a_corrupt_file_says_what_is_wrong(tmp_path, text, says):
    path = tmp_path / "broken.json"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"broken\.json: no tuned schedules") as caught:
        load_tuned(path)
    assert says in str(caught.value)
    with pytest.raises(ValueError, match=r"broken\.json"):
        schedules(path, MACHINE)


def test_writers_at_the_same_time_leave_one_whole_file(tmp_path):
    path = tmp_path / "t.json"
    values = [replace(tuned(), versions={"writer": str(k)}) for k in range(4)]
    tuned().save(path)
    stop, seen = threading.Event(), []

    def read():
        while not stop.is_set():
            seen.append(load_tuned(path))

    reader = threading.Thread(target=read)
    reader.start()
    writers = [
        threading.Thread(target=lambda v=v: [v.save(path) for _ in range(20)]) for v in values
    ]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    stop.set()
    reader.join()
    assert all(found in [*values, tuned()] for found in seen)
    assert load_tuned(path) in values
    assert [p.name for p in tmp_path.iterdir()] == ["t.json"]


def test_what_was_found_is_kept_on_this_machine(tmp_path, monkeypatch):
    monkeypatch.setenv("COURSE_LIB_CACHE", str(tmp_path))
    kept = schedules("kept", MACHINE)
    assert isinstance(kept, Kept) and kept == Kept(MACHINE)
    assert kept.schedule_of(ROWS, NONE) is None
    tuned().keep()
    assert kept.schedule_of(ROWS, NONE) == SCHEDULE
    assert Kept(Machine()).schedule_of(ROWS, NONE) is None
    tuned(None).keep()  # a later search replaces it
    assert kept.schedule_of(ROWS, NONE) is None
    monkeypatch.setenv("COURSE_LIB_CACHE", "off")
    tuned().keep()
    assert Kept(MACHINE).schedule_of(ROWS, NONE) is None


def test_the_file_is_text_for_people():
    data = json.loads(str(tuned()))
    (kernel,) = data["kernels"].values()
    assert kernel["schedule"] == ["split(j, 3)", "vectorize(ji)", "parallelize(i)"]
    assert data["machine"]["name"] == "small" and tuned().kernels[key_of(ROWS, NONE)].gain == 1.5
