"""Programs for fold, and what it makes of them, one or more for each sentence of its text.

Next room: cse.py.
"""

from __future__ import annotations

LABELS = "keeps the node's name, and the origins of the node and of its operands"
LEFT = "Operands that nobody needs any more are left for `dce`"
VALUE = "The value is the interpreter's"
SOURCE = "An op without operands, such as a small `iota`, is folded too"
CASCADE = "a node whose operands were just folded is folded too, in the same walk"
AS_IT_IS = "if it is an input or a constant already"
EVERY = "Replace every node whose operands are all constants by a constant"

# (a program and, behind `=>`, what fold makes of it; why; words of the specification)
FOLDED = [
    ("""(%x: f32[4]) -> (f32[4]) {
  %a = constant dense<2.0> : f32[]
  %b = constant dense<7.0> : f32[]
  %c = add(%a, %b) : f32[]  => constant dense<9.0> : f32[]
  %d = sqrt(%c) : f32[]     => constant dense<3.0> : f32[]
  %e = mul(%x, %d) : f32[4]
  return %e""",
     "%c must become 9.0, and then %d, which reads it, must become 3.0.", CASCADE),
    ("""(%x: i32[2]) -> (i32[2], i32[]) {
  %a = constant dense<2> : i32[]
  %b = constant dense<5> : i32[]
  %c = mul(%a, %b) : i32[]  => constant dense<10> : i32[]
  %d = add(%x, %c) : i32[2]
  return %d, %c""",
     "2 * 5 is 10, an i32; it is also returned.", VALUE),
    ("""(%x: f32[2]) -> (f32[2]) {
  %a = constant dense<1.0> : f32[] loc("bias")
  %b = constant dense<2.0> : f32[]
  %sum = add(%a, %b) : f32[] loc("layer1")    => constant dense<3.0> : f32[] loc("layer1", "bias")
  %six = mul(%sum, %b) : f32[] loc("layer2")
    => constant dense<6.0> : f32[] loc("layer2", "layer1", "bias")
  %y = mul(%x, %six) : f32[2] loc("layer3")
  return %y""",
     "A new constant must have the name of its node, and name every layer that it stands for: "
     "%six is made in layer2 from what layer1 made of the bias.", LABELS),
    ("""(%x: f32[3]) -> (f32[3], f32[3]) {
  %i = iota() {shape = [3], axis = 0, dtype = "f32"} : f32[3]
    => constant dense<[0.0, 1.0, 2.0]> : f32[3]
  %y = add(%x, %i) : f32[3]
  return %y, %i""",
     "iota has no operands, so it must be folded.", SOURCE),
    ("""(%x: f32[2], %y: f32[2]) -> (f32[2], f32[2], f32[2]) {
  %one = constant dense<1.0> : f32[]
  %also = constant dense<1.0> : f32[]
  %zero = constant dense<[0.0, 0.0]> : f32[2]
  %a = add(%x, %one) : f32[2]
  %b = add(%a, %also) : f32[2]
  %c = mul(%x, %zero) : f32[2]
  %d = sub(%x, %x) : f32[2]
  return %b, %c, %d""",
     "Every operation here reads an input, so all of them must stay as they are, equal "
     "constants too.", AS_IT_IS),
    ("""(%x: f32[2], %y: f32[2]) -> (f32[2], f32[2], f32[2]) {
  %one = constant dense<1.0> : f32[] loc("scale")
  %yes = constant dense<true> : bool[]
  %zero = constant dense<-0.0> : f32[]
  %a = mul(%x, %one) : f32[2]
  %b = add(%zero, %a) : f32[2]
  %c = select(%yes, %x, %y) : f32[2]
  %d = reshape(%y) {shape = [2]} : f32[2]
  return %b, %c, %d""",
     "Every operation here reads an input, so all of them must stay; removing what does "
     "nothing is for simplify.", EVERY),
    ("""(%i: i32[2]) -> (i32[2], bool[], f32[]) {
  %a = constant dense<[3, 4]> : i32[2] loc("table")
  %b = constant dense<[1, 1]> : i32[2] loc("head", "table")
  %c = sub(%a, %b) : i32[2] loc("layer1")
    => constant dense<[2, 3]> : i32[2] loc("layer1", "table", "head")
  %same = constant dense<0.5> : f32[]
  %same_1 = neg(%same) : f32[]             => constant dense<-0.5> : f32[]
  %d = lt(%same, %same_1) : bool[]         => constant dense<false> : bool[]
  %e = add(%i, %c) : i32[2]
  return %e, %d, %same_1""",
     "%c is made in layer1 from constants of table and head, each of which is named once.", LABELS),
    ("""() -> (f32[2], f32[]) {
  %one = constant dense<1.0> : f32[]
  %dead = neg(%one) : f32[]             => constant dense<-1.0> : f32[]
  %two = constant dense<[1.0, 2.0]> : f32[2]
  %t = constant dense<[true, false]> : bool[2]
  %s = select(%t, %two, %one) : f32[2]  => constant dense<[1.0, 1.0]> : f32[2]
  return %s, %one""",
     "All of a program without inputs must be computed, even what nobody reads.", EVERY),
    ("""(%x: f32[5]) -> (f32[5], i64[]) {
  %k = constant dense<9007199254740993> : i64[] loc("head")
  %0 = constant dense<[1.0]> : f32[1] loc("a")
  %1 = constant dense<[2.0]> : f32[1] loc("b")
  %2 = constant dense<[3.0]> : f32[1] loc("c")
  %3 = constant dense<[4.0]> : f32[1] loc("d")
  %4 = constant dense<[5.0]> : f32[1] loc("e")
  %5 = concat(%0, %1, %2, %3, %4) {axis = 0} : f32[5] loc("table")
    => constant dense<[1.0, 2.0, 3.0, 4.0, 5.0]> : f32[5] loc("table", "a", "b", "c", "d", "e")
  %6 = neg(%k) : i64[]  => constant dense<-9007199254740993> : i64[] loc("head")
  %7 = add(%x, %5) : f32[5]
  return %7, %6""",
     "The concat of five constants must be computed, and its constant must name all of their "
     "layers; what has no name of its own must get none. The i64 is exact to the last digit.",
     EVERY),
]  # fmt: skip
