"""docs/deploy: what keeps students apart on a shared machine, and the scripts that hand out,
collect and give back. The round of a class on a hub is in test_jupyterhub.py.
"""

from __future__ import annotations

import os
import re
import runpy
import shutil
import subprocess
import sys
import tempfile
import tomllib
import traceback
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from traitlets.config.loader import PyFileConfigLoader
from traitlets.utils.importstring import import_item

TEACHER, ADA, BOB = 61001, 61002, 61003  # accounts that nobody has: root may be any number
UNIT = "u00_tour"


@pytest.fixture(scope="module")
def scripts(root: Path) -> Callable[[str], Callable[..., Any]]:
    """scripts("collect") is that function of docs/deploy/collect.py."""
    return lambda name: runpy.run_path(str(root / "docs" / "deploy" / f"{name}.py"))[name]


@pytest.fixture
def released(tmp_path: Path) -> Path:
    """A release, as far as publish.py looks at it."""
    folder = tmp_path / "release" / UNIT
    (folder / "course_lib").mkdir(parents=True)
    for name in ("autograder", "lessons"):
        (folder / name).mkdir()
        (folder / name / "__init__.py").write_text("")
    (folder / "course_lib" / "__init__.py").write_text("ANSWER = 42\n")
    for name in ("course_environment.py", "requirements.txt", ".course-map.json", "start.ipynb"):
        (folder / name).write_text("")
    (folder / f"{UNIT}.ipynb").write_text("the notebook\n")
    return folder


def pull(course: Path, into: Path) -> None:
    """What nbgitpuller does for a student who follows the link."""
    link = [f"file://{course}/handed-out.git", "main", str(into)]
    command = [sys.executable, "-m", "nbgitpuller.pull", *link]
    subprocess.run(command, check=True, capture_output=True)


@pytest.fixture
def course(tmp_path: Path, require_tool, missing, monkeypatch: pytest.MonkeyPatch) -> Path:
    require_tool("git")
    if find_spec("nbgitpuller") is None:
        missing("nbgitpuller (pip install -e '.[hub]')")
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", str(tmp_path / "srv" / "gitconfig"))
    return tmp_path / "srv"


def test_what_a_student_wrote_is_never_overwritten(course, released, scripts, tmp_path):
    publish, notebook = scripts("publish"), f"{UNIT}/{UNIT}.ipynb"
    assert publish(released, course) == f"{UNIT}: handed out"
    assert publish(released, course) == f"{UNIT}: nothing is new"
    ada, bob = tmp_path / "ada", tmp_path / "bob"
    for student in (ada, bob):
        pull(course, student)
    (ada / notebook).write_text("the notebook\nand my answer\n")
    (ada / UNIT / "notes.md").write_text("Mine alone.\n")
    library = (ada / UNIT / "course_lib").resolve()

    (released / f"{UNIT}.ipynb").write_text("a mended sentence\nthe notebook\n")
    (released / "course_lib" / "__init__.py").write_text("ANSWER = 43\n")
    assert "u00_tour.new.ipynb beside it" in publish(released, course)
    for student in (ada, bob):
        pull(course, student)
    assert (ada / notebook).read_text() == "the notebook\nand my answer\n", "not even merged"
    assert (ada / UNIT / f"{UNIT}.new.ipynb").read_text().startswith("a mended")
    assert (ada / UNIT / "notes.md").exists()
    assert (bob / notebook).read_text().startswith("a mended")
    assert (library / "__init__.py").read_text() == "ANSWER = 42\n", "a kernel may still read it"
    assert (ada / UNIT / "course_lib" / "__init__.py").read_text() == "ANSWER = 43\n"
    assert (ada / UNIT / "course_lib").is_symlink() and list(library.glob("__pycache__/*.pyc"))

    (ada / notebook).unlink()
    pull(course, ada)
    assert (ada / notebook).read_text().startswith("a mended"), "deleted: a fresh one comes"


