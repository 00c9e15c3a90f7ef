"""Unit 15, torch.compile: its exercises.

The bodies are our answers and never ship. What the notebook shows stands in lessons.
Next room: lessons/u15/cache.py.
"""

from __future__ import annotations

from autograder.check.rubrics import Rubric, Sample
from course_lib.exercises import exercise
from lessons.u15.cache import LIMIT, holds


@exercise("u15.compiled", unit=15, points=3, kind="implement")
def compiled(conditions: list[tuple], calls: list[tuple[dict, dict]]) -> list[int]:
    """Say which calls make Dynamo compile a graph.

    conditions  what the function asks about its sizes, such as ("n", "<", 16) or ("n", "==", "m")
    calls       for each call, the sizes of its tensor, and its other arguments (strings and truth
                values that it reads): [({"n": 8}, {"flag": True}), ({"n": 9}, {"flag": True})]
    returns     the numbers of the calls that compile, in order; the first call has number 0

    A call compiles if no graph so far may be used for it. At most `LIMIT` graphs are compiled; a
    call that would need one more runs without a graph. Your function may not ask `torch.compile`.

    A size is dynamic in a graph if an earlier graph was compiled for another value of this size,
    and if its own value is not 0 or 1. All other sizes are static. A graph may be used if the other
    arguments, the static sizes and the answer to each condition (`holds(condition, sizes)`) are
    what they were when it was compiled, and if each dynamic size is 2 or more.
    """
    graphs: list[tuple] = []
    seen: dict[str, set[int]] = {}
    numbers = []
    for number, (sizes, others) in enumerate(calls):
        if len(graphs) < LIMIT and not any(_usable(g, conditions, sizes, others) for g in graphs):
            for name, size in sizes.items():
                seen.setdefault(name, set()).add(size)
            dynamic = [name for name, size in sizes.items() if len(seen[name]) > 1 and size > 1]
            graphs.append((sizes, others, dynamic))
            numbers.append(number)
    return numbers


def _usable(graph: tuple, conditions: list[tuple], sizes: dict, others: dict) -> bool:
    """May this graph be used for a call with these arguments?"""
    before, others_before, dynamic = graph
    return (
        others == others_before
        and all(sizes[name] == before[name] for name in sizes if name not in dynamic)
        and all(sizes[name] >= 2 for name in dynamic)
        and all(holds(c, sizes) == holds(c, before) for c in conditions)
    )


@exercise("u15.repaired", unit=15, points=3, kind="inverse")
def repaired() -> str:
    """Rewrite `scaled`, so that Dynamo captures it in fewer graphs.

    returns  the text of a function `scaled(x, w)` that returns and prints what the one above does,
             for finite numbers and sizes other than 0

    One graph in a call earns all points, and two earn half of them. The function may use what the
    one above uses, and `torch.where`, `torch.maximum`, `torch.minimum`, `torch.clamp` and
    `torch.tensor`: one definition without loops, of at most 40 lines.
    """
    return """
    def scaled(x, w):
        print("rows:", x.shape[0])
        h = torch.relu(x @ w)
        h = torch.where(h.mean() > 0.5, h / 2, h)
        top = torch.clamp(h.max(), max=4.0)
        return h * top
    """


@exercise("u15.functional", unit=15, points=3, kind="implement", further=True)
def functional(rows: list[tuple]) -> tuple[list[tuple], dict[str, str]]:
    """Write a program without changes in place.

    rows     ("v", "view", x, low, high) makes v a name for the numbers x[low:high], without a
             copy. ("v", "add_", y) and ("v", "mul_", y) change the numbers of v in place.
             ("z", "add", x, y) and ("z", "mul", x, y) make a new array. Each name is made once
    returns  a program that computes the same, and for each name of `rows` the name in the new
             program that holds its numbers at the end

    The new program consists of "add", "mul", ("v", "slice", x, low, high), a copy of these numbers,
    and ("y", "put", x, v, low, high), a copy of x in which v stands in the place of x[low:high]. No
    name is defined twice, and names that are only read are the same arrays as in `rows`. Names in
    `rows` may be those of any variables in Python. A view of a view is possible. The new program
    has at most four rows for each row of the old one, not counting one more for each name at the
    end.
    """
    now: dict[str, str] = {}  # the name of an array's value
    views: dict[str, tuple[str, int, int]] = {}  # an array, and which of its numbers
    made: list[tuple] = []

    def new(*row: str | int) -> str:
        made.append((f"%{len(made)}", *row))
        return made[-1][0]

    def value(name: str) -> str:
        if name not in views:
            return now.get(name, name)
        array, low, high = views[name]
        return new("slice", now.get(array, array), low, high)

    for name, op, *rest in rows:
        if op == "view":
            x, low, high = rest
            array, start, _ = views.get(x, (x, 0, 0))
            views[name] = array, start + low, start + high
        elif op.endswith("_"):
            changed = new(op[:-1], value(name), value(rest[0]))
            if name not in views:
                now[name] = changed
            else:
                array, low, high = views[name]
                now[array] = new("put", now.get(array, array), changed, low, high)
        else:
            now[name] = new(op, *map(value, rest))
    names = [x for name, _, *rest in rows for x in (name, *rest) if isinstance(x, str)]
    return made, {name: value(name) for name in dict.fromkeys(names)}


