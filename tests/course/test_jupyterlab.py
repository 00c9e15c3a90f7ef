"""JupyterLab in a real browser: a student opens unit 2, answers wrongly, reads why, answers right.
Another runs the start page and goes from there to the library; the page is updated all the same.
A third goes through a unit with the arrow keys, which pass folded cells by, and has run all of it.
A third takes an answer of unit 2 into unit 3 and looks at everything that shows what it does.

The course is built as `make lab` builds it; the server is JupyterLab's own, the browser Debian's
chromium. The student types into the notebook's cells; what is asserted is what the page shows.
"""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder import dashboard
from autograder.check.folded import FOLDED
from autograder.edition.contents import contents
from autograder.edition.deliver import deliver

IMPORTS = "from course_lib.ir.graph.graph import Graph\n\n\n"

WRONG = """@implements("passes.dce")
def dce(graph):
    live = [n for n in graph.nodes if n.op == "input" or n in graph.outputs or graph.users()[n]]
    return Graph(graph.name, graph.inputs, tuple(live), graph.outputs)
"""  # one round only: what fed a dead node becomes dead itself

RIGHT = """@implements("passes.dce")
def dce(graph):
    needed = set(graph.outputs)
    for node in reversed(graph.nodes):
        if node in needed:
            needed.update(node.inputs)
    kept = tuple(n for n in graph.nodes if n in needed or n.op == "input")
    return Graph(graph.name, graph.inputs, kept, graph.outputs)
"""

# Every cell is in the page from the start, and nothing asks about news or builds.
SETTINGS = {
    "@jupyterlab/notebook-extension/tracker": {"windowingMode": "none"},
    "@jupyterlab/apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
}


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory, root: Path) -> Path:
    """A fresh course, as `make lab` builds it."""
    course = tmp_path_factory.mktemp("lab") / "course"
    build = [sys.executable, "-m", "autograder", "build", "--edition", "open", "--into"]
    subprocess.run([*build, str(course)], cwd=root, check=True, capture_output=True)
    return course


@pytest.fixture(scope="module")
def lab(course: Path) -> Iterator[str]:
    """The address of a JupyterLab that runs there."""
    home = course.parent / "home"
    for name, values in SETTINGS.items():
        path = home / "lab" / f"{name}.jupyterlab-settings"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(values))
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = {
        **os.environ,
        "JUPYTERLAB_SETTINGS_DIR": str(home / "lab"),
        "JUPYTERLAB_WORKSPACES_DIR": str(home / "workspaces"),
        "JUPYTER_CONFIG_DIR": str(home / "config"),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", f"--port={port}",
               "--ServerApp.port_retries=0", "--IdentityProvider.token=", "--ip=127.0.0.1",
               "--LabApp.expose_app_in_browser=True", f"--notebook-dir={course}"]  # fmt: skip
    log = (course.parent / "lab.log").open("w")
    server = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
    try:
        address = f"http://127.0.0.1:{port}"
        _wait_for(address, server, course.parent / "lab.log")
        yield address
    finally:
        server.terminate()
        server.wait()
        log.close()


def _wait_for(address: str, server: subprocess.Popen, log: Path) -> None:
    for _ in range(1200):
        try:
            urllib.request.urlopen(f"{address}/api/status", timeout=60).close()
            return
        except OSError:
            assert server.poll() is None, log.read_text()[-2000:]
            time.sleep(0.5)
    raise AssertionError(f"JupyterLab did not start: {log.read_text()[-2000:]}")


# The notebook is open, and its kernel answers: what is run before that is lost.
READY = """async () => {
    const panel = window.jupyterapp?.shell.currentWidget;
    if (panel?.sessionContext?.session?.kernel?.connectionStatus !== "connected") return false;
    await panel.context.ready;
    await panel.sessionContext.ready;
    await panel.sessionContext.session.kernel.info;
    return true;
}"""

AT_THE_END = """() => {
    const notebook = window.jupyterapp.shell.currentWidget.content;
    notebook.activeCellIndex = notebook.widgets.length - 1;
    return window.jupyterapp.commands.execute("notebook:insert-cell-below");
}"""


