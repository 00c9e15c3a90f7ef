// What native.py compiles around the loops of a student, who types the body of `product`: `traced`
// with arrays in place of the pointers that write down what is touched (recorded.h), and `run`,
// which is timed.
#include <algorithm>
#ifdef COUNT
RECORDED
using Row = Recorded;
#else
using Row = float *__restrict;
#endif

static void product(Row x, Row w, Row out, Row copy, long M, long N, long K) {
#line 1 "your loops"
BODY
}

#ifdef COUNT
extern "C" long traced(float *x, float *w, float *out, float *copy, const long *starts,
                       const long *sizes, long M, long N, long K, unsigned *to, long most,
                       long *outside) {
  return recorded(to, most, outside, [&] {
    product({x, 0, starts[0], sizes[0]}, {w, 1, starts[1], sizes[1]},
            {out, 2, starts[2], sizes[2]}, {copy, 3, starts[3], sizes[3]}, M, N, K);
  });
}
#else
extern "C" long run(float *x, float *w, float *out, float *copy, long M, long N, long K) {
  std::fill_n(out, M * N, 0.0f);
  product(x, w, out, copy, M, N, K);
  return 0;
}
#endif
