"""The page `playground.html`: passes on, off and in any order, without a kernel.

    write_playground(scratch)   ->   scratch/playground.md, and in scratch/_static
                                     playground.css, playground.js, playground-states.js

All states are computed here, by the compiler of this repository (`course_lib/playground/`). They
are one JSON text; a script assigns it, because a page that is opened as a file may fetch nothing.
"""

from __future__ import annotations

from pathlib import Path

from course_lib.playground.page import as_json, mount, script, shown, style
from course_lib.playground.programs import FIVE, PROGRAMS

PAGE = """# The playground

Twelve small programs, five passes, and every order in which some of them can run: the graph that
the compiler ends with, the loops of its main kernel after each step of their schedule, and the code
that they become. All of it was computed when this site was built, for one processor, so it looks
the same wherever you are. The address of this page keeps what you chose.

```{raw} html
<link rel="stylesheet" href="_static/playground.css"/>
%s
<script src="_static/playground-states.js"></script>
<script src="_static/playground.js"></script>
```

In a notebook, the same runs on the passes that *you* have plugged in, and on a graph of yours if
you like:

```python
from course_lib.playground.playground import playground

playground("swish")
```
"""


def write_playground(scratch: Path) -> None:
    """Write the page for Sphinx, and what it needs beside it."""
    data = shown(PROGRAMS, FIVE)
    start = 'playground(document.getElementById("playground"), PLAYGROUND_STATES, true);'
    beside = {
        "playground.css": style(),
        "playground.js": f"{script()}\n{start}\n",
        "playground-states.js": f"const PLAYGROUND_STATES={as_json(data)};\n",
    }
    (scratch / "_static").mkdir(parents=True, exist_ok=True)
    for name, text in beside.items():
        (scratch / "_static" / name).write_text(text, encoding="utf-8")
    (scratch / "playground.md").write_text(PAGE % mount(data), encoding="utf-8")