# What the cells of the open notebook have come to: folded, run, and the errors they ended in.
CELLS = """() => window.jupyterapp.shell.currentWidget.content.widgets
    .filter(cell => cell.model.type === "code")
    .map(({ model, inputHidden }) => ({
        id: model.id, folded: inputHidden, count: model.executionCount,
        errors: model.outputs.toJSON().filter(one => one.output_type === "error"),
    }))"""
TOP = """() => {
    const notebook = window.jupyterapp.shell.currentWidget.content;
    notebook.activeCellIndex = 0;
    notebook.mode = "command";
    notebook.activeCell.node.focus();
}"""
PLACE = "() => window.jupyterapp.shell.currentWidget.content.activeCellIndex"


class Notebook:
    """The notebook that is open in the page, driven as a person would: click, type, run."""

    def __init__(self, page) -> None:
        self.page = page

    def run_all(self) -> None:
        """Braces: the call starts the run and does not wait for its end."""
        self.page.evaluate("() => { window.jupyterapp.commands.execute('notebook:run-all-cells') }")

    def wait_for_kernel(self) -> None:
        for _ in range(1200):
            if self.page.evaluate(READY):
                return
            self.page.wait_for_timeout(500)
        raise AssertionError("the notebook's kernel does not answer")

    def settle(self) -> None:
        idle = ".jp-Notebook-ExecutionIndicator[data-status=idle]"
        self.page.wait_for_timeout(500)
        self.page.wait_for_selector(idle, state="attached")

    def run_down(self) -> None:
        """From the first cell to the last, with Ctrl+Enter and the arrow key alone."""
        before, place = -1, 0
        self.page.evaluate(TOP)
        while before != place:
            self.page.keyboard.press("Control+Enter")
            self.page.keyboard.press("ArrowDown")
            before, place = place, self.page.evaluate(PLACE)
        running = self.page.locator(".jp-Notebook .jp-InputPrompt", has_text="*")
        while running.count():
            self.page.wait_for_timeout(200)

    def is_idle(self) -> bool:
        return self.page.locator(".jp-Notebook-ExecutionIndicator[data-status=idle]").count() > 0

    def cell(self, text: str):
        return self.page.locator(".jp-Notebook .jp-CodeCell", has_text=text).first

    def answer(self, cell, source: str) -> None:
        editor = cell.locator(".cm-content")
        editor.click()
        self.page.keyboard.press("Control+A")
        self.page.keyboard.insert_text(source)
        self.run(cell)

    def add(self, source: str):
        """A cell at the end, run. Returns its outputs."""
        self.page.evaluate(AT_THE_END)
        cell = self.page.locator(".jp-Notebook .jp-CodeCell").last
        cell.locator(".cm-content").click()
        self.page.keyboard.insert_text(source)
        self.page.keyboard.press("Control+Enter")
        return self.page.locator(".jp-Notebook .jp-CodeCell").last.locator(".jp-Cell-outputArea")

    def run(self, cell) -> None:
        cell.locator(".cm-content").click()
        self.page.keyboard.press("Control+Enter")
        self.settle()


def opened(browser, lab: str, name: str) -> Notebook:
    """This notebook of the course alone, with its kernel: each has a workspace of its own, because
    JupyterLab opens again what was open in a workspace before."""
    page = browser.new_page(viewport={"width": 1300, "height": 900})
    page.set_default_timeout(600_000)
    page.goto(f"{lab}/lab/workspaces/{name}/tree/{name}.ipynb")
    page.wait_for_selector(".jp-Notebook .jp-CodeCell")
    notebook = Notebook(page)
    notebook.wait_for_kernel()
    return notebook


