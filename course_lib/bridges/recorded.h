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
struct Ended {};

class Element {
  float &value;
  unsigned place;
  void note(unsigned write) const {
    if (record.count++ >= record.most) throw Ended();
    record.to[record.count - 1] = place + write;
  }

 public:
  Element(float &value, unsigned place) : value(value), place(place) {}
  Element(const Element &) = default;
  operator float() const { note(0); return value; }
  Element &operator=(float other) { note(1); value = other; return *this; }
  Element &operator=(const Element &other) { return *this = float(other); }
  Element &operator+=(float other) { return *this = float(*this) + other; }
  Element &operator-=(float other) { return *this = float(*this) - other; }
  Element &operator*=(float other) { return *this = float(*this) * other; }
  Element *operator&() const = delete;
};

class Recorded {
  float *data;
  long number, start, size, at = 0;  // which array, its first byte, its elements, and where we are

 public:
  Recorded(float *data, long number, long start, long size)
      : data(data), number(number), start(start), size(size) {}
  Element operator[](long i) const {
    if (at + i < 0 || at + i >= size) {
      record.outside[0] = number + 1;
      record.outside[1] = at + i;
      throw Ended();
    }
    return Element(data[at + i], start + 4 * (at + i));
  }
  Element operator*() const { return (*this)[0]; }
  Recorded operator+(long i) const { Recorded moved = *this; moved.at += i; return moved; }
  Recorded operator-(long i) const { return *this + -i; }
  Recorded &operator+=(long i) { at += i; return *this; }
  Recorded &operator++() { return *this += 1; }
  Recorded operator++(int) { Recorded before = *this; at += 1; return before; }
};
