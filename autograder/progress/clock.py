"""Minutes spent, measured on the learner's own machine, only if they want it.

    measure_minutes()          from now on; measure_minutes(False) ends it
    hand_in_minutes()          shows this notebook's minutes; saved with it, they are handed in

The time between two events counts (a cell starts or ends, in whichever notebook) if it is at most
five minutes, for the notebook of the second event. Longer gaps do not count at all, so what is
measured is less than what was spent. There is one clock for all notebooks of a folder, so two that
run side by side count once. minutes.json holds the sums and the time of the last event; who deletes
it deletes all. Nothing leaves the machine but with a notebook whose output shows it.

Next room: state.py, which shows the sums beside the estimates.
"""

from __future__ import annotations

import json
import time
from typing import Any

from autograder.check.cards import Note, show
from autograder.check.keys import KEY, called
from autograder.check.overview import key_of_this_notebook
from autograder.progress.keep import MINUTES, Data, change, keeping, number, read, table

GAP = 300.0  # seconds between two events that still count
MIME = "application/vnd.course-minutes+json"
MOST = 10_000  # minutes that anybody may have spent
OTHERS = "start"  # notebooks that are neither unit nor lab
ON = (
    "Minutes are measured from now on, in minutes.json beside the notebooks, and sent nowhere. A "
    "gap of more than five minutes between two cells does not count. "
    "measure_minutes(False) ends it; deleting the file deletes all."
)
_last = 0.0


def measure_minutes(on: bool = True) -> Note:
    """Begin to measure how long you work in each notebook of this folder, or end it."""
    if not on and not MINUTES.exists():
        return Note("No minutes are measured here.")
    kept = change(MINUTES, lambda data: data.update(wanted=bool(on), last=time.time()))
    off = "No more minutes are measured; those until now stay in minutes.json."
    return Note((ON if on else off) if kept else "That could not be kept.")


def wanted() -> bool:
    """Does the learner want minutes to be measured?"""
    return MINUTES.exists() and read(MINUTES).get("wanted") is True


def minutes() -> dict[str, float]:
    """What was measured, by key of the notebook."""
    sums = table(read(MINUTES), "seconds")
    return {key: number(seconds) / 60 for key, seconds in sums.items()}


def hand_in_minutes() -> None:
    """Show the minutes of this notebook. The output is part of the notebook once it is saved: so
    they are handed in with it, and who clears the output hands in none."""
    key = key_of_this_notebook()
    spent = minutes().get(key or "", 0.0)
    if key is None or not spent:
        show(Note("No minutes were measured in this notebook, so none are handed in."))
        return
    from IPython.display import display  # only a notebook has an output that can be handed in

    text = (
        f"{spent:.0f} minutes in {called(key)}, measured on your machine. Save the notebook, and "
        "they are handed in with it; clear this output, and they are not."
    )
    data = {"key": key, "minutes": round(spent)}
    display({MIME: data, "text/plain": text, "text/html": Note(text)._repr_html_()}, raw=True)


def start(shell: Any) -> None:
    """Look at the clock when a cell of this kernel starts and when it ends."""
    for event in ("pre_run_cell", "post_run_cell"):
        shell.events.register(event, lambda *_: tick())


def tick(now: float | None = None) -> None:
    """Something happened in this notebook, at `now` in seconds. Events within a second are one."""
    global _last
    now = time.time() if now is None else now
    if not MINUTES.exists() or not keeping() or 0 <= now - _last < 1:
        return
    _last = now
    key = key_of_this_notebook() or OTHERS
    if read(MINUTES).get("wanted") is True:
        change(MINUTES, lambda data: count(data, key, now))


def count(data: Data, key: str, now: float) -> None:
    """Add the time since the last event, if it is no gap."""
    gap = now - number(data.get("last"))
    sums = data["seconds"] = table(data, "seconds")
    if 0 < gap <= GAP:
        sums[key] = round(number(sums.get(key)) + gap, 1)
    data["last"] = now


def handed_in(data: bytes) -> dict[str, float]:
    """Minutes by key that the outputs of a notebook file hold. It comes from outside: what is no
    notebook, and no sensible number, counts for nothing."""
    try:
        cells = json.loads(data.decode("utf-8-sig"))["cells"]
        outputs = [o for cell in cells if "outputs" in cell for o in cell["outputs"]]
        shown = [table(o["data"], MIME) for o in outputs if isinstance(o.get("data"), dict)]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return {}
    found = {str(one.get("key")): number(one.get("minutes")) for one in shown}
    return {key: spent for key, spent in found.items() if KEY.fullmatch(key) and 0 < spent < MOST}
