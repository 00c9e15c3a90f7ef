"""Files that the user names: what cannot be written leaves the old one, what cannot be read is
refused in words.

    quantize mlp -o int8.onnx     ->   error: int8.onnx cannot be written: No space left on device;
    on a full disk                     its old contents are still there
"""

import errno
import os
import re
import resource
import stat
import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from course_lib.__main__ import main
from course_lib.files import read_text, readable, replacing, sweep, write

WRITERS = {
    "quantize": ("quantize", "mlp", "-o", "out.onnx"),
    "show": ("show", "mlp", "-o", "out.svg"),
    "show, as MLIR": ("show", "mlp", "--stage", "mlir", "-o", "out.mlir"),
    "look": ("look", "mlp", "--kernel", "matmul_add_relu_0", "-o", "out.html"),
    "tune": ("tune", "mlp", "--budget", "0.1", "--measure", "model", "-o", "out.json"),
    "run": ("run", "mlp", "--target", "systolic", "--trace", "out.json"),
    "systolic": ("systolic", "-m", "4", "-n", "4", "-k", "4", "--trace", "out.json"),
}


@contextmanager
def small_files(limit):
    """The system itself refuses to let a file grow beyond `limit` bytes, as it does on a full disk
    (with another number: there is no full disk for someone who is not root)."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("words", WRITERS.values(), ids=WRITERS)
def test_a_command_that_cannot_write_leaves_the_old_file(words, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("COURSE_LIB_CACHE", "off")
    path = tmp_path / words[-1]
    path.write_text("old")
    with small_files(100):
        status = main([*words[:-1], str(path)])
    error = capsys.readouterr().err
    assert status == 1 and len(error.splitlines()) == 1, error
    assert f"{path} cannot be written: " in error and "its old contents are still there" in error
    assert path.read_text() == "old" and os.listdir(tmp_path) == [path.name]


def test_a_full_disk_is_told_in_words(tmp_path, monkeypatch):
    def half(self, data):
        with self.open("wb") as file:
            file.write(data[:2])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "write_bytes", half)
    with pytest.raises(OSError, match=r"new\.txt cannot be written: No space left on device$"):
        write(tmp_path / "new.txt", "text")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("end", [KeyboardInterrupt, ValueError, SystemExit])
def test_whatever_ends_it_leaves_no_file_behind(tmp_path, end):
    with pytest.raises(end), replacing(tmp_path / "new.txt") as unfinished:
        unfinished.write_text("half")
        raise end
    assert os.listdir(tmp_path) == []


def test_a_file_keeps_its_rights_and_a_link_stays_a_link(tmp_path):
    (tmp_path / "real").write_text("old")
    (tmp_path / "real").chmod(0o640)
    (tmp_path / "link").symlink_to("real")
    write(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "real").read_text() == "new"
    assert stat.S_IMODE((tmp_path / "real").stat().st_mode) == 0o640
    assert sorted(os.listdir(tmp_path)) == ["link", "real"]


def test_anew_nothing_of_the_old_file_stays(tmp_path):
    (tmp_path / "real").write_text("old")
    (tmp_path / "fresh").touch()
    for name in ("real", "link"):
        if name == "link":
            (tmp_path / "link").symlink_to("real")
        (tmp_path / "real").chmod(0o444)
        with replacing(tmp_path / name, anew=True) as unfinished:
            unfinished.write_text(name)
    assert (tmp_path / "real").read_text() == "real", "what the link named is as it was"
    rights = [(tmp_path / name).lstat().st_mode for name in ("link", "fresh")]
    assert rights[0] == rights[1], "a file with the rights of a new one"


def test_what_a_killed_process_left_unfinished_is_swept_away_and_nothing_else(tmp_path):
    killed = """if True:
        import os
        from course_lib.files import replacing
        with replacing("report.html") as unfinished:
            unfinished.write_text("half")
            os._exit(9)"""
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / ".mine.tmp").write_text("notes")
    done = subprocess.run([sys.executable, "-c", killed], cwd=tmp_path / "in", check=False)
    assert done.returncode == 9 and len(os.listdir(tmp_path / "in")) == 2
    sweep(tmp_path)
    assert os.listdir(tmp_path / "in") == [".mine.tmp"]


def test_files_are_written_under_another_name_in_one_place_only(root):
    """`deliver` makes room for a newer version, `release` and `assignment` put a whole folder
    there, and `keep` sets a broken file aside."""
    files = [file for package in ("course_lib", "autograder", "lessons")
             for file in (root / package).rglob("*.py")]  # fmt: skip
    found = {
        file.name for file in files if re.search(r"os\.replace\(|\.rename\(", file.read_text())
    }
    assert found == {"assignment.py", "deliver.py", "keep.py", "release.py"}


def test_a_pipe_is_written_to_and_not_replaced(tmp_path):
    pipe, got = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()))
    reader.start()
    write(pipe, "through")
    reader.join()
    assert got == [b"through"] and stat.S_ISFIFO(pipe.stat().st_mode)


def test_the_output_of_a_command_may_be_a_pipe():
    code = "from course_lib.files import write; write('/dev/stdout', 'through')"
    piped = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (piped.returncode, piped.stdout, piped.stderr) == (0, "through", "")


def test_a_name_of_any_length_that_the_system_allows_can_be_written(tmp_path):
    assert read_text(write(tmp_path / ("é" * 127), "text")) == "text"


@pytest.mark.parametrize(
    ("name", "why"),
    [("folder", "Is a directory"), ("nowhere/x", "No such file"), ("file/x", "Not a directory")],
)
def test_what_is_no_place_for_a_file_is_told_in_words(tmp_path, name, why):
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("old")
    with pytest.raises(OSError, match=f"{name} cannot be written: {why}"):
        write(tmp_path / name, "text")
    assert sorted(os.listdir(tmp_path)) == ["file", "folder"] and not os.listdir(
        tmp_path / "folder"
    )


def test_a_folder_that_may_not_be_written_to_is_told_in_words(tmp_path, monkeypatch):
    """Root may write everywhere, so the system's answer is given here."""

    def refuse(self, exist_ok=True):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    (tmp_path / "x").write_text("old")
    monkeypatch.setattr(Path, "touch", refuse)
    with pytest.raises(OSError, match="x cannot be written: Read-only file system; its old"):
        write(tmp_path / "x", "text")
    assert read_text(tmp_path / "x") == "old"


