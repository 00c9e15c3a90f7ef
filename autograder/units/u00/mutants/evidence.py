"""Answers to unit 0: the false claims about a kernel. Next room: array.py."""

from autograder.check.framework import alternative, mutant
from course_lib.exercises import slot


@mutant("u00.claims")
def all_of_them(mo, no, mi, ni, k, lanes):
    return "ABCDEFG"


@mutant("u00.claims")
def the_true_ones(mo, no, mi, ni, k, lanes):
    return "".join(sorted(set("ABCDEFG") - set(truth(mo, no, mi, ni, k, lanes))))


@mutant("u00.claims")
def the_bias_is_in_the_loop(mo, no, mi, ni, k, lanes):
    """Believes that the bias is added for each k."""
    false = set(truth(mo, no, mi, ni, k, lanes))
    return "".join(sorted(false - {"A"} if k == 64 else false))


@mutant("u00.claims")
def words(mo, no, mi, ni, k, lanes):
    return "the first"


@mutant("u00.claims")
def threads_share_k(mo, no, mi, ni, k, lanes):
    """Believes E where there are two threads."""
    false = set(truth(mo, no, mi, ni, k, lanes))
    return "".join(sorted(false - {"E"} if mo == 2 else false))


@mutant("u00.claims")
def a_vector_is_one_register(mo, no, mi, ni, k, lanes):
    """Takes `ni` for one instruction, however long a register is."""
    false = {"A": True, "C": mi != 12, "E": True, "F": no != 3, "G": mi > 16}
    return "".join(letter for letter, wrong in false.items() if wrong)


@mutant("u00.claims")
def only_for_the_printed_one(mo, no, mi, ni, k, lanes):
    return "AE"


def truth(mo, no, mi, ni, k, lanes):
    return slot("u00.claims").reference(mo, no, mi, ni, k, lanes)


@alternative("u00.claims")
def one_by_one(mo, no, mi, ni, k, lanes):
    """A verdict on each claim."""
    true = {
        "A": False,
        "B": True,
        "C": mi * ni / lanes == 12,
        "D": True,
        "E": False,
        "F": no == 3,
        "G": mi * ni <= 16 * lanes,
    }
    return {claim for claim, is_true in true.items() if not is_true}


@alternative("u00.claims")
def with_commas(mo, no, mi, ni, k, lanes):
    found = ["e", "a"] + ["f"] * (no != 3)
    found += ["c"] * (mi * (ni // lanes) != 12) + ["g"] * (mi * (ni // lanes) >= 17)
    return ", ".join(found)


@alternative("u00.claims")
def as_a_list(mo, no, mi, ni, k, lanes):
    answer = ["A", "E"]
    if no in (1, 2) or no > 3:
        answer.append("F")
    sums = mi * ni
    if sums - 12 * lanes:
        answer.append("C")
    if sums > lanes << 4:
        answer.append("G")
    return answer
