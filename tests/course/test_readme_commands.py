"""What the README says can be typed: every command exists, and the cheap ones are run.

make release UNIT=2              make -n knows the target
python -m course_lib run ...     run for real, on the file that the README's Python code writes
"""

import re
import shlex
import shutil
import subprocess
import sys

import pytest


@pytest.fixture(scope="module")
def readme(root) -> str:
    return (root / "README.md").read_text()


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def commands(text: str, program: str) -> list[str]:
    """Every command of that program in the README, from its code blocks and `code spans`."""
    lines = [line.split("#")[0] for block in blocks(text, "sh") for line in block.splitlines()]
    spans = re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S))
    found = [line.strip() for line in lines + spans if line.startswith(program + " ")]
    return list(dict.fromkeys(found))


def targets(makefile: str) -> set[str]:
    return set(re.findall(r"^([a-z]+):", makefile, re.MULTILINE))


def make(root, *args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["make", *args], cwd=root, capture_output=True, text=True)


def test_every_make_command_exists(root, readme):
    found = commands(readme, "make")
    assert "make lab" in found and "make test" in found
    for command in found:
        result = make(root, "--dry-run", *shlex.split(command)[1:])
        assert result.returncode == 0, f"{command}: {result.stderr}"


def test_every_target_is_in_the_readme_and_in_the_help(root, readme):
    named = {shlex.split(command)[1] for command in commands(readme, "make")}
    assert named == targets((root / "Makefile").read_text())
    helped = set(re.findall(r"^  make ([a-z]+) ", make(root, "help").stdout, re.MULTILINE))
    assert helped == named


def test_every_setting_is_one_that_the_makefile_reads(root, readme):
    makefile = (root / "Makefile").read_text()
    section = readme.split("## What each target does")[1].split("\n## ")[0]
    settings = set(re.findall(r"\b([A-Z_]+)=", section))
    assert settings >= {"PYTHON", "UNIT", "SUBMISSIONS"}
    assert settings <= set(re.findall(r"^([A-Z_]+) \?=", makefile, re.MULTILINE))


def test_grading_nothing_says_how_to_name_the_submissions(root):
    result = make(root, "grade")
    assert result.returncode != 0
    assert "make grade SUBMISSIONS=dir" in result.stderr


def test_grading_passes_on_what_is_set(root):
    """And `regrade` is the same command with another name, which compares."""
    settings = ["SUBMISSIONS=in", "ROSTER=r.csv", "UNIT=2", "SEED=7", "JOBS=3", "SANDBOX=none"]
    wanted = "--roster r.csv --seed 7 --jobs 3 --no-sandbox"
    for target in ("grade", "regrade"):
        said = make(root, "--dry-run", target, *settings).stdout
        begin = f"-m autograder {target} --submissions in --out build/grades --unit 2 "
        assert begin + wanted in " ".join(said.split())
        assert f"make {target} SUBMISSIONS=dir" in make(root, target).stderr


def test_every_file_that_the_readme_links_to_exists(root, readme):
    links = re.findall(r"\]\(([^)#:]+)\)", readme)
    assert links
    assert [link for link in links if not (root / link).exists()] == []


def test_the_python_and_the_command_line_examples_run(readme, tmp_path):
    for code in blocks(readme, "python"):
        run_in(tmp_path, [sys.executable, "-c", code])
    examples = commands(readme, "python -m course_lib")
    assert examples
    for command in examples:
        command = command.replace("--budget 60", "--budget 4")  # seconds of search
        command = command.replace(" --html", " --seconds 0.1 --html")
        run_in(tmp_path, [sys.executable, *shlex.split(command)[1:]])
        written = re.search(r"-o (\S+)", command)
        if written and shutil.which("dot"):
            assert (tmp_path / written[1]).stat().st_size > 0


def run_in(folder, command: list[str]) -> None:
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert result.returncode == 0, f"{shlex.join(command)}\n{result.stdout}\n{result.stderr}"
