"""The student's process: it runs their cells, and calls their functions when the grader asks.

    grader                                   worker
      ("cell", source, filename, checked) ->
                                       <-      ("done", error or None)
      ("call", "passes.dce", args, kwargs, at most so many steps or None) ->
                                       <-      ("callback", number, args, kwargs)
      ("result", value)                ->     or ("error", "ValueError", its text)
                                       <-      ("return", value, printed)
                                       or      ("changed", argument, printed)

It runs inside the sandbox as `python -s -S -P worker.py serve UID EDITION SITE_PACKAGES`, followed
by modules to import at once, with only the student edition importable: checks, solutions and hidden
programs are in another process. What the visible checks pass to every answer may be here already
(`read_all`). It checks nothing about itself, because the grader believes nothing that it says.
`main` says first where the student edition lies; until then there is no library, so only a Worker
imports it.

Next room: sandbox.py, the other end.
"""

from __future__ import annotations
import __future__

import builtins
import contextlib
import gc
import importlib
import io
import linecache
import os
import struct
import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from time import monotonic
from types import ModuleType
from typing import Any

HEADER = struct.Struct("<BQ")  # flags, then the length
ANNOTATIONS = __future__.annotations.compiler_flag
NEW_CALL = 1  # a new call begins
MORE = 2  # another call stands behind this one: the answer may wait for the next one's
WAIT = 0.5  # seconds that it may wait
PRINTED = 2000  # characters kept of what a call prints
SILENT = (  # what a notebook calls and the grader has no use for
    "check", "compare", "dashboard", "hand_in_minutes", "hint", "measure_minutes", "predict",
    "use_my", "your_compiler",
)  # fmt: skip
Known = dict[bytes, tuple[Any, Any]]  # by message: what it says, and the codec that read it
LIMITS = {  # of this process, set before any of the student's code runs
    "RLIMIT_AS": 3 << 30,
    "RLIMIT_CPU": 1200,  # far above what one submission may use: the grader's count ends it before
    "RLIMIT_FSIZE": 16 << 20,
    "RLIMIT_NOFILE": 64,
    "RLIMIT_CORE": 0,
}


class Aborted(BaseException):
    """The grader wants no answer to this call any more."""


class Limited(io.TextIOBase):
    """Standard output of the student's code: the beginning is kept, the rest is dropped."""

    encoding = "UTF-8"  # as a notebook's says
    errors = "strict"

    def __init__(self) -> None:
        self.text = ""

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        room = PRINTED - len(self.text)
        if room > 0:
            self.text += clean(text, room)
        return str.__len__(text)


class Pipe:
    """Frames in, frames out."""

    def __init__(self) -> None:
        self.source = os.fdopen(os.dup(0), "rb")
        self.sink = os.fdopen(os.dup(1), "wb", 1 << 16)
        self.more, self.flushed = False, 0.0
        nothing = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(nothing, number)
        os.close(nothing)

    def read(self) -> tuple[bool, bytes]:
        head = self.source.read(HEADER.size)
        if len(head) < HEADER.size:
            os._exit(0)  # the grader is gone
        flags, length = HEADER.unpack(head)
        self.more = bool(flags & MORE)
        return bool(flags & NEW_CALL), self.source.read(length)

    def write(self, data: bytes) -> None:
        self.sink.write(HEADER.pack(0, len(data)) + data)
        if not self.more or monotonic() > self.flushed + WAIT:
            self.sink.flush()
            self.flushed = monotonic()


