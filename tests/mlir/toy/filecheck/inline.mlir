// RUN: %toy %s --passes inline | %filecheck %s
// RUN: %toy %s --passes inline --locations | %filecheck %s --check-prefix=LOC
// Chapter 4. A copy for each call, casts at its borders, both places in its location.

toy.func private @square(%x: tensor<*xf64>) -> tensor<*xf64> {
  %0 = toy.mul %x, %x : (tensor<*xf64>, tensor<*xf64>) -> tensor<*xf64> loc("f.toy":1:30)
  toy.return %0 : tensor<*xf64>
}
toy.func private @fourth(%x: tensor<*xf64>) -> tensor<*xf64> {
  %0 = toy.generic_call @square(%x) : (tensor<*xf64>) -> tensor<*xf64> loc("f.toy":2:10)
  %1 = toy.generic_call @square(%0) : (tensor<*xf64>) -> tensor<*xf64> loc("f.toy":2:20)
  toy.return %1 : tensor<*xf64>
}
toy.func private @never_called(%x: tensor<*xf64>) {
  toy.return
}
toy.func @main() {
  %0 = toy.constant dense<[1.0, 2.0]> : tensor<2xf64>
  %1 = toy.generic_call @fourth(%0) : (tensor<2xf64>) -> tensor<*xf64> loc("f.toy":5:7)
  toy.generic_call @never_called(%0) : (tensor<2xf64>) -> ()
  toy.print %1 : tensor<*xf64>
  toy.return
}

// CHECK:      builtin.module {
// CHECK-NEXT:   toy.func @main() {
// CHECK-NEXT:     [[C:%[0-9]+]] = toy.constant
// CHECK-NEXT:     [[X:%[0-9]+]] = toy.cast [[C]] : tensor<2xf64> to tensor<*xf64>
// CHECK-NEXT:     [[S:%[0-9]+]] = toy.mul [[X]], [[X]]
// CHECK-NEXT:     [[F:%[0-9]+]] = toy.mul [[S]], [[S]]
// CHECK-NOT:      toy.generic_call
// CHECK:          toy.print [[F]]
// CHECK-NEXT:     toy.return

// LOC: toy.mul {{.*}} loc(callsite(callsite("f.toy":1:30 at "f.toy":2:10) at "f.toy":5:7))
// LOC: toy.mul {{.*}} loc(callsite(callsite("f.toy":1:30 at "f.toy":2:20) at "f.toy":5:7))
