"""What a contest found, as text, as data and as a page.

    report = Report(found, machine(), "python -m course_lib bench mlp")
    print(report.text)
    write("mlp.html", report.page)         one file, nothing fetched, light and dark
    report.data                            {"machine": {...}, "rows": [{"system": "course", ...}]}

A ratio whose spread is larger than the difference that it claims is not printed: "not told apart"
stands in its place (`measure/claim.py`). Next room: `course_lib/commands/bench.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from textwrap import fill
from typing import Any

from course_lib.draw.base.picture import Picture, page
from course_lib.draw.base.svg import escape, tag
from course_lib.draw.base.units import digits
from course_lib.draw.plots.spreads import Spread, spreads
from course_lib.draw.plots.table import Cell, table
from course_lib.measure.claim import MARGIN, ROUNDS
from course_lib.peers.around import BUSY
from course_lib.peers.contest import Contest, Entry, claim_of, counted

LONG = 160  # letters of a reason that are shown; the data has all of them
NOTE = (
    "ms is the median of all rounds, a round the median of its calls; the quartiles are those of "
    "the rounds. A ratio is the middle one of the rounds' ratios. It is printed if it is farther "
    f"from 1 than the interval in which the true one lies is wide, and than {MARGIN:.0%}, by which "
    "two processes of the same program may differ. Where the whole interval is beyond that, one is "
    "called slower, even if nobody can say by how much. "
    f"Fewer than {ROUNDS} rounds tell nothing. "
    "Compiling is timed once, with nothing kept from earlier runs. Memory is the most that the "
    "process has had: the system, the weights, all."
)
CSS = (
    ".cl-report{max-width:76rem}.cl-report h1{font-size:1.5rem;margin:.2em 0}"
    ".cl-report h2{font-size:1.15rem;margin:1.6em 0 .4em}"
    ".cl-report p,.cl-report li{max-width:48rem;overflow-wrap:anywhere}"
    ".cl-report dl{display:grid;grid-template-columns:max-content 1fr;gap:.15em 1em;margin:.6em 0}"
    ".cl-report dt{color:var(--cl-muted)}.cl-report dd{margin:0;overflow-wrap:anywhere}"
    ".cl-report td,.cl-report th{white-space:nowrap}"
    "@media(max-width:30rem){.cl-report dl{display:block}.cl-report dd{margin:0 0 .4em}}"
)


@dataclass(frozen=True)
class Report:
    """`command` makes this report again."""

    found: Contest
    machine: dict[str, Any]
    command: str

    @cached_property
    def data(self) -> dict[str, Any]:
        """All that is known, as plain data."""
        return {
            "model": self.found.model,
            "command": self.command,
            "machine": self.machine,
            "others": {str(count): share for count, share in self.found.others.items()},
            "right": self.found.right,
            "interrupted": self.found.interrupted,
            "rows": [row(self.found, entry) for entry in self.found.entries],
        }

    @property
    def text(self) -> str:
        lines = [self.found.model, *(f"{name}: {words}" for name, words in self._facts())]
        for count in self.found.thread_counts:
            lines += ["", counted(count) + self._others(count)]
            if self.found.timed(count):
                lines += [str(self._table(count)), "", self._fastest(count)]
        if self._left_out:
            lines += ["", "left out:", *(f"  {words}" for words in self._left_out)]
        return "\n".join([*lines, "", fill(NOTE, 100)])

    @property
    def page(self) -> str:
        """The same as one HTML file."""
        facts = [tag("dt", escape(n)) + tag("dd", escape(words)) for n, words in self._facts()]
        parts = [tag("h1", escape(f"{self.found.model}: how fast is it where?")), tag("dl", *facts)]
        for count in self.found.thread_counts:
            parts += [tag("h2", escape(counted(count) + self._others(count)))]
            if self.found.timed(count):
                parts += [self._bars(count).html, self._table(count).html]
                parts += [tag("p", escape(self._fastest(count)))]
        if self._left_out:
            items = [tag("li", escape(words)) for words in self._left_out]
            parts += [tag("h2", "Left out"), tag("ul", *items)]
        parts += [tag("h2", "How it was measured"), tag("p", escape(NOTE))]
        style = tag("style", CSS)
        return page(f"{self.found.model}, benchmark", style, tag("main", *parts, klass="cl-report"))

    # ── its parts ──

    def _facts(self) -> list[tuple[str, str]]:
        m = self.machine
        many = f"{m['processors']} processor{'' if m['processors'] == 1 else 's'}"
        versions = dict.fromkeys(", ".join(e.version for e in self.found.entries).split(", "))
        governor = f"governor {m['governor']}" if m["governor"] else ""
        facts = [
            ("date", m["date"]),
            ("machine", ", ".join(filter(None, (m["processor"], many, m["code_for"])))),
            ("system", ", ".join(filter(None, (m["system"], f"Python {m['python']}", governor)))),
            ("busy", self._busy()),
            ("versions", ", ".join(filter(None, versions))),
            ("right", self.found.right),
            ("again with", self.command),
        ]
        ended = [("INTERRUPTED", "what was found until then")] if self.found.interrupted else []
        return [*ended, *((name, words) for name, words in facts if words)]

    def _busy(self) -> str:
        """What else the machine did: before, as a load, and meanwhile."""
        load, count = self.machine["load"], self.machine["processors"]
        shares = [share for share in self.found.others.values() if share is not None]
        before = f"load {load:g} on {count} before it began"
        during = f"other processes had {max(shares):.0%} of the time meanwhile" if shares else ""
        quiet = max(shares) <= BUSY if shares else load < 1
        verdict = "the machine was quiet" if quiet else "THE MACHINE WAS BUSY: measure again"
        return "; ".join(filter(None, (before, during, verdict)))

    def _others(self, count: int) -> str:
        share = self.found.others.get(count)
        if share is None or share <= BUSY:
            return ""
        return f", beside other processes with {share:.0%} of the processors"

    def _table(self, count: int) -> Picture:
        base = self.found.base(count)
        fast = self.found.fastest(count)
        headers = ["system", "ms", "from", "to", f"beside {base.system if base else ''}", "kernels",
                   "compile (ms)", "import (ms)", "peak (MB)", "error"]  # fmt: skip
        rows = [self._row(entry, base, fast) for entry in self.found.timed(count)]
        return table(rows, headers, title="Milliseconds of a call, quartiles, and what it costs")

    def _row(self, entry: Entry, base: Entry | None, fast: Sequence[Entry]) -> list[Cell]:
        low, high = entry.quartiles
        assert entry.seconds and base
        return [
            ("▸ " if entry in fast else "") + entry.system,
            1e3 * entry.seconds,
            None if low is None else 1e3 * low,
            None if high is None else 1e3 * high,
            "–" if entry is base else beside(base, entry),
            entry.kernels,
            whole(entry.compile_seconds, 1e3),
            whole(entry.import_seconds, 1e3),
            whole(entry.peak_bytes, 1e-6),
            None if entry.error is None else float(f"{entry.error:.0e}"),
        ]

    def _bars(self, count: int) -> Picture:
        rows = [
            Spread(e.system, 1e3 * (e.seconds or 0), *(q and 1e3 * q for q in e.quartiles),
                   marked=e in self.found.fastest(count))
            for e in self.found.timed(count)
        ]  # fmt: skip
        summary = "bar: median; line: from quartile to quartile of the rounds; ▸ fastest"
        return spreads(rows, "ms", f"Time of a call, {counted(count)}", summary)

    def _fastest(self, count: int) -> str:
        """Who is, and whether one may say so."""
        fast = [entry.system for entry in self.found.fastest(count)]
        return f"▸ fastest: {listed(fast)}" + (", not told apart" if len(fast) > 1 else "")

    @property
    def _left_out(self) -> list[str]:
        """Who has no times, and why; once where the reason does not depend on the threads."""
        counts = self.found.thread_counts
        reasons: dict[tuple[str, str], list[int]] = {}
        for entry in self.found.entries:
            if entry.problem:
                reasons.setdefault((entry.system, entry.problem), []).append(entry.threads)
        return [
            f"{name}{'' if mine == counts else ' on ' + listed(map(counted, mine))}: {short(why)}"
            for (name, why), mine in reasons.items()
        ]


def row(found: Contest, entry: Entry) -> dict[str, Any]:
    """One entry as plain data, with what may be said of it beside the base."""
    base, low, high = found.base(entry.threads), *entry.quartiles
    compared = base if base is not entry and entry.seconds is not None else None
    claim = claim_of(compared, entry) if compared else None
    return {
        **asdict(entry),
        "ms": None if entry.seconds is None else 1e3 * entry.seconds,
        "quartiles_ms": None if low is None or high is None else [1e3 * low, 1e3 * high],
        "beside": compared.system if compared else None,
        "ratio": claim.ratio if claim and claim.told else None,
        "told_apart": bool(claim.told or claim.order) if claim else None,
        "fastest": entry in found.fastest(entry.threads) if entry.seconds is not None else False,
    }


def whole(value: float | None, scale: float) -> int | None:
    """In another unit, without digits that one run does not have."""
    return None if value is None else round(value * scale)


def beside(base: Entry, entry: Entry) -> str:
    """How long it takes relative to the base, if that may be said."""
    claim = claim_of(base, entry)
    return f"{digits(claim.ratio, exactly=True)} times as long" if claim.told else str(claim)


def short(reason: str) -> str:
    """The first line of what a system says, as far as a list has room for it."""
    line = " ".join(reason.split("\n\n")[0].split())
    return line if len(line) <= LONG else line[: LONG - 1] + "…"


def listed(names: Iterable[str]) -> str:
    """ "a, b and c" """
    *front, last = names
    return f"{', '.join(front)} and {last}" if front else last
