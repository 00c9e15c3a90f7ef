"""What was delivered into a learner's folder, and which files there are still just that.

    mark("u02.ipynb", content)          "3f9a... 77b0...": a digest of its bytes, one of its cells
    is_still("u02.ipynb", theirs, m)    True if nobody has typed anything into it

JupyterLab rewrites a notebook that somebody only ran: outputs, metadata, ids, the JSON's layout, an
empty cell at its end. So what counts in a notebook is its cells: their kinds, sources, attachments
and order. Of another text, line ends do not count. A manifest of an older version has digests of
bytes alone.

While files are being replaced, the manifest names both versions, "old > new". If that is
interrupted, a look at the file tells which of them is there.

Next room: deliver.py, which decides by this what it may replace.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

MANIFEST = ".course-manifest.json"
PENDING = ">"


def mark(name: str, content: bytes) -> str:
    """What the manifest keeps of a file: a digest of its bytes and one of what was typed."""
    return f"{digest(content)} {_digest_of_text(name, content)}".rstrip()


def is_still(name: str, theirs: bytes, known: str) -> bool:
    """Is the learner's file what that mark was made of, as far as anybody typed it?"""
    of_bytes, _, of_text = known.partition(" ")
    if digest(theirs) == of_bytes:
        return True
    return bool(of_text) and _digest_of_text(name, theirs) == of_text


def is_same_version(known: str, new: str) -> bool:
    """Would what `new` marks bring nothing that was not delivered before?"""
    bytes_known, _, text_known = known.partition(" ")
    bytes_new, _, text_new = new.partition(" ")
    return bytes_known == bytes_new or (bool(text_new) and text_known == text_new)


def is_damaged(name: str, theirs: bytes) -> bool:
    """Is it called a notebook, and none?"""
    return name.endswith(".ipynb") and _cells(theirs) is None


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def read_manifest(folder: Path) -> dict[str, str]:
    """The mark of each file as it was delivered last."""
    try:
        kept = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    entries = kept.items() if isinstance(kept, dict) else ()
    settled = {str(name): _settled(folder / str(name), str(known)) for name, known in entries}
    return {name: known for name, known in settled.items() if known}


def manifest_text(marks: Mapping[str, str]) -> bytes:
    return json.dumps(dict(marks), indent=1, sort_keys=True).encode()


def pending(known: str, new: str) -> str:
    """The mark of a file that is about to be replaced."""
    return f"{known} {PENDING} {new}"


def _settled(path: Path, known: str) -> str:
    """Which of "old > new" it was."""
    old, is_pending, new = (part.strip() for part in known.partition(PENDING))
    if not is_pending:
        return known
    return new if path.is_file() and is_still(path.name, path.read_bytes(), new) else old


def _digest_of_text(name: str, content: bytes) -> str:
    """A digest of what a person may have typed; "" if it is a notebook that cannot be read."""
    if not name.endswith(".ipynb"):
        return digest(content.replace(b"\r\n", b"\n"))
    cells = _cells(content)
    return "" if cells is None else digest(json.dumps(cells, sort_keys=True).encode())


def _cells(content: bytes) -> list[Any] | None:
    """Kind, source and attachments of each cell that is not empty; None if it is no notebook."""
    try:
        cells = [_cell(cell) for cell in json.loads(content.decode("utf-8-sig"))["cells"]]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None
    return [cell for cell in cells if cell[1] or cell[2]]


def _cell(cell: dict[str, Any]) -> tuple[str, str, Any]:
    source = cell["source"]  # a text, or a list of lines
    text = "".join(source).replace("\r\n", "\n").rstrip()
    return cell["cell_type"], text, cell.get("attachments") or {}
