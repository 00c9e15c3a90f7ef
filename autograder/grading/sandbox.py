"""Where a student's code runs: a process of its own, with nothing to find and little to break.

    with Worker(edition) as worker:
        worker.cell("@implements('passes.dce') ...", "<cell 4>")
        worker.call("passes.dce", (graph,), {})       # TimedOut, Died, Crashed, or the value

autograder/process says what such a process can see and do. Everything that comes back is hostile:
frames have a maximal size, and autograder/wire/codec.py decides what a value may be.

The process branches off from one that has imported everything already (autograder/process/zygote),
`modules` too, and has read the calls that all submissions get (`given`, a file). Where that cannot
be done, it is started. limits.py says what it may use.

Next room: grade.py, which turns a Program into a report.
"""

from __future__ import annotations

import hashlib
import os
import select
import shutil
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from autograder.check.framework import (
    Changed,
    Crashed,
    Died,
    NotAttempted,
    Stop,
    TimedOut,
    Unusable,
    Wrong,
)
from autograder.check.received import without_addresses
from autograder.check.steps import OutOfSteps, limit_now
from autograder.check.verdict import unfinished
from autograder.grading.ahead import Prepared, identity
from autograder.grading.frames import batches, described, frame, kinds_of, reason
from autograder.grading.limits import Budget, Limits, Overrun
from autograder.grading.worker import HEADER, MORE, NEW_CALL
from autograder.process.branch import KEEPS, branched, branches
from autograder.process.running import Child, Running
from autograder.process.start import PACKAGES, command_line, mode, protected, user
from autograder.wire.codec import Codec, Unsendable
from course_lib.scratch import Folder

SPOKEN = ("return", "changed", "raised", "unsendable", "out of steps")  # with what the call printed
MAX_FRAME = 256 << 20
WORKER = Path(__file__).with_name("worker.py")
SCRIPT, EDITION = "/worker.py", "/course"  # inside the sandbox
TICK = 0.1  # seconds between two looks at what a process uses
BYTES_PER_SECOND = 4 << 20  # of what crosses the pipe: writing and reading it is not the answer
BACKSTOP = 30  # times its limit: then it ends, even if it only waited for a processor


