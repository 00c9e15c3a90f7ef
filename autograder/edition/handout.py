"""What lies beside a notebook that is handed out, so that a student can run it at home.

    requirements.txt, constraints.txt    what to install: what the units need, and at which versions
    README.md                            how to install, open and hand in
    course_environment.py                what the notebook's first cell imports: it says what is
                                         missing, before anything else fails

Next room: contents.py, the whole edition.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import nbformat

from autograder.edition.requirements import COURSE, requirements
from autograder.edition.sources import Source, expand

HERE = Path(__file__).parent
FIRST_CELL = """\
# Does this kernel have what the notebook needs? If not, the import says what to do. If Python does
# not find the file: unpack the whole zip, and open the notebook in the unpacked folder.
import course_environment"""
PINS = """\
# The packages for {names}, and JupyterLab. README.md says how to install them.
# What these packages depend on is installed in the versions of this file:
-c constraints.txt"""
HAND_IN = """\
# How long did it take? Only if you want it: run measure_minutes() when you begin, and the minutes
# that you work here are measured on your machine. Run this cell at the end, and the saved notebook
# shows the sum to your teacher. Without measure_minutes() there is none.
from autograder import hand_in_minutes, measure_minutes

hand_in_minutes()"""
README = """\
# {title}

You need Python 3.11 or newer and about 2 GB of disk. On Windows, work in WSL (`wsl --install` sets
it up); there, and on Ubuntu and Debian, run `sudo apt install python3-venv` first. Open a terminal
in this folder and run, once:

```sh
python3 -m venv ../course-venv
. ../course-venv/bin/activate
python -m pip install uv
python -m uv pip install --torch-backend cpu -r requirements.txt
```

`--torch-backend cpu` selects the PyTorch without GPU support; otherwise Linux gets one that is
several gigabytes larger. If uv does not work, `python -m pip install -r requirements.txt`
installs the same packages. To open the notebook, now and each time after:

```sh
. ../course-venv/bin/activate
python -m jupyterlab {notebook}
```

Jupyter shows the pictures of cells that ran on another machine as bare words. Run the cells again,
or choose "Trust Notebook" in the command palette (View > Activate Command Palette).

In VS Code, choose the Python of `course-venv` as the notebook's kernel. The notebook's first cell
says whether something is missing. The next unit uses the same environment: activate it and install
that unit's `requirements.txt`, which fetches only what is new.

Hand in the saved notebook alone: {all_notebooks}. The file's name and its outputs do not matter.
"""


def handout(sources: list[Source], files: Mapping[str, bytes]) -> dict[str, bytes]:
    """The files beside these notebooks. `files` are those of the library that comes with them."""
    alone = len(sources) == 1
    notebooks = [f"{source.name}.ipynb" for source in sources]
    readme = README.format(
        title=sources[0].title if alone else "Machine-learning compilers",
        notebook=notebooks[0] if alone else "start.ipynb",
        all_notebooks=" or ".join(f"`{name}`" for name in notebooks),
    )
    names = " and ".join(source.name for source in sources)
    lines = [PINS.format(names=names), *requirements(*_imports(sources, files), files)]
    return {
        "requirements.txt": "\n".join([*lines, ""]).encode(),
        "constraints.txt": (COURSE / "constraints.txt").read_bytes(),
        "README.md": readme.encode(),
        "course_environment.py": (HERE / "course_environment.py").read_bytes(),
    }


def _imports(sources: list[Source], files: Mapping[str, bytes]) -> tuple[list[str], list[str]]:
    """Where imports begin: the code cells of the notebooks, and the modules of their units."""
    cells = [cell for source in sources for cell in expand(source, solutions=False).cells]
    folders = tuple(f"autograder/units/{source.key}/" for source in sources)
    paths = [path for path in files if path.startswith(folders) and path.endswith(".py")]
    code = [cell.source for cell in cells if cell.cell_type == "code"]
    return code, [path.removesuffix(".py").replace("/", ".") for path in paths]


def with_minutes(notebook: Any) -> Any:
    """The notebook with a last cell that shows measured minutes, where a student has any."""
    notebook.cells.append(nbformat.v4.new_code_cell(HAND_IN, id="minutes-measured"))
    return notebook


def with_first_cell(notebook: Any) -> Any:
    """The notebook, beginning with the cell that looks for what it needs."""
    first = nbformat.v4.new_code_cell(FIRST_CELL, id="course-environment")
    notebook.cells.insert(0, first)
    return notebook
