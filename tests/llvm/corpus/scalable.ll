; The machine decides how long these vectors are: 4 lanes for each 128 bits that it has.
; expect {"function": "f", "given": {}, "static": {"vscale pair": 4, "vscale fma": 2, "vscale add": 4}, "dynamic": {"vscale pair": 40, "vscale fma": 20, "vscale add": 4}}
declare <vscale x 2 x double> @llvm.fma.nxv2f64(<vscale x 2 x double>, <vscale x 2 x double>, <vscale x 2 x double>)
declare float @llvm.vector.reduce.fadd.nxv4f32(float, <vscale x 4 x float>)
define float @f(<vscale x 4 x float> %a, <vscale x 2 x double> %b, ptr %out) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 10, %entry ], [ %next, %loop ]
  %s = phi <vscale x 4 x float> [ %a, %entry ], [ %t, %loop ]
  %p = fmul contract <vscale x 4 x float> %s, %a
  %t = fadd contract <vscale x 4 x float> %p, %a
  %u = call <vscale x 2 x double> @llvm.fma.nxv2f64(<vscale x 2 x double> %b, <vscale x 2 x double> %b, <vscale x 2 x double> %b)
  store <vscale x 2 x double> %u, ptr %out, align 8
  %next = add nsw i32 %i, -1
  %over = icmp eq i32 %next, 0
  br i1 %over, label %done, label %loop
done:
  %r = call float @llvm.vector.reduce.fadd.nxv4f32(float 0.0, <vscale x 4 x float> %t)
  ret float %r
}
