"""Evidence for an exercise of unit 2: one program as it was, and after each of six passes.

One of the passes is broken. Every text is a graph that verifies; `parse_graph` reads it back.
Next room: programs.py.
"""

_IMPORTED = """graph @evidence(%x: f32[4,4], %y: f32[4]) -> (f32[4]) {
  %one = constant dense<1.0> : f32[]
  %two = constant dense<2.0> : f32[]
  %nothing = constant dense<-0.0> : f32[]
  %four = mul(%two, %two) : f32[]
  %eight = mul(%two, %four) : f32[]
  %a = mul(%one, %x) : f32[4,4]
  %b = reduce_max(%a) {axes = [0]} : f32[4]
  %c = add(%b, %y) : f32[4]
  %d = reduce_max(%x) {axes = [1]} : f32[4]
  %e = add(%y, %d) : f32[4]
  %f = tanh(%e) : f32[4]
  %g = add(%c, %nothing) : f32[4]
  %h = sub(%g, %f) : f32[4]
  %i = div(%h, %eight) : f32[4]
  %j = pow(%h, %two) : f32[4]
  %k = add(%i, %j) : f32[4]
  return %k
}
"""
# What each pass wrote in the place of the lines that begin so; with nothing there, the line went.
_WRITTEN: dict[str, dict[str, str]] = {
    "fold": {"four": "%four = constant dense<4.0> : f32[]",
             "eight": "%eight = constant dense<8.0> : f32[]"},
    "simplify": {"a": "", "b": "%b = reduce_max(%x) {axes = [0]} : f32[4]",
                 "g": "", "h": "%h = sub(%c, %f) : f32[4]"},
    "strength": {"i": "%0 = constant dense<0.125> : f32[]\n  %i = mul(%h, %0) : f32[4]",
                 "j": "%j = mul(%h, %h) : f32[4]"},
    "cse": {"d": "", "e": "", "f": "%f = tanh(%c) : f32[4]"},
    "simplify_2": {},
    "dce": dict.fromkeys(("one", "two", "nothing", "four", "eight"), ""),
}  # fmt: skip


def _dumps() -> list[tuple[str, str]]:
    dumps = [("import", _IMPORTED)]
    for name, written in _WRITTEN.items():
        lines = []
        for line in dumps[-1][1].splitlines():
            value = line.partition(" = ")[0].strip(" %")
            new = written.get(value)
            lines += [line] if new is None else [f"  {new}"] * bool(new)
        dumps.append((name, "\n".join(lines) + "\n"))
    return dumps


DUMPS = _dumps()
