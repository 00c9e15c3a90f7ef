"""The lab of unit 16, stages: a softmax found again, a schedule read from its trace, a runner in C.

The bodies are our answers and never ship. The recordings stand in lessons/u16_lab_stages.
Next room: autograder/units/u16_lab_stages/checks.
"""

from __future__ import annotations

import math
from typing import Any

from autograder.check.rubrics import Rubric, Sample
from course_lib.exercises import exercise
from course_lib.memory.liveness import Interval
from course_lib.memory.offsets import arena_size, assign_offsets


@exercise("u16_lab_stages.found", unit=16, lab="stages", points=4)
def found(rows: list[dict[str, Any]]) -> dict[int, list[int]]:
    """Find every softmax in a stage of any of the four compilers.

    rows     as `rows` gives them, from a text of XLA, IREE, TVM or Triton
    returns  for each softmax, the line of its result, and the lines of its exponential and of its
             sum, in this order: {23: [18, 20]}

    A softmax is a division of e by s, where e is an exponential and s is the sum along an axis of
    this same e. It may also be a product, in either order, of e and r, where r is 1 divided by s;
    then its result is the product. An operation that is itself called softmax has no parts, so its
    entry looks like {12: []}.

    The table above has the words of each stage. Along which axis a sum runs is not asked here; that
    was asked in unit 16.
    """
    places = {}
    for row in rows:
        word, reads = _word(row), row["reads"]
        pairs = [(reads[0], reads[1])] if word in _DIVIDE else []
        if word in _MULTIPLY:
            for e, r in (reads, reads[::-1]):
                if r is not None and _word(rows[r]) in _DIVIDE:
                    one, s = rows[r]["reads"]
                    if one is not None and rows[one].get("value") == 1:
                        pairs.append((e, s))
        if word == "softmax":
            places[row["line"]] = []
        for e, s in pairs:
            if e is None or s is None or _word(rows[e]) not in _EXP:
                continue
            if rows[s]["op"] in _SUM and rows[s]["reads"] == [e]:
                places[row["line"]] = [rows[e]["line"], rows[s]["line"]]
    return places


_EXP, _DIVIDE = ("exp", "exponential"), ("divide", "divf", "/")
_MULTIPLY = ("multiply", "mulf", "*")
_SUM = ("reduce stablehlo.add", "reduce add", "reduce arith.addf", "reduce +", "R.sum")


def _word(row: dict[str, Any]) -> str:
    return row["op"].split(".")[-1]


@exercise("u16_lab_stages.winner", unit=16, lab="stages", points=4)
def winner(log: dict[str, Any]) -> dict[str, Any]:
    """Read from a log of MetaSchedule what its fastest schedule decided.

    log      as `LOGS` has them
    returns  the seven entries below, by name

    - "trial": its number, counted from 1; the first one, if several are equally fast
    - "ratio": how many times as fast it is as the plain loops
    - "needed": how many trials the search needed until it had a schedule that takes at most 1.1
      times as long as the fastest
    - "tiles": the factors of each SamplePerfectTile, in the order of the trace
    - "unroll": the number that was sampled for `meta_schedule.unroll_explicit`
    - "jobs", "lanes": how many iterations the parallel and the vectorized loop of the tiled nest
      have; 1 where there is none

    The tiled nest is the one that Reorder orders. A trial of None seconds failed; it counts as a
    trial and never wins. In every log, at least one trial did not fail.
    """
    seconds = [math.inf if t["seconds"] is None else t["seconds"] for t in log["trials"]]
    best = min(seconds)
    at = seconds.index(best)
    needed = next(k for k, time in enumerate(seconds, 1) if time <= 1.1 * best)
    return {"trial": at + 1, "ratio": log["plain"] / best, "needed": needed,
            **_decided(*log["trials"][at]["trace"])}  # fmt: skip


def _decided(instructions: list[Any], decisions: list[Any]) -> dict[str, Any]:
    """What a trace says. `value`: the number that each name of it stands for."""
    chosen, value, order = dict(decisions), {}, []
    made: dict[str, Any] = {"tiles": [], "unroll": 0, "jobs": 1, "lanes": 1}
    for place, (kind, inputs, attributes, outputs) in enumerate(instructions):
        if kind == "SamplePerfectTile":
            made["tiles"].append(chosen[place])
            value.update(zip(outputs, chosen[place], strict=True))
        elif kind == "SampleCategorical":
            value[outputs[0]] = attributes[0][chosen[place]]
        elif kind == "Split":
            value.update(
                (loop, value[factor]) for loop, factor in zip(outputs, inputs[1:], strict=True)
            )
        elif kind == "Reorder":
            order = inputs
        elif kind == "GetLoops" and order and len(outputs) == len(order):
            value.update((loop, value[old]) for loop, old in zip(outputs, order, strict=True))
        elif kind == "Fuse" and all(loop in value for loop in inputs):
            value[outputs[0]] = math.prod(value[loop] for loop in inputs)
        elif kind in _MARKS and inputs[0] in value:
            made[_MARKS[kind]] = value[inputs[0]]
        elif attributes == ["meta_schedule.unroll_explicit"] and kind == "Annotate":
            made["unroll"] = value[inputs[1]]
    return made


_MARKS = {"Parallel": "jobs", "Vectorize": "lanes"}


