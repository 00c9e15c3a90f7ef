"""A class of two on a JupyterHub: hand out, work, hand in, grade, give back (docs/deploy.md).

The hub reads docs/deploy/jupyterhub_config.py, and the scripts beside it hand out, collect and give
back. Only this differs from a class: both students have the account that runs the test, because
there are no others; they log in with passwords that are made here. What accounts keep apart is in
test_deploy.py. Each student has a JupyterLab server of their own, which the hub starts, and does
everything through it, at the hub's address: follow the link, write, run, hand in, read.

All servers run in a process namespace, which ends with this process, however that ends.
"""

from __future__ import annotations

import csv
import json
import os
import re
import secrets
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NoReturn

import pytest
import requests
import websocket

from autograder.edition.contents import COURSE

UNIT, NOTEBOOK = "u00_tour", "course/u00_tour/u00_tour.ipynb"
STUDENTS = ("ada", "bob")
CONFIG = """
import json, os
from jupyterhub.auth import Authenticator

load_subconfig({deploy!r})
PASSWORDS = json.loads(os.environ["PASSWORDS"])

class Passwords(Authenticator):
    async def authenticate(self, handler, data):
        name = data["username"]
        return name if PASSWORDS.get(name) == data["password"] else None

c = get_config()
c.JupyterHub.bind_url = "http://127.0.0.1:{door}"
c.JupyterHub.hub_port, c.ConfigurableHTTPProxy.api_url = {hub}, "http://127.0.0.1:{proxy}"
c.JupyterHub.authenticator_class, c.JupyterHub.spawner_class = Passwords, "simple"
c.Authenticator.allowed_users = set(PASSWORDS)
c.SimpleLocalProcessSpawner.home_dir_template = {homes!r} + "/{{username}}"
c.JupyterHub.cleanup_servers = True
c.Spawner.args.append("--allow-root")
"""
LOOK = """
import course_lib, json
from ipykernel.connect import get_connection_file
print(course_lib.__path__[0], json.load(open(get_connection_file()))["transport"])
"""
MENDED = "Here is the mended line,"
PACKAGES = ("jupyterhub", "nbgitpuller", "configurable_http_proxy", "jupyterhub_idle_culler")
RIGHT = """@implements("u00.intensity")
def intensity(images, inputs, outputs):
    work = 2 * images * inputs * outputs + 2 * images * outputs
    return work / (4 * (images * inputs + inputs * outputs + outputs + images * outputs))
"""
WRONG = """@implements("u00.intensity")
def intensity(images, inputs, outputs):
    bobs_formula = 2 * images * inputs * outputs
    return bobs_formula / (4 * (images * inputs + inputs * outputs))
"""


