"""Right answers whose state lies in other cells, or that are written in a way of their own: what
`check` passes in the notebook, the grader passes.

All of them are graded as one notebook each, by the grader in its two processes.
"""

from __future__ import annotations

import pytest

GRAPH = "from course_lib.ir.graph.graph import Graph\n"
SWEEP = '@implements("u99.sweep")\ndef sweep(g):\n    '
RIGHT = "return Graph.of(g.inputs, g.outputs, g.name)"
NAMES = "return Graph.of(*(getattr(g, n) for n in PARTS), g.name)\n\nassert PARTS"

WAYS = {
    "a_function_sets_up_its_table": [
        GRAPH + "PARTS = None\ndef setup():\n    global PARTS\n    PARTS = ['inputs', 'outputs']",
        "setup()",
        SWEEP + NAMES,
    ],
    "a_function_of_a_function_sets_it_up": [
        GRAPH + "def setup():\n    global PARTS\n    PARTS = []\n    more()",
        "def more():\n    PARTS.extend(['inputs', 'outputs'])",
        "done = setup()",
        SWEEP + NAMES,
    ],
    "a_method_sets_it_up": [
        GRAPH
        + "PARTS = []\nclass Setup:\n"
        + "    def run(self):\n        PARTS.extend(('inputs', 'outputs'))",
        "Setup().run()",
        SWEEP + NAMES,
    ],
    "a_module_function_fills_it": [
        GRAPH + "import heapq\nPARTS = []\nheapq.heappush(PARTS, 'outputs')",
        "heapq.heappush(PARTS, 'inputs')",
        SWEEP + NAMES,
    ],
    "a_value_taken_away": [
        GRAPH + "PARTS = ['inputs', 'outputs', 'nodes']",
        "last = PARTS.pop()",
        SWEEP + NAMES,
    ],
    "a_key_deleted": [
        GRAPH + "PARTS = {'inputs': 1, 'nodes': 2, 'outputs': 3}",
        "del PARTS['nodes']",
        SWEEP + NAMES,
    ],
    "a_walrus": [GRAPH + "print(PARTS := ['inputs', 'outputs'])", SWEEP + NAMES],
    "globals_update": [GRAPH + "globals().update(PARTS=['inputs', 'outputs'])", SWEEP + NAMES],
    "globals_by_name": [
        GRAPH + "def helper(g):\n    " + RIGHT,
        SWEEP + "return globals()['helper'](g)",
    ],
    "setattr_on_a_class": [
        GRAPH + "class Config: pass\nsetattr(Config, 'parts', ['inputs', 'outputs'])",
        SWEEP + "PARTS = Config.parts\n    " + NAMES.partition("\n")[0],
    ],
    "deep_recursion_allowed_elsewhere": [
        GRAPH + "import sys\nsys.setrecursionlimit(50_000)",
        "def down(n):\n    return n and down(n - 1)",
        SWEEP + "down(5000)\n    " + RIGHT,
    ],
    "a_file_of_its_own": [
        "%%writefile helper.py\n" + GRAPH + "def swept(g):\n    " + RIGHT,
        SWEEP + "from helper import swept\n    return swept(g)",
    ],
    "a_file_in_two_parts": [
        "%%writefile helper.py\n" + GRAPH,
        "%%writefile -a helper.py\ndef swept(g):\n    " + RIGHT,
        "import helper",
        SWEEP + "return helper.swept(g)",
    ],
    "a_percent_sign_below_a_magic": [
        "%matplotlib inline\n"
        + GRAPH
        + "N = (7\n  % 4)\nLONG = '''\n%time\n'''\n"
        + SWEEP
        + "assert N == 3 and LONG == '\\n%time\\n'\n    "
        + RIGHT,
    ],
    "a_timed_statement": ["%time PARTS = ['inputs', 'outputs']\n" + GRAPH + SWEEP + NAMES],
    "the_name_as_a_keyword": [GRAPH + '@implements(name="u99.sweep")\ndef sweep(g):\n    ' + RIGHT],
    "the_name_as_a_constant": [
        GRAPH + 'WHICH = "u99.sweep"\n@implements(WHICH)\ndef sweep(g):\n    ' + RIGHT
    ],
    "another_name_for_implements": [
        GRAPH + "from autograder import implements as answer",
        '@answer("u99.sweep")\ndef sweep(g):\n    ' + RIGHT,
    ],
    "through_the_module": [
        GRAPH + 'import autograder as ag\n@ag.implements("u99.sweep")\ndef sweep(g):\n    ' + RIGHT
    ],
    "a_decorator_of_its_own": [
        GRAPH + "def mine(name):\n    return implements(name)",
        '@mine("u99.sweep")\ndef sweep(g):\n    ' + RIGHT,
    ],
    "in_a_loop": [
        GRAPH + "def sweep(g):\n    " + RIGHT,
        'for name, f in {"u99.sweep": sweep}.items():\n    implements(name)(f)',
    ],
    "records_with_annotations_of_its_own": [
        "from __future__ import annotations\n" + GRAPH + "from dataclasses import dataclass\n"
        "from typing import ClassVar, get_type_hints\n@dataclass\nclass Ends:\n"
        "    count: ClassVar[int] = 2\n    graph: Graph\n    next: Ends | None = None",
        SWEEP + "assert get_type_hints(Ends)['graph'] is Graph\n    ends = Ends(g)\n"
        "    return Graph.of(ends.graph.inputs, ends.graph.outputs, g.name)",
    ],
    "an_annotation_of_a_local_name_that_is_read": [
        GRAPH + SWEEP + "from typing import get_type_hints\n    Number = int\n"
        "    def inner(x: Number): ...\n    assert get_type_hints(inner) == {'x': int}\n    "
        + RIGHT,
    ],
    "a_local_class_in_an_annotation": [
        GRAPH + "class Ends(tuple): pass",
        '@implements("u99.sweep")\ndef sweep(g: Graph, ends: Ends = None) -> "Ends":\n    ' + RIGHT,
    ],
    "get_ipython": [
        "get_ipython().run_line_magic('matplotlib', 'inline')\n" + GRAPH + SWEEP + RIGHT
    ],
    "get_ipython_by_import": [
        "from IPython import get_ipython\n"
        "from IPython.core.getipython import get_ipython as again\n"
        "ip = get_ipython()\nip.run_line_magic('matplotlib', 'inline')\n"
        "again().run_cell_magic('time', '', 'pass')\n" + GRAPH,
        SWEEP + "get_ipython().run_line_magic('timeit', '1')\n    " + RIGHT,
    ],
    "pickled": [
        GRAPH + "import pickle, copy\nclass Box:\n    pass",
        SWEEP + "assert isinstance(pickle.loads(pickle.dumps(Box())), Box)\n    " + RIGHT,
    ],
}


@pytest.mark.parametrize("name", WAYS)
def test_it_passes_in_the_grader(name, verdict_of):
    verdict = verdict_of("u99.sweep", *WAYS[name])
    assert (verdict.kind, verdict.earned) == ("passed", 3), verdict
