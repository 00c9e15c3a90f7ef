"""A report as other graders want it: Gradescope's results.json, GitHub Classroom's, a page of text.

    gradescope(report)      {"score": 8.0, "output": ..., "tests": [{"name": ..., "score": ...}]}
    classroom(report)       {"status": "pass", "max_score": 10, "tests": [...]}
    summary(report)         Markdown, for the page of a job

All three show a student the open part of each verdict (open_part.py), and the rest only where the
platform shows something when grades are published. What a person has to read has no score.

Gradescope's format: "Autograder Specifications", docs/specs.md of gradescope/autograder_samples,
2025-01-15. Classroom's: src/main.js and src/notify-classroom.js of the action
classroom-resources/autograding-grading-reporter, v1: it adds up `score` of all tests, and
`max_score` of all runners.

Next room: single.py, which grades one submission and writes these.
"""

from __future__ import annotations

import json
from base64 import b64encode
from pathlib import Path
from typing import Any

from autograder.check.verdict import PASSED, Verdict, headline, lacks_points, score
from autograder.edition.deliver import write
from autograder.grading.page import NO_POINTS_YET, WHAT_TO_DO
from autograder.grading.platforms.markdown import as_markdown, escaped
from autograder.grading.platforms.open_part import LATER, is_closed, open_part
from autograder.grading.report import Report
from autograder.process.start import unprotected

VISIBLE, PUBLISHED, NEVER = "visible", "after_published", "hidden"
WAITS = "Your teacher reads what is answered in words and adds its points."
NOT_YOURS = "This says nothing about your answers. Please show it to your teacher."
NO_FILE = "What was handed in"


def gradescope(report: Report) -> dict[str, Any]:
    """The content of results.json. `score` is what is certain; Gradescope adds nothing to it."""
    tests = [] if report.is_ungradable else _tests(report)
    if report.is_ungradable:
        why = "\n\n".join(map(escaped, (*report.notes, WHAT_TO_DO)))
        points = {"score": 0.0, "max_score": float(report.possible), "status": "failed"}
        tests = [{"name": NO_FILE, "number": "1", "output": why, "visibility": VISIBLE, **points}]
    return {
        "score": 0.0 if report.is_ungradable else float(report.earned),
        "output": _above(report),
        "output_format": "md",
        "test_output_format": "md",
        "test_name_format": "text",
        "visibility": VISIBLE,
        "stdout_visibility": NEVER,
        "extra_data": {
            "assignment": report.assignment,
            "assignment_digest": report.assignment_digest,
            "submission_digest": report.submission_digest,
            "sandbox": report.sandbox,
            "unprotected": unprotected(report.sandbox),
        },
        "tests": tests,
    }


def nothing_graded(why: str) -> dict[str, Any]:
    """A results.json for when the grader could not do its work."""
    output = escaped(f"Nothing was graded: {why} {NOT_YOURS}")
    return {"score": 0.0, "output": output, "output_format": "md", "stdout_visibility": NEVER,
            "tests": []}  # fmt: skip


def classroom(report: Report) -> dict[str, Any]:
    """What the reporter of GitHub Classroom adds up. An exercise whose verdict is not for the
    student yet is not in it, nor is what a person reads."""
    counted = [v for v in report.verdicts if v.earned is not None and not is_closed(v)]
    tests = [
        {"name": v.exercise, "status": "pass" if _is_whole(v) else "fail", "score": v.earned,
         "line_no": 0}
        for v in counted
    ]  # fmt: skip
    most = sum(v.points for v in counted if not v.further)
    whole = not report.is_ungradable and all(test["status"] == "pass" for test in tests)
    return {"version": 1, "status": "pass" if whole else "fail", "max_score": most, "tests": tests}


def write_output(report: Report, file: Path) -> None:
    """Add the line `result=...` to the file that GitHub names in GITHUB_OUTPUT."""
    encoded = b64encode(json.dumps(classroom(report)).encode()).decode()
    with file.open("a", encoding="utf-8") as stream:
        stream.write(f"result={encoded}\n")


