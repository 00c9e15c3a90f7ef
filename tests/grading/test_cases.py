"""A check that goes through a table: it stops at the first wrong row, and quotes every row."""

import pytest

from autograder.check import framework
from autograder.check.cases import for_each
from autograder.check.framework import Wrong

ROWS = [(1, 2, "one more"), (5, 6, "one more"), (0, 1, "zero too")]


@pytest.fixture
def check(monkeypatch):
    monkeypatch.setattr(framework, "_checks", table := {})

    @for_each("u99.more", ROWS, "{} numbers", spec="a number")
    def adds_one(more, number, wanted, spec):
        """One is added."""
        if more(number) != wanted:
            raise Wrong("One must be added.", program=str(number), spec=spec)

    return table["u99.more"]["adds_one"]


def test_the_check_has_the_name_the_property_and_the_words_of_its_table(check):
    assert check.property == "One is added."
    assert check.specs == ("a number", "one more", "zero too")
    assert check.function(lambda number: number + 1) == "3 numbers"


def test_the_first_wrong_row_is_told_with_its_words(check):
    with pytest.raises(Wrong) as caught:
        check.function(lambda number: number + 1 if number else 0)
    assert (caught.value.program, caught.value.spec) == ("0", "zero too")
