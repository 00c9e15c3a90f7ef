"""A specification in sentences, and those that no check is about."""

from __future__ import annotations

import pytest

from autograder.check import framework
from autograder.check.framework import background, checks
from autograder.check.sentences import sentences, span_of, to_the_end, uncovered
from autograder.soundness.exercise import exemplars, not_there_yet, own_problems, unchecked
from course_lib.exercises import slot

TEXT = """Remove every node that no output needs. Inputs stay: they
are the signature.

A node stays if
- an output needs it, e.g. a root;
- it is an input. Unused inputs, too;
  they count.
Otherwise it goes.

nodes    the program, in order
returns  the same program. Names as `a. B` are kept,
         and so is 0, 1, 2 ... in order

These are examples:

    %0 = neg(%a). Not a sentence.
    %1 = relu(%a)

(The first goes.) Is it fast? It is!

>>> sweep(graph). Nor this.
graph @main

Done in 0.5 ms
"""


def test_sentences():
    assert sentences(TEXT) == [
        "Remove every node that no output needs.",
        "Inputs stay: they are the signature.",
        "an output needs it, e.g. a root;",
        "it is an input.",
        "Unused inputs, too; they count.",
        "Otherwise it goes.",
        "nodes the program, in order",
        "returns the same program.",
        "Names as `a. B` are kept, and so is 0, 1, 2 ... in order",
        "These are examples:",
        "(The first goes.)",
        "Is it fast?",
        "It is!",
        "Done in 0.5 ms",
    ]


@pytest.mark.parametrize(
    "quote, shown",
    [
        ("Inputs stay", "Inputs stay: they are the signature."),
        ("that no output\nneeds", "that no output needs."),
        ("an output needs it", "an output needs it, e.g. a root"),
        ("Unused inputs", "Unused inputs, too; they count."),
        (
            "Remove every node ... needs. Inputs",
            "Remove every node ... needs. Inputs stay: they are the signature.",
        ),
        ("Names as `a", "Names as `a. B` are kept, and so is 0, 1, 2 ... in order"),
        ("Is it fast?", "Is it fast?"),
        ("A node stays if", "A node stays if"),
        ("not in the text", "not in the text"),
        ("", ""),
    ],
)
def test_a_verdict_quotes_to_the_end_of_the_sentence(quote, shown):
    assert to_the_end(quote, TEXT) == shown


def test_a_quotation_covers_the_sentences_that_it_touches():
    everything = sentences(TEXT)
    assert uncovered(TEXT, []) == everything
    assert uncovered(TEXT, ["no output\nneeds. Inputs stay"]) == everything[2:]
    assert uncovered(TEXT, ["an output needs it ... It is!"]) == [*everything[:2], everything[-1]]
    assert uncovered(TEXT, ["words of another text"]) == everything


def test_three_dots_stand_for_what_is_between_unless_the_text_has_them():
    assert span_of("0, 1, 2 ... in order", TEXT) is not None
    assert span_of("Inputs ... It is!", TEXT) is not None
    assert span_of("It is! ... Inputs", TEXT) is None


@pytest.fixture
def own_lists(monkeypatch):
    unchecked(slot("u99.sweep"))  # loaded before the copies are made
    copies = {name: dict(found) for name, found in framework._checks.items()}
    monkeypatch.setattr(framework, "_checks", copies)
    monkeypatch.setattr(framework, "_background", {})


def test_a_sentence_needs_a_check_or_a_reason(own_lists):
    entry = slot("u99.sweep")
    (left,) = unchecked(entry)
    assert left == "Inputs stay."
    assert f"no check is about: {left}" in not_there_yet(entry)
    background(entry.name, "Inputs stay", because="a test says so")
    assert unchecked(entry) == []


def test_a_check_may_be_about_several_sentences(own_lists):
    @checks("u99.sweep", spec=["Remove every node", "Inputs stay"])
    def several(sweep):
        """Two sentences."""

    assert unchecked(slot("u99.sweep")) == []


def test_words_that_are_not_in_the_text_are_a_problem(own_lists):
    background("u99.sweep", "Outputs stay", because="a test says so")
    assert any("'Outputs stay'" in p for p in own_problems(slot("u99.sweep")))


def test_a_failure_quotes_what_its_check_declares(own_lists):
    entry = slot("u99.sweep")
    given = exemplars(entry)
    assert ("leaves_nothing_dead", "Remove every node that no output needs.") in given.quotes
    assert not [p for p in not_there_yet(entry, given) if "does not declare" in p]
    known = framework._checks[entry.name]
    object.__setattr__(known["leaves_nothing_dead"], "specs", ("Inputs stay",))
    try:
        assert any("does not declare: 'Remove every" in p for p in not_there_yet(entry, given))
    finally:
        object.__setattr__(known["leaves_nothing_dead"], "specs", ("Remove every node",))


def test_background_needs_a_reason():
    with pytest.raises(ValueError, match="a reason"):
        background("u99.sweep", "Inputs stay", because="")
