// Numbers that are known before anything runs, how often loops turn, and how often blocks run.
//
// Three small classes, one for each of control/numbers.py, control/trips.py and control/runs.py.
// A number is its bits, kept in 64. Next room: fma.cpp.

#include "control.h"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

using namespace llvm;

namespace course {
namespace {

using Number = std::optional<uint64_t>;
using Edge = std::pair<const BasicBlock *, const BasicBlock *>;
constexpr uint64_t MOST = (uint64_t(1) << 63) - 1; // larger counts are not told

unsigned bits(const Value *v) {
  auto *type = dyn_cast<IntegerType>(v->getType());
  return type && type->getBitWidth() <= 64 ? type->getBitWidth() : 0;
}

uint64_t cut(uint64_t n, unsigned bits) { return bits < 64 ? n & ((uint64_t(1) << bits) - 1) : n; }

int64_t withSign(uint64_t n, unsigned bits) {
  return int64_t(n << (64 - bits)) >> (64 - bits);
}

bool holds(CmpInst::Predicate sign, uint64_t a, uint64_t b, unsigned bits) {
  return ICmpInst::compare(APInt(bits, a), APInt(bits, b), sign);
}

std::vector<Edge> edgesOf(ArrayRef<const BasicBlock *> order) {
  std::vector<Edge> edges;
  for (auto *u : order) {
    SmallPtrSet<const BasicBlock *, 4> seen;
    for (auto *v : successors(u))
      if (seen.insert(v).second)
        edges.push_back({u, v});
  }
  return edges;
}

// ── numbers.py ──

class Numbers {
public:
  std::set<Edge> alive; // edges that may be taken

  Numbers(ArrayRef<const BasicBlock *> order, const LoopInfo &loops,
          const StringMap<int64_t> &given)
      : loops(loops), given(given) {
    std::set<const BasicBlock *> reached = {order.front()};
    for (auto *block : order)
      if (reached.count(block))
        for (auto *next : goes(block)) {
          alive.insert({block, next});
          reached.insert(next);
        }
  }

  Number of(const Value *v) {
    if (!bits(v))
      return {};
    if (auto *constant = dyn_cast<ConstantInt>(v))
      return constant->getZExtValue();
    if (auto *argument = dyn_cast<Argument>(v)) {
      auto found = given.find(argument->getName());
      return found == given.end() ? Number() : cut(uint64_t(found->second), bits(v));
    }
    auto *instruction = dyn_cast<Instruction>(v);
    if (!instruction)
      return {};
    auto found = known.find(v);
    return found != known.end() ? found->second : known[v] = compute(instruction);
  }

private:
  const LoopInfo &loops;
  const StringMap<int64_t> &given;
  std::map<const Value *, Number> known;

  std::vector<const BasicBlock *> goes(const BasicBlock *block) {
    auto *branch = dyn_cast<BranchInst>(block->getTerminator());
    if (branch && branch->isConditional())
      if (auto condition = of(branch->getCondition()))
        return {branch->getSuccessor(*condition ? 0 : 1)};
    return {succ_begin(block), succ_end(block)};
  }

  Number compute(const Instruction *v) {
    if (auto *phi = dyn_cast<PHINode>(v))
      return merged(phi);
    if (auto *select = dyn_cast<SelectInst>(v)) {
      auto condition = of(select->getCondition());
      if (!condition)
        return {};
      return of(*condition ? select->getTrueValue() : select->getFalseValue());
    }
    if (auto *compare = dyn_cast<ICmpInst>(v)) {
      auto a = of(compare->getOperand(0)), b = of(compare->getOperand(1));
      if (!a || !b)
        return {};
      return holds(compare->getPredicate(), *a, *b, bits(compare->getOperand(0)));
    }
    if (auto *choice = dyn_cast<MinMaxIntrinsic>(v)) {
      auto a = of(choice->getLHS()), b = of(choice->getRHS());
      if (!a || !b)
        return {};
      return holds(choice->getPredicate(), *a, *b, bits(v)) ? a : b;
    }
    if (v->getNumOperands() == 1 && bits(v->getOperand(0)))
      return converted(v, of(v->getOperand(0)), bits(v->getOperand(0)));
    if (v->isBinaryOp()) {
      auto a = of(v->getOperand(0)), b = of(v->getOperand(1));
      return a && b ? combined(v->getOpcode(), *a, *b, bits(v)) : Number();
    }
    return {};
  }

