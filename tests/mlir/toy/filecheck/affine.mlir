// RUN: %toy %s --passes to_affine | %filecheck %s
// Chapter 5. Loops and memory; toy.print is left where it was.

// CHECK:       "memref.global"() <{sym_name = "constant_0", type = memref<2x3xf64>, initial_value =
// CHECK-SAME{LITERAL}: dense<[[1.000000e+00, 2.000000e+00, 3.000000e+00], [4.000000e+00, 5.000000e+00, 6.000000e+00]]>
// CHECK-LABEL: func.func @main() {
// CHECK-NEXT:    [[A:%[0-9]+]] = memref.get_global @constant_0 : memref<2x3xf64>

// CHECK-NEXT:    [[T:%[0-9]+]] = memref.alloc() : memref<3x2xf64>
// CHECK-NEXT:    affine.for [[I:%[0-9]+]] = 0 to 3 {
// CHECK-NEXT:      affine.for [[J:%[0-9]+]] = 0 to 2 {
// CHECK-NEXT:        [[V:%[0-9]+]] = affine.load [[A]][[[J]], [[I]]] : memref<2x3xf64>
// CHECK-NEXT:        affine.store [[V]], [[T]][[[I]], [[J]]] : memref<3x2xf64>
// CHECK-NEXT:      }
// CHECK-NEXT:    }

// CHECK-NEXT:    [[R:%[0-9]+]] = memref.alloc() : memref<6xf64>
// CHECK-NEXT:    affine.for [[I:%[0-9]+]] = 0 to 6 {
// CHECK-NEXT:      [[V:%[0-9]+]] = affine.load [[T]][[[I]] floordiv 2, [[I]] mod 2] : memref<3x2xf64>
// CHECK-NEXT:      affine.store [[V]], [[R]][[[I]]] : memref<6xf64>
// CHECK-NEXT:    }

// CHECK-NEXT:    [[S:%[0-9]+]] = memref.alloc() : memref<6xf64>
// CHECK-NEXT:    affine.for [[I:%[0-9]+]] = 0 to 6 {
// CHECK-NEXT:      [[V:%[0-9]+]] = affine.load [[R]][[[I]]]
// CHECK-NEXT:      [[W:%[0-9]+]] = affine.load [[R]][[[I]]]
// CHECK-NEXT:      [[X:%[0-9]+]] = arith.addf [[V]], [[W]] : f64
// CHECK-NEXT:      affine.store [[X]], [[S]][[[I]]] : memref<6xf64>
// CHECK-NEXT:    }
// CHECK-NEXT:    toy.print [[S]] : memref<6xf64>
// CHECK-NEXT:    memref.dealloc [[T]]
// CHECK-NEXT:    memref.dealloc [[R]]
// CHECK-NEXT:    memref.dealloc [[S]]
// CHECK-NEXT:    func.return
toy.func @main() {
  %0 = toy.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf64>
  %1 = toy.transpose %0 : tensor<2x3xf64> to tensor<3x2xf64>
  %2 = toy.reshape %1 : tensor<3x2xf64> to tensor<6xf64>
  %3 = toy.add %2, %2 : (tensor<6xf64>, tensor<6xf64>) -> tensor<6xf64>
  toy.print %3 : tensor<6xf64>
  toy.return
}
