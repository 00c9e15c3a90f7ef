"""Executing a notebook: many at once, and in words where one fails.

make site and the workers of make test start several kernels at the same moment
"""

from concurrent.futures import ThreadPoolExecutor

import nbformat
import pytest

from autograder.edition.execute import execute


@pytest.fixture
def notebook(tmp_path):
    def write(name, *code):
        cells = [nbformat.v4.new_code_cell(source) for source in code]
        nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / name)
        return tmp_path / name

    return write


def test_kernels_that_start_together_in_one_folder_do_not_meet(notebook):
    paths = [notebook(f"{n}.ipynb", f"print({n})") for n in range(4)]
    with ThreadPoolExecutor(len(paths)) as pool:
        list(pool.map(execute, paths))
    done = [nbformat.read(path, as_version=4) for path in paths]
    assert [one.cells[0].outputs[0].text for one in done] == ["0\n", "1\n", "2\n", "3\n"]
    assert all(one.metadata["used"]["peak_mb"] > 10 for one in done)


def test_a_cell_that_fails_is_named_and_the_file_stays_as_it_was(notebook):
    path = notebook("broken.ipynb", "x = 1", "x / 0")
    before = path.read_bytes()
    with pytest.raises(ValueError, match=r"(?s)broken\.ipynb does not run.*ZeroDivisionError"):
        execute(path)
    assert path.read_bytes() == before
