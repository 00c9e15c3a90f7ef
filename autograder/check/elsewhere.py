"""Answers of other notebooks that are plugged in here, and what a learner is told of them.

    in_use()                    {"passes.dce": "u02_rewrites.ipynb"}
    take_out()                  the library's own again
    watch(shell)                looks at the cells that run from now on

Before a cell runs: an answer that was saved in another form since it was plugged in. After one that
failed inside the library: whose answers it was compiled with, and the way back.

Next room: autograder/mine.py, which plugs them in; plugs.py.
"""

from __future__ import annotations

import traceback
from contextlib import suppress
from pathlib import Path
from typing import Any

import course_lib
from autograder.check.cards import Note, show
from autograder.check.plugs import has_fallen, is_borrowed
from autograder.check.saved import Found, NoAnswer, codes, found
from course_lib.exercises import plugs_now, slot

LIBRARY = str(Path(course_lib.__file__).parent)
_taken: dict[str, Found] = {}  # by exercise, as it stood when it was plugged in
_seen: dict[str, int] = {}  # by file: when it was last saved, in nanoseconds
_watched: list[Any] = []


def took(name: str, answer: Found) -> None:
    """Remember what was plugged in."""
    _taken[name] = answer
    _seen[answer.file] = _saved_at(answer.file)


def in_use() -> dict[str, str]:
    """By exercise, the file that it is from."""
    return {
        name: _taken[name].file
        for name, function in plugs_now().items()
        if name in _taken and is_borrowed(name) and not has_fallen(function)
    }


def take_out() -> list[str]:
    """Unplug all of them. Returns their names."""
    names = list(in_use())
    for name in filter(is_borrowed, list(plugs_now())):
        slot(name).plug(None)
    return names


def watch(shell: Any) -> None:
    """Look at what runs in this kernel, from now on; once is enough."""
    if shell is None or shell in _watched:
        return
    _watched.append(shell)
    shell.events.register("pre_run_cell", lambda *_: say(changed()))
    shell.events.register("post_run_cell", lambda result: say(after_an_error(result.error_in_exec)))


def say(words: str) -> None:
    if words:
        show(Note(words))


def changed() -> str:
    """Which answers were saved in another form since they were plugged in; "" if none, or if that
    was said already."""
    using = in_use()
    files = [file for file in dict.fromkeys(using.values()) if _saved_at(file) != _seen.get(file)]
    names = []
    for file in files:
        _seen[file] = _saved_at(file)
        with suppress(NoAnswer):  # half written, or taken away: what is plugged in stays
            cells = codes(Path(file))
            names += [n for n in using if using[n] == file and _is_new(n, file, cells)]
    if not names:
        return ""
    again = ", ".join(f'"{name}"' for name in names)
    return (
        f"Saved anew in {', '.join(files)}: {', '.join(names)}. The answer from before is still "
        f"plugged in here; use_my({again}) takes the new one."
    )


def _is_new(name: str, file: str, cells: list[str]) -> bool:
    try:
        return [code for _, code in found(name, file, cells).cells] != [
            code for _, code in _taken[name].cells
        ]
    except NoAnswer:
        return False


def after_an_error(error: BaseException | None) -> str:
    """What to say below a cell that ended in an error inside the library while answers of other
    notebooks were plugged in; "" of any other."""
    using = in_use()
    if not using or error is None or isinstance(error, KeyboardInterrupt):
        return ""
    frames = traceback.extract_tb(error.__traceback__)
    if not any(frame.filename.startswith(LIBRARY) for frame in frames):
        return ""
    named = ", ".join(f"{name} of {file}" for name, file in using.items())
    return (
        f"The library ran with your {named}. If the error goes away after use_my(False), which "
        "takes them out, it comes from there."
    )


def _saved_at(file: str) -> int:
    try:
        return Path(file).stat().st_mtime_ns
    except OSError:
        return 0
