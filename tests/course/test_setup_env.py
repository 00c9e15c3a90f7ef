"""Setting up: at once when nothing is to do, and in plain words when something is in the way.

    no network     ->     ==> The package index cannot be reached. Check the network ...

Nothing is downloaded here; the tests that fill a disk do so in a sandbox of 30 MB.
"""

import ast
import os
import re
import runpy
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "setup_env.py"

# An index that nobody answers, tried once; no cache, no other place to look.
OFFLINE = {
    "PIP_INDEX_URL": "http://127.0.0.1:9/simple",
    "PIP_CONFIG_FILE": os.devnull,
    "PIP_FIND_LINKS": "",
    "PIP_RETRIES": "1",
    "PIP_NO_CACHE_DIR": "1",
}


@pytest.fixture
def setup():
    """The script's functions."""
    return SimpleNamespace(**runpy.run_path(str(SCRIPT)))


@pytest.fixture(scope="module")
def empty_venv(tmp_path_factory):
    venv = tmp_path_factory.mktemp("empty") / "venv"
    subprocess.run([sys.executable, "-m", "venv", venv], check=True)
    return str(venv)


def run(*args, code=None, **environment):
    command = [sys.executable, *(["-c", code] if code else [SCRIPT]), *args]
    environment = {**os.environ, **OFFLINE, **environment}
    return subprocess.run(command, env=environment, capture_output=True, text=True)


def pretend_version(version: str) -> str:
    """Code that runs the script under a Python that says it is `version`."""
    return (
        f"import runpy, sys; sys.version_info = {version}; sys.argv[0] = {str(SCRIPT)!r}; "
        "runpy.run_path(sys.argv[0], run_name='__main__')"
    )


def test_the_script_is_readable_for_an_old_python():
    ast.parse(SCRIPT.read_text(), feature_version=(3, 6))


def test_old_python_is_refused_with_advice():
    result = run("--extras", "lab", code=pretend_version("(3, 9, 2)"), PATH="/nowhere")
    assert result.returncode == 1
    assert "This is Python 3.9.2; the course needs Python 3.11 or newer." in result.stderr
    assert "Traceback" not in result.stderr


def test_old_python_hands_over_to_a_newer_one_on_the_path(tmp_path):
    newer = tmp_path / "python3.12"
    newer.write_text('#!/bin/sh\necho "3.12 runs: $2 $3"\n')
    newer.chmod(0o755)
    result = run("--extras", "lab", code=pretend_version("(3, 9, 2)"), PATH=str(tmp_path))
    assert result.stdout == "3.12 runs: --extras lab\n"


def test_the_size_of_every_extra_is_known(setup):
    project = tomllib.loads((SCRIPT.parents[1] / "pyproject.toml").read_text())["project"]
    assert setup.GIGABYTES.keys() == project["optional-dependencies"].keys()


def test_every_extra_that_make_asks_for_exists(setup):
    asked = re.findall(r"\$\(SETUP\) ([\w,]+)", (SCRIPT.parents[1] / "Makefile").read_text())
    asked += re.findall(r"\$\(COMMA\)(\w+)", (SCRIPT.parents[1] / "Makefile").read_text())
    assert len(asked) > 5
    assert {extra for names in asked for extra in names.split(",")} <= setup.GIGABYTES.keys()


def test_nothing_to_do_takes_no_pip_and_says_nothing(setup, tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python").symlink_to("/bin/false")
    (tmp_path / ".ready").write_text(f"{setup.fingerprint()} torch lab llvm")
    result = run("--venv", str(tmp_path), "--extras", "lab,llvm")
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


def test_network_away(tmp_path):
    result = run("--venv", str(tmp_path / "venv"), "--extras", "lab")
    assert result.returncode == 1
    assert "==> The package index cannot be reached." in result.stderr
    assert "Traceback" not in result.stderr
    assert not list(tmp_path.glob("venv/.ready")), "the next call would believe that all is well"
    log = tmp_path / "venv" / "setup.log"
    assert str(log) in result.stderr and "setuptools" in log.read_text()


PRINTED = (
    "Looking in indexes: https://somewhere/simple",
    "Collecting torch==2.13.0 (from course-lib==0.1.0)",
    "  Downloading torch-2.13.0-cp311.whl (190.2 MB)",
    "Processing /wheels/numpy-2.4.6.whl (from course-lib==0.1.0)",
    "WARNING: Location is ignored",
    "Installing collected packages: numpy, torch",
    "Successfully installed numpy-2.4.6 torch-2.13.0",
)


def test_the_terminal_shows_one_line_that_changes(setup, capsys):
    progress = setup.Progress(terminal=True)
    for line in PRINTED:
        progress.see(line + "\n")
    progress.end()
    shown = capsys.readouterr().out
    assert "\n" not in shown and shown.endswith("\r\033[K")
    assert [line.strip() for line in shown.split("\r\033[K")][1:-1] == [
        "packages found: 1",
        "packages found: 1, downloading torch (190.2 MB)",
        "packages found: 2",
        "installing 2 packages",
    ]


def test_off_a_terminal_a_line_comes_now_and_then(setup, capsys):
    for seconds, lines in ((0, 4), (60, 0)):
        progress = setup.Progress(terminal=False, seconds=seconds)
        for line in PRINTED:
            progress.see(line)
        progress.end()
        assert len(capsys.readouterr().out.splitlines()) == lines


@pytest.fixture
def venv(tmp_path):
    """An environment in a copy of the course; a file in it tells whether it was emptied."""
    (tmp_path / "scripts").mkdir()
    shutil.copy(SCRIPT, tmp_path / "scripts")
    venv = tmp_path / ".venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", venv], check=True)
    (venv / "leftover").write_text("")
    return venv