  // The same number on all ways that are taken; a loop may bring another one each time.
  Number merged(const PHINode *phi) {
    auto *block = phi->getParent();
    if (auto *loop = loops.getLoopFor(block); loop && loop->getHeader() == block)
      return {};
    std::set<Number> values;
    for (unsigned k = 0; k < phi->getNumIncomingValues(); k++)
      if (alive.count({phi->getIncomingBlock(k), block}))
        values.insert(of(phi->getIncomingValue(k)));
    return values.size() == 1 ? *values.begin() : Number();
  }

  static Number converted(const Instruction *v, Number n, unsigned from) {
    if (!n)
      return {};
    switch (v->getOpcode()) {
    case Instruction::Trunc:
    case Instruction::ZExt:
    case Instruction::Freeze:
      return cut(*n, bits(v));
    case Instruction::SExt:
      return cut(uint64_t(withSign(*n, from)), bits(v));
    }
    return {};
  }

  static Number combined(unsigned opcode, uint64_t a, uint64_t b, unsigned bits) {
    int64_t x = withSign(a, bits), y = withSign(b, bits);
    bool over = y == -1 && a == uint64_t(1) << (bits - 1);
    switch (opcode) {
    case Instruction::Add: return cut(a + b, bits);
    case Instruction::Sub: return cut(a - b, bits);
    case Instruction::Mul: return cut(a * b, bits);
    case Instruction::And: return a & b;
    case Instruction::Or: return a | b;
    case Instruction::Xor: return a ^ b;
    case Instruction::Shl: return b < bits ? Number(cut(a << b, bits)) : Number();
    case Instruction::LShr: return b < bits ? Number(a >> b) : Number();
    case Instruction::AShr: return b < bits ? Number(cut(uint64_t(x >> b), bits)) : Number();
    case Instruction::UDiv: return b ? Number(a / b) : Number();
    case Instruction::URem: return b ? Number(a % b) : Number();
    case Instruction::SDiv: return b && !over ? Number(cut(uint64_t(x / y), bits)) : Number();
    case Instruction::SRem: return b && !over ? Number(cut(uint64_t(x % y), bits)) : Number();
    }
    return {};
  }
};

// ── trips.py ──

struct Line { // start, start + step, start + 2 step, ...: one number for each turn of a loop
  uint64_t start, step;
};

// The smallest t with step * t = gap modulo 2**bits. The odd part of `step` can be undone.
Number meet(uint64_t step, uint64_t gap, unsigned bits) {
  unsigned twos = countr_zero(step);
  if (gap & ((uint64_t(1) << twos) - 1))
    return {};
  uint64_t odd = step >> twos, inverse = odd;
  for (int k = 0; k < 6; k++) // Newton: each turn doubles the digits that are right
    inverse *= 2 - odd * inverse;
  return cut((gap >> twos) * inverse, bits - twos);
}

// The first turn in which a line stands so to a bound; none if never, or not before it wraps around.
Number first(CmpInst::Predicate sign, Line line, uint64_t bound, unsigned bits) {
  if (holds(sign, line.start, bound, bits))
    return 0;
  if (line.step == 0)
    return {};
  if (sign == CmpInst::ICMP_NE)
    return 1;
  if (sign == CmpInst::ICMP_EQ)
    return meet(line.step, cut(bound - line.start, bits), bits);
  bool hasSign = CmpInst::isSigned(sign);
  __int128 every = __int128(1) << bits, low = hasSign ? -every / 2 : 0, high = low + every - 1;
  __int128 step = withSign(line.step, bits);
  __int128 start = hasSign ? __int128(withSign(line.start, bits)) : __int128(line.start);
  __int128 end = hasSign ? __int128(withSign(bound, bits)) : __int128(bound);
  if ((step > 0) != (ICmpInst::isGT(sign) || ICmpInst::isGE(sign)))
    return {};
  __int128 gap = end > start ? end - start : start - end, size = step > 0 ? step : -step;
  bool strict = ICmpInst::isGT(sign) || ICmpInst::isLT(sign);
  __int128 turns = strict ? gap / size + 1 : (gap + size - 1) / size;
  __int128 last = start + step * turns;
  return low <= last && last <= high ? Number(uint64_t(turns)) : Number();
}

class Counters {
public:
  Counters(const DominatorTree &before, const LoopInfo &loops, Numbers &numbers,
           ArrayRef<Edge> edges)
      : before(before), loops(loops), numbers(numbers), edges(edges) {}

