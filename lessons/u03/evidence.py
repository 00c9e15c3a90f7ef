"""Evidence for an exercise of unit 3: a program whose operations were put into seven groups.

Some of the groups cannot be one kernel. The text is a graph that verifies; `parse_graph` reads it.
"""

EVIDENCE = """graph @g(%x: f32[8,16], %w: f32[16,16], %v: f32[16,16]) -> (f32[8], f32[8,16]) {
  %p = matmul(%x, %w) : f32[8,16]
  %q = add(%p, %x) : f32[8,16]
  %r = relu(%q) : f32[8,16]
  %e = exp(%r) : f32[8,16]
  %g = matmul(%e, %v) : f32[8,16]
  %k = matmul(%g, %w) : f32[8,16]
  %h = add(%e, %k) : f32[8,16]
  %m = reduce_max(%h) {axes = [1], keepdims = true} : f32[8,1]
  %n = sub(%h, %m) : f32[8,16]
  %o = exp(%n) : f32[8,16]
  %s = reduce_sum(%o) {axes = [1], keepdims = true} : f32[8,1]
  %y = div(%o, %s) : f32[8,16]
  %c = neg(%y) : f32[8,16]
  %d = tanh(%c) : f32[8,16]
  %i = sigmoid(%d) : f32[8,16]
  %j = mul(%d, %i) : f32[8,16]
  %l = add(%j, %i) : f32[8,16]
  %t = reduce_max(%l) {axes = [0], keepdims = true} : f32[1,16]
  %u = sub(%l, %t) : f32[8,16]
  %z = reduce_sum(%u) {axes = [1]} : f32[8]
  return %z, %c
}
"""

GROUPS: dict[str, tuple[str, ...]] = {
    "A": ("p", "q", "r"),
    "B": ("e", "h"),
    "C": ("g", "k"),
    "D": ("m", "n", "o", "s", "y"),
    "E": ("c", "d"),
    "F": ("i", "j"),
    "G": ("l", "t", "u", "z"),
}

REASONS = ("no such kernel", "is an output", "waits for itself", "is read outside")
