"""Every notebook runs in the 2 GB that a Binder gives; `make test` prints what each one needs.

    u02_rewrites, as students get it      616 MB of 1800 MB,  17 s
    u02_rewrites, solved                  947 MB of 1800 MB,  30 s

The figures are those of the notebook's kernel: its peak of memory and its processor time, once with
no exercise answered and once with all of them. JupyterLab's server comes on top; test_make_lab.py
holds it to 200 MB.
"""

import sys

import pytest

from autograder.edition.contents import COURSE
from autograder.edition.sources import Source, sources

LIMIT_MB = 2000 - 200
STATES = {"instructor": "solved", "student": "as students get it"}


@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is measured the Linux way")
@pytest.mark.parametrize("source", sources(COURSE / "notebooks"), ids=lambda source: source.name)
@pytest.mark.parametrize("edition", STATES)
def test_the_notebook_fits_into_a_binder(source: Source, edition: str, run_notebook, table):
    run = run_notebook(edition, unit=source.key)
    name = f"{source.name}, {STATES[edition]}"
    table("Peak memory of the notebooks", f"{name:<36} {run.peak_mb:5} MB of {LIMIT_MB} MB, "
          f"{run.cpu_seconds:3} s")  # fmt: skip
    assert run.peak_mb < LIMIT_MB, f"{name}: {run.peak_mb} MB; a Binder has {LIMIT_MB} MB"