  Trips trips(const Loop *loop) {
    std::vector<Edge> waysOut;
    for (auto &edge : edges)
      if (loop->contains(edge.first) && !loop->contains(edge.second) && numbers.alive.count(edge))
        waysOut.push_back(edge);
    if (waysOut.size() != 1)
      return {{}, "the loop has " + std::to_string(waysOut.size()) + " ways out"};
    auto [block, outside] = waysOut.front();
    SmallVector<BasicBlock *> latches;
    loop->getLoopLatches(latches);
    bool always = all_of(latches, [&, b = block](auto *latch) { return before.dominates(b, latch); });
    if (loops.getLoopFor(block) != loop || !always)
      return {{}, "a turn of the loop may pass its way out by"};
    bool once = true;
    for (auto *next : successors(block))
      once &= next == outside || !numbers.alive.count({block, next});
    if (once)
      return {1, "", block, outside};
    auto *branch = dyn_cast<BranchInst>(block->getTerminator());
    auto *test = branch && branch->isConditional() ? branch->getCondition() : nullptr;
    auto *compare = dyn_cast_or_null<ICmpInst>(test);
    auto *phi = dyn_cast_or_null<PHINode>(test);
    if (!compare && !phi)
      return {{}, "the loop does not end by comparing integers"};
    bool leaves = outside == branch->getSuccessor(0); // if the test is true
    auto turns = compare ? compared(compare, leaves, loop) : told(phi, leaves, loop);
    if (!turns || *turns >= MOST)
      return {{}, "what the loop counts does not begin, move and end by numbers"};
    return {*turns + 1, "", block, outside};
  }

private:
  const DominatorTree &before;
  const LoopInfo &loops;
  Numbers &numbers;
  ArrayRef<Edge> edges;

  // After how many turns a comparison comes out so that the loop is left, for the first time.
  Number compared(const ICmpInst *test, bool leaves, const Loop *loop) {
    auto sign = test->getPredicate();
    auto a = line(test->getOperand(0), loop), b = line(test->getOperand(1), loop);
    if (!a || !b)
      return {};
    if (a->step == 0) {
      std::swap(a, b);
      sign = CmpInst::getSwappedPredicate(sign);
    }
    if (!leaves)
      sign = CmpInst::getInversePredicate(sign);
    return b->step == 0 ? first(sign, *a, b->start, bits(test->getOperand(0))) : Number();
  }

  // The same where the turn before says it: phi i1 [true, %entry], [false, %loop].
  Number told(const PHINode *test, bool leaves, const Loop *loop) {
    if (test->getParent() != loop->getHeader())
      return {};
    auto [begin, ways] = entered(test, loop);
    if (!begin)
      return {};
    if (*begin == leaves)
      return 0;
    std::set<Number> later;
    for (auto *way : ways)
      later.insert(numbers.of(way));
    return later == std::set<Number>{leaves} ? Number(1) : Number();
  }

  std::optional<Line> line(const Value *v, const Loop *loop) {
    if (auto number = numbers.of(v))
      return Line{*number, 0};
    auto *instruction = dyn_cast<Instruction>(v);
    if (!instruction || !bits(v) || !loop->contains(instruction))
      return {};
    if (auto *phi = dyn_cast<PHINode>(v))
      return counter(phi, loop);
    unsigned opcode = instruction->getOpcode();
    if (auto *either = dyn_cast<PossiblyDisjointInst>(v); either && either->isDisjoint())
      opcode = Instruction::Add; // no bit is set in both
    if (opcode != Instruction::Add && opcode != Instruction::Sub && opcode != Instruction::Mul)
      return {};
    auto a = line(instruction->getOperand(0), loop), b = line(instruction->getOperand(1), loop);
    if (!a || !b || (opcode == Instruction::Mul && a->step && b->step))
      return {};
    auto made = opcode == Instruction::Add   ? Line{a->start + b->start, a->step + b->step}
                : opcode == Instruction::Sub ? Line{a->start - b->start, a->step - b->step}
                                             : Line{a->start * b->start,
                                                    a->step * b->start + b->step * a->start};
    return Line{cut(made.start, bits(v)), cut(made.step, bits(v))};
  }

