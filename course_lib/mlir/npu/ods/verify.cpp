// The rules that no record of npu.td can say: two sizes that must agree, and limits of the machine.
//
//     error: 'npu.matmul' op 5 columns of weights, but the array has 4
//
// When these run, mlir-tblgen's part of the verifier has already checked how many operands there
// are, of which type, and in which memory. In Python: transfer.py, dialect.py and rules.py, one
// floor up. Next room: npu.cpp.

#include "npu.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace npu;

namespace {

bool known(int64_t size) { return !ShapedType::isDynamic(size); }

// Sizes agree, as far as they are known.
LogicalResult same(Operation *op, StringRef first, Sizes given, StringRef second, Sizes wanted) {
  bool differ = given.size() != wanted.size();
  for (auto [a, b] : llvm::zip(given, wanted))
    differ |= a != b && known(a) && known(b);
  if (!differ)
    return success();
  return op->emitOpError() << first << " is " << sized(given) << ", " << second << " "
                           << sized(wanted);
}

// An array in DRAM whose place of each element is known.
LogicalResult isArray(Operation *op, StringRef what, MemRefType type) {
  if (type.hasStaticShape() && (type.getLayout().isIdentity() || isa<PanelsAttr>(type.getLayout())))
    return success();
  return op->emitOpError() << what << " has known sizes, and lies row by row or in panels; it is a "
                           << type;
}

LogicalResult isMatrix(Operation *op, StringRef what, MemRefType type) {
  if (type.getRank() == 2)
    return success();
  return op->emitOpError() << what << " is a matrix, not " << type;
}

// There is a value for each number that is missing, and no number is negative.
LogicalResult asMany(Operation *op, Sizes numbers, ValueRange values) {
  size_t missing = llvm::count_if(numbers, [](int64_t number) { return !known(number); });
  if (missing != values.size())
    return op->emitOpError() << missing << " positions or sizes of " << sized(numbers)
                             << " are values, but it has " << values.size();
  if (llvm::any_of(numbers, [](int64_t number) { return known(number) && number < 0; }))
    return op->emitOpError() << "positions and sizes are not below 0: " << sized(numbers);
  return success();
}

LogicalResult checkLimits(Operation *op, int64_t low, int64_t high) {
  if (lowest <= low && low <= high && high <= highest)
    return success();
  return op->emitOpError() << "low and high are in order and from " << lowest << " to " << highest
                           << ", got (" << low << ", " << high << ")";
}

} // namespace

// ── memory ──

// What its memory has room for depends on the buffers in front of it. MLIR asks verifiers to look at
// nothing but their own operation; a compiler that is to grow would check this in a pass.
LogicalResult BufferOp::verify() {
  MemRefType type = getType();
  Memory memory = memoryOf(type);
  Chip chip = chipOf(*this);
  if (type.getRank() < 3 || llvm::any_of(type.getShape(), [](int64_t size) { return size < 1; }))
    return emitOpError() << "a buffer is slots x tile, all sizes known, not "
                         << sized(type.getShape());
  if (memory == Memory::accs && type.getShape().back() != chip.cols)
    return emitOpError() << "a row of sums is " << chip.cols << " wide, not "
                         << type.getShape().back();
  int64_t total = taken(chip, type);
  for (Operation *op = (*this)->getPrevNode(); op; op = op->getPrevNode())
    if (auto other = dyn_cast<BufferOp>(op); other && memoryOf(other.getType()) == memory)
      total += taken(chip, other.getType());
  if (total > chip.size(memory))
    return emitOpError() << "buffers of " << grouped(total) << " elements in "
                         << stringifyMemory(memory) << ", but it holds "
                         << grouped(chip.size(memory));
  return success();
}

LogicalResult SlotOp::verify() {
  Sizes whole = getBuffer().getType().getShape(), at = getStaticIndices(), sizes = getStaticSizes();
  if (failed(asMany(*this, at, getIndices())) || failed(asMany(*this, sizes, getSizes())))
    return failure();
  MemRefType tile = getType();
  if (!isIn(tile, memoryOf(getBuffer().getType())))
    return emitOpError() << "the tile is in " << stringifyMemory(memoryOf(tile))
                         << ", its buffer in "
                         << stringifyMemory(memoryOf(getBuffer().getType()));
  if (failed(same(*this, "the tile", sizes, "its type", tile.getShape())))
    return failure();
  if (at.size() + sizes.size() != whole.size())
    return emitOpError() << at.size() << " positions and a tile of " << sizes.size()
                         << " sizes for " << sized(whole);
  for (auto [index, size] : llvm::zip(at, whole))
    if (index >= size)
      return emitOpError() << "there is no slot " << index << ", there are " << size;
  Sizes slot = whole.drop_front(at.size());
  for (auto [size, most] : llvm::zip(sizes, slot))
    if (size > most)
      return emitOpError() << "a tile of " << sized(sizes) << " does not fit a slot of "
                           << sized(slot);
  return success();
}

