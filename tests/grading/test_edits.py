"""Wrong answers that are ours with a few words replaced."""

import pytest

from autograder.check import exemplars
from autograder.check.edits import edited, text_of
from autograder.check.framework import alternative, mutants
from course_lib.exercises import slot
from course_lib.ir.graph.build import neg, relu, trace


def test_an_edit_changes_the_answer_and_leaves_the_library_alone():
    ours = slot("u99.sweep").reference
    every = edited(ours, "if n in kept or n in graph.inputs", "if True or n in kept")
    graph = trace(lambda x: (neg(x), relu(x))[1], "f32[2]")
    dead = type(graph)("dead", graph.inputs, (*graph.nodes, neg(graph.inputs[0])), graph.outputs)
    assert len(every(dead).ops) == 2 and len(ours(dead).ops) == 1


def test_an_edit_reaches_what_the_file_keeps_private():
    assert "def _needed(" in text_of(slot("u99.sweep").reference)
    none = edited(slot("u99.sweep").reference, "set(topological_order(graph.outputs))", "set()")
    assert not none(trace(neg, "f32[2]")).ops


def test_words_that_stand_nowhere_or_twice_are_an_error():
    for words in ("no such words", "graph"):
        with pytest.raises(ValueError, match="times in the text of our answer"):
            edited(slot("u99.sweep").reference, words, "")


def test_a_name_is_given_once(monkeypatch):
    monkeypatch.setattr(exemplars, "_mutants", {})
    mutants("u99.bytes", given_twice=lambda: 0)
    with pytest.raises(ValueError, match="two answers are called given_twice"):
        mutants("u99.bytes", given_twice=lambda: 0)


def test_a_second_lambda_does_not_take_the_place_of_the_first(monkeypatch):
    monkeypatch.setattr(exemplars, "_alternatives", {})
    alternative("u99.bytes")(lambda: 24)
    with pytest.raises(ValueError, match="two answers are called <lambda>"):
        alternative("u99.bytes")(lambda: 24.0)