  // A phi of the header that gets the same number more in each turn.
  std::optional<Line> counter(const PHINode *phi, const Loop *loop) {
    if (phi->getParent() != loop->getHeader())
      return {};
    auto [start, ways] = entered(phi, loop);
    std::set<Number> steps;
    for (auto *way : ways)
      steps.insert(more(way, phi));
    if (!start || steps.size() != 1 || !*steps.begin())
      return {};
    return Line{*start, **steps.begin()};
  }

  // The number that a phi of the header is at first, and what it is after each turn.
  std::pair<Number, std::vector<const Value *>> entered(const PHINode *phi, const Loop *loop) {
    std::set<Number> starts;
    std::vector<const Value *> ways;
    for (unsigned k = 0; k < phi->getNumIncomingValues(); k++) {
      auto *from = phi->getIncomingBlock(k);
      if (loop->contains(from))
        ways.push_back(phi->getIncomingValue(k));
      else if (numbers.alive.count({from, phi->getParent()}))
        starts.insert(numbers.of(phi->getIncomingValue(k)));
    }
    return {starts.size() == 1 ? *starts.begin() : Number(), ways};
  }

  // How much more than the phi a value is, if that is a number.
  Number more(const Value *v, const PHINode *phi) {
    if (v == phi)
      return 0;
    auto *sum = dyn_cast<BinaryOperator>(v);
    bool adds = sum && sum->getOpcode() == Instruction::Add;
    if (!adds && !(sum && sum->getOpcode() == Instruction::Sub))
      return {};
    auto number = numbers.of(sum->getOperand(1));
    auto *rest = sum->getOperand(0);
    if (!number && adds) {
      number = numbers.of(sum->getOperand(0));
      rest = sum->getOperand(1);
    }
    auto before = number ? more(rest, phi) : Number();
    if (!before)
      return {};
    return cut(adds ? *before + *number : *before - *number, bits(v));
  }
};

// ── runs.py ──

class Flow {
public:
  std::map<const BasicBlock *, Number> runs;

  Flow(ArrayRef<const BasicBlock *> order, ArrayRef<Edge> every, const LoopInfo &loops,
       const DominatorTree &before, const PostDominatorTree &behind, Numbers &numbers,
       const MapVector<const BasicBlock *, Trips> &counted)
      : order(order), loops(loops), counted(counted) {
    for (auto &edge : every) {
      edges[edge] = numbers.alive.count(edge) ? Number() : Number(0);
      into[edge.second].push_back(edge);
      out[edge.first].push_back(edge);
    }
    for (auto *b : order) { // and the nearest block above it in the same loop
      auto *above = before.getNode(b)->getIDom();
      while (above && loops.getLoopFor(above->getBlock()) != loops.getLoopFor(b))
        above = above->getIDom();
      if (above && behind.dominates(b, above->getBlock()))
        twins.push_back({above->getBlock(), b});
    }
    runs[order.front()] = 1;
  }

  // Filled in until nothing more follows from what is known.
  void settle() {
    while (changed) {
      changed = false;
      for (auto *b : order) {
        turns(b);
        balance(b, into[b]);
        balance(b, out[b]);
      }
      for (auto &[a, b] : twins) {
        block(a, runs[b]);
        block(b, runs[a]);
      }
    }
  }

private:
  ArrayRef<const BasicBlock *> order;
  const LoopInfo &loops;
  const MapVector<const BasicBlock *, Trips> &counted;
  std::map<Edge, Number> edges;
  std::map<const BasicBlock *, std::vector<Edge>> into, out;
  std::vector<Edge> twins; // pairs of blocks that run equally often
  bool changed = true;

