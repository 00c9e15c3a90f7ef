// What native.py compiles around the loops of a student, who types the body of `product`: `traced`
// with a type in place of the pointers that checks each index and writes down each address, and
// `run`, which is timed.
#include <algorithm>
#include <vector>
#ifdef COUNT
static std::vector<long> seen;
static long outside, count;
struct Row {
  float *data;
  long place, size;
  float &operator[](long i) const {
    if (i < 0 || i >= size) { ++outside; i = 0; }
    if (count++ < (long)seen.capacity()) seen.push_back(place + 4 * i);
    return data[i];
  }
};
#else
using Row = float *__restrict;
#endif

static void product(Row x, Row w, Row out, Row copy, long M, long N, long K) {
#line 1 "your loops"
BODY
}

#ifdef COUNT
extern "C" long traced(float *x, float *w, float *out, float *copy, long M, long N, long K,
                       long at_w, long at_out, long at_copy, long *to, long room) {
  seen.reserve(room);
  product({x, 0, M * K}, {w, at_w, K * N}, {out, at_out, M * N}, {copy, at_copy, K * N}, M, N, K);
  if (outside) return -outside;
  std::copy(seen.begin(), seen.end(), to);
  return count;
}
#else
extern "C" long run(float *x, float *w, float *out, float *copy, long M, long N, long K) {
  std::fill_n(out, M * N, 0.0f);
  product(x, w, out, copy, M, N, K);
  return 0;
}
#endif
