// RUN: %toy %s --passes canonicalize | %filecheck %s
// Each rewrite alone, and what must not be rewritten.

// CHECK-LABEL: toy.func @three_transposes_are_one(
// CHECK-SAME:    [[X:%[a-z]+]]: tensor<2x3xf64>)
// CHECK-NEXT:    [[T:%[a-z0-9]+]] = toy.transpose [[X]] : tensor<2x3xf64> to tensor<3x2xf64>
// CHECK-NEXT:    toy.return [[T]]
toy.func @three_transposes_are_one(%x: tensor<2x3xf64>) -> tensor<3x2xf64> {
  %0 = toy.transpose %x : tensor<2x3xf64> to tensor<3x2xf64>
  %1 = toy.transpose %0 : tensor<3x2xf64> to tensor<2x3xf64>
  %2 = toy.transpose %1 : tensor<2x3xf64> to tensor<3x2xf64>
  toy.return %2 : tensor<3x2xf64>
}

// CHECK-LABEL: toy.func @known_shape_of_unknown_is_a_cast(
// CHECK-SAME:    [[X:%[a-z]+]]: tensor<*xf64>)
// CHECK-NEXT:    [[C:%[a-z0-9]+]] = toy.cast [[X]] : tensor<*xf64> to tensor<2x3xf64>
// CHECK-NEXT:    toy.return [[C]]
toy.func @known_shape_of_unknown_is_a_cast(%x: tensor<*xf64>) -> tensor<2x3xf64> {
  %0 = toy.transpose %x : tensor<*xf64> to tensor<3x2xf64>
  %1 = toy.transpose %0 : tensor<3x2xf64> to tensor<2x3xf64>
  toy.return %1 : tensor<2x3xf64>
}

// CHECK-LABEL: toy.func @reshapes(
// CHECK-SAME:    [[X:%[a-z]+]]: tensor<2x3xf64>)
// CHECK-NEXT:    [[R:%[a-z0-9]+]] = toy.reshape [[X]] : tensor<2x3xf64> to tensor<6xf64>
// CHECK-NEXT:    toy.print [[R]]
// CHECK-NEXT:    toy.return [[X]]
toy.func @reshapes(%x: tensor<2x3xf64>) -> tensor<2x3xf64> {
  %0 = toy.reshape %x : tensor<2x3xf64> to tensor<3x2xf64>
  %1 = toy.reshape %0 : tensor<3x2xf64> to tensor<6xf64>
  toy.print %1 : tensor<6xf64>
  %2 = toy.reshape %0 : tensor<3x2xf64> to tensor<2x3xf64>
  toy.return %2 : tensor<2x3xf64>
}

// CHECK-LABEL: toy.func @number_fills(
// CHECK-NEXT:    [[C:%[a-z0-9]+]] = toy.constant dense<2.500000e+00> : tensor<2x2xf64>
// CHECK-NEXT:    toy.return [[C]]
toy.func @number_fills() -> tensor<2x2xf64> {
  %0 = toy.constant dense<2.5> : tensor<f64>
  %1 = toy.reshape %0 : tensor<f64> to tensor<2x2xf64>
  toy.return %1 : tensor<2x2xf64>
}

// CHECK-LABEL: toy.func @struct(
// CHECK-NEXT:    [[C:%[a-z0-9]+]] = toy.constant dense<4.000000e+00> : tensor<f64>
// CHECK-NEXT:    toy.return [[C]]
toy.func @struct() -> tensor<*xf64> {
  %0 = toy.struct_constant [dense<3.0> : tensor<f64>, [dense<4.0> : tensor<f64>]]
       : !toy.struct<tensor<*xf64>, !toy.struct<tensor<*xf64>>>
  %1 = toy.struct_access %0[1] : !toy.struct<tensor<*xf64>, !toy.struct<tensor<*xf64>>> -> !toy.struct<tensor<*xf64>>
  %2 = toy.struct_access %1[0] : !toy.struct<tensor<*xf64>> -> tensor<*xf64>
  toy.return %2 : tensor<*xf64>
}

// CHECK-LABEL: toy.func @unused(
// CHECK-NEXT:    toy.print
// CHECK-NEXT:    toy.return
toy.func @unused(%x: tensor<2xf64>) {
  %0 = toy.add %x, %x : (tensor<2xf64>, tensor<2xf64>) -> tensor<2xf64>
  toy.print %x : tensor<2xf64>
  toy.return
}