@dataclass
class Hub:
    """A hub that runs, and the folder in which all of this class lies."""

    address: str
    folder: Path
    environment: dict[str, str]
    passwords: dict[str, str]

    @property
    def log(self) -> Path:
        return self.folder / "hub.log"

    def teacher(self, *command: str) -> str:
        """What a command of the teacher prints, who has the course itself."""
        done = subprocess.run(
            [sys.executable, *command], cwd=self.folder, capture_output=True, text=True,
            env={**self.environment, "PYTHONPATH": str(COURSE)},
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def script(self, name: str, *options: str) -> str:
        """What a script of docs/deploy says."""
        return self.teacher(str(COURSE / "docs" / "deploy" / f"{name}.py"), *options)

    def link(self) -> str:
        """The link that docs/deploy.md gives to a class, on this hub and with this folder."""
        page = (COURSE / "docs" / "deploy.md").read_text()
        (link,) = re.findall(r"^https://hub\.example\.org(/\S+)$", page, re.MULTILINE)
        assert link.endswith(f"urlpath=lab/tree/{NOTEBOOK}")
        return self.address + link.replace("/srv/course", str(self.folder / "srv"))

    def wait_for(self, ready: Callable[[], bool]) -> None:
        """Go on as soon as it is so, however busy the machine is."""
        for _ in range(2400):
            if ready():
                return
            time.sleep(0.25)
        raise AssertionError(self.log.read_text()[-4000:])


@pytest.fixture
def hub(require_tool, missing: Callable[[str], NoReturn]) -> Iterator[Hub]:
    """The hub, started. At the end nothing of it runs, and its folder is gone."""
    for package in PACKAGES:
        if find_spec(package) is None:
            missing(f"{package} (pip install '.[hub]')")
    bwrap, _ = require_tool("bwrap"), require_tool("git")
    with TemporaryDirectory(dir="/tmp") as folder:  # a short name: it will be part of a socket's
        hub = prepared(Path(folder))
        confined = ["--dev-bind", "/", "/", "--proc", "/proc", "--unshare-pid", "--die-with-parent"]
        command = [bwrap, *confined, sys.executable, "-m", "jupyterhub", "--config", "config.py"]
        environment = {**hub.environment, "PASSWORDS": json.dumps(hub.passwords)}
        with hub.log.open("w") as log:
            server = subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log)
        try:
            hub.wait_for(lambda: server.poll() is not None or is_up(hub.address))
            assert server.poll() is None, hub.log.read_text()[-4000:]
            yield hub
        finally:
            server.terminate()
            server.wait()
            hub.wait_for(lambda: not [line for line in running() if folder in line])


def prepared(folder: Path) -> Hub:
    """All that a hub needs to be started: its settings, and what enrol.sh makes for accounts."""
    door, inner, proxy = free_ports(3)
    deploy = str(COURSE / "docs" / "deploy" / "jupyterhub_config.py")
    config = CONFIG.format(deploy=deploy, homes=str(folder), door=door, hub=inner, proxy=proxy)
    (folder / "config.py").write_text(config)
    for name in STUDENTS:
        (folder / name).mkdir()
        for kind in ("hand-in", "feedback"):
            (folder / "srv" / kind / name).mkdir(parents=True)
            (folder / name / kind).symlink_to(folder / "srv" / kind / name)
    environment = {**os.environ, "COURSE": str(folder / "srv")}
    environment.pop("PYTHONPATH", None)  # a student's library is the released one
    passwords = {name: secrets.token_urlsafe(16) for name in STUDENTS}
    return Hub(f"http://127.0.0.1:{door}", folder, environment, passwords)


def free_ports(count: int) -> list[int]:
    with ExitStack() as stack:
        probes = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
        return [stack.enter_context(probe).getsockname()[1] for probe in probes]


def is_up(address: str) -> bool:
    try:
        return requests.get(f"{address}/hub/login", timeout=60).ok
    except requests.ConnectionError:
        return False


def running() -> list[str]:
    """The command and the folder of each process of this machine."""
    lines = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_bytes()
            lines.append(f"{command!r} in {os.readlink(process / 'cwd')}")
        except OSError:  # it has ended, or is somebody else's
            continue
    return lines