namespace {

// Of an array in panels, a transfer takes whole ones: each is one burst.
LogicalResult checkPanel(Operation *op, MemRefType array, int64_t first, int64_t columns) {
  auto panels = dyn_cast<PanelsAttr>(array.getLayout());
  if (!panels || !known(first) || !known(columns))
    return success();
  int64_t width = panels.getColumns();
  if (first % width == 0 && columns == std::min(width, array.getDimSize(1) - first))
    return success();
  return op->emitOpError() << "columns " << first << " to " << first + columns
                           << " are no panel of " << width;
}

// The window of a transfer lies in the array; unknown positions are taken to be 0.
LogicalResult checkWindow(Operation *op, Sizes offsets, Sizes sizes, Sizes whole) {
  for (auto [offset, size, most] : llvm::zip(offsets, sizes, whole)) {
    uint64_t begin = known(offset) ? offset : 0, wide = known(size) ? size : 0;
    if (uint64_t end = begin + wide; end > uint64_t(most)) // neither is above INT64_MAX
      return op->emitOpError() << "the window reaches " << end << ", the array " << sized(whole)
                               << " does not";
  }
  return success();
}

// Both directions have the same operands and the same rules.
template <typename Dma> LogicalResult checkTransfer(Dma op) {
  Sizes offsets = op.getStaticOffsets(), sizes = op.getStaticSizes();
  MemRefType array = op.getArray().getType(), tile = op.getTile().getType();
  Sizes whole = array.getShape();
  if (failed(asMany(op, offsets, op.getOffsets())) || failed(asMany(op, sizes, op.getSizes())) ||
      failed(isArray(op, "the array", array)) ||
      failed(same(op, "the window", sizes, "the tile", tile.getShape())))
    return failure();
  if (sizes.size() != whole.size() || offsets.size() != whole.size() ||
      array.getElementType() != tile.getElementType())
    return op.emitOpError() << "there is no transfer between " << array << " and " << tile;
  if (isIn(tile, Memory::params)) {
    int64_t entry[] = {2, chipOf(op).cols};
    if (failed(same(op, "an entry of the array", whole.drop_front(), "of the chip", entry)) ||
        failed(same(op, "the window", sizes.drop_front(), "whole entries", entry)))
      return failure();
  } else if (whole.size() != 2) {
    return op.emitOpError() << "tiles are pieces of a matrix, not " << sized(whole);
  }
  if (failed(checkWindow(op, offsets, sizes, whole)))
    return failure();
  return checkPanel(op, array, offsets.back(), sizes.back());
}

} // namespace

LogicalResult DmaLoadOp::verify() { return checkTransfer(*this); }

LogicalResult DmaStoreOp::verify() { return checkTransfer(*this); }

// ── arithmetic ──

LogicalResult ProductOp::verify() {
  MemRefType x = getX().getType(), w = getW().getType(), y = getY().getType();
  for (auto [what, type] : {std::pair{"x", x}, {"w", w}, {"y", y}})
    if (failed(isArray(*this, what, type)) || failed(isMatrix(*this, what, type)))
      return failure();
  if (getParams() && failed(isArray(*this, "params", getParams().getType())))
    return failure();
  int64_t m = x.getDimSize(0), k = x.getDimSize(1), n = w.getDimSize(1);
  if (failed(same(*this, "the depth of x", k, "that of w", w.getDimSize(0))) ||
      failed(same(*this, "x @ w", {m, n}, "y", y.getShape())))
    return failure();
  if (std::min({m, k, n}) < 1 || std::max({m, k, n}) > largest)
    return emitOpError() << "sizes are 1 to " << grouped(largest) << ", not " << m << "x" << k
                         << " times " << k << "x" << n;
  if (!y.getElementType().isInteger(getParams() ? 8 : 32))
    return emitOpError() << (getParams() ? "results behind the output pipeline are i8"
                                         : "sums are i32")
                         << ", y has " << y.getElementType();
  if (getParams()) {
    int64_t cols = chipOf(*this).cols, entries[] = {(n + cols - 1) / cols, 2, cols};
    Sizes given = getParams().getType().getShape();
    if (failed(same(*this, "params", given, "one entry for", entries)))
      return failure();
  }
  return checkLimits(*this, getLow(), getHigh());
}

LogicalResult MatmulOp::verify() {
  MemRefType x = getX().getType(), w = getW().getType(), sums = getSums().getType();
  if (failed(isMatrix(*this, "x", x)) || failed(isMatrix(*this, "w", w)))
    return failure();
  int64_t n = w.getDimSize(1), cols = chipOf(*this).cols;
  if (failed(same(*this, "the depth of x", x.getDimSize(1), "that of w", w.getDimSize(0))) ||
      failed(same(*this, "x @ w", {x.getDimSize(0), n}, "sums", sums.getShape())))
    return failure();
  if (n > cols)
    return emitOpError() << n << " columns of weights, but the array has " << cols;
  return success();
}

LogicalResult ActivateOp::verify() {
  int64_t entry[] = {2, chipOf(*this).cols};
  if (failed(same(*this, "sums", getSums().getType().getShape(), "out",
                  getOut().getType().getShape())) ||
      failed(same(*this, "params", getParams().getType().getShape(), "an entry", entry)))
    return failure();
  return checkLimits(*this, getLow(), getHigh());
}
