"""The course as a map: its parts and units, what each needs first, and what it leaves changed.

    for part in atlas(index, sources(folder)):     Part("I", "Graphs", (Unit("u00", "The tour", ...
    unit.needs                                     ("u01", "u02")
    drawn(units)                                   {"u03": ("u02",)}: u02 needs u01 already

Parts, names and questions are those of notebooks/index.md; minutes and points are counted from the
notebooks. Only what stands nowhere else is written here. A unit without a notebook is planned: it
has its question and nothing more.

Next room: start.py, which writes the start page from the same lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from autograder.edition.minutes import about, core, estimate
from autograder.edition.sources import Source
from autograder.edition.start import UNIT

PART = re.compile(r"### Part ([IVX]+)\. (.+)")
PLANNED = " *Planned.*"

# Of each unit and lab: what must be known, and what the student's own code has then changed.
WHAT: dict[str, tuple[str, str]] = {
    "u00": ("", "Your formula says how many cycles each of two networks takes on a chip."),
    "u01": ("u00", "Your function finds the nodes of an ONNX file that need not run each time."),
    "u02": ("u01", "Your passes remove the operations of a model that need not be computed."),
    "u03": ("u01 u02", "Your pass decides which operations of ResNet-18 share a kernel."),
    "u04": ("u01 u03", "Your planner says where the values of five networks lie in memory."),
    "u05": ("u00", "Your counter finds the multiply-adds in the LLVM IR of each kernel."),
    "u06": ("u00 u01 u04", "Your three pieces choose instructions, registers and their order."),
    "u07": ("u00", "Your schedule makes a matrix product wait less for memory."),
    "u08": ("u07", "Your rule judges whether two loops may change places."),
    "u09": ("u07", "Your beam search schedules the kernels of ResNet-18."),
    "u10": ("u01 u03", "Your pattern removes transposes before they become loops."),
    "u11": ("u10", "Your passes cut a product into tiles and move data while the chip computes."),
    "u12": ("u00", "Your array multiplies two matrices, clock by clock."),
    "u13": ("u00 u12", "A whole model runs on the chip with your tiles, places and products."),
    "u14": ("u00 u01", "Your partitioner divides a model between the chip and the processor."),
    "u15": ("u01 u03", "torch.compile runs a transformer block on kernels of our compiler."),
    "u16": ("u01 u03", "Your table says which hardware each of the compilers reaches."),
    "u17": ("u02 u03", "Your rule sends the products of a small network to our chip."),
    "u18": ("u03", "Your two functions measure fairly, and say what may be claimed."),
    "u07_lab_matmul": ("u07", "Your C++ multiplies matrices in tiles that read packed copies."),
    "u09_lab_tuners": ("u09", "Your cost model sorts schedules that it has not seen."),
    "u10_lab_toy": ("u10", "Your operation goes from a program's text to a printed number."),
    "u14_lab_byoc": ("u13 u14", "Your backend lets TVM start our chip for its dense layers."),
    "u15_lab_block": ("u15", "Your measurement says what compiling a transformer block bought."),
    "u16_lab_stages": ("u04 u16", "Your program runs a network without an operating system."),
    "u18_lab_report": ("u18", "Your report answers which compiler to use for a model of yours."),
}


@dataclass(frozen=True)
class Unit:
    """A unit or lab; one that is planned has no source."""

    key: str
    name: str
    question: str  # a lab has that of its heading
    source: Source | None = None
    labs: tuple[Unit, ...] = ()

    @property
    def needs(self) -> tuple[str, ...]:
        """The keys of the units that its text asks the reader to know."""
        return tuple(WHAT[self.key][0].split()) if self.source else ()

    @property
    def changed(self) -> str:
        """What the student's code has changed at its end, in a sentence."""
        return WHAT[self.key][1] if self.source else ""

    @property
    def minutes(self) -> int:
        """Of its core, estimated; 0 if it is planned."""
        return about(core(estimate(self.source.cells()))) if self.source else 0


@dataclass(frozen=True)
class Part:
    numeral: str
    name: str
    units: tuple[Unit, ...]


def atlas(index: str, sources: Iterable[Source]) -> list[Part]:
    """The parts of the course. `index` is the text of notebooks/index.md."""
    found = {source.key: source for source in sources}
    parts: list[Part] = []
    units: list[Unit] = []
    for line in index.splitlines():
        if match := PART.fullmatch(line):
            units = []
            parts.append(Part(match[1], match[2], ()))
        elif parts and (match := UNIT.fullmatch(line)):
            units.append(_unit(f"u{match[1]}", match[2], match[3], found))
            parts[-1] = Part(parts[-1].numeral, parts[-1].name, tuple(units))
    return parts


def drawn(units: Iterable[Unit]) -> dict[str, tuple[str, ...]]:
    """Of each unit the needs that do not follow from another one: what a map draws."""
    needs = {unit.key: set(unit.needs) for unit in units}
    further: dict[str, set[str]] = {}
    for key in sorted(needs):  # a unit needs earlier ones only
        further[key] = needs[key].union(*(further.get(need, set()) for need in needs[key]))
    return {
        key: tuple(sorted(n for n in own if not any(n in further.get(m, ()) for m in own)))
        for key, own in needs.items()
    }


def _unit(key: str, name: str, question: str, found: dict[str, Source]) -> Unit:
    labs = [s for s in found.values() if s.is_lab and s.key.startswith(f"{key}_")]
    return Unit(key, name, question.removesuffix(PLANNED), found.get(key), tuple(map(_lab, labs)))


def _lab(source: Source) -> Unit:
    title = source.title.removeprefix("Lab: ")
    return Unit(source.key, "Lab", title, source)
