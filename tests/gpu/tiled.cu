#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
extern "C" __global__ void tiled(const float *a, const float *b, float *c, int n) {
  __shared__ float A[8][8], B[8][8];
  int x = __nvvm_read_ptx_sreg_tid_x(), y = __nvvm_read_ptx_sreg_tid_y();
  int j = __nvvm_read_ptx_sreg_ctaid_x() * 8 + x, i = __nvvm_read_ptx_sreg_ctaid_y() * 8 + y;
  float s = 0;
  for (int k0 = 0; k0 < n; k0 += 8) {
    A[y][x] = a[i * n + k0 + x];
    B[y][x] = b[(k0 + y) * n + j];
    __syncthreads();
    for (int k = 0; k < 8; k++) s += A[y][k] * B[k][x];
    __syncthreads();
  }
  c[i * n + j] = s;
}