class Worker:
    def __init__(self, pipe: Pipe, known: Known) -> None:
        import autograder.mine
        from autograder.check.framework import BESIDE
        from autograder.check.plugs import plugs_for
        from autograder.check.steps import OutOfSteps, counted
        from autograder.wire.arguments import Given
        from autograder.wire.codec import Codec, Unsendable
        from autograder.wire.iterators import run_out
        from course_lib import exercises

        self.pipe, self.beside = pipe, BESIDE
        self.codec = Codec(call=self.callback)
        self.unsendable, self.out_of_steps, self.counted = Unsendable, OutOfSteps, counted
        self.given, self.run_out = Given, run_out
        self.exercises, self.plugs_for = exercises, plugs_for
        module = sys.modules["__main__"] = ModuleType("__main__")  # where classes look for names
        self.names: dict[str, Any] = module.__dict__
        self.names["implements"] = autograder.implements
        for name in SILENT:
            self.names[name] = _nothing
            setattr(autograder, name, _nothing)
        autograder.mine.use_my = _nothing  # type: ignore[assignment]  # by its full name, too
        self.sources = [""]  # of the cells that have run, as `In` has them in a notebook
        self.names |= _names_of_ipython(self.sources)
        sys.meta_path.insert(0, _NoShell())
        self.plugs: dict[str, Any] = {}  # the answers; they are in their slots when one runs
        self.at_check: dict[str, dict[str, Any]] = {}  # by exercise: the names when it was checked
        self.running = ""  # the exercise whose answer was called last
        self.kept: dict[str, Any] = {}  # what is plugged in while it runs
        self.known = known  # messages that were read before there was a submission
        self.future = 0  # what a cell has imported from __future__ holds for those below it

    def serve(self) -> None:
        self.send(("ready",))
        while True:
            kind, *rest = self.receive()
            if kind == "cell":
                self.send(("done", self.cell(*rest)))
            elif kind == "answered":
                self.send(("answered", self.answered()))
            elif kind == "call":
                self.call(*rest)

    def cell(self, source: str, filename: str, checked: tuple[str, ...]) -> tuple | None:
        """Run a cell, and keep the names for the answers that its notebook checks next."""
        with self.exercises.using(self.plugs):
            error = self.run(source, filename)
            self.plugs, self.running = self.exercises.plugs_now(), ""
        self.at_check |= {name: dict(self.names) for name in checked}
        return error

    def run(self, source: str, filename: str) -> tuple | None:
        """Run a cell. Returns None, or what went wrong: (error, line, code)."""
        self.sources.append(source)
        linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
        sys.stdout = sys.stderr = Limited()
        try:
            code = compile(source, filename, "exec", flags=self.future, dont_inherit=True)
            self.future |= code.co_flags & ANNOTATIONS
            exec(code, self.names)
        except SyntaxError as error:
            text = (error.text or "").strip()
            return clean(f"SyntaxError: {error.msg}", 600), error.lineno, clean(text, 200)
        except BaseException as error:  # also SystemExit: the student's code may do anything
            return _described(error)
        return None

    def answered(self) -> list[str]:
        return sorted(self.plugs)

    def call(self, name: str, args: tuple, kwargs: dict, steps: int | None = None) -> None:
        sys.stdout = sys.stderr = printed = Limited()
        if name != self.running:  # a later cell may have used a name of this answer again
            self.names.update(self.at_check.get(name, {}))
            self.running, self.kept = name, self.plugs_for(name, self.plugs)
        plugs = self.kept | kwargs.pop(self.beside, {})
        entry = self.exercises.slot(name)
        given = self.given(entry.signature.bind(*args, **kwargs).arguments)
        try:
            self.exercises.use(plugs)  # until the next call: what crosses the pipe asks no slot
            with self.counted(steps):
                value = self.run_out(entry.run(*args, **kwargs))
        except Aborted:
            return self.send(("aborted",))
        except NotImplementedError as error:
            return self.send(("not attempted", *_described(error), _is_own(error)))
        except self.out_of_steps:
            return self.send(("out of steps", printed.text))
        except BaseException as error:
            kinds = [kind.__name__ for kind in type(error).__mro__][:20]
            return self.send(("raised", *_described(error), kinds, printed.text))
        if changed := given.changed():
            return self.send(("changed", changed, printed.text))
        try:
            self.send(("return", value, printed.text))
        except self.unsendable as error:
            self.send(("unsendable", str(error), printed.text))

    def callback(self, number: int, args: tuple, kwargs: dict) -> Any:
        self.send(("callback", number, args, kwargs))
        kind, *rest = self.receive()
        if kind == "result":
            return rest[0]
        if kind == "error":
            name, text = rest
            raise getattr(builtins, name, RuntimeError)(text)
        raise Aborted

    def send(self, message: tuple) -> None:
        self.pipe.write(self.codec.encode(message))

    def receive(self) -> tuple:
        is_new, data = self.pipe.read()
        if not is_new:
            return self.codec.decode(data)
        self.codec.reset()
        if data not in self.known:
            return self.codec.decode(data)
        message, crossed = self.known.pop(data)  # once: what it passes may be changed by the call
        self.codec.adopt(crossed)
        return message


