"""Wrong and right answers to `runner`. Most are ours with a line of its C changed."""

from __future__ import annotations

import math

from autograder.check.framework import alternative, alternatives, equivalent, mutants

LIFE = "Interval(name, 4 * math.prod(shapes[name]), k, last[name])"
OFFSET = "f'arena + {place[name] // 4}' if name in place else name"
mutants(
    "u16_lab_stages.runner",
    an_array_for_each=(LIFE, "Interval(name, 4 * math.prod(shapes[name]), 0, len(steps))"),
    written_over_what_it_reads=(LIFE, LIFE.replace("k, ", "k + 1, ")),
    read_once=(LIFE, LIFE.replace("last[name]", "k + 1")),
    on_the_stack=(OFFSET, "f'(float[{math.prod(shapes[name])}]){{0}}' if name in place else name"),
    all_at_the_beginning=(OFFSET, "'arena' if name in place else name"),
    offsets_in_bytes=(OFFSET, "f'arena + {place[name]}' if name in place else name"),
    ignores_a_kernel_that_refuses=('return 1;")', '0;")'),
    says_nothing_of_a_kernel_that_refuses=('return 1;")', 'return 0;")'),
    goes_on_after_a_kernel_that_refuses=("if (launch({step['call']}, {given})) return 1;",
                                         "code |= launch({step['call']}, {given}) != 0;",
                                         "int main(void) {", "int main(void) { int code = 0;",
                                         "return 0;\\n}\\n'", "return code;\\n}\\n'"),
    the_result_of_the_last_kernel_is_missing=("for step in steps:", "for step in steps[:-1]:"),
    no_exponential=("float expf(float x) {", "static float mine(float x) {"),
    no_error_function=("(const char *kind, const char **parts, int32_t count) {}", "();"),
    a_short_exponential=("y = 1 + x / 4096", "y = 1 + x + x * x / 2", "k < 12", "k < 0"),
    takes_nothing_back=("used = (unsigned char *)ptr - workspace;", ""),
    takes_everything_back=("used = (unsigned char *)ptr - workspace;", "used = 0;"),
    takes_the_last_size_back=("used = (unsigned char *)ptr - workspace;", "used -= size;",
                              "static uint64_t used;", "static uint64_t used, size;",
                              "  return given;", "  size = (nbytes + 15) / 16 * 16;\\n  return "
                              "given;"),
    never_says_no=("if (nbytes > sizeof workspace - used) return NULL;", ""),
    forgets_what_is_in_use=("nbytes > sizeof workspace - used", "nbytes > sizeof workspace"),
    always_the_same_memory=("*given = workspace + used;", "*given = workspace;"),
    memory_of_its_own=("*given = workspace + used;", "*given = used ? own + used : workspace;",
                       "static uint64_t used;", "static char own[4096]; static uint64_t used;"),
    points_to_more=("static _Alignas(16) unsigned char workspace[%d]", "static _Alignas(16) char "
                    "room[9 * %d], *workspace = room", "sizeof workspace -", "sizeof room -",
                    "(unsigned char *)ptr", "(char *)ptr"),
    at_multiples_of_eight=("(nbytes + 15) / 16 * 16", "(nbytes + 7) / 8 * 8"),
    returns_one_when_it_takes_back=("- workspace;\\n  return 0;", "- workspace;\\n  return 1;"),
    nothing_aligned=("_Alignas(16) ", ""),
    a_smaller_workspace=("unsigned char workspace[%d]", "unsigned char workspace[%d / 2]"),
    a_larger_workspace=("unsigned char workspace[%d]", "unsigned char workspace[2 * %d]"),
    a_larger_arena=("arena[%d]", "arena[%d + 1]"),
    with_a_library=("static uint64_t used;", "#include <math.h>\\nstatic uint64_t used;"),
    no_array_called_arena=("static float arena[%d]", "static float memory[%d]", "f'arena + ",
                           "f'memory + "),
)  # fmt: skip


@alternative("u16_lab_stages.runner")
def with_arrays_of_descriptions(model):
    """Shapes and tensors by name, a first-fit plan of its own, and another exponential."""
    steps, shapes = model["steps"], model["shapes"]
    numbers = {name: math.prod(shape) for name, shape in shapes.items()}
    last = {name: k for k, step in enumerate(steps) for name in step["reads"]}
    between = {step["writes"]: k for k, step in enumerate(steps[:-1])}
    at = {}
    for name in sorted(between, key=lambda n: (-numbers[n], between[n])):
        taken = [(at[o], at[o] + numbers[o]) for o in at
                 if between[o] <= last[name] and between[name] <= last[o]]  # fmt: skip
        at[name] = min(place for place in (0, *(end for _, end in taken))
                       if all(end <= place or place + numbers[name] <= first
                              for first, end in taken))  # fmt: skip
    size = max((at[n] + numbers[n] for n in at), default=1)
    text = [f"float arena[{size}];", f"char workspace[{model['workspace']}] "
            "__attribute__((aligned(64)));", ALLOCATOR]  # fmt: skip
    for name, shape in shapes.items():
        text.append(f"static const int64_t shape_{name}[] = {{{','.join(map(str, shape))}}};")
    text.append("int main(void) {\n  int32_t bad = 0;")
    for step in steps:
        names = [*step["reads"], step["writes"]]
        text.append(f"  {{ DLTensor given[{len(names)}];")
        for k, name in enumerate(names):
            data = f"&arena[{at[name]}]" if name in at else name
            text.append(f"  given[{k}] = tensor({data}, {len(shapes[name])}, shape_{name});")
        text.append(f"  bad = launch(&{step['call']}, given, {len(names)}); }}")
        text.append("  if (bad != 0) return 1;")
    return "\n".join([*text, "  return bad;", "}"])


ALLOCATOR = """
static char *top = workspace;
void *TVMBackendAllocWorkspace(int t, int d, uint64_t nbytes, int c, int b) {
  char *given = top;
  uint64_t whole = nbytes % 16 ? nbytes + 16 - nbytes % 16 : nbytes;
  if (whole > (uint64_t)(workspace + sizeof workspace - top)) return 0;
  top += whole;
  return given;
}
int TVMBackendFreeWorkspace(int t, int d, void *ptr) { top = ptr; return 0; }
void TVMFFIErrorSetRaisedFromCStrParts(const char *k, const char **p, int32_t n) { (void)k; }
float expf(float x) {
  int halves = 0;
  while (x < -0.5f || x > 0.5f) { x /= 2; halves++; }
  float y = 1 + x * (1 + x / 2 * (1 + x / 3 * (1 + x / 4)));
  while (halves--) y *= y;
  return y;
}
"""

alternatives(
    "u16_lab_stages.runner",
    nothing_static=("static float arena", "float arena", "static _Alignas(16) unsigned char",
                    "__attribute__((aligned(64))) char", "(unsigned char *)ptr", "(char *)ptr"),
    with_masks=("(nbytes + 15) / 16 * 16", "(nbytes + 15) & ~15ull"),
)  # fmt: skip

for _old, _new, _why in [
    ("in enumerate(steps)", "in list(enumerate(steps))[1:]", "nothing that the first step reads "
     "lies in the arena"),
    ("in between.items()", "in reversed(", "the lives may be in any order"),
]:  # fmt: skip
    equivalent("u16_lab_stages.runner", _old, _new, because=_why)
