"""A prediction, asked on a page: a form that keeps the guess and then says how far off it is.

    predict("u02.left", ..., unit="operations")   ->   Your guess, in operations: [    ] [Compare]
    compare("u02.left", 58)                       ->   It is 58 operations.

static/reader.js remembers guesses in the reader's own browser and compares them as
`autograder/notebook.py` does. Without JavaScript, the answer stands folded below the question.
"""

from __future__ import annotations

import ast
import html
import re
from collections.abc import Iterable
from typing import Any

# What `compare` says where nobody has guessed, as in the notebooks that the site is made from.
SAID = re.compile(r"It is (?P<answer>[^\n]*)\. You made no prediction for (?P<key>[\w.]+)\.")
UNKNOWN = "No answer came out where this page was made; further down it says why."


def answers(cells: Iterable[Any]) -> dict[str, str]:
    """What came out, of each prediction that the executed cells compare: {"u02.left": "58 ops"}."""
    texts = (str(text) for cell in cells for text in _texts(cell))
    return {said["key"]: said["answer"] for text in texts for said in SAID.finditer(text)}


def asked(source: str) -> list[tuple[str, str]]:
    """The predictions of a code cell: (key, unit)."""
    return [
        (call.args[0].value, next((k.value.value for k in call.keywords if k.arg == "unit"), ""))  # type: ignore[attr-defined]
        for statement in statements(source)
        if (call := call_of(statement, "predict"))
    ]


def without(source: str) -> str:
    """The cell without its predictions; nothing, if there is nothing else in it."""
    gone = {
        line
        for statement in statements(source)
        if call_of(statement, "predict")
        for line in range(statement.lineno, (statement.end_lineno or statement.lineno) + 1)
    }
    lines = enumerate(source.splitlines(), 1)
    return "\n".join(text for number, text in lines if number not in gone).strip()


def statements(source: str) -> list[ast.stmt]:
    """Of a cell, also of one that begins with a magic; none where it is no Python."""
    lines = ("" if line.startswith(("%", "!")) else line for line in source.splitlines())
    try:
        return ast.parse("\n".join(lines)).body
    except SyntaxError:
        return []


def call_of(statement: ast.stmt, name: str) -> ast.Call | None:
    """The call, if the statement is one of this function and nothing else."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == name:
        return call
    return None


def form(key: str, unit: str, answer: str | None) -> str:
    """The question as HTML on one line, because Markdown stands around it."""
    words = html.escape(unit)
    label = f"Your guess, in {words}" if unit else "Your guess"
    said = f"It is {html.escape(answer)}." if answer else UNKNOWN
    field = '<input type="number" step="any" required autocomplete="off">'
    return (
        f'<div class="prediction" role="group" aria-label="Prediction" data-key="{key}"'
        f' data-unit="{words}" data-answer="{html.escape(answer or "")}">'
        f"<form hidden><label>{label} {field}</label> <button>Compare</button></form>"
        '<p class="said" role="status"></p>'
        '<button class="again" hidden>Guess again</button>'
        f"<details><summary>The answer, without a guess</summary><p>{said}</p></details></div>"
    )


def compared(output: Any) -> Any:
    """An output of `compare` as a reader gets it: the answer, to which the guess will be added."""
    data = output.get("data", {})
    said = SAID.search(data.get("text/plain", ""))
    if said:
        sentence = f"It is {html.escape(said['answer'])}."
        data["text/plain"] = f"It is {said['answer']}."
        data["text/html"] = f'<p class="answer" role="note" data-key="{said["key"]}">{sentence}</p>'
    return output


def _texts(cell: Any) -> list[Any]:
    outputs = cell.get("outputs", [])
    return [output.get("data", {}).get("text/plain", output.get("text", "")) for output in outputs]