def test_only_a_students_own_files_are_collected(scripts, tmp_path):
    hand_in, into = tmp_path / "hand-in", tmp_path / "submissions"
    for name in ("ada", "bob", "cyd"):
        (hand_in / name).mkdir(parents=True)
    own, others = hand_in / "ada" / "u00.ipynb", hand_in / "bob"
    own.write_text("{}")
    os.utime(own, (0, 0))  # ada says: it was in 1970
    (others / "link.ipynb").symlink_to(own)
    os.link(own, others / "second.ipynb")  # the kernel forbids this where accounts differ
    os.mkfifo(others / "pipe.ipynb")
    (others / "folder.ipynb").mkdir()
    (others / "empty.txt").write_text("no notebook")
    (others / "large.ipynb").touch()
    os.truncate(others / "large.ipynb", (64 << 20) + 1)
    said = "\n".join(scripts("collect")(hand_in, into))
    for name, why in {"link": "levels of symbolic links", "pipe": "no file", "folder": "no file",
                      "large": "64 MB", "second": "second name"}.items():  # fmt: skip
        assert re.search(f"bob/{name}.ipynb: not taken: .*{why}", said), said
    assert not (into / "bob").exists()
    (others / "second.ipynb").unlink()
    assert list(scripts("collect")(hand_in, into))[-1] == f"{into}: 1 files that were handed in"
    kept = into / "ada" / "u00.ipynb"
    assert kept.stat().st_mtime == own.stat().st_ctime > 1e9, "the kernel's time, not ada's"
    own.unlink()
    list(scripts("collect")(hand_in, into))
    assert kept.read_text() == "{}", "what was handed in stays handed in"


@pytest.fixture
def machine(root: Path) -> Iterator[Path]:
    """A machine with a teacher and two students, on which enrol.sh was run."""
    if os.geteuid() != 0:
        pytest.skip("only root can act as several accounts")
    with tempfile.TemporaryDirectory() as folder:
        top = Path(folder)
        top.chmod(0o711)
        for account in (TEACHER, ADA, BOB):
            (top / "home" / str(account)).mkdir(parents=True)
            os.chown(top / "home" / str(account), account, account)
        environment = {**os.environ, "COURSE": str(top / "srv"), "HOMES": str(top / "home"),
                       "TEACHER": str(TEACHER)}  # fmt: skip
        for _ in range(2):  # a second time changes nothing
            command = ["sh", str(root / "docs" / "deploy" / "enrol.sh"), str(ADA), str(BOB)]
            subprocess.run(command, env=environment, check=True)
        yield top


def works(account: int, command: str, top: Path) -> bool:
    """May this account do so?"""
    who = [f"--reuid={account}", f"--regid={account}", "--clear-groups"]
    environment = {"PATH": os.environ["PATH"], "HOME": str(top / "home" / str(account)),
                   "GIT_CONFIG_SYSTEM": str(top / "srv" / "gitconfig")}  # fmt: skip
    full = ["setpriv", *who, "sh", "-c", f"umask 022; {command}"]
    return subprocess.run(full, cwd=top, env=environment, capture_output=True).returncode == 0


def as_teacher(work: Callable[[], object]) -> None:
    """Run this as the teacher's account, who is not root."""
    child = os.fork()
    if not child:
        try:
            os.setgroups([])
            os.setgid(TEACHER)
            os.setuid(TEACHER)
            os.umask(0o022)
            work()
            os._exit(0)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
    assert os.waitpid(child, 0)[1] == 0