class Worker:
    """One student's process."""

    def __init__(
        self,
        edition: Path,
        limits: Limits = Limits(),  # noqa: B008
        budget: Budget | None = None,
        modules: Sequence[str] = (),
        given: int | None = None,
    ) -> None:
        self.limits, self.modules, self.given = limits, modules, given
        self.budget = budget or Budget(limits)
        self.budget.start()
        self.mode = mode()
        self.codec = Codec()
        self.printed = ""
        self.received = bytearray()
        self.foreseen: dict[tuple[int | None, ...] | None, Prepared] = {}
        self.early: dict[bytes, list[bytes]] = {}  # by call: replies to calls made ahead of time
        self.values: dict[bytes, bytes] = {}  # by call without arguments: the first reply
        self.asked = 0  # calls since then that were not among them
        self.limit = self.used = self.spent = self.slept = self.waited = self.looked = 0.0
        self.folder: Folder | None = None
        try:
            self.child = self._start(edition)
        except OSError as error:
            raise Stop(f"The answer's process did not start. {error}") from None
        try:
            self._within(limits.start)
            self._receive()  # it is ready
        except Overrun:
            self.close()
            raise
        except (Died, TimedOut) as stop:  # before any of the student's code: our fault
            self.close()
            raise Stop(f"The answer's process did not start. {stop.problem}") from None
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def alive(self) -> bool:
        return self.child.poll() is None

    def close(self) -> None:
        """End the process and everything that it started, and remove its folder."""
        self.child.close()
        if self.folder is not None:
            self.folder.close()

    def cell(self, source: str, filename: str, checked: tuple[str, ...] = ()) -> tuple | None:
        """Run a cell: None, or (error, line, code). The answers to `checked` will be called with
        the names as they are then, whatever later cells make of them."""
        self._within(self.limits.cell)
        self._send(("cell", source, filename, checked))
        kind, *rest = self._receive()
        if kind != "done" or len(rest) != 1:
            raise self._lost("The cell's process answered out of turn.")
        return described(rest[0])

    def answered(self) -> list[str]:
        """The exercises that have an answer plugged in."""
        self._within(self.limits.cell)
        self._send(("answered",))
        kind, *rest = self._receive()
        if kind != "answered" or len(rest) != 1 or not isinstance(rest[0], list):
            raise self._lost("The cell's process answered out of turn.")
        return [name for name in rest[0] if isinstance(name, str)]

    def call(self, name: str, args: tuple, kwargs: dict) -> Any:
        """Call the student's function there. Functions among the arguments are called here."""
        self.printed = ""
        self.codec.reset()
        steps = limit_now()
        known = self.foreseen.get(identity(args, kwargs, steps))
        if known is None:
            data = self.codec.encode(("call", name, args, kwargs, steps))
        else:
            data = known.data
            self.codec.adopt(known.codec)
        early = self.early.get(data)
        self.asked += not early
        if early:
            kind, *rest = self._decoded(early.pop(0))
            return self._outcome(kind, rest)
        self._within(self.limits.call)
        self._write(frame(data, NEW_CALL))
        for _ in range(self.limits.callbacks):
            kind, *rest = self._receive()
            if kind != "callback":
                return self._outcome(kind, rest)
            self._answer_callback(rest)
        self.close()
        often = f"{self.limits.callbacks:,} times"
        raise TimedOut(f"It called the functions that it was given {often} and did not end.")

    def ahead(self, calls: Sequence[Prepared]) -> bytes:
        """Make these calls. Their replies are kept, and are what `call` finds when it is asked.
        Returns a digest of all of them; from now on `asked` counts the calls that find none. A call
        without arguments is made once: the next check judges the same value."""
        self.early, self.asked, digest = {}, 0, hashlib.sha256()
        self.foreseen = {identity(call.args, call.kwargs, call.steps): call for call in calls}
        self.foreseen.pop(None, None)
        for batch in batches([call.data for call in calls if call.data not in self.values]):
            frames = [frame(data, NEW_CALL | MORE) for data in batch[:-1]]
            self._within(min(self.limits.ahead, self.limits.call))
            self._write(b"".join(frames) + frame(batch[-1], NEW_CALL))
            for data in batch:
                self.early.setdefault(data, []).append(self._read_frame())
        for data, number in Counter(call.data for call in calls).items():
            if data in self.values:
                self.early[data] = [self.values[data]] * number
            for reply in self.early[data]:
                digest.update(HEADER.pack(0, len(reply)) + reply)
        plain = [call.data for call in calls if not (call.args or call.kwargs)]
        self.values |= {data: self.early[data][0] for data in plain}
        return digest.digest()

    def _outcome(self, kind: Any, rest: list) -> Any:
        if rest and isinstance(rest[-1], str) and kind in SPOKEN:
            self.printed = without_addresses(rest[-1][:2000])
        if kind == "return" and rest:
            return rest[0]
        if kind == "not attempted":
            told = described(tuple(rest[:3]))
            raise NotAttempted(unfinished(*told, own=rest[-1] is True) if told else "")
        if kind == "raised" and (error := described(tuple(rest[:3]))):
            raise Crashed(*error, kinds=kinds_of(rest[3:4]))
        if kind == "out of steps":
            raise OutOfSteps
        if kind == "changed" and rest:
            raise Changed(str(rest[0])[:100])
        if kind == "unsendable" and rest:
            raise Unusable(str(rest[0])[:500])
        raise self._lost("The answer's process spoke out of turn.")

    def _answer_callback(self, rest: list) -> None:
        try:
            number, args, kwargs = rest
            function = self.codec.functions[number]
        except (ValueError, TypeError, IndexError):
            raise self._lost(
                "The answer's process called a function that it was not given."
            ) from None
        try:
            self._send(("result", function(*args, **kwargs)))
        except (Stop, Wrong, Crashed):
            self._abort()
            raise
        except Exception as error:  # it was called with what it does not take: raise it there
            self._send(("error", type(error).__name__, str(error)[:500]))

    def _abort(self) -> None:
        """Make the worker drop the running call, or else the worker."""
        if not self.alive:  # it was ended while it waited
            return
        try:
            self._within(1.0)
            self._send(("abort",))
            if self._receive() != ("aborted",):
                self.close()
        except (Died, TimedOut):
            self.close()

    def _send(self, message: tuple) -> None:
        self._write(frame(self.codec.encode(message)))

    def _write(self, data: bytes) -> None:
        self.limit += len(data) / BYTES_PER_SECOND
        view = memoryview(data)
        pipe = self.child.writing
        while view:
            self._wait([], [pipe])
            try:
                view = view[os.write(pipe, view[: 1 << 16]) :]
            except OSError:
                raise self._lost("") from None

    def _receive(self) -> tuple:
        return self._decoded(self._read_frame())

    def _read_frame(self) -> bytes:
        _, length = HEADER.unpack(self._read(HEADER.size))
        if length > MAX_FRAME:
            raise self._lost(f"The answer is larger than {MAX_FRAME >> 20} MB.")
        try:
            self.budget.receive(length)
        except TimedOut:
            self.close()
            raise
        self.limit += length / BYTES_PER_SECOND
        return self._read(length)

    def _decoded(self, data: bytes) -> tuple:
        try:
            message = self.codec.decode(data)
        except Unsendable as error:
            self.close()  # the two ends no longer agree on what they have seen
            raise Unusable(error) from None
        if not (isinstance(message, tuple) and message and isinstance(message[0], str)):
            raise self._lost("The answer's process sent something else than a message.")
        return message

    def _read(self, size: int) -> bytes:
        pipe = self.child.reading
        while len(self.received) < size:
            self._wait([pipe], [])
            part = os.read(pipe, 1 << 20)
            if not part:
                raise self._lost("")
            self.received += part
        data = bytes(self.received[:size])
        del self.received[:size]
        return data

    def _within(self, seconds: float) -> None:
        """From now on the process may use so many seconds of its own."""
        self.limit, self.words = seconds, f"{seconds:g} second{'' if seconds == 1 else 's'}"
        self.slept = self.waited = self.spent = 0.0
        self.looked = time.monotonic()
        self._count(0.0)
        self.spent = 0.0

    def _wait(self, reading: list[int], writing: list[int]) -> None:
        """Until the pipe is ready; TimedOut when the process has used up its time."""
        begin = time.monotonic()
        while not any(select.select(reading, writing, [], TICK)[:2]):
            begin = self._look(begin)
        if time.monotonic() - self.looked > TICK:
            self._look(begin)

    def _look(self, begin: float) -> float:
        """Count what happened since `begin`, when the waiting began. Returns the time now."""
        self.looked = time.monotonic()
        span = self.looked - begin
        self.waited += span
        try:
            self._count(span)
        except TimedOut:
            self.close()
            raise
        if self.spent > self.limit:
            self.close()
            raise TimedOut(f"It did not end within {self.words}.")
        if self.waited > BACKSTOP * max(1.0, self.limit):
            self.budget.by_wall = True
            self.close()
            raise TimedOut(f"It did not end within {self.waited:.0f} seconds by the clock.")
        return self.looked

    def _count(self, span: float) -> None:
        """What the process used since the last look: computing, or `span` seconds of sleep."""
        before, self.used = self.used, self.child.seconds()
        more = self.used - before
        if not more and self.child.asleep:
            more = span
        self.spent += more
        self.budget.spend(more)

    def _lost(self, why: str) -> Died:
        if not why:
            status = self.child.wait(1)
            why = f"The process that ran your code ended{reason(status)}."
        self.close()
        return Died(why)

    def _start(self, edition: Path) -> Running:
        places = {EDITION: edition, SCRIPT: WORKER}
        if branches(self.mode):
            arguments = ["branch", "0", EDITION, str(PACKAGES), *self.modules]
            command = command_line(self.mode, SCRIPT, arguments, places, KEEPS)
            return branched(command, self.mode, BACKSTOP * self.limits.start, self.given)
        home = None
        if not protected(self.mode):  # here files could be written to: a copy for each
            self.folder = Folder("course-worker-")
            home = self.folder.path
            os.chmod(home, 0o777)
            places[EDITION] = Path(shutil.copytree(edition, Path(home) / "course"))
        arguments = ["serve", user(self.mode), EDITION, str(PACKAGES), *self.modules]
        return Child(command_line(self.mode, SCRIPT, arguments, places), home)
