// An array that writes down which of its elements a program touches, in the order of the program:
//
//     float sum = x[3] + x[7];   out[0] += sum;      two reads; a read and a write
//
// It stands for a pointer to floats in C++ that somebody types (`using Matrix = Recorded`), so that
// a cache can be simulated for the accesses. It can be moved as a pointer can, `x + 16`, but no
// element of it has an address that an access could go around the record with. An index outside of
// the array, and an access for which there is no room left, end the program that runs.
struct Record {
  unsigned *to;           // the bytes from the start of the first array; 1 more for a write
  long most, count;       // the room, and the accesses so far
  long outside[2];        // the array, and the index that it does not have
};
static Record record;
static float *recorded_data[8];  // of each array; so that no array and no element has an address
struct Ended {};

template <class T> struct Whole {};
template <> struct Whole<int> { using type = int; };
template <> struct Whole<long> { using type = long; };

// What stands for one element, and only where it is used: `auto a = x[3];` would be no number yet.
class Element {
  long number, at;  // which array, and which of its elements
  unsigned place;
  void note(unsigned write) const {
    if (record.count++ >= record.most) throw Ended();
    record.to[record.count - 1] = place + write;
  }
  float read() const { note(0); return recorded_data[number][at]; }
  void write(float other) const { note(1); recorded_data[number][at] = other; }

 public:
  Element(long number, long at, unsigned place) : number(number), at(at), place(place) {}
  // Without this, `i < N ? x[i] : 0` would be a whole number. With 0.0f it is a float.
  template <class T, class = typename Whole<T>::type> Element(T) = delete;
  operator float() const && { return read(); }
  float operator=(float other) && { write(other); return other; }
  float operator=(Element &&other) && { return Element(*this) = other.read(); }
  float operator+=(float other) && { return Element(*this) = read() + other; }
  float operator-=(float other) && { return Element(*this) = read() - other; }
  float operator*=(float other) && { return Element(*this) = read() * other; }
  Element *operator&() const = delete;

 private:
  Element(const Element &) = default;
};

class Recorded {
  long number, start, size, at = 0;  // which array, its first byte, its elements, and where we are

 public:
  Recorded(float *data, long number, long start, long size)
      : number(number), start(start), size(size) { recorded_data[number] = data; }
  Element operator[](long i) const {
    if (at + i < 0 || at + i >= size) {
      record.outside[0] = number + 1;
      record.outside[1] = at + i;
      throw Ended();
    }
    return Element(number, at + i, start + 4 * (at + i));
  }
  Element operator*() const { return (*this)[0]; }
  Recorded operator+(long i) const { Recorded moved = *this; moved.at += i; return moved; }
  Recorded operator-(long i) const { return *this + -i; }
  friend Recorded operator+(long i, const Recorded &array) { return array + i; }
  Recorded &operator+=(long i) { at += i; return *this; }
  Recorded &operator-=(long i) { at -= i; return *this; }
  Recorded &operator++() { return *this += 1; }
  Recorded &operator--() { return *this -= 1; }
  Recorded operator++(int) { Recorded before = *this; at += 1; return before; }
  Recorded operator--(int) { Recorded before = *this; at -= 1; return before; }
  // Both are places in one array, as for pointers.
  long operator-(const Recorded &other) const { return at - other.at; }
  bool operator==(const Recorded &other) const { return at == other.at; }
  bool operator!=(const Recorded &other) const { return at != other.at; }
  bool operator<(const Recorded &other) const { return at < other.at; }
  bool operator>(const Recorded &other) const { return at > other.at; }
  bool operator<=(const Recorded &other) const { return at <= other.at; }
  bool operator>=(const Recorded &other) const { return at >= other.at; }
};

// Runs a program that touches arrays. How many accesses it made; `outside` says which one ended it.
template <class Program>
static long recorded(unsigned *to, long most, long *outside, Program program) {
  record = {to, most, 0, {0, 0}};
  try {
    program();
  } catch (Ended) {
  }
  outside[0] = record.outside[0];
  outside[1] = record.outside[1];
  return record.count;
}
