"""Evidence for an exercise of unit 3: a program whose operations were put into seven groups.

Some of the groups cannot be one kernel. The text, evidence.ir, is a graph that verifies;
`parse_graph` reads it. Next room: elsewhere.py.
"""

from pathlib import Path

EVIDENCE = Path(__file__).with_name("evidence.ir").read_text()

GROUPS: dict[str, tuple[str, ...]] = {
    "A": ("p", "q", "r"),
    "B": ("e", "h"),
    "C": ("g", "k"),
    "D": ("m", "n", "o", "s", "y"),
    "E": ("c", "d"),
    "F": ("i", "j"),
    "G": ("l", "t", "u", "z"),
}

REASONS = ("no such kernel", "is an output", "waits for itself", "is read outside")
