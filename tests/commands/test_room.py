"""A command is one file of course_lib/commands: the room finds it, and imports it on demand.

commands/hello.py   ->   python -m course_lib hello, and a line of --help
"""

import subprocess
import sys
from pathlib import Path

import pytest

from course_lib import commands
from course_lib.__main__ import main
from course_lib.commands.infra.room import load, names

HELLO = """
from course_lib.commands.infra.result import Result

HELP = "a greeting"

def arguments(sub):
    sub.add_argument("name")

def hello(options):
    return Result("hello " + options.name, {"name": options.name}, 3)
"""
LOADED = """
import contextlib, io, sys
import course_lib
before = set(sys.modules)
from course_lib.__main__ import main
with contextlib.redirect_stdout(io.StringIO()):
    main(["ops", "relu"])
print(*set(sys.modules) - before)
"""


@pytest.fixture
def hello(tmp_path, monkeypatch):
    """A command in a folder of its own, as if its file stood in the room."""
    (tmp_path / "hello.py").write_text(HELLO)
    monkeypatch.setattr(commands, "__path__", [*commands.__path__, str(tmp_path)])
    yield
    sys.modules.pop(f"{commands.__name__}.hello", None)
    if hasattr(commands, "hello"):
        delattr(commands, "hello")


@pytest.mark.usefixtures("hello")
def test_a_new_file_is_a_new_command(capsys):
    assert main(["hello", "you", "--json"]) == 3
    assert capsys.readouterr().out == '{"name": "you"}\n'
    with pytest.raises(SystemExit):
        main(["--help"])
    assert "hello     a greeting" in capsys.readouterr().out


def test_every_file_of_the_room_is_a_command(root: Path):
    files = {path.stem for path in (root / "course_lib/commands").glob("*.py")} - {"__init__"}
    assert set(names()) == files
    for name in names():
        command = load(name)
        assert command.HELP and callable(command.arguments) and callable(getattr(command, name))


def test_an_unknown_command_is_answered_with_all_that_there_are(capsys):
    with pytest.raises(SystemExit) as left:
        main(["walk"])
    assert left.value.code == 2
    said = capsys.readouterr().err
    assert "invalid choice: 'walk'" in said and all(repr(name) in said for name in names())


def test_a_command_loads_no_other_ones_file():
    done = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    loaded = [name for name in done.stdout.split() if name.startswith("course_lib.")]
    others = {f"course_lib.commands.{name}" for name in names() if name != "ops"}
    assert "course_lib.commands.ops" in loaded and not others & set(loaded)
    assert not any(name.startswith(("course_lib.mlir", "course_lib.plugins")) for name in loaded)
