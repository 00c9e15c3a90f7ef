// The machine in C++: which chip a module names, what is wrong with it, and how matrices lie.
//
//     module attributes {npu.chip = {preset = "cray"}}   ->   error: npu.chip: there is no chip
//                                                             "cray", there are npu, teaching, ...
//
// In Python: machine.py, one floor up. There an operation that asks for the chip finds out that it
// cannot be; here the dialect's hook for attributes does, once, at the module. Next room:
// verify.cpp.

#include "npu.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace npu;

namespace {

using Emit = function_ref<InFlightDiagnostic()>;

struct Number {
  StringRef name;
  int64_t Chip::*field;
  int64_t least, most;
};
constexpr Number numbers[] = {
#define NUMBER(name, least, most) {#name, &Chip::name, least, most},
#include "chips.inc"
};
const std::pair<StringRef, Chip> presets[] = {
#define PRESET(name, ...) {name, Chip{__VA_ARGS__}},
#include "chips.inc"
};
constexpr StringRef others[] = { // a chip has them, but no operation's rules depend on them
#define OTHER(name) #name,
#include "chips.inc"
};
constexpr int64_t mostBanks = 60; // the bits of the chip's word for banks in use

std::optional<int64_t> whole(Attribute value) {
  auto number = dyn_cast<IntegerAttr>(value);
  if (!number || number.getValue().getSignificantBits() > 64)
    return std::nullopt;
  return number.getValue().getSExtValue();
}

LogicalResult setBanks(Chip &chip, Attribute value, Emit error) {
  auto parts = dyn_cast<ArrayAttr>(value);
  int64_t sum = 0;
  bool good = parts && parts.size() == std::size(chip.banks);
  for (size_t i = 0; good && i < parts.size(); ++i) {
    int64_t banks = whole(parts[i]).value_or(0);
    chip.banks[i] = banks;
    good = 1 <= banks && banks <= mostBanks && (sum += banks) <= mostBanks;
  }
  if (good)
    return success();
  return error() << "banks of weights, acts and accs, at most " << mostBanks << " together, got "
                 << value;
}

LogicalResult setField(Chip &chip, NamedAttribute given, Emit error) {
  StringRef name = given.getName();
  if (name == "preset" || is_contained(others, name))
    return success();
  if (name == "banks")
    return setBanks(chip, given.getValue(), error);
  for (const Number &known : numbers) {
    if (known.name != name)
      continue;
    std::optional<int64_t> number = whole(given.getValue());
    if (!number || *number < known.least)
      return error() << name << " is a whole number >= " << known.least << ", got "
                     << given.getValue();
    if (*number > known.most)
      return error() << name << " is at most " << grouped(known.most)
                     << ", what its field in an instruction can say; got " << *number;
    chip.*known.field = *number;
    return success();
  }
  return error() << "a chip has no " << name;
}

// The chip that a value of npu.chip names.
FailureOr<Chip> read(Attribute value, Emit error) {
  auto named = dyn_cast_or_null<DictionaryAttr>(value);
  if (!named)
    return error() << "is a dictionary: {preset = \"npu\", rows = 16 : i64}";
  Attribute wanted = named.get("preset");
  auto name = wanted ? dyn_cast<StringAttr>(wanted) : StringAttr::get(value.getContext(), "npu");
  auto *found = llvm::find_if(presets, [&](auto &each) { return name && each.first == name; });
  if (found == std::end(presets))
    return error() << "there is no chip " << wanted << ", there are "
                   << llvm::join(llvm::make_first_range(presets), ", ");
  Chip chip = found->second;
  for (NamedAttribute given : named)
    if (failed(setField(chip, given, error)))
      return failure();
  std::pair<StringRef, int64_t> sizes[] = {
      {"weights", chip.weights}, {"acts", chip.acts}, {"accs", chip.accs}};
  for (auto [size, banks] : llvm::zip(sizes, chip.banks))
    if (size.second % banks)
      return error() << size.first << " has " << size.second << ", not a multiple of " << banks;
  return chip;
}

} // namespace

LogicalResult NPUDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  if (attribute.getName() != chipName)
    return success();
  return read(attribute.getValue(), [&] { return op->emitError() << chipName << ": "; });
}

// The hook has refused what cannot be read, before any operation inside is asked.
Chip npu::chipOf(Operation *op) {
  for (Operation *around = op; around; around = around->getParentOp())
    if (Attribute value = around->getAttr(chipName))
      return *read(value, [&] { return around->emitError(); });
  return presets[0].second;
}

int64_t Chip::size(Memory memory) const {
  switch (memory) {
  case Memory::weights: return weights;
  case Memory::acts: return acts;
  case Memory::accs: return accs * cols;
  case Memory::params: return params * 2 * cols;
  case Memory::dram: break;
  }
  llvm_unreachable("DRAM is no memory of the chip");
}

int64_t Chip::bankSize(Memory memory) const {
  switch (memory) {
  case Memory::weights: return weights / banks[0];
  case Memory::acts: return acts / banks[1];
  case Memory::accs: return size(memory) / banks[2];
  default: return 1; // parameters are not divided
  }
}

bool npu::isIn(Type type, Memory memory) {
  auto space = dyn_cast_or_null<MemoryAttr>(cast<MemRefType>(type).getMemorySpace());
  return space && space.getValue() == memory;
}

Memory npu::memoryOf(MemRefType type) { return cast<MemoryAttr>(type.getMemorySpace()).getValue(); }

bool npu::isDataflow(StringRef name) { return name == "ws" || name == "os"; }

int64_t npu::taken(const Chip &chip, MemRefType buffer) {
  uint64_t slot = 1, bank = chip.bankSize(memoryOf(buffer));
  for (int64_t size : buffer.getShape().drop_front())
    slot = llvm::SaturatingMultiply<uint64_t>(slot, size);
  uint64_t banks = slot / bank + (slot % bank != 0);
  uint64_t all = llvm::SaturatingMultiply<uint64_t>(
      llvm::SaturatingMultiply<uint64_t>(banks, bank), buffer.getDimSize(0));
  return std::min<uint64_t>(all, INT32_MAX); // more than any memory has
}

std::string npu::sized(Sizes sizes) {
  return llvm::join(llvm::map_range(sizes, [](int64_t size) {
    return ShapedType::isDynamic(size) ? "?" : std::to_string(size);
  }), "x");
}

std::string npu::grouped(int64_t number) {
  std::string digits = std::to_string(number);
  for (int at = digits.size() - 3; at > 0 && digits[at - 1] != '-'; at -= 3)
    digits.insert(at, ",");
  return digits;
}

// ── panels: a matrix as the array takes its weights ──

LogicalResult PanelsAttr::verify(Emit error, int64_t columns) {
  if (columns < 1)
    return error() << "panels have at least one column, got " << columns;
  return success();
}

// Panel, row, and column in the panel. The last panel may be narrower, which moves no element to
// other coordinates; but it is no map to addresses, so no strides can be had from it.
AffineMap PanelsAttr::getAffineMap() const {
  AffineExpr row = getAffineDimExpr(0, getContext()), column = getAffineDimExpr(1, getContext());
  return AffineMap::get(2, 0, {column.floorDiv(getColumns()), row, column % getColumns()},
                        getContext());
}

LogicalResult PanelsAttr::verifyLayout(Sizes shape, Emit error) const {
  if (shape.size() != 2)
    return error() << sized(shape) << " lies in panels, but is no matrix";
  return success();
}