@exercise("u16_lab_stages.runner", unit=16, lab="stages", points=5)
def runner(model: dict[str, Any]) -> str:
    """Write the C around TVM's kernels, for a machine without a system.

    model    as `about` above shows one
    returns  C as one text, which includes nothing and leaves nothing undefined

    - `main` launches the kernel of each step, in order, and returns 0; it returns 1 as soon as a
      kernel refuses
    - `arena` is an array of at most model["numbers"] floats, in which the arrays between the steps
      lie. An array may lie where an earlier array lay, if no later step reads the earlier one.
    - `workspace` is an array of at most model["workspace"] bytes. `TVMBackendAllocWorkspace` gives
      a kernel nbytes of it, at a multiple of 16, or NULL if fewer are free.
      `TVMBackendFreeWorkspace` takes back what was given last, and returns 0.
    - `main` may be called again and again, and no result may depend on what `arena` held before.

    The results are right to 0.001. Sizes in bytes are multiples of 64.
    """
    steps, shapes = model["steps"], model["shapes"]
    last = {name: k for k, step in enumerate(steps) for name in step["reads"]}
    size = {name: 4 * math.prod(shape) for name, shape in shapes.items()}
    made = [step["writes"] for step in steps[:-1]]
    lives = [Interval(name, size[name], k, last[name]) for k, name in enumerate(made)]
    place = assign_offsets(lives)
    lines = []
    for step in steps:
        tensors = []
        for name in (*step["reads"], step["writes"]):
            data = f"arena + {place[name] // 4}" if name in place else name
            sizes = ", ".join(map(str, shapes[name]))
            tensors.append(f"tensor({data}, {len(shapes[name])}, (const int64_t[]){{{sizes}}})")
        given = f"(DLTensor[]){{{', '.join(tensors)}}}, {len(tensors)}"
        lines.append(f"if (launch({step['call']}, {given})) return 1;")
    return _RUNNER % (arena_size(lives, place) // 4, model["workspace"], "\n  ".join(lines))


_RUNNER = """
static float arena[%d];
static _Alignas(16) unsigned char workspace[%d];
static uint64_t used;
void *TVMBackendAllocWorkspace(int type, int id, uint64_t nbytes, int code, int bits) {
  uint64_t whole = (nbytes + 15) / 16 * 16;
  if (whole > sizeof workspace - used) return NULL;
  used += whole;
  return workspace + (used - whole);
}
int TVMBackendFreeWorkspace(int type, int id, void *ptr) {
  used = (unsigned char *)ptr - workspace;
  return 0;
}
void TVMFFIErrorSetRaisedFromCStrParts(const char *kind, const char **parts, int32_t count) {}
float expf(float x) {
  float y = 1 + x / 4096;
  if (y < 0) return 0;
  for (int k = 0; k < 12; ++k) y *= y;
  return y;
}
int main(void) {
  %s
  return 0;
}
"""


@exercise("u16_lab_stages.fates", unit=16, lab="stages", points=3, kind="explain")
def fates() -> Rubric:
    """Conclude from your tables, in six to nine sentences. What did each of the four compilers do
    with a softmax from a library, and what with one that is written out? For one layer, what did
    the fastest schedule decide, and how do you know that this decision, and not luck, made it fast?
    Of the bytes on the microcontroller, which are the network's, which are TVM's and which are
    yours, and what would you make smaller first?
    """
    return Rubric(
        criteria="1 point: XLA and Triton have only the parts, from the first stage on (XLA "
                 "turns the division into a product with 1 / s); TVM's Relax has one operation, "
                 "which TIR takes apart; IREE gets the parts and puts them together as "
                 "linalg.softmax, but not those of the softmax that is written out, which has "
                 "no maximum. 1 point: names tiles, jobs or lanes of one layer from the table, "
                 "and says that one search of 24 trials cannot tell a decision from luck, or "
                 "how one could (another trial that differs in this decision only; a second "
                 "search). 1 point: of the memory, 6,144 bytes are the arena, 2,048 the "
                 "workspace, and 5,120 the input and the result; of what is constant, 14,656 "
                 "bytes are weights; names something to make smaller that the figures support "
                 "(the weights, in 8 bits; the arena; not the texts of the messages, which are "
                 "gone once the compiler sees that nothing reads them).",
        samples=(
            Sample(3, "JAX hands XLA the parts already, and XLA divides once for each row and "
                      "multiplies. TVM has R.nn.softmax in Relax, and TIR has an exponential, a "
                      "sum and a division. In Triton, tl.softmax is gone in TTIR. IREE gets the "
                      "parts and makes linalg.softmax of them, but not of the softmax without a "
                      "maximum. For batch_matmul, the fastest schedule has 64 jobs and vectors "
                      "of 8 numbers, and is 12 times as fast as plain loops. It was the first "
                      "trial that was drawn, so that was luck, and I would change only the "
                      "lanes in its trace and measure again before I believe that they did it. "
                      "On the Cortex-M4, 14,656 bytes are weights, more than all code, and "
                      "6,144 of the 13,328 bytes of memory are my arena. I would store the "
                      "weights in 8 bits first."),
            Sample(2, "Only TVM and IREE have an operation that is called softmax, TVM before "
                      "and IREE after it has seen the parts; XLA and Triton work with the "
                      "parts. The dense layer has 32 jobs, so it is fast because of threads. "
                      "The arena has 6,144 bytes and the weights have 14,656, so I would make "
                      "the weights smaller."),
            Sample(0, "All compilers fuse the softmax, because fusion is faster. MetaSchedule "
                      "finds the best schedule by machine learning. C is small because it has "
                      "no Python."),
        ),
    )  # fmt: skip
