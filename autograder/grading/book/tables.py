"""Tables as spreadsheets leave them, and as they like to find them.

    for row in read_table(Path("roster.csv"), ["id"]):
        row["id"], row.line

Read: comma, semicolon or tab; UTF-8 with or without a mark, UTF-16, and what Excel writes in the
West; a first line `sep=;`; ids as ="007"; blank lines and columns. Written: a cell that a
spreadsheet would take for a formula has an apostrophe before it, and reading takes it away again.

Next room: roster.py and by_hand.py, two tables that a teacher edits.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterable
from pathlib import Path

from autograder.edition.deliver import write

FORMULA = ("=", "+", "-", "@", "\t", "\r")
ROUNDED = re.compile(r"\d([.,]\d+)?E\+\d+", re.IGNORECASE)
MAX_BYTES = 20 << 20
MAX_CELL = 32_000  # characters; Excel cuts a cell off after 32,767


class Row(dict[str, str]):
    """One line of a table by its columns' names, in lower case. `line` is where it begins, `head`
    has the names as they stand there."""

    line = 0
    head: tuple[str, ...] = ()


def read_table(path: Path, columns: Iterable[str] = ()) -> list[Row]:
    """The rows of a CSV file. Raises ValueError where it is none or lacks one of `columns`."""
    text = _text(path)
    first, _, rest = text.partition("\n")
    skipped = 0
    if separator := re.fullmatch(r"sep=(.)\s*", first):
        text, skipped = rest, 1
    delimiter = separator[1] if separator else _delimiter(text)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    rows: list[Row] = []
    head: list[str] = []
    names: tuple[str, ...] = ()
    start = 1
    try:
        for cells in reader:
            line, start = start + skipped, reader.line_num + 1
            cleaned = [_cleaned(cell) for cell in cells]
            if not any(cleaned):
                continue
            if not head:
                names = tuple(filter(None, cleaned))
                head = [" ".join(cell.lower().split()) for cell in cleaned]
                continue
            cleaned += [""] * (len(head) - len(cleaned))
            row = Row((name, cell) for name, cell in zip(head, cleaned, strict=False) if name)
            row.line, row.head = line, names
            rows.append(row)
    except csv.Error as error:
        raise ValueError(f"{path.name}, line {reader.line_num}: {error}") from None
    missing = [name for name in columns if name not in head]
    if missing:
        there = ", ".join(filter(None, head)) or "none"
        raise ValueError(f"{path.name} has no column {missing[0]!r}; its columns are: {there}")
    return rows


def number(row: Row, column: str, where: str) -> float | None:
    """The number in a cell (1.5 or 1,5); None where it is empty. Raises ValueError for a word."""
    cell = row.get(column, "")
    if not cell:
        return None
    try:
        value = float(cell.replace(",", "."))
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ValueError(f"{where}, line {row.line}: {column} is {cell!r}, not a number")
    return value


def is_rounded(cell: str) -> bool:
    """True for 1.23457E+11: a spreadsheet has thrown digits away."""
    return ROUNDED.fullmatch(cell) is not None


def write_table(path: Path, head: list[str], rows: Iterable[Iterable[str]], mark: bool) -> Path:
    """Write a CSV file. `mark` begins it with the mark by which Excel knows that it is UTF-8."""
    table = io.StringIO()
    out = csv.writer(table, lineterminator="\n")
    out.writerow([harmless(cell) for cell in head])
    out.writerows([harmless(cell) for cell in row] for row in rows)
    encoding = "utf-8-sig" if mark else "utf-8"
    write(path, table.getvalue().encode(encoding, "replace"))
    return path


def harmless(text: str) -> str:
    """No cell that a spreadsheet takes for a formula; a negative number stays a number."""
    if text[:1] not in FORMULA or re.fullmatch(r"-?\d+(\.\d+)?", text):
        return text
    return f"'{text}"


def _text(path: Path) -> str:
    if path.stat().st_size > MAX_BYTES:
        raise ValueError(f"{path} has more than {MAX_BYTES >> 20} MB")
    data = path.read_bytes()
    if data.startswith(b"PK"):
        raise ValueError(f"{path} is a workbook; save it as CSV (UTF-8), please")
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16", "replace").lstrip("\ufeff")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")  # Excel's "CSV" in the West


def _delimiter(text: str) -> str:
    head = next((line for line in text.splitlines() if line.strip(",; \t")), "")
    return max(",;\t", key=head.count)


def _cleaned(cell: str) -> str:
    text = cell.replace("\xa0", " ").strip()
    if formula := re.fullmatch(r'="(.*)"', text):
        return formula[1].strip()
    return text[1:] if text[:1] == "'" and text[1:2] in FORMULA else text
