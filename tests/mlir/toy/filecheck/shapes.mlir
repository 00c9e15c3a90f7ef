// RUN: %toy %s --passes infer_shapes | %filecheck %s
// Chapter 4. Shapes flow from operands to results, through every operation that has the interface.

// CHECK-LABEL: toy.func @main()
// CHECK:         [[A:%[0-9]+]] = toy.constant
// CHECK-NEXT:    [[C:%[0-9]+]] = toy.cast [[A]] : tensor<2x3xf64> to tensor<2x3xf64>
// CHECK-NEXT:    [[T:%[0-9]+]] = toy.transpose [[C]] : tensor<2x3xf64> to tensor<3x2xf64>
// CHECK-NEXT:    [[M:%[0-9]+]] = toy.mul [[T]], [[T]] : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
// CHECK-NEXT:    [[R:%[0-9]+]] = toy.reshape [[M]] : tensor<3x2xf64> to tensor<6xf64>
// CHECK-NEXT:    [[S:%[0-9]+]] = toy.add [[R]], [[R]] : (tensor<6xf64>, tensor<6xf64>) -> tensor<6xf64>
// CHECK-NEXT:    toy.print [[S]] : tensor<6xf64>
toy.func @main() {
  %0 = toy.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf64>
  %1 = toy.cast %0 : tensor<2x3xf64> to tensor<*xf64>
  %2 = toy.transpose %1 : tensor<*xf64> to tensor<*xf64>
  %3 = toy.mul %2, %2 : (tensor<*xf64>, tensor<*xf64>) -> tensor<*xf64>
  %4 = toy.reshape %3 : tensor<*xf64> to tensor<6xf64>
  %5 = toy.add %4, %4 : (tensor<6xf64>, tensor<6xf64>) -> tensor<*xf64>
  toy.print %5 : tensor<*xf64>
  toy.return
}