def write_results(results: dict[str, Any], file: Path) -> None:
    """Replace results.json as a whole; what a student printed may be no text."""
    write(file, json.dumps(results, indent=1, ensure_ascii=False).encode("utf-8", "replace"))


def summary(report: Report) -> str:
    """The open part of the report as one page of Markdown."""
    parts = [f"## {escaped(report.assignment)}", _above(report)]
    if report.is_ungradable:
        return "\n\n".join([*parts, *map(escaped, report.notes), WHAT_TO_DO, ""])
    rows = [f"| `{v.exercise}` | {_words(v)} | {_points(v)} |" for v in report.verdicts]
    parts.append("\n".join(["| exercise | verdict | points |", "|---|---|--:|", *rows]))
    for verdict in report.verdicts:
        parts.append(f"### `{verdict.exercise}`: {_words(verdict)}\n\n{_open_text(verdict)}")
    return "\n\n".join([*parts, ""])


def _tests(report: Report) -> list[dict[str, Any]]:
    """One entry for each exercise, and one more for what is shown when grades are published."""
    tests: list[dict[str, Any]] = []
    for number, verdict in enumerate(report.verdicts, 1):
        title = f"{verdict.exercise}: {headline(verdict)}"
        whole = {"name": title, "number": f"{number}", "output": as_markdown(verdict)}
        whole |= {"visibility": VISIBLE, **_score(verdict)}
        if is_closed(verdict):
            shown = {"name": f"{verdict.exercise}: judged", "number": f"{number}.1"}
            tests.append({**shown, "output": LATER, "visibility": VISIBLE})
            whole |= {"number": f"{number}.2", "visibility": PUBLISHED}
        elif (part := open_part(verdict)) != verdict:
            tests.append({**whole, "number": f"{number}.1", "output": as_markdown(part)})
            whole = {"name": f"{verdict.exercise}: what the grader's own check has found",
                     "number": f"{number}.2", "output": as_markdown(verdict),
                     "status": "failed", "visibility": PUBLISHED}  # fmt: skip
        tests.append(whole)
    return tests


def _score(verdict: Verdict) -> dict[str, Any]:
    """Nothing for what a person has to look at: no 0, and neither passed nor failed."""
    if verdict.earned is None:
        return {"tags": ["by hand"]}
    mark = {"score": float(verdict.earned), "max_score": float(verdict.points)}
    tags = {"tags": ["bonus"]} if verdict.further else {}
    return {**mark, "status": "passed" if _is_whole(verdict) else "failed", **tags}


def _is_whole(verdict: Verdict) -> bool:
    return verdict.kind == PASSED and not lacks_points(verdict)


def _above(report: Report) -> str:
    """What stands above the exercises: the points that the student may know, and what waits."""
    if report.is_ungradable:
        return f"**{NO_POINTS_YET}**"
    shown = [v for v in report.verdicts if v.earned is not None and not is_closed(v)]
    later = [v for v in report.verdicts if v.earned is not None and is_closed(v)]
    earned = sum(v.earned or 0.0 for v in shown if not v.further)
    most = sum(v.points for v in shown if not v.further)
    bonus = sum(v.earned or 0.0 for v in shown if v.further)
    more = f" and a bonus of {bonus:g}" if bonus else ""
    sentences = [f"**{earned:g} of {most:g} points{more}** for what is judged at once."]
    if later:
        most = sum(v.points for v in later)
        sentences.append(f"{most:g} more are judged, and shown when the grades are published.")
    if report.to_grade:
        sentences.append(f"{report.to_grade:g} more are given by a person. {WAITS}")
    notes = [f"- {escaped(note)}" for note in report.notes]
    return "\n\n".join([" ".join(sentences), *(["\n".join(notes)] if notes else [])])


def _open_text(verdict: Verdict) -> str:
    return LATER if is_closed(verdict) else as_markdown(open_part(verdict))


def _words(verdict: Verdict) -> str:
    return "judged" if is_closed(verdict) else headline(verdict)


def _points(verdict: Verdict) -> str:
    return f"– of {verdict.points:g}" if is_closed(verdict) else score(verdict)
