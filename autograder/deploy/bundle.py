"""What is handed to a place that grades or serves: its files, with the grader itself where needed.

    gradescope("u02", seed=7, show="after_due_date")     # u02_rewrites.autograder.zip, for upload
    place("gitlab")                                      # .gitlab-ci.yml, deploy/collect.sh, ...

`files/` has what is written for each place, as it lies there. Gradescope's zip also holds the
course with its hidden checks, so it is for the teacher's eyes. docs/deploy.md tells the steps.

Next room: gradescope.py, what runs there; autograder/edition/release.py, what students get.
"""

from __future__ import annotations

import io
import json
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

import autograder
import autograder.units
import course_lib
import lessons
from autograder.edition.contents import COURSE
from autograder.edition.requirements import pinned
from autograder.edition.sources import sources

HERE = Path(__file__).resolve().parent / "files"
PLACES = ("github", "gitlab", "jupyterhub")
SHARED = {"github": "repositories", "gitlab": "repositories"}  # the files that both have
SHOWN = ("after_due_date", "after_published", "visible", "hidden")  # as Gradescope calls them
SETTINGS = "grader.json"
EXTRAS = ("torch", "llvm", "lab", "grade")  # of pyproject.toml: what `make grade` installs
EPOCH = (1980, 1, 1, 0, 0, 0)  # the same content gives the same zip


def place(name: str) -> dict[str, bytes]:
    """The files for GitHub, GitLab or a JupyterHub, by their path in a repository or on the hub."""
    if name not in PLACES:
        raise ValueError(f"a place is gradescope or one of {', '.join(PLACES)}, not {name!r}")
    folders = [HERE / name, *([HERE / SHARED[name]] if name in SHARED else [])]
    return {inside: path.read_bytes() for folder in folders for path, inside in _files(folder)}


def gradescope(
    unit: str, seed: int = 0, show: str = SHOWN[0], notebooks: Path | None = None
) -> tuple[str, bytes]:
    """The name and the bytes of the zip that grades this unit or lab on Gradescope."""
    if show not in SHOWN:
        raise ValueError(f"results are shown {', '.join(SHOWN)}, not {show!r}")
    found = sources(notebooks or COURSE / "notebooks", unit)
    if len(found) != 1:
        raise ValueError(f"an autograder of Gradescope grades one notebook; {unit} is {len(found)}")
    (source,) = found
    settings = {"assignment": source.key, "seed": seed, "show": show}
    files = {inside: path.read_bytes() for path, inside in _files(HERE / "gradescope")}
    files |= _course() | {
        f"notebooks/{source.path.name}": source.path.read_bytes(),
        "requirements.txt": requirements().encode(),
        SETTINGS: json.dumps(settings, indent=1).encode(),
    }
    return f"{source.name}.autograder.zip", _zipped(files)


def requirements() -> str:
    """What grading needs, at the versions of constraints.txt."""
    project = tomllib.loads((COURSE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = [*project["dependencies"]]
    lines += [line for extra in EXTRAS for line in project["optional-dependencies"][extra]]
    pins = pinned()
    names = dict.fromkeys(line.partition("==")[0] for line in lines)
    return "\n".join(["-c constraints.txt", *(f"{name}=={pins[name]}" for name in names), ""])


def _course() -> dict[str, bytes]:
    """The whole course as it is installed here: hidden checks and solutions are in it."""
    files = {name: (COURSE / name).read_bytes() for name in ("pyproject.toml", "constraints.txt")}
    for package in (course_lib, lessons, autograder):
        folder = Path(str(package.__file__)).parent
        files |= {f"{folder.name}/{inside}": p.read_bytes() for p, inside in _files(folder)}
    for folder in map(Path, autograder.units.__path__):
        files |= {f"autograder/units/{inside}": p.read_bytes() for p, inside in _files(folder)}
    return files


def _files(folder: Path) -> Iterator[tuple[Path, str]]:
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder)
        if path.is_file() and "__pycache__" not in inside.parts:
            yield path, inside.as_posix()


def _zipped(files: dict[str, bytes]) -> bytes:
    """As a zip whose scripts can be executed: Gradescope takes the files from its root."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in sorted(files.items()):
            info = zipfile.ZipInfo(name, EPOCH)
            info.external_attr = (0o100755 if data.startswith(b"#!") else 0o100644) << 16
            archive.writestr(info, data, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()
