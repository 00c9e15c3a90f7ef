// What stands before a student's `matmul`: `counted` calls it with arrays that write down what it
// touches, `timed` with pointers. TAKES and GIVES are what a milestone has beside the matrices.
#if __has_include(<bits/stl_algobase.h>)
#include <bits/stl_algobase.h>  // min, max, copy and fill of <algorithm>, which compiles quickly
#else
#include <algorithm>
#endif
#ifdef COUNT
RECORDED
using Matrix = Recorded;
#else
using Matrix = float *__restrict;
#endif

void matmul(Matrix x, Matrix w, Matrix out, long M, long N, long K TAKES);

#ifdef COUNT
extern "C" long counted(float *at_x, float *at_w, float *at_out, float *at_room, const long *starts,
                        const long *sizes, long M, long N, long K, long L1, long L2, unsigned *to,
                        long most, long *outside) {
  Matrix x(at_x, 0, starts[0], sizes[0]), w(at_w, 1, starts[1], sizes[1]);
  Matrix out(at_out, 2, starts[2], sizes[2]), room(at_room, 3, starts[3], sizes[3]);
  return recorded(to, most, outside, [&] { matmul(x, w, out, M, N, K GIVES); });
}
// All memory that is not in `room` is a register or a loop's own variable.
#pragma GCC poison new malloc calloc realloc alloca mmap vector thread_local asm __asm __asm__
#pragma GCC poison aligned_alloc memalign posix_memalign valloc sbrk
#pragma GCC poison __builtin_malloc __builtin_calloc __builtin_realloc __builtin_alloca
#pragma GCC poison record recorded_data Record Ended Element Recorded recorded counted
#else
extern "C" long timed(float *x, float *w, float *out, float *room, long M, long N, long K, long L1,
                      long L2) {
  matmul(x, w, out, M, N, K GIVES);
  return 0;
}
#endif

#line 1 "your C++"
TEXT
