"""Binder's configuration: accepted by repo2docker, and the same versions as everywhere else.

    jupyter-repo2docker --debug --no-build .       prints the Dockerfile; needs no docker

The steps of the image run here in the order of that file, in a clean root (binder_root.py). Not
shown here: the downloads, and the image itself. It is built by a Binder, with a network and a
docker.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

HERE = Path(__file__).resolve().parent
sys.path += [str(HERE), str(HERE.parents[1] / "site")]  # what lies there are plain modules

import links  # noqa: E402
from binder_root import BESIDE, HOME, BinderRoot  # noqa: E402


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


APT = re.compile(r"[a-z0-9][a-z0-9.+-]+")
# In the image: Jupyter starts, has the page that the badge opens, and starts a kernel.
STARTS = """
import json, subprocess, sys, time, urllib.request as web
command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--ip=127.0.0.1", "--port=8888"]
server = subprocess.Popen([*command, "--IdentityProvider.token=t"], stderr=subprocess.DEVNULL)
def ask(path, data=None):
    request = web.Request("http://127.0.0.1:8888/" + path, data, {"Authorization": "token t"})
    with web.urlopen(request) as answer:
        return answer.status, answer.read().decode()
for _ in range(600):
    try:
        ask("api")
        break
    except OSError:
        time.sleep(0.2)
status, page = ask(sys.argv[1])
_, file = ask("api/contents/course/start.ipynb?content=0")
created, kernel = ask("api/kernels", b"{}")
print(json.dumps([status, "JupyterLab" in page, json.loads(file)["type"], created]))
server.terminate()
"""
# A kernel runs the first cells of the first unit, and says which library it has.
RUNS = """
import nbformat
from nbclient import NotebookClient
book = nbformat.read("course/u00_tour.ipynb", as_version=4)
code = [k for k, cell in enumerate(book.cells) if cell.cell_type == "code"]
del book.cells[code[3] + 1 :]
book.cells.append(nbformat.v4.new_code_cell("print(course_lib.__file__)"))
NotebookClient(book, timeout=600, resources={"metadata": {"path": "course"}}).execute()
for cell in book.cells:
    for output in cell.get("outputs", []):
        print(output.get("text") or output["data"]["text/plain"])
"""


def test_the_steps_of_the_image_run_in_a_clean_root_and_u00_begins_there(
    root, tmp_path, require_tool, missing
):
    for tool in ("bwrap", "git"):
        require_tool(tool)
    if not (BESIDE / "bin" / "uv").exists():
        missing("uv")
    if not (root / ".git").exists():
        pytest.skip("no clone of the repository")
    for name in (root / "binder" / "apt.txt").read_text().split():  # installed here, so it exists
        assert APT.fullmatch(name) and shutil.which("dpkg-query")
        status = ["dpkg-query", "--show", "--showformat=${db:Status-Status}", name]
        assert subprocess.run(status, capture_output=True, text=True).stdout == "installed", name

    image = BinderRoot(root, tmp_path)
    assert not (tmp_path / "home" / "build").exists()
    assert not (tmp_path / "home" / "course").exists()
    image.run("python", "-m", "pip", "install", "--no-deps", "-r", "binder/requirements.txt")
    image.run("./binder/postBuild")
    address = links.binder("https://github.com/a/b", links.START)
    opened = parse_qs(urlsplit(address).query)["urlpath"][0]
    assert json.loads(image.run("python", "-c", STARTS, opened)) == [200, True, "notebook", 201]
    said = image.run("python", "-c", RUNS)
    assert "torch.Size([64, 256])" in said and f"{HOME}/course_lib/__init__.py" in said, said


def test_the_badge_is_in_the_readme_if_and_only_if_there_is_an_address_to_open(root):
    """`python site/links.py` prints the line that README.md then needs."""
    readme, home = (root / "README.md").read_text(encoding="utf-8"), links.repository()
    assert (links.in_readme(home) in readme) if home else "binder.svg" not in readme
    line = links.in_readme("https://gitlab.com/a/b")
    assert line.startswith("[![Open on Binder](docs/img/binder.svg)](https://mybinder.org/v2/gl/")
    assert (root / "docs" / "img" / "binder.svg").exists()
