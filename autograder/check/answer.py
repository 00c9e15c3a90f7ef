"""A student's answer, as a check calls it: a function that remembers what its calls were like.

    answer = Answer.of(dce)           # of a plain function, as a mutant is one
    answer(graph)                     # in a notebook: with what else is plugged (here.py);
                                      # in the grader: in another process (grading/grade.py)
    answer.printed, answer.latest     # by the latest call, and what it was given

Next room: judging.py, which runs the checks on one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

BESIDE = "_beside"  # a keyword of every call of an answer: what else is plugged in meanwhile


class Answer:
    """What `run(*args, **kwargs)` answers. A check sees a function of that name."""

    printed = ""  # what the student's code printed in the latest call
    returned = False  # did a call give something that a check could look at?
    latest: tuple[tuple[Any, ...], dict[str, Any]] = ((), {})  # the arguments of the latest call
    plugs: Mapping[str, Callable[..., Any]] = {}  # all that the student has plugged in, by slot

    def __init__(self, name: str):
        self.__name__ = name

    @staticmethod
    def of(function: Callable[..., Any]) -> Answer:
        """The function itself if it is one already."""
        return function if isinstance(function, Answer) else _Plain(function)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self.latest = args, kwargs
        return self.run(*args, **kwargs)

    def run(self, *args: Any, **kwargs: Any) -> Any:
        """One call. Raises Wrong, Crashed or Stop of what the student's code did."""
        raise NotImplementedError

    def ahead(self, check: Any, seed: int) -> bytes | None:
        """Make the calls of this `Check` that one can foresee, all at once: a digest of the
        replies. None where calls are made one at a time."""
        return None

    def all_were_ahead(self) -> bool:
        """Did the check make no other call than those?"""
        return False


class _Plain(Answer):
    def __init__(self, function: Callable[..., Any]):
        super().__init__(getattr(function, "__name__", "answer"))
        self.function = function

    def run(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)


def beside(answer: Callable[..., Any], plugs: Mapping[str, Callable[..., Any]]) -> Answer:
    """The answer, with these functions of the check in other slots while it runs.

    The slots that an answer asks (`fuse` asks `should_fuse`) hold stand-ins in a student's edition
    and our solutions elsewhere. A check that says itself what they answer sees one behaviour.
    """
    return _Beside(Answer.of(answer), plugs)


class _Beside(Answer):
    def __init__(self, answer: Answer, others: Mapping[str, Callable[..., Any]]):
        super().__init__(answer.__name__)
        self.answer, self.others, self.plugs = answer, others, answer.plugs

    def run(self, *args: Any, **kwargs: Any) -> Any:
        return self.answer(*args, **kwargs, **{BESIDE: self.others})
