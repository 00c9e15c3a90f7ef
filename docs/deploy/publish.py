"""Put released units where the students of one machine get them. docs/deploy.md tells the story.

    python -m autograder release --into build/release --unit 0
    python docs/deploy/publish.py build/release/u00_tour

    /srv/course/units/<digest>/u00_tour/    the library of this release: one for all students, which
                                            nobody changes, not even the next release
    /srv/course/handed-out.git              what the nbgitpuller link names: the notebook, and links
                                            into that library

A notebook that was handed out before and is another one now also arrives as NAME.new.ipynb: whoever
has worked in the first one keeps it as it is (.gitattributes forbids git to merge notebooks).
"""

from __future__ import annotations

import argparse
import compileall
import hashlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

COURSE = Path(os.environ.get("COURSE", "/srv/course"))
AUTHOR = ("-c", "user.name=The course", "-c", "user.email=course@localhost")
SHARED = ("autograder", "course_lib", "lessons", "course_environment.py", "requirements.txt")
OWN = (".course-map.json", "start.ipynb")  # and the notebook: what a student has for themselves
ATTRIBUTES = "*.ipynb -merge\n"  # a changed notebook stays as it is, line by line


def publish(release: Path, course: Path = COURSE) -> str:
    """One unit, as the folder that `autograder release` wrote. Returns what is to be said."""
    library = _shared(release, course / "units")
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder) / "work"
        git("clone", "--quiet", str(_repository(course)), str(work))
        (work / ".gitattributes").write_text(ATTRIBUTES)
        notes = _lay_out(release, library, work / release.name)
        git("add", "--all", cwd=work)
        if not git("status", "--porcelain", cwd=work):
            return f"{release.name}: nothing is new"
        git(*AUTHOR, "commit", "--quiet", "--message", f"{release.name}: handed out", cwd=work)
        git("push", "--quiet", "origin", "HEAD:main", cwd=work)
    return f"{release.name}: handed out{notes}"


def _lay_out(release: Path, library: Path, unit: Path) -> str:
    """The student's folder of this unit: own files are copied, the library is linked."""
    unit.mkdir(exist_ok=True)
    for name in SHARED:
        (unit / name).unlink(missing_ok=True)
        if (library / name).exists():
            (unit / name).symlink_to(library / name)
    notebook = f"{release.name}.ipynb"
    new = (release / notebook).read_bytes()
    is_another = (unit / notebook).exists() and (unit / notebook).read_bytes() != new
    for name in (*OWN, notebook):
        shutil.copyfile(release / name, unit / name)
    newer = unit / f"{release.name}.new.ipynb"
    if is_another or newer.exists():
        newer.write_bytes(new)
    return f" again; who has worked in {notebook} gets {newer.name} beside it" * is_another


def _shared(release: Path, units: Path) -> Path:
    """The folder of this very release; its bytecode is made once, for students cannot write it."""
    files = [path for name in SHARED for path in _files(release / name)]
    digest = hashlib.sha256()
    for path in sorted(files):
        digest.update(f"{path.relative_to(release)} {path.stat().st_size}\n".encode())
        digest.update(path.read_bytes())
    place = units / digest.hexdigest()[:12] / release.name
    if not place.exists():
        partial = place.with_name(f".{release.name}.part")
        shutil.rmtree(partial, ignore_errors=True)
        for path in files:
            copy = partial / path.relative_to(release)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)
        compileall.compile_dir(partial, quiet=1, stripdir=partial, prependdir=place)
        partial.rename(place)
    return place


def _files(path: Path) -> list[Path]:
    """The file, or all files below; what Python keeps of them is made anew."""
    below = [p for p in path.rglob("*") if p.is_file() and "__pycache__" not in p.parts]
    return [path] if path.is_file() else below


def _repository(course: Path) -> Path:
    """The bare repository; the first call makes it, and tells git that anybody may read it."""
    repository = course / "handed-out.git"
    if not repository.exists():
        git("init", "--quiet", "--bare", "--initial-branch=main", str(repository))
        (course / "gitconfig").write_text(f"[safe]\n\tdirectory = {repository}\n")
    return repository


def git(*arguments: str, cwd: Path | None = None) -> str:
    done = subprocess.run(["git", *arguments], cwd=cwd, check=True, capture_output=True, text=True)
    return done.stdout


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("release", type=Path, nargs="+", help="build/release/u00_tour")
    for folder in parser.parse_args().release:
        print(publish(folder.resolve()))


if __name__ == "__main__":
    os.umask(0o022)  # students read what is written here
    main()
