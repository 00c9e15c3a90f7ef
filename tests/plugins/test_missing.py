"""A compiler that is not installed, or not in the version that its door knows: words, no trace."""

import sys
from importlib import metadata
from importlib.util import find_spec

import pytest

from course_lib.__main__ import main


@pytest.mark.parametrize("there", [None, "0.13.2"])
def test_a_door_whose_compiler_is_missing_says_so(there, monkeypatch, capsys):
    def version(name):
        if there is None:
            raise metadata.PackageNotFoundError(name)
        return there

    ours = ("course_lib.plugins.tinygrad", "course_lib.plugins.pin")
    for name in [name for name in sys.modules if name.startswith(ours)]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(metadata, "version", version)
    assert main(["plug", "mlp", "--into", "tinygrad"]) == 1
    said = capsys.readouterr().err
    assert "pip install tinygrad==0.14.0" in said and (there or "missing") in said


def test_tinygrad_is_here(missing):
    """The other tests of this room are skipped without it; in CI, that is an error."""
    if find_spec("tinygrad") is None:
        missing("tinygrad")