class Student:
    """Somebody in front of a browser: logged in at the hub, with a server that the hub started."""

    def __init__(self, hub: Hub, name: str, password: str) -> None:
        self.hub, self.name = hub, name
        self.session = requests.Session()
        self.session.get(f"{hub.address}/hub/login").raise_for_status()
        form = {"username": name, "password": password, "_xsrf": self.session.cookies["_xsrf"]}
        self.login = self.session.post(f"{hub.address}/hub/login", data=form)

    def start(self) -> None:
        """Wait for the server, which the login has started; from here on with a token of one's own.
        It is asked for as the hub's page does, which sends its cookie's secret along."""
        about = f"{self.hub.address}/hub/api/users/{self.name}"
        secret = {"X-XSRFToken": self.session.cookies.get("_xsrf", path="/hub/") or ""}
        made = self.session.post(f"{about}/tokens", headers=secret, json={})
        made.raise_for_status()
        self.token = {"Authorization": f"token {made.json()['token']}"}
        self.hub.wait_for(lambda: self.is_ready(about))

    def is_ready(self, about: str) -> bool:
        servers = requests.get(about, headers=self.token).json()["servers"]
        return bool(servers) and servers[""]["ready"]

    def ask(self, path: str, of: str = "", method: str = "GET", **how: Any) -> requests.Response:
        """A request to a student's server, through the hub: one's own, or somebody else's."""
        address = f"{self.hub.address}/user/{of or self.name}/{path}"
        return requests.request(method, address, headers=self.token, **how)

    def read(self, path: str) -> Any:
        """The content of a file in the student's home, as JupyterLab gets it."""
        found = self.ask(f"api/contents/{path}")
        assert found.ok, found.text
        return found.json()["content"]

    def follow_link(self) -> None:
        """The teacher's link: the page of nbgitpuller, and what its script asks for."""
        link = self.hub.link()
        page = self.session.get(link)
        assert page.ok and f"/user/{self.name}/git-pull" in page.url, page.text
        pulled = self.ask(f"git-pull/api?{link.partition('?')[2]}")
        assert '"phase": "finished"' in pulled.text, pulled.text

    def answer(self, source: str) -> str:
        """Write the answer into the notebook, run what it needs, and save; what the check says."""
        notebook = self.read(NOTEBOOK)
        cells = {cell["id"]: cell for cell in notebook["cells"]}
        cells["u00-intensity"]["source"] = source
        first = ("from autograder import", "import numpy as np")
        imports = [c for c in notebook["cells"] if c["source"].startswith(first)]
        kernel = self.ask("api/kernels", method="POST", json={"path": NOTEBOOK}).json()["id"]
        check = cells["u00-intensity-check"]
        for cell in (cells["course-environment"], *imports, cells["u00-intensity"], check):
            cell["outputs"] = self.run(kernel, cell["source"])
        self.looked_at = text_of(self.run(kernel, LOOK))
        self.ask(f"api/kernels/{kernel}", method="DELETE")
        saved = {"type": "notebook", "format": "json", "content": notebook}
        assert self.ask(f"api/contents/{NOTEBOOK}", method="PUT", json=saved).ok
        return text_of(check["outputs"])

    def run(self, kernel: str, code: str) -> list[dict[str, Any]]:
        """The outputs of a cell, run over the websocket that JupyterLab uses."""
        address = f"{self.hub.address}/user/{self.name}/api/kernels/{kernel}/channels"
        content = {"code": code, "silent": False, "store_history": True, "user_expressions": {},
                   "allow_stdin": False, "stop_on_error": True}  # fmt: skip
        header = {"msg_id": uuid.uuid4().hex, "msg_type": "execute_request", "username": self.name,
                  "session": uuid.uuid4().hex, "date": "", "version": "5.3"}  # fmt: skip
        request = {"header": header, "parent_header": {}, "metadata": {}, "content": content,
                   "channel": "shell", "buffers": []}  # fmt: skip
        line = websocket.create_connection(address.replace("http", "ws", 1), header=self.token)
        try:
            line.send(json.dumps(request))
            return outputs_of(line, header["msg_id"])
        finally:
            line.close()

    def hand_in(self) -> None:
        """Copy in JupyterLab's file browser, and paste in the folder `hand-in`."""
        pasted = self.ask("api/contents/hand-in", method="POST", json={"copy_from": NOTEBOOK})
        assert pasted.status_code == 201, pasted.text


def outputs_of(line: websocket.WebSocket, request: str) -> list[dict[str, Any]]:
    outputs = []
    while True:
        message = json.loads(line.recv())
        kind, content = message["msg_type"], message["content"]
        if message["parent_header"].get("msg_id") != request:
            continue
        if kind == "status" and content["execution_state"] == "idle":
            return outputs
        assert kind != "error", content
        if kind in ("stream", "display_data", "execute_result"):
            content.pop("transient", None)
            outputs.append({"output_type": kind, **content})


