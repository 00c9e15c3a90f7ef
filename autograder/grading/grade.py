"""One submission becomes one report. A pure function: (assignment, submission, seed) -> report.

    assignment = Assignment.of(source, editions)      # what is asked, and the student edition
    grade(assignment, read(data))                     # -> Report: a verdict for every exercise

The student's cells run in a worker (sandbox.py); the checks, the whole library and the hidden
programs are here. A cell that fails does not take the others with it; a worker that dies is started
again for the next exercise.

Next room: classroom.py, where many submissions are graded at once.
"""

from __future__ import annotations

import time
import traceback
from dataclasses import replace
from typing import Any

from autograder.check.alarm import alarm
from autograder.check.answer import Answer
from autograder.check.framework import Check, Died, Stop, TimedOut, Wrong
from autograder.check.judging import judge
from autograder.check.verdict import (
    ABSENT,
    BY_HAND,
    CRASHED,
    GRADER,
    NO_TEXT,
    NOT_ATTEMPTED,
    PASSED,
    STUB,
    TIMED_OUT,
    UNREACHED,
    Verdict,
)
from autograder.grading.ahead import foreseen, kept_calls
from autograder.grading.assignment import Assignment
from autograder.grading.limits import Budget, Limits
from autograder.grading.program import Program
from autograder.grading.report import Report
from autograder.grading.sandbox import Worker
from autograder.process.start import alone, mode
from course_lib import exercises
from course_lib.exercises import Slot, slot


def grade(
    assignment: Assignment,
    program: Program,
    seed: int = 0,
    limits: Limits = Limits(),  # noqa: B008
) -> Report:
    """Run the submission's code and every check on it."""
    blank = Report(
        assignment.name,
        assignment.unit,
        assignment.digest,
        program.digest,
        seed,
        mode(),
        (),
        {name: program.texts[name] for name in assignment.explanations if name in program.texts},
        program.notes,
    )
    with _Student(assignment, program, seed, limits) as student:
        verdicts = [_verdict(entry, student, seed) for entry in assignment.slots]
    return replace(blank, verdicts=tuple(verdicts), by_wall=student.budget.by_wall)


class _Student:
    """The student's process, started again when it is gone, with their cells run in it."""

    def __init__(self, assignment: Assignment, program: Program, seed: int, limits: Limits):
        self.assignment, self.program, self.limits = assignment, program, limits
        self.calls = kept_calls(assignment, seed)
        self.worker: Worker | None = None
        self.answered: set[str] = set()
        self.failed: dict[str, Verdict] = {}  # by exercise: why its cell gave no answer
        self.deadly: set[int] = set()  # cells that ended the process: not run again
        self.harmless: set[int] = set()  # cells that ran to their end
        self.slow: set[int] = set()  # cells that were stopped once
        self.checking = limits.checking  # seconds left for the checks' own computing
        self.budget = Budget(limits)
        self.one_by_one: set[str] = set()  # exercises whose calls are not made ahead of time
        self.lost = 0.0  # seconds that deadly cells took

    def __enter__(self) -> _Student:
        return self

    def __exit__(self, *_: object) -> None:
        self.start_afresh()

    def ready(self) -> Worker:
        """A living worker in which the cells have run."""
        while self.worker is None or not self.worker.alive:
            if self.worker is not None:
                self.worker.close()
            given = self.assignment
            self.worker = Worker(given.edition, self.limits, self.budget, given.modules, self.calls)
            self._run_cells(self.worker)
        return self.worker

    def ready_for(self, name: str) -> Worker:
        """A worker that has this answer. One that was started again may not have it any more; what
        it would call then is our stand-in."""
        worker = self.ready()
        if name not in self.answered:
            failed = self.failed.get(name)
            raise Died(failed.problem if failed else "The answer is gone: its process has ended.")
        return worker

    def start_afresh(self) -> None:
        """End the worker; the next exercise starts another."""
        if self.worker is not None:
            self.worker.close()

    def _run_cells(self, worker: Worker) -> None:
        begin = self.budget.seconds
        until = begin + self.limits.cells - self.lost
        for index, cell in enumerate(self.program.cells):
            if index in self.deadly:
                continue
            if self.budget.seconds > until and index not in self.harmless:
                self.deadly.add(index)
                problem = f"All cells together took over {self.limits.cells:g} seconds."
                self._blame(cell.answers, TimedOut(problem))
                continue
            try:
                error = worker.cell(cell.source, cell.filename, cell.checked)
            except (Stop, Wrong, ValueError) as stop:
                if isinstance(stop, TimedOut) and index not in self.slow:
                    self.slow.add(index)  # a time-out counts when it happens again
                    worker.close()
                    return
                self.deadly.add(index)
                self.lost += self.budget.seconds - begin
                worker.close()
                self._blame(cell.answers, _as_stop(stop))
                return
            self.harmless.add(index)
            if error is not None:
                self._blame(cell.answers, error)
        try:
            self.answered = set(worker.answered())
        except (Stop, Wrong, ValueError):
            worker.close()  # its process answers for itself no more: nothing is plugged in
            self.deadly.update(range(len(self.program.cells)))

    def _blame(self, names: tuple[str, ...], why: Stop | tuple) -> None:
        for name in names:
            if name not in self.assignment.exercises:
                continue
            verdict = Verdict.on(slot(name), CRASHED)
            if isinstance(why, Stop):
                kind = why.kind if why.kind != GRADER else CRASHED
                problem = f"While running the cell: {why.problem}"
                self.failed[name] = replace(verdict, kind=kind, problem=problem)
            else:
                error, line, code = why
                problem = "The cell raised an error before the function was there."
                self.failed[name] = replace(
                    verdict, problem=problem, error=error, line=line, code=code
                )


