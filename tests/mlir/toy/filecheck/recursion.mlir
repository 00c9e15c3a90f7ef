// RUN: not %toy %s --passes inline 2>&1 | %filecheck %s
// CHECK: error: toy.generic_call: every call is inlined, and this would never end: f calls g calls f
toy.func private @f() {
  toy.generic_call @g() : () -> ()
  toy.return
}
toy.func private @g() {
  toy.generic_call @f() : () -> ()
  toy.return
}
toy.func @main() {
  toy.generic_call @f() : () -> ()
  toy.return
}
