"""Answers to u13.mend, wrong and right."""

from __future__ import annotations

from typing import Any

from autograder.check.framework import alternatives, mutants

STUCK = {4: "signal=load,store", 9: "wait=load,store signal=store"}
RACE = {0: "", 1: "signal=execute", 4: "signal=load,store", 6: "wait=execute signal=execute"}


def _mended(stuck: Any = STUCK, race: Any = RACE):
    """The answer with these tokens; those that are not named are right."""
    return lambda: {"stuck": stuck, "race": race}


mutants(
    "u13.mend",
    # The deadlock is gone, and the slot is overwritten in use.
    takes_the_wait_away=_mended({6: "signal=execute", 9: STUCK[9]}),
    # The other slot's product gives the token: right, but the load waits longer.
    gives_the_token_too_late=_mended({7: "wait=load signal=load,store", 9: STUCK[9]}),
    # The last product still gives one, which no instruction takes.
    leaves_a_token=_mended({4: STUCK[4]}),
    # Behind the product stands its store: right, but the load waits longer.
    the_store_gives_the_token=_mended({
        5: "wait=execute signal=load,execute", 6: "wait=store signal=execute", 9: STUCK[9]}),
    # It would work on the first piece again.
    the_last_product_does_not_wait=_mended({4: STUCK[4], 9: "wait=store signal=store"}),
    # Tokens are taken in the order in which they are given: preload still takes the first.
    adds_a_token_and_leaves_the_early_one=_mended(race={**RACE, 0: "signal=execute"}),
    mends_the_first_race_only=_mended(race={0: "", 1: RACE[1]}),
    mends_the_second_race_only=_mended(race={4: RACE[4], 6: RACE[6]}),
    waits_for_a_token_that_nobody_gives=_mended(race={**RACE, 4: "signal=store"}),
    # Right, but the load waits for the work on the slot that it does not want.
    the_other_product_gives_the_token=_mended(
        race={**RACE, 4: "signal=store", 7: "wait=load signal=load,store"}),
    # Takes the dict for what is added.
    returns_new_tokens_beside_the_old=_mended(
        {4: "signal=load", 9: "signal=store"},
        {0: "", 1: "signal=execute", 4: "signal=load", 6: "wait=execute"}),
    numbers_as_texts=_mended({str(number): tokens for number, tokens in STUCK.items()}),
)  # fmt: skip

alternatives(
    "u13.mend",
    # Also those that keep their tokens.
    names_all_instructions=_mended({**STUCK, 0: "", 3: "wait=load", 8: "wait=execute"},
                                   {**RACE, 2: "signal=execute", 10: "wait=execute"}),
    in_another_order=_mended(
        {9: "signal=store wait=store,load", 4: "signal=store,load"},
        {6: "signal=execute wait=execute", 4: "signal=store,load", 1: " signal=execute ", 0: ""}),
    made_by_code=lambda: {
        "race": dict.fromkeys([1], "signal=execute") | {0: "", 4: "signal=" + ",".join(
            ["store", "load"]), 6: " ".join(f"{key}=execute" for key in ("wait", "signal"))},
        "stuck": STUCK},
)  # fmt: skip