@exercise("u15.annotated", unit=15, points=2, kind="evidence")
def annotated() -> tuple[dict[str, tuple[int, str]], int]:
    """Annotate the kernel after attention, and say how many times h is computed.

    returns  for each of "mean", "deviation", "variance", "normalized" and "result", the number of
             the loop and the variable that first hold it; and how many times one call of the
             block computes an element of h, in both kernels together

    h is the sum of the block's input and of what attention adds to it. The mean is that of a row of
    h, the deviation is h minus the mean, and the variance is the mean of the squared deviations.
    Normalized is the deviation divided by the square root of the variance plus 0.00001. The result
    is what the kernel is for: normalized, times a weight, plus a bias.
    """
    return {
        "mean": (2, "tmp3"),
        "deviation": (3, "tmp5"),
        "variance": (4, "tmp8"),
        "normalized": (4, "tmp13"),
        "result": (4, "tmp17"),
    }, 4


@exercise("u15.parts", unit=15, points=3, kind="implement")
def parts(nodes: list[tuple], takes: set[str]) -> list[tuple]:
    """Divide a graph between our compiler and PyTorch.

    nodes    (name, op, operands), in an order in which they can run; an operand that is not a node
             is an input of the graph. The last node is the graph's output
    takes    the ops that our compiler takes
    returns  steps in the order in which they run: ("ours", names, reads, writes) for a part that
             our compiler gets as a whole, ("torch", [name], reads, writes) for any other node

    Each node is in one step; all nodes that our compiler takes are in its parts, and there are as
    few parts as possible. The nodes of a part stand in an order in which they can run, and need not
    be connected. `reads` names what the step needs from outside, and `writes` those of its nodes
    that other steps need, or the caller: each once, in any order. Everything that a step reads is
    there before the step runs.
    """
    ours = {name for name, op, _ in nodes if op in takes}
    operands = {name: list(dict.fromkeys(reads)) for name, _, reads in nodes}
    round_: dict[str, int] = {}
    for name, reads in operands.items():  # a node of torch waits for the round of a part to end
        waits = [round_[x] + (x in ours and name not in ours) for x in reads if x in round_]
        round_[name] = max(waits, default=0)
    steps = []
    for number in sorted({*round_.values()}):
        names = [name for name in operands if round_[name] == number]
        steps += [[name] for name in names if name not in ours]
        steps += [[name for name in names if name in ours]]
    result = []
    for step in filter(None, steps):
        reads = dict.fromkeys(x for name in step for x in operands[name] if x not in step)
        elsewhere = {x for other in operands if other not in step for x in operands[other]}
        writes = [name for name in step if name in elsewhere or name == nodes[-1][0]]
        result.append(("ours" if step[0] in ours else "torch", step, [*reads], writes))
    return result


@exercise("u15.slow", unit=15, points=2, kind="explain")
def slow() -> Rubric:
    """A colleague compiles a model with `torch.compile` and passes the name of each request, a
    Python string, to `forward`, where it chooses one of three scale factors. After some requests,
    all new ones are as slow as without `torch.compile`, although results are right and nothing
    raises an error. Say what happens at the first requests and why it stops, why the results stay
    right all the same, and what happens to a name that comes again. Then name a change that mends
    this, and say what is guarded after it. Write four to six sentences.
    """
    return Rubric(
        criteria="0.5 points: forward reads the string, so it is guarded by its value; each new "
        "name fails the guards of all graphs and compiles one more, until there are 8 (the limit)."
        " 0.5 points: after that, Dynamo compiles nothing more for this function, and a call for "
        "which no graph may be used runs as ordinary Python; the result is right because a graph "
        "only ever runs when all its guards hold, and Python itself is always right. 0.5 points: a "
        "name among the first eight still finds its graph and is fast. 0.5 points: a change after "
        "which the string is not read inside (the factor is looked up outside and passed as a "
        "tensor or as a number, or one of three words is passed), with what is guarded then: type "
        "and shape of the tensor (one graph), the type of the number (two graphs: the first is "
        "guarded by the value), or three values. Half of it for raising the limit, with the remark "
        "that compiling goes on.",
        samples=(
            Sample(2, "The name is an argument that Python looks at, so each graph is guarded by "
                   "the name it was captured with, and every request with a new name compiles a "
                   "new graph. After eight graphs, Dynamo stops compiling this function. A request "
                   "that none of the graphs' guards fit then runs in plain Python, which is slow "
                   "but right; a graph never runs when one of its guards fails. The eight names "
                   "that came first are still fast when they come again. I would look up the "
                   "scale factor outside of forward and pass it as a tensor with one element: "
                   "then only its type and shape are guarded, and one graph serves all names."),
            Sample(1, "Each name makes a new graph because of the guards, and there is a limit of "
                   "8, so afterwards it is eager. One could set recompile_limit to a larger "
                   "number; then it compiles for each name."),
            Sample(0, "The graph breaks at the string, so the GPU has to wait for Python. One "
                   "should use torch.where in place of the string."),
        ),
    )  # fmt: skip
