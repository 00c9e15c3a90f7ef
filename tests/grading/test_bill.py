"""A bill is a table of rows that units pass: counts keep their digits, times have three."""

from typing import Any

import numpy as np
import pytest

from lessons.bill import bill_of

HEADS = ["nest", "what", "misses", "times", "nothing yet"]
ROWS = [["plate", "as written", 98304, 1234.5, None], ["row", "yours", 1536, 1.0, None]]


def test_counts_keep_their_digits_and_times_have_three():
    text = bill_of(ROWS, HEADS, "one more time").text
    assert "98,304" in text and "1,230" in text and "1,234" not in text
    assert text.startswith("one more time") and "as written" in text


def test_numbers_of_numpy_are_numbers():
    row: list[Any] = ["plate", np.int64(98304), np.float32(1234.5)]
    text = bill_of([row], ["nest", "misses", "ms"]).text
    assert "98,304" in text and "1,230" in text


def test_a_bill_that_counts_nothing_is_refused():
    with pytest.raises(ValueError, match="a bill of nest, misses has no rows"):
        bill_of([], ["nest", "misses"])
    with pytest.raises(ValueError, match="this one nothing: \\['row', None\\]"):
        bill_of([["plate", 3], ["row", None]], ["nest", "misses"])
    with pytest.raises(ValueError, match="a row has 5 cells, the table 2 columns"):
        bill_of(ROWS, ["nest", "misses"])


def test_no_unit_has_a_table_of_its_own_for_its_bill(root):
    """`def bill` gives rows to `bill_of`."""
    for file in (root / "lessons").glob("u*/*.py"):
        _, found, body = file.read_text().partition("\ndef bill(")
        assert not found or "bill_of" in body.split("\ndef ")[0], file
