"""What is updated in a learner's folder, and what is never touched.

    run, not changed        ->  replaced by a newer version, whatever JupyterLab wrote into the file
    typed into              ->  kept; the newer version arrives beside it
    start.ipynb             ->  always the newest; what was typed into it is kept beside it

test_jupyterlab.py has the same with files that JupyterLab itself has saved.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import nbformat
import pytest

from autograder.edition.deliver import deliver
from autograder.edition.manifest import MANIFEST

NAME = "u02_rewrites.ipynb"


def notebook(*texts: str) -> bytes:
    """A delivered notebook: one Markdown cell, then code cells with these sources."""
    cells = [nbformat.v4.new_markdown_cell("# Unit\n\nTwo lines.", id="title")]
    cells += [nbformat.v4.new_code_cell(t, id=f"c-{k}") for k, t in enumerate(texts)]
    page = nbformat.v4.new_notebook(cells=cells, metadata={"language_info": {"name": "python"}})
    return (nbformat.writes(page) + "\n").encode()


V1, V2 = notebook("x = 1\nx"), notebook("x = 2\nx")


def run_only(data: bytes) -> bytes:
    """As an editor saves it after a run: outputs, counts, other metadata, an empty last cell."""
    page = nbformat.reads(data.decode(), as_version=4)
    for count, cell in enumerate(page.cells, 1):
        cell.metadata["execution"] = {"iopub.status.busy": "2026-01-01T00:00:00Z"}
        if cell.cell_type == "code":
            cell.execution_count = count
            cell.outputs = [nbformat.v4.new_output("stream", text="hello\n")]
    page.metadata["kernelspec"] = {"name": "other", "display_name": "Other"}
    page.cells.append(nbformat.v4.new_code_cell("", id="empty"))
    return nbformat.writes(page).encode()


def other_ids(data: bytes) -> bytes:
    page = json.loads(data)
    for number, cell in enumerate(page["cells"]):
        cell["id"] = f"new-{number}"
    return json.dumps(page).encode()


def no_ids(data: bytes) -> bytes:
    """As an older editor saves it: format 4.4."""
    page = json.loads(data)
    page["nbformat_minor"] = 4
    for cell in page["cells"]:
        del cell["id"]
    return json.dumps(page, indent=1, sort_keys=True).encode()


def whole_texts(data: bytes) -> bytes:
    """Sources as one text instead of a list of lines, keys in another order."""
    page = json.loads(data)
    for cell in page["cells"]:
        cell["source"] = "".join(cell["source"])
    return json.dumps(dict(reversed(page.items())), indent=4).encode()


def windows_lines(data: bytes) -> bytes:
    return data.replace(b"\n", b"\r\n").replace(b"\\n", b"\\r\\n")


def with_signature(data: bytes) -> bytes:
    return b"\xef\xbb\xbf" + data.rstrip()


REWRITTEN = [run_only, other_ids, no_ids, whole_texts, windows_lines, with_signature]


def typed_code(page):
    page["cells"][1]["source"] = ["x = 3\n", "x"]


def typed_text(page):
    page["cells"][0]["source"].append("\nMy note.")


def added_text(page):
    page["cells"].append({"cell_type": "markdown", "metadata": {}, "source": ["My note."]})


def added_code(page):
    page["cells"].insert(1, {**page["cells"][1], "source": ["print(1)"]})


def added_picture(page):
    picture = {"image.png": {"image/png": "AAAA"}}
    page["cells"].append(
        {"cell_type": "markdown", "metadata": {}, "source": [], "attachments": picture}
    )


def other_kind(page):
    page["cells"][1] = {"cell_type": "raw", "metadata": {}, "source": ["x = 1\n", "x"]}


def other_order(page):
    page["cells"].reverse()


def deleted_cell(page):
    del page["cells"][1]


TYPED = [typed_code, typed_text, added_text, added_code, added_picture, other_kind, other_order,
         deleted_cell]  # fmt: skip


def changed(data: bytes, change) -> bytes:
    page = json.loads(run_only(data))
    change(page)
    return json.dumps(page, indent=1).encode()


def folder(tmp_path: Path) -> dict[str, bytes]:
    """What lies there, without the manifest."""
    files = {p.relative_to(tmp_path).as_posix(): p for p in tmp_path.rglob("*") if p.is_file()}
    return {name: path.read_bytes() for name, path in files.items() if name != MANIFEST}


def manifest_of_old(tmp_path: Path, files: dict[str, bytes]) -> None:
    """As earlier versions of the course wrote it: a digest of the bytes, and nothing else."""
    marks = {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}
    (tmp_path / MANIFEST).write_text(json.dumps(marks))
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)


@pytest.mark.parametrize("rewrite", REWRITTEN)
def test_a_notebook_that_was_only_run_is_replaced_by_the_newer_one(rewrite, tmp_path):
    deliver({NAME: V1}, tmp_path)
    (tmp_path / NAME).write_bytes(rewrite(V1))
    assert deliver({NAME: V1}, tmp_path) == []
    assert folder(tmp_path) == {NAME: rewrite(V1)}, "there is nothing newer: outputs stay"
    assert deliver({NAME: V2}, tmp_path) == [f"{NAME}: updated"]
    assert folder(tmp_path) == {NAME: V2}


@pytest.mark.parametrize("change", TYPED)
def test_what_was_typed_is_kept_and_the_newer_one_is_beside_it(change, tmp_path):
    deliver({NAME: V1}, tmp_path)
    mine = changed(V1, change)
    (tmp_path / NAME).write_bytes(mine)
    assert deliver({NAME: V1}, tmp_path) == []
    (said,) = deliver({NAME: V2}, tmp_path)
    assert "you changed it" in said
    assert folder(tmp_path) == {NAME: mine, "u02_rewrites.new.ipynb": V2}


def test_a_newer_version_beside_that_was_only_run_is_replaced_and_goes_when_it_is_not_needed(
    tmp_path,
):
    beside = "u02_rewrites.new.ipynb"
    deliver({NAME: V1}, tmp_path)
    mine = changed(V1, typed_code)
    (tmp_path / NAME).write_bytes(mine)
    deliver({NAME: V2}, tmp_path)
    (tmp_path / beside).write_bytes(run_only(V2))
    assert deliver({NAME: V2}, tmp_path) == []
    deliver({NAME: notebook("x = 3")}, tmp_path)
    assert folder(tmp_path) == {NAME: mine, beside: notebook("x = 3")}
    (tmp_path / NAME).unlink()
    deliver({NAME: notebook("x = 3")}, tmp_path)
    assert folder(tmp_path) == {NAME: notebook("x = 3")}


def test_a_start_page_that_was_only_run_is_the_newest_one(tmp_path):
    deliver({"start.ipynb": V1}, tmp_path)
    (tmp_path / "start.ipynb").write_bytes(run_only(V1))
    deliver({"start.ipynb": V2}, tmp_path)
    assert folder(tmp_path) == {"start.ipynb": V2}


def test_a_start_page_with_notes_makes_room_for_the_newest_one(tmp_path):
    deliver({"start.ipynb": V1}, tmp_path)
    first, second = changed(V1, added_text), changed(V2, typed_text)
    (tmp_path / "start.ipynb").write_bytes(first)
    assert deliver({"start.ipynb": V1}, tmp_path) == []
    assert folder(tmp_path) == {"start.ipynb": first}, "it is the newest, with notes in it"
    (said,) = deliver({"start.ipynb": V2}, tmp_path)
    assert "your version is now start.mine.ipynb" in said
    (tmp_path / "start.ipynb").write_bytes(second)
    deliver({"start.ipynb": notebook("x = 3")}, tmp_path)
    assert folder(tmp_path) == {
        "start.ipynb": notebook("x = 3"), "start.mine.ipynb": first, "start.mine2.ipynb": second,
    }  # fmt: skip


@pytest.mark.parametrize("damage", [b"", b"{", V1[:-40], b"\xff\xfe", b"[]", b'{"cells": [1]}'])
def test_a_notebook_that_cannot_be_read_stays_and_a_fresh_one_is_beside_it(damage, tmp_path):
    deliver({NAME: V1, "start.ipynb": V1}, tmp_path)
    for name in (NAME, "start.ipynb"):
        (tmp_path / name).write_bytes(damage)
    said = " ".join(deliver({NAME: V1, "start.ipynb": V1}, tmp_path))
    assert f"{NAME}: it cannot be read as a notebook" in said
    wanted = {NAME: damage, "u02_rewrites.new.ipynb": V1, "start.ipynb": V1,
              "start.mine.ipynb": damage}  # fmt: skip
    assert folder(tmp_path) == wanted
    assert deliver({NAME: V1, "start.ipynb": V1}, tmp_path) == []
    assert folder(tmp_path) == wanted


def test_a_deleted_notebook_comes_again_and_a_renamed_one_stays(tmp_path):
    deliver({NAME: V1}, tmp_path)
    (tmp_path / NAME).rename(tmp_path / "my homework.ipynb")
    deliver({NAME: V2}, tmp_path)
    assert folder(tmp_path) == {NAME: V2, "my homework.ipynb": V1}


def test_a_read_only_notebook_is_replaced_only_if_nothing_was_typed(tmp_path):
    deliver({NAME: V1, "b.ipynb": V1}, tmp_path)
    mine = changed(V1, typed_code)
    (tmp_path / "b.ipynb").write_bytes(mine)
    for name in (NAME, "b.ipynb"):
        (tmp_path / name).chmod(0o444)
    deliver({NAME: V2, "b.ipynb": V2}, tmp_path)
    assert folder(tmp_path) == {NAME: V2, "b.ipynb": mine, "b.new.ipynb": V2}


def test_other_files_differ_if_more_than_their_line_ends_does(tmp_path):
    deliver({"a.py": b"x\ny\n", "b.py": b"x\n"}, tmp_path)
    (tmp_path / "a.py").write_bytes(b"x\r\ny\r\n")
    (tmp_path / "b.py").write_bytes(b"x  # mine\n")
    deliver({"a.py": b"2\n", "b.py": b"2\n"}, tmp_path)
    assert folder(tmp_path) == {"a.py": b"2\n", "b.py": b"x  # mine\n", "b.new.py": b"2\n"}


def test_what_is_there_to_be_read_is_read_only_and_the_newest(tmp_path):
    name = "library/course_lib/compiler.py"
    deliver({name: b"1\n"}, tmp_path)
    assert (tmp_path / name).stat().st_mode & 0o222 == 0
    (tmp_path / name).chmod(0o644)
    (tmp_path / name).write_bytes(b"mine\n")
    deliver({name: b"2\n"}, tmp_path)
    mine = "library/course_lib/compiler.mine.py"
    assert folder(tmp_path) == {name: b"2\n", mine: b"mine\n"}


def test_a_manifest_of_an_earlier_version_is_understood(tmp_path):
    files = {name: V1 for name in ("run.ipynb", "same.ipynb", "typed.ipynb", "start.ipynb")}
    manifest_of_old(tmp_path, files)
    for name in ("run.ipynb", "start.ipynb"):
        (tmp_path / name).write_bytes(run_only(V1))
    mine = changed(V1, typed_code)
    (tmp_path / "typed.ipynb").write_bytes(mine)
    assert deliver(files, tmp_path) == [], "nothing is newer, and each file is noted anew"
    assert folder(tmp_path)["run.ipynb"] == run_only(V1)
    deliver(dict.fromkeys(files, V2), tmp_path)
    assert folder(tmp_path) == {
        "run.ipynb": V2, "same.ipynb": V2, "start.ipynb": V2, "typed.ipynb": mine,
        "typed.new.ipynb": V2,
    }  # fmt: skip


def test_start_pages_that_an_earlier_version_left_behind_become_one(tmp_path):
    """It took a start page that was only run for changed, and laid each newer one beside it."""
    manifest_of_old(tmp_path, {"start.ipynb": V1, "start.new.ipynb": V2})
    (tmp_path / "start.ipynb").write_bytes(run_only(V1))
    deliver({"start.ipynb": notebook("x = 3")}, tmp_path)
    # Of the bytes alone nobody can tell that nothing was typed: so that page is kept.
    assert folder(tmp_path) == {"start.ipynb": notebook("x = 3"), "start.mine.ipynb": run_only(V1)}


@pytest.mark.parametrize("at", range(5))
def test_an_interruption_at_any_file_loses_nothing_and_the_next_update_knows_what_is_there(
    at, tmp_path, monkeypatch
):
    names = ("a.ipynb", "b.ipynb", "c.ipynb")
    deliver(dict.fromkeys(names, V1), tmp_path)
    mine = changed(V1, typed_code)
    (tmp_path / "b.ipynb").write_bytes(mine)
    replace, count = os.replace, iter(range(100))

    def interrupted(*paths):
        if next(count) == at:
            raise KeyboardInterrupt
        replace(*paths)

    with monkeypatch.context() as patch:
        patch.setattr("os.replace", interrupted)
        with pytest.raises(KeyboardInterrupt):
            deliver(dict.fromkeys(names, V2), tmp_path)
    for name, data in folder(tmp_path).items():
        assert data in (V1, V2, mine), name
        if data != mine:
            (tmp_path / name).write_bytes(run_only(data))  # between the two, it is run
    newest = notebook("x = 3")
    deliver(dict.fromkeys(names, newest), tmp_path)
    found = folder(tmp_path)
    assert found == {**dict.fromkeys(names, newest), "b.ipynb": mine, "b.new.ipynb": newest}