def test_a_student_answers_wrongly_then_rightly(lab: str, browser) -> None:
    from playwright.sync_api import expect

    notebook = opened(browser, lab, "u02_rewrites")
    page = notebook.page
    stub = notebook.cell('@implements("passes.dce")')
    verdict = notebook.cell('check("passes.dce")')
    output = verdict.locator(".jp-OutputArea")

    expect.set_options(timeout=600_000)
    notebook.run_all()
    expect(output).to_contain_text("not attempted yet")
    notebook.settle()
    assert page.locator(".jp-RenderedText[data-mime-type*=stderr]").all_inner_texts() == []

    notebook.answer(stub, IMPORTS + WRONG)
    notebook.run(verdict)
    expect(output.locator(".verdict.failed")).to_contain_text("not yet right")
    expect(output.locator(".verdict.failed")).to_contain_text("graph @")  # the smallest program,
    expect(output.locator(".verdict.failed svg").first).to_be_visible()  # as text and drawn

    notebook.answer(stub, IMPORTS + RIGHT)
    notebook.run(verdict)
    expect(output.locator(".verdict.passed")).to_contain_text("passed")
    assert output.locator(".verdict svg").count() == 0  # passing is quiet


SAVE = "() => window.jupyterapp.commands.execute('docmanager:save')"


def test_a_start_page_that_was_run_and_saved_leads_to_the_library_and_is_updated(
    lab: str, course: Path, browser
) -> None:
    from playwright.sync_api import expect

    expect.set_options(timeout=600_000)
    before = {path.name for path in course.iterdir()}
    start = course / "start.ipynb"
    delivered = start.read_bytes()
    notebook = opened(browser, lab, "start")
    page, cell = notebook.page, notebook.cell("course_lib.compile")
    notebook.run(cell)
    expect(cell.locator(".jp-OutputArea")).to_contain_text("kernels")
    page.evaluate(SAVE)
    assert start.read_bytes() != delivered and b"execution_count" in start.read_bytes()

    page.get_by_role("link", name="course_lib/compiler.py").click()
    expect(page.locator(".jp-FileEditor .cm-content")).to_contain_text("The front door")

    files = contents("open")
    newer = files["start.ipynb"] = delivered.replace(b"Does it work here?", b"Does it run here?")
    assert deliver(files, course) == ["start.ipynb: updated"]
    assert start.read_bytes() == newer
    assert {path.name for path in course.iterdir()} <= {*before, ".ipynb_checkpoints"}


def test_the_arrow_key_and_ctrl_enter_alone_run_a_notebook_to_its_end(lab: str, browser) -> None:
    notebook = opened(browser, lab, "u12_systolic")
    notebook.run_down()
    cells = notebook.page.evaluate(CELLS)
    assert [cell["id"] for cell in cells if cell["errors"]] == []
    assert {bool(cell["count"]) for cell in cells if not cell["folded"]} == {True}
    passed_by = [cell["id"] for cell in cells if cell["folded"]]
    assert passed_by and all(name.endswith(FOLDED) for name in passed_by), "the imports, for one"


# Passes its checks, and cannot cope with one program.
FALLS = IMPORTS + RIGHT.replace(
    "    needed", "    {}[graph.name] if graph.name == 'softmax' else 0\n    needed", 1
)
EXPLORE = """from course_lib.explore import explore
import numpy as np
from course_lib.ir.graph.build import matmul, relu
explore(lambda x: relu(matmul(x, x)), np.ones((8, 8), np.float32))"""
PLAY = """from course_lib.playground.playground import playground
@implements("passes.cse")
def cse(graph):
    return {}[graph.name]
playground("repeat")"""
OUTPUTS = ".jp-Notebook .jp-OutputArea-output"
TOO_WIDE = (
    f"[...document.querySelectorAll('{OUTPUTS}')].filter(e => e.scrollWidth > e.clientWidth + 1)"
)


CHANGE_THEME = "(theme) => window.jupyterapp.commands.execute('apputils:change-theme', { theme })"


def wrong_for_axe(page, missing) -> list[tuple[str, str]]:
    """What axe-core finds in the outputs, and only there: JupyterLab's own page has faults."""
    try:
        from axe_playwright_python.sync_playwright import Axe
    except ImportError:
        missing("axe-playwright-python")
    found = Axe().run(page, context=OUTPUTS).response["violations"]
    return [(rule["id"], node["html"]) for rule in found for node in rule["nodes"]]


