"""What other tools said on some day, kept as text: for where a tool is missing, or is too slow.

    // tool: llc 22.1.8                      recorded(__file__, "llc.txt")
    // machine: any                          ->  a Recording: .words, ["greedy"], .data("counts")
    // date: 2026-11-23
    // how: llc -O3 -mcpu=haswell            what else a reader may want to know; may be left out
    // by: lessons.u06.wild:allocators_of    the function that makes it again, or why nothing can
    // ===== greedy
    ...                                      a text, up to the next line of this kind

Whatever is shown of it is shown with `words`: tool, version, machine and date. `machine` is "any"
where the text does not depend on it. The course's lessons have such files, and so has
`mlir/upstream`. `python -m course_lib record` makes them again. Next room: `maker.py`, what stands
behind `by`.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

TEXT, HEAD = "// ===== ", "// "
NEEDED = ("tool", "machine", "date")
KNOWN = (*NEEDED, "how", "by")


@dataclass(frozen=True)
class Recording:
    """The texts of one tool, by name, in the order of the file.

    by   `module:function`, a `Maker`; or, in words, why none can make them; or "", if nothing says
    """

    tool: str
    machine: str
    date: str
    how: str  # may have several lines
    texts: Mapping[str, str]
    by: str = ""

    @property
    def words(self) -> str:
        """Where it is from: "recorded with llc 22.1.8 (any machine, 2026-11-23)"."""
        machine = "any machine" if self.machine == "any" else self.machine
        return f"recorded with {self.tool} ({machine}, {self.date})"

    @property
    def version(self) -> str:
        """The last word of the tool's name."""
        return self.tool.split()[-1]

    def __getitem__(self, name: str) -> str:
        if name not in self.texts:
            known = ", ".join(self.texts)
            raise ValueError(f"nothing is recorded as {name!r}, but {known}, {self.words}")
        return self.texts[name]

    def data(self, name: str) -> Any:
        """The text of that name, which is JSON."""
        return json.loads(self[name])

    def __str__(self) -> str:
        """The text of its file. Each of its texts ends with a newline."""
        head = [(key, line) for key in KNOWN for line in getattr(self, key).splitlines()]
        about = "".join(f"{HEAD}{key}: {line}\n" for key, line in head)
        return about + "".join(f"{TEXT}{name}\n{text}" for name, text in self.texts.items())


@cache
def recorded(module: str, name: str) -> Recording:
    """The recording in a file beside a module, which gives its `__file__`."""
    return read(Path(module).with_name(name))


def read(file: Path) -> Recording:
    """The recording in a file.

    ValueError in words if the file does not say which tool, machine and date it is of.
    """
    head, *parts = f"\n{file.read_text('utf-8')}".split(f"\n{TEXT}")
    about: dict[str, list[str]] = {}
    for line in head.strip().splitlines():
        key, colon, value = line.removeprefix(HEAD).partition(": ")
        if not line.startswith(HEAD) or not colon or key not in KNOWN:
            known = ", ".join(KNOWN)
            raise ValueError(f"{file.name} begins with lines // KEY: ... of {known}; got {line!r}")
        about.setdefault(key, []).append(value.strip())
    for key in NEEDED:
        if key not in about:
            raise ValueError(f"{file.name} does not say of which {key} it is: // {key}: ...")
    facts = {key: "\n".join(about.get(key, [])) for key in KNOWN}
    _check_date(file, facts["date"])
    whole = [f"{part}\n" for part in parts[:-1]] + parts[-1:]  # the newline before the next one
    texts = {title.strip(): text for title, _, text in (part.partition("\n") for part in whole)}
    if len(texts) < len(parts):
        raise ValueError(f"{file.name}: two texts have one name")
    return Recording(**facts, texts=texts)


def _check_date(file: Path, text: str) -> None:
    try:
        datetime.date.fromisoformat(text)
    except ValueError:
        raise ValueError(f"{file.name}: a date is written 2026-11-23, got {text!r}") from None
