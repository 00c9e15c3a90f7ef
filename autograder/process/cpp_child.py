"""The process in which C++ that somebody handed in is compiled, and then called.

    cpp.py                                        here
      the compiler, its flags, the text     ->
                                            <-    {}, or what the compiler said
      a name, numbers, the bytes of arrays  ->
                                            <-    what it returned, the arrays as they are now

To compile is to read files and to start programs, so the limits come after it, and before the first
line of the text runs. One process is for one text. Next room: messages.py, the form of what is
said; autograder/check/cpp.py, the other end.
"""

from __future__ import annotations

import ctypes
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

LIMITS = {
    "RLIMIT_AS": 2 << 30,
    "RLIMIT_FSIZE": 0,
    "RLIMIT_NOFILE": 32,
    "RLIMIT_CORE": 0,
}
COMPILING = {"RLIMIT_AS": 4 << 30, "RLIMIT_FSIZE": 32 << 20, "RLIMIT_CPU": 30}
PATIENCE = 120  # seconds by the clock for the compiler
MOST_WORDS = 2000  # characters of what it says


def _compiled(command: list[str], text: bytes, folder: str, limit: Any) -> str:
    """What the compiler objects to; nothing if it has made the library."""
    Path(folder, "text.cpp").write_bytes(text)
    try:
        done = subprocess.run(
            [*command, "-shared", "-fPIC", "-o", "text.so", "text.cpp"],
            cwd=folder,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=PATIENCE,
            preexec_fn=lambda: limit(COMPILING),
        )
    except (OSError, subprocess.SubprocessError) as error:
        return f"the compiler did not end well: {error!s:.200}"
    return done.stderr.strip() or "it failed" if done.returncode else ""


def _called(library: ctypes.CDLL, head: dict[str, Any], blobs: list[bytes]) -> tuple[int, list]:
    """One call. A number among the arguments is one; None stands for the next array."""
    arrays = [ctypes.create_string_buffer(blob, len(blob) + 64) for blob in blobs]
    rest = iter(arrays)
    passed = [next(rest) if a is None else ctypes.c_int64(a) for a in head["arguments"]]
    function = getattr(library, head["name"])
    function.restype = ctypes.c_int64
    value = function(*passed)
    return value, [memoryview(a)[: len(b)] for a, b in zip(arrays, blobs, strict=True)]


def main() -> None:
    uid, room, _ = sys.argv[1:]
    sys.path.insert(0, room)
    sys.dont_write_bytecode = True
    from child import become, limit, lock  # type: ignore[import-not-found]
    from messages import pipes, read, write  # type: ignore[import-not-found]

    source, sink = pipes()
    if int(uid):
        become(int(uid))
    limit({"RLIMIT_FSIZE": COMPILING["RLIMIT_FSIZE"]})
    head, (text,) = read(source)
    with tempfile.TemporaryDirectory() as folder:
        if said := _compiled(head["command"], text, folder, limit):
            write(sink, {"error": said[:MOST_WORDS]})
            return
        lock(0, {**LIMITS, "RLIMIT_FSIZE": 1 << 20})
        library = ctypes.CDLL(f"{folder}/text.so")
    limit(LIMITS)
    write(sink, {})
    while True:
        value, arrays = _called(library, *read(source))
        write(sink, {"value": value}, *(bytes(array) for array in arrays))


if __name__ == "__main__":
    main()