  // A loop that is counted: its header runs so often for each time that it is entered.
  void turns(const BasicBlock *header) {
    auto found = counted.find(header);
    if (found == counted.end() || !found->second.count)
      return;
    std::vector<Edge> entries;
    for (auto &edge : into[header])
      if (!loops.getLoopFor(header)->contains(edge.first))
        entries.push_back(edge);
    auto entered = total(entries);
    uint64_t product;
    if (!entered)
      return;
    if (!__builtin_mul_overflow(*entered, *found->second.count, &product))
      block(header, product);
    edge({found->second.from, found->second.to}, *entered);
  }

  // The runs of a block are the sum over the edges into it, and over those out of it.
  void balance(const BasicBlock *b, const std::vector<Edge> &around) {
    if (around.empty())
      return;
    std::vector<Edge> unknown, rest;
    for (auto &e : around)
      (edges[e] ? rest : unknown).push_back(e);
    if (unknown.empty())
      block(b, total(around));
    else if (auto known = total(rest); unknown.size() == 1 && runs[b] && known && *known <= *runs[b])
      edge(unknown.front(), *runs[b] - *known);
  }

  Number total(const std::vector<Edge> &around) {
    uint64_t sum = 0;
    for (auto &e : around)
      if (!edges[e] || __builtin_add_overflow(sum, *edges[e], &sum))
        return {};
    return sum;
  }

  void block(const BasicBlock *b, Number n) {
    if (!runs[b] && n && *n <= MOST) {
      runs[b] = n;
      changed = true;
    }
  }

  void edge(Edge e, uint64_t n) {
    if (!edges[e] && n <= MOST) {
      edges[e] = n;
      changed = true;
    }
  }
};

// Why nothing can be said of the whole function, or nothing.
std::string trouble(const Function &function, ArrayRef<const BasicBlock *> order,
                    const LoopInfo &loops) {
  ReversePostOrderTraversal<const Function *> visit(&function);
  if (containsIrreducibleCFG<const BasicBlock *>(visit, loops))
    return "a loop has two entries";
  std::set<const BasicBlock *> reaching;
  for (bool grows = true; grows;) {
    grows = false;
    for (auto *block : order)
      if (!reaching.count(block) &&
          (succ_empty(block) || any_of(successors(block), [&](auto *b) { return reaching.count(b); })))
        grows = reaching.insert(block).second;
  }
  return reaching.size() < order.size() ? "a loop has no end" : "";
}

// Of all loops around a block, the outermost one that is not counted says why.
std::string why(const BasicBlock *block, const LoopInfo &loops,
                const MapVector<const BasicBlock *, Trips> &counted) {
  std::string reason = "data decides whether it runs, or it runs too often";
  for (auto *loop = loops.getLoopFor(block); loop; loop = loop->getParentLoop())
    if (auto &found = counted.find(loop->getHeader())->second; !found.why.empty())
      reason = found.why;
  return reason;
}

} // namespace

Control control(const Function &function, const DominatorTree &before,
                const PostDominatorTree &behind, const LoopInfo &loops,
                const StringMap<int64_t> &given) {
  ReversePostOrderTraversal<const Function *> visit(&function);
  std::vector<const BasicBlock *> order(visit.begin(), visit.end());
  auto edges = edgesOf(order);
  Control result;
  auto broken = trouble(function, order, loops);
  if (!broken.empty()) {
    for (auto &block : function)
      result.blocks[&block] = is_contained(order, &block) ? Runs{{}, broken} : Runs{0, ""};
    return result;
  }
  Numbers numbers(order, loops, given);
  Counters counters(before, loops, numbers, edges);
  for (auto &block : function)
    if (auto *loop = loops.getLoopFor(&block); loop && loop->getHeader() == &block)
      result.loops[&block] = counters.trips(loop);
  Flow flow(order, edges, loops, before, behind, numbers, result.loops);
  flow.settle();
  for (auto &block : function) {
    if (!is_contained(order, &block))
      result.blocks[&block] = {0, ""};
    else if (auto n = flow.runs[&block])
      result.blocks[&block] = {n, ""};
    else
      result.blocks[&block] = {{}, why(&block, loops, result.loops)};
  }
  return result;
}

} // namespace course