def make_venv(venv: Path) -> subprocess.CompletedProcess[str]:
    code = f"import setup_env; setup_env.make_venv({str(venv)!r})"
    environment = {**os.environ, "PYTHONPATH": str(venv.parent / "scripts")}
    command = [sys.executable, "-c", code]
    return subprocess.run(command, env=environment, capture_output=True, text=True)


def test_environment_of_a_moved_folder_is_made_afresh(venv):
    (venv / ".home").write_text("/where/it/was/before")
    assert make_venv(venv).returncode == 0
    assert not (venv / "leftover").exists()
    assert (venv / ".home").read_text() == str(venv.parent)


def test_environment_without_its_python_is_made_afresh(venv):
    (venv / "bin" / "python").unlink()
    assert make_venv(venv).returncode == 0
    assert not (venv / "leftover").exists()


def test_environment_made_by_hand_is_kept(venv):
    assert make_venv(venv).returncode == 0
    assert (venv / "leftover").exists()


def test_folder_that_is_no_environment_is_left_alone(venv):
    (venv / "pyvenv.cfg").unlink()
    assert "is not an environment of this copy of the course" in make_venv(venv).stderr
    assert (venv / "leftover").exists()


def test_environment_of_another_copy_of_the_course_is_left_alone(setup, venv):
    (venv / ".home").write_text(str(venv.parent))
    with pytest.raises(setup.SetupError, match="Remove it, or choose another place"):
        setup.make_venv(str(venv))
    assert (venv / "leftover").exists()


def test_packages_are_compiled_without_their_tests_and_whatever_fails(setup, venv):
    (packages,) = venv.glob("lib/python*/site-packages")
    for name in ("good.py", "tests/test_good.py", "a_template.py"):
        (packages / name).parent.mkdir(exist_ok=True)
        (packages / name).write_text("{{ name }} = 1" if "template" in name else "x = 1")
    setup.compile_packages(str(venv))
    assert [path.name.partition(".")[0] for path in packages.rglob("*.pyc")] == ["good"]
    assert "SyntaxError" in (venv / "setup.log").read_text()


def on_small_disk(require_tool, folder: Path, code: str) -> subprocess.CompletedProcess[str]:
    """Run Python code where `folder` is a disk of 30 MB."""
    command = [require_tool("bwrap"), "--dev-bind", "/", "/", "--size", "30000000"]
    command += ["--tmpfs", str(folder), sys.executable, "-c", code]
    return subprocess.run(command, env={**os.environ, **OFFLINE}, capture_output=True, text=True)


def test_full_disk_is_noticed_before_the_first_download(require_tool, tmp_path):
    code = (
        f"import runpy, sys; sys.argv = ['x', '--venv', '{tmp_path}/venv', '--extras', 'lab']; "
        f"runpy.run_path({str(SCRIPT)!r}, run_name='__main__')"
    )
    result = on_small_disk(require_tool, tmp_path, code)
    assert result.returncode == 1
    assert "==> The disk has 0.0 GB left; the packages need up to 0.4 GB." in result.stderr


def test_disk_that_fills_up_on_the_way(require_tool, tmp_path):
    code = (
        f"import runpy; s = runpy.run_path({str(SCRIPT)!r})\n"
        f"try: s['make_venv']('{tmp_path}/venv'); s['write']('{tmp_path}/x', 'x' * 30_000_000)\n"
        "except (s['SetupError'], OSError) as error: print(s['explain'](str(error)))"
    )
    result = on_small_disk(require_tool, tmp_path, code)
    assert "The disk is full." in result.stdout, result.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="torch brings CUDA on Linux only")
@pytest.mark.parametrize(("needs", "brings_cuda"), [("nvidia-cublas", True), ("sympy", False)])
def test_torch_that_brings_cuda_is_recognized(
    setup, empty_venv, tmp_path, monkeypatch, needs, brings_cuda
):
    version = next(
        line.strip().split("==")[1]
        for line in SCRIPT.parent.with_name("constraints.txt").read_text().splitlines()
        if line.startswith("torch==")
    )
    info = f"torch-{version}.dist-info"
    with zipfile.ZipFile(tmp_path / f"torch-{version}-py3-none-any.whl", "w") as wheel:
        metadata = (
            f"Metadata-Version: 2.1\nName: torch\nVersion: {version}\nRequires-Dist: {needs}\n"
        )
        wheel.writestr(f"{info}/METADATA", metadata)
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")
    for name, value in {**OFFLINE, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(tmp_path)}.items():
        monkeypatch.setenv(name, value)
    assert setup.would_bring_cuda(empty_venv) is brings_cuda


@pytest.mark.parametrize(
    ("output", "advice"),
    [
        ("ERROR: Could not install packages: [Errno 28] No space left on device", "disk is full"),
        ("error: Failed to fetch: ... dns error", "cannot be reached"),
        ("ERROR: No matching distribution found for numpy==2.4.6", "no ready-made build"),
        ("something else", "its own message is above"),
    ],
)
def test_advice_fits_the_trouble(setup, output, advice):
    assert advice in setup.explain(output)
