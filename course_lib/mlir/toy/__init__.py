"""Toy, the language of MLIR's tutorial: arrays of numbers, functions, structs, `print`.

    def multiply_transpose(a, b) {
      return transpose(a) * transpose(b);
    }
    def main() {
      var a<2, 3> = [[1, 2, 3], [4, 5, 6]];
      print(multiply_transpose(a, a));         # 1 16 / 4 25 / 9 36
    }

The chapters of the tutorial (https://mlir.llvm.org/docs/Tutorials/Toy/) and our files:

    1  text and its tree        source.py  lexer.py  ast.py  parser.py;  toy_interp.py, its meaning
    2  a dialect                dialect.py  functions.py  generate.py  module.py
    3  rewriting                canonical.py
    4  inlining, shapes         inline.py  shapes.py
    5  loops                    affine.py
    6  LLVM                     printing.py  and the folder ../llvm
    7  structs                  structs.py

`stages.py` runs them in order. `python -m course_lib toy FILE --emit STAGE` shows each. Next room:
`source.py`.
"""
