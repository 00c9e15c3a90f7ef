"""`make lab` serves the course on its start page; a second time it starts without building anew.

    make lab LAB_ARGS=--no-browser     ->     http://localhost:.../lab/tree/start.ipynb

The environment of this test run is used as it is: SETUP=@true keeps make from installing anything.
"""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

PANELS = (
    "@jupyterlab/cell-toolbar-extension",
    "@jupyterlab/debugger-extension",
    "@jupyterlab/extensionmanager-extension",
)  # left out


@pytest.fixture(scope="module")
def course(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("lab") / "course"


def settings(course: Path) -> list[str]:
    return [f"VENV={sys.prefix}", f"COURSE={course}", "SETUP=@true"]


def make(root, *arguments: str) -> str:
    result = subprocess.run(["make", *arguments], cwd=root, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@contextlib.contextmanager
def lab(root: Path, course: Path) -> Iterator[dict]:
    """Run `make lab`; yield what the running server says about itself (pid, url, token)."""
    runtime = course.parent / "runtime"
    environment = {**os.environ, "JUPYTER_RUNTIME_DIR": str(runtime), **own_settings(course)}
    arguments = "--no-browser --allow-root --port=0"
    command = ["make", "lab", *settings(course), f"LAB_ARGS={arguments}"]
    log = course.parent / "log"
    with log.open("w") as output:
        process = subprocess.Popen(
            command, cwd=root, env=environment, stdout=output, stderr=output, start_new_session=True
        )
    try:
        yield json.loads(wait_for(process, runtime, log).read_text())
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGTERM)
        process.wait()


def own_settings(course: Path) -> dict[str, str]:
    """The environment of somebody who has turned nbgrader's menus on for themselves."""
    home = course.parent / "home"
    wanted = {
        "labconfig/page_config.json": {"disabledExtensions": {"@jupyter/nbgrader": False}},
        "jupyter_server_config.json": {"ServerApp": {"jpserver_extensions": {
            "nbgrader.server_extensions.validate_assignment": True}}},
    }  # fmt: skip
    for name, content in wanted.items():
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content))
    return {"JUPYTER_CONFIG_DIR": str(home)}


def wait_for(process: subprocess.Popen, runtime: Path, log: Path) -> Path:
    """The file that a Jupyter server writes when it starts."""
    for _ in range(6000):
        found = list(runtime.glob("jpserver-*.json"))
        if found:
            return found[0]
        assert process.poll() is None, log.read_text()
        time.sleep(0.1)
    pytest.fail(f"no server after ten minutes:\n{log.read_text()}")


def get(server: dict, path: str) -> str:
    """The server writes its file a moment before it listens: who is refused asks again."""
    address = f"{server['url']}{path}{'&' if '?' in path else '?'}token={server['token']}"
    while True:
        try:
            with urllib.request.urlopen(address, timeout=600) as answer:
                return answer.read().decode()
        except urllib.error.URLError as error:
            if not isinstance(error.reason, ConnectionRefusedError):
                raise
            os.kill(server["pid"], 0)  # it is still there: else ProcessLookupError
            time.sleep(0.1)


def assert_no_menus_of_nbgrader(server: dict, page: str) -> None:
    """nbgrader is installed here, and its menus are off: in the page, and behind it."""
    found = re.search(r'<script id="jupyter-config-data"[^>]*>(.*?)</script>', page, re.DOTALL)
    assert found
    config = json.loads(found[1])
    assert "@jupyter/nbgrader" in [one["name"] for one in config["federated_extensions"]]
    for name in ("@jupyter/nbgrader", *PANELS):
        assert name in config["disabledExtensions"]
    for path in ("formgrader", "assignments", "nbgrader_version?version=0", "validate_assignment"):
        with pytest.raises(urllib.error.HTTPError, match="404"):
            get(server, path)


def test_make_lab_serves_the_start_page(root, course, table):
    with lab(root, course) as server:
        files = [item["name"] for item in json.loads(get(server, "api/contents"))["content"]]
        assert "start.ipynb" in files
        page = get(server, "lab/tree/start.ipynb")
        assert "JupyterLab" in page
        assert_no_menus_of_nbgrader(server, page)
        browser = "lab/api/settings/@jupyterlab/filebrowser-extension:browser"
        columns = json.loads(get(server, browser))["schema"]["properties"]
        assert columns["showLastModifiedColumn"]["default"] is False, "room for long names"
        if sys.platform == "linux":
            status = Path(f"/proc/{server['pid']}/status").read_text()
            peak = int(status.split("VmHWM:")[1].split()[0]) // 1024
            table("Peak memory of the notebooks", f"{'JupyterLab server':<30} {peak:5} MB")
            assert peak < 200


def test_preparing_again_changes_no_file(root, course):
    make(root, "prepare", *settings(course))
    before = {path: path.stat().st_mtime_ns for path in course.rglob("*") if path.is_file()}
    make(root, "prepare", *settings(course))
    after = {path: path.stat().st_mtime_ns for path in course.rglob("*") if path.is_file()}
    assert before and before == after