def saved_with(book: Path, answer: str) -> None:
    """The notebook file with this answer in the cell of `passes.dce`."""
    content = json.loads(book.read_text())
    (cell,) = [c for c in content["cells"] if '@implements("passes.dce")' in "".join(c["source"])]
    cell["source"] = answer
    book.write_text(json.dumps(content))


def test_what_an_answer_of_unit_2_does_in_unit_3_can_be_seen(
    lab: str, course: Path, browser, missing, monkeypatch
) -> None:
    from playwright.sync_api import expect

    expect.set_options(timeout=600_000)
    saved_with(course / "u02_rewrites.ipynb", FALLS)
    notebook = opened(browser, lab, "u03_fusion")
    page = notebook.page
    it_is_plugged_in_and_taken_out(notebook, course, expect)
    it_is_explored_and_played_with(notebook, expect)

    output = notebook.add("dashboard()")
    expect(output.locator("summary", has_text="Rewrites")).to_contain_text("2 of 12 points")
    monkeypatch.chdir(course)
    expect(output.locator("strong").first).to_have_text(repr(dashboard()).splitlines()[0])

    stopped = notebook.add('unplug("passes.cse")\nyour_compiler()')
    expect(stopped).to_contain_text("of 12: counting")
    while not notebook.is_idle():
        page.evaluate("() => window.jupyterapp.commands.execute('notebook:interrupt-kernel')")
        page.wait_for_timeout(500)
    expect(stopped).to_contain_text("You stopped it. Nothing was kept")

    page.set_viewport_size({"width": 880, "height": 900})  # with the file browser open, 510 px
    assert page.evaluate(f"{TOO_WIDE}.map(e => e.textContent.slice(0, 200))") == []
    for theme, light in (("Light", "true"), ("Dark", "false")):
        page.evaluate(CHANGE_THEME, f"JupyterLab {theme}")
        page.wait_for_selector(f"body[data-jp-theme-light={light}]", state="attached")
        assert wrong_for_axe(page, missing) == []


def it_is_plugged_in_and_taken_out(notebook: Notebook, course: Path, expect) -> None:
    output = notebook.add('from autograder import *\nuse_my("u02")\ncheck("passes.dce")')
    expect(output).to_contain_text("Plugged in from u02_rewrites.ipynb: passes.dce.")
    expect(output.locator(".verdict.passed")).to_be_visible()
    saved_with(course / "u02_rewrites.ipynb", FALLS + "# better\n")
    output = notebook.add(
        "from course_lib.passes.clean.dce import dce\n"
        "from course_lib.playground.programs import PROGRAMS\n"
        "len(dce(PROGRAMS['softmax'].graph).nodes)"
    )
    expect(output).to_contain_text('use_my("passes.dce") takes the new one')
    expect(output.locator(".verdict.failed")).to_contain_text("Your passes.dce was taken out")
    expect(output).to_contain_text("Mend it in u02_rewrites.ipynb")


def it_is_explored_and_played_with(notebook: Notebook, expect) -> None:
    page = notebook.page
    output = notebook.add(EXPLORE)
    expect(output).to_contain_text("from the graph to instructions")
    page.locator("input.cl-tab0").focus()
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    expect(output.locator(".cl-form:visible")).to_contain_text("define ")
    assert page.evaluate("document.activeElement.className") == "cl-tab4", "not JupyterLab's keys"

    notebook.add(f'use_my("passes.dce")\n{PLAY}')
    frame = page.frame_locator("iframe").last
    expect(frame.locator(".pg-passes")).to_contain_text("Yours: cse, dce; the library's: fold")
    for name in ("dce", "cse"):
        frame.locator(".pg-passes button", has_text=name).first.click()
    expect(frame.locator(".pg-wrong")).to_contain_text(
        "The pass 'cse' crashed on @repeat: KeyError"
    )
    frame.get_by_label("cse: earlier").click()
    expect(frame.locator(".pg-chain")).to_have_text(re.compile("as written.*cse.*failed.*dce"))
