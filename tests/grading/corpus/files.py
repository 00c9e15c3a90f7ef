"""Files that somebody may hand in: (bytes, what is said about them or None, why).

A text: the file is refused with these words in the reason. None: it is read, and whatever it holds
that is no answer earns nothing.
"""

from __future__ import annotations

import json


def _notebook(cells: object, **more: object) -> bytes:
    return json.dumps({"cells": cells, "nbformat": 4, "nbformat_minor": 5, **more}).encode()


def _code(source: object, **more: object) -> dict:
    return {"cell_type": "code", "source": source, "metadata": {}, **more}


STUB = '@implements("u98.a1")\ndef f(step, graph):\n    raise NotImplementedError("later")'
NO_JSON, NO_CELLS = "cannot be read as JSON", "has no cells"

FILES: dict[str, tuple[bytes, str | None, str]] = {
    "empty": (b"", NO_JSON, "nothing"),
    "zeros": (bytes(1000), NO_JSON, "a disk that was full"),
    "html": (b"<!DOCTYPE html><p>Sign in to download", NO_JSON, "a page instead of the file"),
    "half": (_notebook([_code("x = 1")])[:-10], NO_JSON, "an upload that was cut"),
    "zip": (b"PK\x03\x04" + bytes(100), NO_JSON, "another format"),
    "utf16": ('{"cells": []}'.encode("utf-16"), NO_JSON, "an editor of Windows"),
    "with_mark": (b"\xef\xbb\xbf" + _notebook([_code("x = 1")]), None, "a byte order mark"),
    "latin1": (_notebook([_code("x")]).replace(b'"x"', b'"\xe4"'), None, "bytes that are no text"),
    "list": (b"[1, 2]", NO_CELLS, "JSON, not an object"),
    "number": (b"7", NO_CELLS, "JSON, a number"),
    "nan": (b"NaN", NO_CELLS, "no JSON, but Python reads it"),
    "deep": (b"[" * 200_000, NO_JSON, "brackets without an end"),
    "deep_object": (b'{"cells":' * 50_000 + b"1" + b"}" * 50_000, NO_JSON, "objects in objects"),
    "digits": (b'{"cells": ' + b"9" * 100_000 + b"}", NO_JSON, "more digits than Python reads"),
    "no_cells": (_notebook([]), NO_CELLS, "an empty list"),
    "cells_no_list": (_notebook({"a": 1}), NO_CELLS, "an object of cells"),
    "cells_of_numbers": (_notebook([1, None, "x", []]), None, "cells that are none"),
    "cells_without_source": (_notebook([{"cell_type": "code"}]), None, "no source"),
    "source_of_numbers": (_notebook([_code([1, None, {"a": 2}])]), None, "lines that are no text"),
    "source_is_an_object": (_notebook([_code({"a": 1})]), None, "an object as source"),
    "kind_unknown": (_notebook([{"cell_type": ["code"], "source": STUB}]), None, "a kind of cell"),
    "metadata_is_a_list": (_notebook([_code("x", metadata=[1])]), None, "metadata that is none"),
    "surrogates": (_notebook([_code("\ud800 = 1")]), None, "half a character in a name"),
    "zero_bytes": (_notebook([_code("x = 1\0")]), None, "Python reads no zero byte"),
    "form_feed": (_notebook([_code("\f@implements('u98.a1')\ndef f(: pass")]), None, "broken code"),
    "deep_code": (_notebook([_code("x = " + "(" * 5000 + ")" * 5000)]), None, "parentheses"),
    "deep_operators": (_notebook([_code("x = " + "-" * 50_000 + "1")]), None, "signs"),
    "long_code": (_notebook([_code("x = 1\n" * 40_000)]), "200,000 characters", "much code"),
    "many_answers": (_notebook([_code(STUB)] * 101), "More than 100 cells", "many answers"),
    "worksheets": (_notebook(None, worksheets=[{"cells": [_code("x")]}]), None, "of before 2014"),
    "worksheets_broken": (_notebook(None, worksheets={"cells": 7}), NO_CELLS, "of no time"),
    "stub": (_notebook([_code(STUB)]), None, "nothing was written"),
    "name_unknown": (_notebook([_code('@implements("u98.zz")\ndef f(): 1')]), None, "no exercise"),
    "name_of_another_unit": (_notebook([_code('@implements("passes.dce")\ndef f(g): return g')]),
                             None, "an exercise that is not asked here"),
    "outputs_only": (_notebook([_code("", outputs=[{"data": {"text/html": "passed"}}])]), None,
                     "a verdict that was pasted"),
    "points_in_metadata": (_notebook([_code("x", metadata={"nbgrader": {"points": 100}})]), None,
                           "points that somebody gave himself"),
    "too_large": (_notebook([_code("x")], pad="x" * (21 << 20)), "more than 20 MB", "a film in it"),
}  # fmt: skip