def test_accounts_keep_students_apart(machine: Path, released: Path, scripts, require_tool):
    top, home, srv = machine, machine / "home", machine / "srv"
    require_tool("git")
    shutil.copytree(released, top / "home" / str(TEACHER) / UNIT)
    subprocess.run(["chown", "-R", f"{TEACHER}:{TEACHER}", str(home / str(TEACHER))], check=True)
    publish, collect, give_back = map(scripts, ("publish", "collect", "give_back"))
    os.environ["HOME"], before = str(home / str(TEACHER)), os.environ["HOME"]
    try:
        as_teacher(lambda: publish(home / str(TEACHER) / UNIT, srv))
    finally:
        os.environ["HOME"] = before
    mine = f"{home}/{ADA}"
    clone = f"git clone -q --branch main file://{srv}/handed-out.git {{home}}/course"
    assert works(ADA, clone.format(home=mine), top)
    assert works(ADA, f"cp {mine}/course/{UNIT}/{UNIT}.ipynb {mine}/hand-in/", top)

    submissions, grades = home / str(TEACHER) / "submissions", home / str(TEACHER) / "grades"
    as_teacher(lambda: list(collect(srv / "hand-in", submissions)))
    assert [path.name for path in submissions.iterdir()] == [str(ADA)]
    pages = grades / "feedback" / UNIT
    pages.mkdir(parents=True)
    for student in (ADA, BOB):
        (pages / f"{student}.html").write_text(f"for {student}")
    as_teacher(lambda: list(give_back(grades, srv / "feedback")))

    theirs, handed = f"feedback/{ADA}/{UNIT}.html", f"hand-in/{ADA}/{UNIT}.ipynb"
    assert works(ADA, f"grep -q 'for {ADA}' {mine}/feedback/{UNIT}.html", top)
    assert works(TEACHER, f"cat {srv}/{handed} {srv}/{theirs}", top)
    refused = {
        BOB: [f"cat {srv}/{handed}", f"cat {srv}/{theirs}", f"cat {mine}/hand-in/{UNIT}.ipynb",
              f"ls {mine}", f"ls {srv}/hand-in", f"ls {srv}/feedback", f"ls {srv}/hand-in/{ADA}",
              f"touch {srv}/hand-in/{ADA}/x", f"rm -r {srv}/hand-in/{BOB}", f"ls {submissions}",
              f"touch {srv}/units/x", f"rm -rf {srv}/handed-out.git/HEAD",
              f"touch {srv}/units/*/{UNIT}/course_lib/x"],
        ADA: [f"echo full marks > {srv}/{theirs}", f"rm {srv}/{theirs}", f"ls {home}/{BOB}",
              f"mv {srv}/hand-in/{ADA} {srv}/hand-in/{BOB}", f"ls {home}/{TEACHER}"],
        TEACHER: [f"touch {srv}/hand-in/{ADA}/x"],
    }  # fmt: skip
    allowed = [
        (who, what) for who, all_ in refused.items() for what in all_ if works(who, what, top)
    ]
    assert not allowed


def test_the_settings_of_the_hub_are_settings_that_there_are(root: Path, missing):
    """JupyterHub only warns of a name that it does not know, and goes on without the limit."""
    for package in ("jupyterhub", "systemdspawner"):
        if find_spec(package) is None:
            missing(f"{package} (pip install '.[hub]')")
    loader = PyFileConfigLoader("jupyterhub_config.py", path=str(root / "docs" / "deploy"))
    config, known = loader.load_config(), dict(map(names_of, CLASSES))
    assert set(config) == set(known)
    assert [(c, name) for c in config for name in config[c] if name not in known[c]] == []


CLASSES = (
    "jupyterhub.app.JupyterHub", "jupyterhub.auth.LocalAuthenticator",
    "jupyterhub.proxy.ConfigurableHTTPProxy", "jupyterhub.spawner.Spawner",
    "systemdspawner.SystemdSpawner",
)  # fmt: skip


def names_of(path: str) -> tuple[str, list[str]]:
    """A class, by its name, and the settings that it knows."""
    found = import_item(path)
    return found.__name__, found.class_trait_names(config=True)


def test_what_the_page_installs_and_calls_is_there(root: Path):
    page = (root / "docs" / "deploy.md").read_text()
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    (installed,) = re.findall(r"^    (jupyterhub .*)$", page, re.MULTILINE)
    assert installed.split() == project["optional-dependencies"]["hub"]
    there = {path.name for path in (root / "docs" / "deploy").iterdir() if path.is_file()}
    assert set(re.findall(r"\]\(deploy/([^)]+)\)", page)) == there
    calls = re.findall(r"python docs/deploy/(\w+\.py) (.*)$", page, re.MULTILINE)
    assert [name for name, _ in calls] == ["publish.py", "collect.py", "give_back.py"]
    for name, arguments in calls:
        script = (root / "docs" / "deploy" / name).read_text()
        assert all(f'"{option}"' in script for option in re.findall(r"--\w+", arguments))
