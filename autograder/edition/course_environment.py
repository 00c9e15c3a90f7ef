"""Has this kernel what the notebook needs? Importing this file says so if not, and what to do.

    import course_environment      # the first cell of a notebook that was handed out

    This kernel's Python lacks 2 packages that the notebook needs: torch, onnx. ...

A copy lies beside such a notebook and its requirements.txt. It needs the standard library only, and
an old Python can read it, so that it can say in words that this one is too old.

Next room: handout.py, which lays it there.
"""

import os
import sys

OLDEST = (3, 11)
LIBRARY = ("course_lib", "autograder", "lessons")


class NotReady(Exception):
    """What is missing, in words. Notebooks show the message alone, and run no further cell."""

    def _render_traceback_(self):
        return [str(self)]


def look(folder, python=sys.version_info):
    """Raise NotReady if the notebook in `folder` cannot run; print which versions are others."""
    if tuple(python[:2]) < OLDEST:
        raise NotReady(too_old(python))
    if not all(os.path.isdir(os.path.join(folder, name)) for name in LIBRARY):
        raise NotReady(not_unpacked(folder))
    wanted = read_pins(os.path.join(folder, "requirements.txt"))
    versions = {name: installed(name) for name in wanted}
    missing = [name for name in wanted if not versions[name]]
    if missing:
        raise NotReady(lacks(missing))
    others = [name for name in wanted if versions[name].split("+")[0] != wanted[name]]
    if others:
        print("The course was tested with " + ", ".join(n + " " + wanted[n] for n in others) + ";")
        print(
            "this kernel has "
            + ", ".join(n + " " + versions[n] for n in others)
            + ". It may still work."
        )


def too_old(python):
    have, need = (".".join(str(part) for part in version[:3]) for version in (python, OLDEST))
    return (
        f"This kernel runs Python {have}; the course needs Python {need} or newer.\n"
        "README.md in this folder says how to make an environment with a newer Python."
    )


def not_unpacked(folder):
    return (
        f"The course's library is not beside this notebook, in {folder}.\n"
        "Unpack the whole zip, and open the notebook in the unpacked folder."
    )


def lacks(missing):
    count = "a package" if len(missing) == 1 else f"{len(missing)} packages"
    return (
        f"This kernel's Python lacks {count} that the notebook needs: {', '.join(missing)}.\n\n"
        "If you have made an environment for the course, choose it as the notebook's kernel.\n"
        "If not, README.md in this folder says how, and how to save several gigabytes on Linux.\n"
        "To install into this kernel's Python instead, run in a terminal in this folder:\n\n"
        f'    "{sys.executable}" -m pip install -r requirements.txt\n\n'
        "Then restart the kernel and run this cell again."
    )


def read_pins(path):
    """{"numpy": "2.4.6", ...} of a file with one name==version on a line."""
    with open(path, encoding="utf-8") as file:
        lines = [line.strip() for line in file]
    return dict(line.split("==") for line in lines if "==" in line and line[0] not in "#-")


def installed(name):
    """The version of a package that this Python has; empty where it has none."""
    from importlib.metadata import PackageNotFoundError, version  # not before Python 3.8

    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def look_in_notebook(folder):
    """The same for a notebook, whose later cells then say one line each instead of a traceback."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    if shell is None:
        look(folder)
        return
    shell.set_custom_exc((ImportError, NameError), in_one_line)
    look(folder)
    shell.set_custom_exc((), None)


def in_one_line(shell, kind, error, trace, tb_offset=None):
    print("This cell did not run. The first cell of the notebook says what is missing.")
    return []


if __name__ == "course_environment":  # the copy beside a notebook, which imports it
    look_in_notebook(os.path.dirname(os.path.abspath(__file__)))
