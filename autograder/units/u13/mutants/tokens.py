"""Answers to u13.mend, wrong and right."""

from __future__ import annotations

from autograder.check.framework import alternative, mutant

STUCK = {4: "signal=load,store", 9: "wait=load,store signal=store"}
RACE = {0: "", 1: "signal=execute", 4: "signal=load,store", 6: "wait=execute signal=execute"}


@mutant("u13.mend")
def takes_the_wait_away():
    """The deadlock is gone, and the slot is overwritten in use."""
    return {"stuck": {6: "signal=execute", 9: "wait=load,store signal=store"}, "race": RACE}


@mutant("u13.mend")
def gives_the_token_too_late():
    """The other slot's product gives the token: right, but the load waits longer."""
    stuck = {7: "wait=load signal=load,store", 9: "wait=load,store signal=store"}
    return {"stuck": stuck, "race": RACE}


@mutant("u13.mend")
def leaves_a_token():
    """The last product still gives one, which nobody takes."""
    return {"stuck": {4: "signal=load,store"}, "race": RACE}


@mutant("u13.mend")
def the_store_gives_the_token():
    """Behind the product stands its store: right, but the load waits longer."""
    stuck = {5: "wait=execute signal=load,execute", 6: "wait=store signal=execute",
             9: "wait=load,store signal=store"}  # fmt: skip
    return {"stuck": stuck, "race": RACE}


@mutant("u13.mend")
def the_last_product_does_not_wait():
    """It would work on the first piece again."""
    stuck = {4: "signal=load,store", 9: "wait=store signal=store"}
    return {"stuck": stuck, "race": RACE}


@mutant("u13.mend")
def adds_a_token_and_leaves_the_early_one():
    """Tokens are taken in the order in which they are given: preload still takes the first."""
    return {"stuck": STUCK, "race": {**RACE, 0: "signal=execute"}}


@mutant("u13.mend")
def mends_the_first_race_only():
    return {"stuck": STUCK, "race": {0: "", 1: "signal=execute"}}


@mutant("u13.mend")
def mends_the_second_race_only():
    return {"stuck": STUCK, "race": {4: "signal=load,store", 6: "wait=execute signal=execute"}}


@mutant("u13.mend")
def waits_for_a_token_that_nobody_gives():
    return {"stuck": STUCK, "race": {**RACE, 4: "signal=store"}}


@mutant("u13.mend")
def the_other_product_gives_the_token():
    """Right, but the load waits for the work on the slot that it does not want."""
    race = {**RACE, 4: "signal=store", 7: "wait=load signal=load,store"}
    return {"stuck": STUCK, "race": race}


@mutant("u13.mend")
def returns_new_tokens_beside_the_old():
    """Takes the dict for what is added."""
    return {"stuck": {4: "signal=load", 9: "signal=store"},
            "race": {0: "", 1: "signal=execute", 4: "signal=load", 6: "wait=execute"}}  # fmt: skip


@mutant("u13.mend")
def numbers_as_texts():
    return {"stuck": {str(number): tokens for number, tokens in STUCK.items()}, "race": RACE}


@alternative("u13.mend")
def names_all_instructions():
    """Also those that keep their tokens."""
    race = {**RACE, 2: "signal=execute", 10: "wait=execute"}
    return {"stuck": {**STUCK, 0: "", 3: "wait=load", 8: "wait=execute"}, "race": race}


@alternative("u13.mend")
def in_another_order():
    return {"race": {6: "signal=execute wait=execute", 4: "signal=store,load",
                     1: " signal=execute ", 0: ""},
            "stuck": {9: "signal=store wait=store,load", 4: "signal=store,load"}}  # fmt: skip


@alternative("u13.mend")
def made_by_code():
    stores = "signal=store"
    race = dict.fromkeys((1,), "signal=execute") | {0: "", 4: f"{stores},load"}
    race[6] = " ".join(f"{key}=execute" for key in ("wait", "signal"))
    return {"stuck": {9: f"wait=store,load {stores}", 4: f"{stores},load"}, "race": race}
