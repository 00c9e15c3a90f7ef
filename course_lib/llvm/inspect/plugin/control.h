// How often each block of a function runs in one call, read off its structure.
//
// The same rules as in course_lib/llvm/inspect/control/*.py, on LLVM's own data structures: dominators,
// postdominators and natural loops are analyses that LLVM has. Next room: control.cpp.

#pragma once

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Function.h"

#include <cstdint>
#include <optional>
#include <string>

namespace course {

// How often the header of a loop runs each time that the loop is entered, or why that is not known.
struct Trips {
  std::optional<uint64_t> count;
  std::string why;
  const llvm::BasicBlock *from = nullptr, *to = nullptr; // the only edge that leaves the loop
};

struct Runs {
  std::optional<uint64_t> count;
  std::string why;
};

struct Control {
  llvm::MapVector<const llvm::BasicBlock *, Runs> blocks; // in the order of the function
  llvm::MapVector<const llvm::BasicBlock *, Trips> loops; // by header, in the same order
};

// `given` are numbers for integer arguments, by name.
Control control(const llvm::Function &function, const llvm::DominatorTree &before,
                const llvm::PostDominatorTree &behind, const llvm::LoopInfo &loops,
                const llvm::StringMap<int64_t> &given);

} // namespace course
