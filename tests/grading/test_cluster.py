"""Dask grades as the pool does, and a worker that is killed costs nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from autograder.check.verdict import GRADER
from autograder.edition.contents import COURSE, notebook_bytes
from autograder.edition.sources import sources
from autograder.grading import cluster
from autograder.grading.assignment import Assignment
from autograder.grading.classroom import grade_all
from autograder.grading.program import read
from autograder.grading.tasks import Task
from course_lib.bridges.cluster import TLS

pytest.importorskip("distributed")


@pytest.fixture
def todo(tmp_path: Path) -> list[Task]:
    """Three different answers to unit 0: ours, none, and one that ends its process."""
    (source,) = sources(COURSE / "notebooks", 0)
    tmp_path.chmod(0o755)
    assignment = Assignment.of(source, tmp_path / "editions")
    data = [notebook_bytes(source, solutions=flag) for flag in (True, False)]
    ends = data[1].replace(b"raise NotImplementedError", b"import os; os._exit(1)  #")
    programs = [read(content, assignment.explanations) for content in (*data, ends)]
    return [Task(f"s{k}", assignment, "", p, seed=1) for k, p in enumerate(programs)]


def test_same_reports_though_a_worker_is_killed(todo, tmp_path, monkeypatch):
    from distributed import Client

    killed: list[int] = []

    class Watched(Client):
        def __init__(self, **options):
            super().__init__(**options)
            threading.Thread(target=self.kill_one, daemon=True).start()

        def kill_one(self) -> None:
            client: Any = self  # its methods are awaitable where there is a loop; here they answer
            while not (busy := [w for w, tasks in client.processing().items() if tasks]):
                time.sleep(0.05)
            # For a function in C, distributed reads a signature with `ast.parse`, which in Python
            # 3.11 does not bear another thread that parses, as the grading does.
            pids = client.run(lambda: os.getpid())
            os.kill(pids[busy[0]], signal.SIGKILL)
            killed.append(pids[busy[0]])

    monkeypatch.setattr("distributed.Client", Watched)
    here = {t.student: r for t, r in grade_all(todo, tmp_path / "pool", jobs=2)}
    there = {t.student: r for t, r in grade_all(todo, tmp_path / "dask", 2, "dask")}
    faults = [v.problem for r in (*here.values(), *there.values()) for v in r.verdicts
              if v.kind == GRADER]  # fmt: skip
    assert not faults
    assert killed and here == there and set(here) == {"s0", "s1", "s2"}
    s0 = here["s0"]
    assert s0.earned - s0.bonus == s0.possible - s0.to_grade


def test_another_version_of_the_course_is_refused(todo):
    name, _, program, seed = cluster._plain(todo[0])
    with pytest.raises(ValueError, match="another version"):
        cluster.report_on(name, "0" * 64, program, seed)


def test_a_cluster_elsewhere_wants_certificates_or_the_word_insecure(
    class_of, untouched, monkeypatch, capsys
):
    for name in ("CA_FILE", "CLIENT__CERT", "CLIENT__KEY"):
        monkeypatch.delenv(f"{TLS}__{name}", raising=False)
    with pytest.raises(ValueError, match=r"10\.0\.0\.1:8786: .*certificates.*--insecure"):
        class_of({"ada.ipynb": untouched}, engine="dask://10.0.0.1:8786")
    assert "Insecure" not in capsys.readouterr().out

    def never(address: str, jobs: int, insecure: bool) -> None:
        raise ValueError(f"{address}: {insecure}")

    monkeypatch.setattr(cluster, "connected", never)
    with pytest.raises(ValueError, match=r"10\.0\.0\.1:8786: True"):
        class_of(engine="dask://10.0.0.1:8786", insecure=True)
    assert "Insecure: dask://10.0.0.1:8786 is used without TLS" in capsys.readouterr().out


def test_make_passes_the_word_on():
    command = ["make", "-n", "grade", "SUBMISSIONS=dir", "ENGINE=dask://h:1"]
    for more, said in ([], False), (["INSECURE=1"], True):
        done = subprocess.run([*command, *more], cwd=COURSE, capture_output=True, text=True)
        assert ("--engine dask://h:1 --insecure" in done.stdout) == said, done.stderr
        assert "--extras torch,llvm,lab,grade,cluster" in done.stdout


def test_an_unknown_engine_is_named(todo, tmp_path):
    with pytest.raises(ValueError, match="dask://HOST:PORT"):
        list(grade_all(todo, tmp_path, engine="slurm"))