def _nothing(*args: Any, **kwargs: Any) -> None:
    """Checks, hints and predictions do nothing here."""


def _names_of_ipython(sources: list[str]) -> dict[str, Any]:
    """The names that are there in a notebook without an import. Nothing is displayed here, so the
    results of earlier cells are empty."""
    shown = dict.fromkeys(("display", "help", "exit", "quit"), _nothing)
    earlier: dict[str, Any] = {"In": sources, "_ih": sources, "Out": {}, "_dh": [os.getcwd()]}
    earlier |= {"_oh": earlier["Out"], "_": "", "__": "", "___": ""}
    return {**shown, **earlier, "get_ipython": _Shell}


class _Shell:
    """get_ipython(): there is no IPython here, and nothing that it is told to do is done."""

    def __getattr__(self, name: str) -> Any:
        return _nothing


class _NoShell(MetaPathFinder, Loader):
    """`from IPython import get_ipython` gives the same, whatever else the package holds."""

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        is_it = fullname == "IPython.core.getipython"
        return ModuleSpec(fullname, self) if is_it else None

    def exec_module(self, module: ModuleType) -> None:
        module.__dict__["get_ipython"] = _Shell


def _described(error: BaseException) -> tuple[str, int | None, str]:
    """(error, line, code): the deepest line that lies in one of the student's cells."""
    line, code, trace = None, "", error.__traceback__
    for _ in range(10_000):
        if trace is None:
            break
        filename = trace.tb_frame.f_code.co_filename
        if filename.startswith("<cell"):
            line = trace.tb_lineno
            code = linecache.getline(filename, line).strip()
        trace = trace.tb_next
    try:
        text = f"{type(error).__name__}: {error}"
    except BaseException:  # also SystemExit: its own method may do anything
        text = "An error that cannot be shown"
    return clean(text, 600), line, clean(code, 200)


def _is_own(error: BaseException) -> bool:
    """Did one of the student's cells raise this itself, and nothing that it called?"""
    filename, trace = "", error.__traceback__
    for _ in range(10_000):
        if trace is None:
            break
        filename, trace = trace.tb_frame.f_code.co_filename, trace.tb_next
    return filename.startswith("<cell")


def clean(text: str, most: int) -> str:
    """The beginning of a text, as text that can be written to a file."""
    return str.__getitem__(text, slice(most)).encode("utf-8", "replace").decode()


def read_all(number: int, known: Known) -> None:
    """Read every message of a file: its calls are made of each submission."""
    from autograder.wire.codec import Codec

    file = io.BytesIO(os.pread(number, os.fstat(number).st_size, 0))  # others may read it as well
    while head := file.read(HEADER.size):
        data, codec = file.read(HEADER.unpack(head)[1]), Codec(call=_nothing)
        with contextlib.suppress(Exception):  # then it is read when it is sent
            known[data] = codec.decode(data), codec
            _read_early(*known[data][0])


def _read_early(kind: str, name: str, args: tuple, *_: Any) -> None:
    """Every answer to some exercises begins by reading the same text. The module of their unit may
    have a function `read_early(name, *args)` that does, and keeps what it has read."""
    from course_lib import exercises

    unit = sys.modules[exercises.slot(name).reference.__module__]
    getattr(unit, "read_early", _nothing)(name, *args)


def main() -> None:
    how, uid, edition, packages, *modules = sys.argv[1:]
    # The student edition first, then numpy's place; last the files that the student's cells write.
    sys.path[:] = [edition, packages, *sys.path, os.getcwd()]
    sys.dont_write_bytecode = True
    from autograder.process import zygote
    from autograder.process.child import lock

    for name in modules:
        with contextlib.suppress(Exception):  # whoever needs it is told
            importlib.import_module(name)
    known: Known = {}
    if how == "branch":
        uid = zygote.branch(lambda number: read_all(number, known))
    worker = Worker(Pipe(), known)
    lock(int(uid), LIMITS)
    if how == "branch":
        zygote.confirm()
    gc.set_threshold(100_000, 20, 50)  # graphs hold no cycles: looking for some takes a tenth
    worker.serve()


if __name__ == "__main__":
    main()