class _There(Answer):
    """An answer of the student, called in the worker."""

    def __init__(self, student: _Student, name: str):
        super().__init__(name)
        self.student, self.name = student, name
        self.first: Worker | None = None  # who made the calls of this check ahead of time
        self._begin()

    def _begin(self) -> None:
        self.until = self.student.budget.seconds + self.student.limits.exercise

    def run(self, *args: Any, **kwargs: Any) -> Any:
        if self.student.budget.seconds > self.until:
            seconds = self.student.limits.exercise
            raise TimedOut(f"All calls together took over {seconds:g} seconds.")
        worker = self.student.ready_for(self.name)
        try:
            return worker.call(self.name, args, kwargs)
        finally:
            self.printed = worker.printed

    def ahead(self, check: Check, seed: int) -> bytes | None:
        """If one of these calls ends the process, or takes too long, they are made one at a time,
        to see which."""
        if self.name in self.student.one_by_one:
            return None
        try:
            self.first = self.student.ready_for(self.name)
            return self.first.ahead(foreseen(check, seed))
        except (Stop, Wrong):
            self.student.one_by_one.add(self.name)
            self._begin()
            return None

    def all_were_ahead(self) -> bool:
        return self.first is not None and self.first is self.student.worker and not self.first.asked


def _verdict(entry: Slot, student: _Student, seed: int) -> Verdict:
    if entry.kind == "explain":
        if entry.name in student.program.texts:
            return Verdict.on(entry, BY_HAND, None)
        return Verdict.on(entry, NOT_ATTEMPTED, problem=NO_TEXT)
    if entry.name not in student.program.answers:
        return Verdict.on(entry, NOT_ATTEMPTED, problem=ABSENT)
    try:
        student.ready()
        if entry.name not in student.answered:
            why = UNREACHED if entry.name in student.program.attempted else STUB
            unanswered = Verdict.on(entry, NOT_ATTEMPTED, problem=why)
            return student.failed.get(entry.name, unanswered)
        verdict = _judged(entry, student, seed)
        if verdict.kind == TIMED_OUT:  # it counts when it happens again, in a fresh process
            with alone():
                verdict = _judged(entry, student, seed)
        return verdict
    except Stop as stop:
        earned = None if stop.kind == GRADER else 0.0
        return Verdict.on(entry, stop.kind, earned, problem=stop.problem)
    except Exception:
        problem = "The grader could not grade this."
        error = traceback.format_exc(limit=-8)
        return Verdict.on(entry, GRADER, None, problem=problem, error=error)


def _judged(entry: Slot, student: _Student, seed: int) -> Verdict:
    begin, seconds = time.thread_time(), min(student.checking, 2 * student.limits.exercise)
    problem = f"Checking this answer took over {seconds:g} seconds."
    with alarm(seconds, problem), exercises.using({}):
        answer = _There(student, entry.name)
        verdict = judge(entry.name, answer, with_hidden=True, seed=seed, patience=seconds / 2)
    student.checking = max(1.0, student.checking - (time.thread_time() - begin))
    if verdict.kind != PASSED:
        student.start_afresh()  # whatever this answer left behind is not the next one's
    return verdict


def _as_stop(error: BaseException) -> Stop:
    return error if isinstance(error, Stop) else Died(str(error))
