"""What the exercises of unit 10 work with: text in, a pass of xDSL's, text out.

    rewritten(text, pattern)        the program after the pattern, applied as often as it can be
    with_shapes(text, MatmulOp)     a program with one more operation, all its shapes inferred
    filechecked(text, directives)   does the text satisfy the directives?

A program is in the Toy dialect. Each function reads and verifies it, and verifies what it made.
Next room: meaning.py.
"""

from __future__ import annotations

import inspect
import io
import re
from functools import lru_cache

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter, PatternRewriteWalker, RewritePattern
from xdsl.transforms.dead_code_elimination import dce
from xdsl.utils.exceptions import ParseError, VerifyException

from course_lib.mlir.reading import Reader
from course_lib.mlir.toy import dialect
from course_lib.mlir.toy.ast import LARGEST
from course_lib.mlir.toy.canonical import canonicalize
from course_lib.mlir.toy.module import context, verify, written
from course_lib.mlir.toy.shapes import infer_shapes
from course_lib.mlir.trouble import too_large, trouble

LONGEST = 20_000  # characters of a program
KEPT = 256  # modules
MOST = 1_000  # times that a pattern applies to a program


def parsed(text: str, *operations: type[Operation]) -> ModuleOp:
    """The module. ValueError if the text is not one, is too large, or has an invalid operation."""
    return _parsed(text, *operations).clone()


@lru_cache(maxsize=KEPT)
def _parsed(text: str, *operations: type[Operation]) -> ModuleOp:
    """The same module for the same text: to be cloned, which is much faster than to be read."""
    limited(text)
    dialects = context()
    for operation in operations:
        defined = getattr(operation, "get_irdl_definition", lambda: None)()
        if defined is None or defined.name != operation.name:
            raise ValueError(f"{operation.__name__} needs the decorator @irdl_op_definition")
        dialects.load_op(operation)
    try:
        module = Reader(dialects, text, "program").parse_module()
    except (ParseError, VerifyException, RecursionError) as error:
        raise ValueError(f"this is not a module: {error}") from None
    verify(module)
    return module


def limited(text: str) -> None:
    """ValueError for a text that is empty or takes too long to read."""
    if not text.strip():
        raise ValueError("the text is empty")
    refusal = too_large(text, LONGEST) or (trouble(text, LARGEST) or [None])[0]
    if refusal is not None:
        raise ValueError(refusal)


def rewritten(text: str, pattern: RewritePattern) -> str:
    """The program after a pattern is applied until it applies nowhere. Operations without users
    and without effects are removed."""
    module = parsed(text)
    PatternRewriteWalker(_Ends(pattern)).rewrite_module(module)
    for op in module.walk():
        for maker in (operand.owner for operand in op.operands):
            if isinstance(maker, Operation) and maker.parent is None:
                raise ValueError(f"{op.name} uses a new {maker.name} that was not put into the "
                                 "program: give `rewriter.replace` both, in a list")  # fmt: skip
    dce(module)
    verify(module)
    return written(module)


class _Ends(RewritePattern):
    """A pattern; ValueError if it applies again and again."""

    def __init__(self, pattern: RewritePattern) -> None:
        self.pattern, self.applied = pattern, 0

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        self.pattern.match_and_rewrite(op, rewriter)
        self.applied += rewriter.has_done_action
        if self.applied > MOST:
            raise ValueError(f"the pattern applied {MOST:,} times and still applies: does it end?")


def with_shapes(text: str, operation: type[Operation]) -> str:
    """A program that may contain `operation`, after shape inference; operations without users and
    without effects are removed. ToyError, which is a ValueError, if an operation is not valid or a
    shape cannot be known."""
    module = parsed(text, operation)
    infer_shapes(module)
    dce(module)
    verify(module)
    return written(module)


def filechecked(text: str, directives: str) -> bool:
    """Does FileCheck find in the text what the directives ask for? If not, it prints why.
    ValueError for directives that it does not understand."""
    from filecheck.error import CheckError, ParseError
    from filecheck.finput import FInput
    from filecheck.matcher import Matcher
    from filecheck.options import Options
    from filecheck.parser import Parser as Directives
    from filecheck.parser import pattern_for_opts

    options = Options(match_filename="directives", input_file="text")
    try:
        asked = Directives(options, io.StringIO(directives), *pattern_for_opts(options))
        matcher = Matcher(options, FInput("text", text), asked)
        matcher.stderr = errors = io.StringIO()
        matched = matcher.run() == 0
    except (CheckError, ParseError) as error:
        what = error.op.arg if isinstance(error, CheckError) else error.offending_line
        raise ValueError(f"FileCheck says: {error.message}, at `{what.strip()}`") from None
    print(re.sub(r"Possible intended match at:.*", "", errors.getvalue(), flags=re.DOTALL), end="")
    return matched


def canonical(text: str) -> str:
    """The program after the canonicalization of the library."""
    module = parsed(text)
    canonicalize(module)
    return written(module)


def source(name: str) -> str:
    """A definition of the Toy dialect, as it stands in the library."""
    return inspect.getsource(getattr(dialect, name)).rstrip()