# ── reading ──


@pytest.mark.parametrize("read", [read_text, readable])
def test_a_folder_is_called_a_folder(tmp_path, read):
    with pytest.raises(ValueError, match="is a folder, not a file"):
        read(tmp_path)
    with pytest.raises(ValueError, match=r"there is no file .*nowhere"):
        read(tmp_path / "nowhere")


def test_bytes_that_are_no_text_are_named(tmp_path):
    (tmp_path / "x").write_bytes(b"abc\xff")
    with pytest.raises(ValueError, match=r"x is not text in UTF-8: byte 3 is 0xff"):
        read_text(tmp_path / "x")


def test_a_device_is_not_read_as_a_model():
    with pytest.raises(ValueError, match="/dev/zero is a device or a pipe"):
        readable("/dev/zero")


def test_a_file_without_permission_is_told_in_words(tmp_path, monkeypatch):
    (tmp_path / "x").write_text("text")
    monkeypatch.setattr(os, "access", lambda path, how: False)  # root may read everything
    with pytest.raises(ValueError, match="you do not have permission"):
        readable(tmp_path / "x")


def _npz(path: Path, **arrays) -> bytes:
    np.savez(path, **arrays)
    return path.read_bytes()


DAMAGE = {
    "empty": lambda whole: b"",
    "text": lambda whole: b"no arrays",
    "cut off": lambda whole: whole[: len(whole) // 2],
    "another checksum": lambda whole: whole.replace(b"\x01" * 8, b"\x02" * 8),
    "another header": lambda whole: whole.replace(b"'descr'", b"'xescr'"),
    "a name that is no zip": lambda whole: b"PK\x03\x04" + whole[4:60],
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_damaged_inputs_are_told_in_words(tmp_path, capsys, damage):
    path = tmp_path / "x.npz"
    path.write_bytes(damage(_npz(path, x=np.frombuffer(b"\x01" * 3136, "f4").reshape(1, 784))))
    assert main(["run", "mlp", "--inputs", str(path)]) == 1
    assert "x.npz: cannot be read as an .npz file of arrays: " in capsys.readouterr().err


def test_objects_and_things_that_are_no_arrays_are_told_in_words(tmp_path, capsys):
    objects, single = tmp_path / "objects.npz", tmp_path / "single.npy"
    np.savez(objects, x=np.array([{}]))
    np.save(single, np.zeros(3))
    for path, why in ((objects, "Object arrays cannot be loaded"), (single, "it holds one array")):
        assert main(["run", "mlp", "--inputs", str(path)]) == 1
        assert why in capsys.readouterr().err