def text_of(outputs: list[dict[str, Any]]) -> str:
    return "".join(one.get("text") or one["data"]["text/plain"] for one in outputs)


def test_a_class_on_a_hub_from_the_link_to_the_feedback(hub: Hub) -> None:
    hub.teacher("-m", "autograder", "release", "--unit", "0", "--into", "build/release")
    assert hub.script("publish", f"build/release/{UNIT}") == f"{UNIT}: handed out\n"
    assert Student(hub, "ada", hub.passwords["bob"]).login.status_code == 403
    ada, bob = students = [Student(hub, name, hub.passwords[name]) for name in STUDENTS]
    for student in students:
        student.start()
        student.follow_link()

    assert "passed" in ada.answer(RIGHT)
    library, transport = ada.looked_at.split()
    assert Path(library).resolve().is_relative_to(hub.folder / "srv" / "units")
    assert transport == "ipc", "no port on which others could read along"
    adas = ada.read(NOTEBOOK)
    mend_a_sentence(hub.folder / "build" / "release" / UNIT / f"{UNIT}.ipynb")
    assert f"{UNIT}.new.ipynb beside it" in hub.script("publish", f"build/release/{UNIT}")
    for student in students:
        student.follow_link()
    assert ada.read(NOTEBOOK) == adas
    assert MENDED in str(ada.read(NOTEBOOK.replace(".ipynb", ".new.ipynb")))
    assert MENDED in str(bob.read(NOTEBOOK)), "he had not begun, and has the newest"
    assert "not yet right" in bob.answer(WRONG)

    for student in students:
        student.hand_in()
    assert hub.script("collect", "--into", "submissions").startswith("submissions: 2 files")
    grade(hub)
    assert hub.script("give_back", "--grades", "build/grades").endswith("2 pages given back\n")
    only_the_own_work_can_be_read(ada, bob)


def mend_a_sentence(notebook: Path) -> None:
    before = notebook.read_text()
    assert before.count("Here is the line,") == 1
    notebook.write_text(before.replace("Here is the line,", MENDED))


def grade(hub: Hub) -> None:
    """In the sandbox, as the teacher; ada's answer earns its point, and bob's does not."""
    (hub.folder / "roster.csv").write_text("id,name\nada,Ada Lovelace\nbob,Bob Babbage\n")
    graded = hub.teacher("-m", "autograder", "grade", "--submissions", "submissions", "--unit", "0",
                         "--roster", "roster.csv", "--out", "build/grades")  # fmt: skip
    assert "2 to grade; sandbox: bubblewrap" in graded
    with (hub.folder / "build/grades/grades.csv").open(encoding="utf-8-sig") as file:
        points = {row["student"]: row["u00.intensity"] for row in csv.DictReader(file)}
    assert points == {"ada": "1", "bob": "0"}


def only_the_own_work_can_be_read(ada: Student, bob: Student) -> None:
    page = f"feedback/{UNIT}.html"
    assert "not yet right" in bob.read(page) and "not yet right" not in ada.read(page)
    assert "bobs_formula" not in ada.read(page)
    for student in (ada, bob):
        assert [one["name"] for one in student.read("feedback")] == [f"{UNIT}.html"]
    for path in (NOTEBOOK, page, f"hand-in/{UNIT}.ipynb", "hand-in", ""):
        assert ada.ask(f"api/contents/{path}").status_code == 200
        assert bob.ask(f"api/contents/{path}", of="ada").status_code == 403, path
    assert bob.ask("api/kernels", of="ada", method="POST", json={}).status_code == 403
    assert bob.session.get(f"{bob.hub.address}/user/ada/lab").status_code == 403, "in the browser"
    hubs = f"{bob.hub.address}/hub/api/users"
    assert requests.get(f"{hubs}/ada", headers=bob.token).status_code in (403, 404)
    assert requests.get(hubs, headers=bob.token).status_code == 403
