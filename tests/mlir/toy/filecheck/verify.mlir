// RUN: not %toy %s --emit toy 2>&1 | %filecheck %s
// An operation that breaks its own rule is named with its text where no source is known.
// CHECK:      error: toy.transpose: the result has shape <3, 2>, not <2, 3>
// CHECK-NEXT:   in {{.*}}toy.transpose {{.*}} : tensor<2x3xf64> to tensor<2x3xf64>
toy.func @main() {
  %0 = toy.constant dense<1.0> : tensor<2x3xf64>
  %1 = toy.transpose %0 : tensor<2x3xf64> to tensor<2x3xf64>
  toy.return
}
