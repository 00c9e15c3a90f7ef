"""Binder's configuration: accepted by repo2docker, and the same versions as everywhere else.

    jupyter-repo2docker --debug --no-build .       prints the Dockerfile; needs no docker

Not shown here: the image itself. It is built by a Binder, with a network and a docker.
"""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest


def versions(path: Path) -> dict[str, str]:
    """{'numpy': '2.4.6', ...} of a file with one name==version on a line."""
    lines = [line.split("#")[0].strip() for line in path.read_text().splitlines()]
    return {normal(name): version for name, version in (line.split("==") for line in lines if line)}


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def repo2docker(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "repo2docker", "--debug", "--no-build", "."]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


@pytest.fixture
def repository(root, tmp_path):
    """A copy of what repo2docker looks at."""
    shutil.copytree(root / "binder", tmp_path / "binder")
    shutil.copy(root / "pyproject.toml", tmp_path)
    return tmp_path


def test_every_binder_version_is_the_one_of_the_constraints(root):
    pins = versions(root / "constraints.txt")
    wanted = versions(root / "binder" / "requirements.txt")
    assert wanted
    assert wanted == {name: pins.get(name) for name in wanted}


def test_binder_installs_what_make_lab_installs(root):
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    lab = project["dependencies"] + extras["torch"] + extras["llvm"] + extras["lab"]
    names = {normal(re.split(r"[=\[]", requirement)[0]) for requirement in lab}
    by_requirements = set(versions(root / "binder" / "requirements.txt"))
    assert names - by_requirements == {"torch"}
    assert by_requirements - names == {"setuptools", "uv"}, "tools of postBuild"
    assert "--torch-backend cpu" in (root / "binder" / "postBuild").read_text()


def test_repo2docker_accepts_the_configuration(repository):
    result = repo2docker(repository)
    assert result.returncode == 0, result.stderr
    dockerfile = result.stdout + result.stderr
    assert 'pip install --no-cache-dir -r "binder/requirements.txt"' in dockerfile
    assert "--no-install-recommends graphviz" in dockerfile
    assert "py-2d3-2e11" in dockerfile, "Python 3.11 was not chosen"
    packages = dockerfile.index('-r "binder/requirements.txt"')
    sources = dockerfile.index("COPY --chown=0:0 src/ ")
    assert packages < sources, "a change of a lesson would install every package again"
    assert "RUN ./binder/postBuild" in dockerfile


def test_repo2docker_refuses_a_python_that_it_does_not_have(repository):
    (repository / "binder" / "runtime.txt").write_text("python-9.9\n")
    assert repo2docker(repository).returncode != 0


def test_post_build_is_an_executable_shell_script_without_errors(root):
    script = root / "binder" / "postBuild"
    assert os.access(script, os.X_OK)
    subprocess.run(["bash", "-n", script], check=True)
