"""What single instructions of PTX compute, on Python's numbers, as NVIDIA's manual describes them.

    compute(instruction, get)   ->   ("s32", 7): the type of the result, and its value

`get(k, "s32")` is operand k read as that type: an int, a float, or a truth. Nothing of
course_lib.gpu.ops is used here; this is what it is compared with.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any

from course_lib.gpu.ptx.parts import Instruction

from . import plain_floats as floats

Get = Callable[[int, str], Any]
Result = tuple[str, Any]


@cache
def width(type: str) -> int:
    if type == "pred" or type.endswith("x2"):
        return 1 if type == "pred" else 32
    return int(type.lstrip("subft"))


def wrapped(x: int, type: str) -> int:
    """A whole number as it is left in so many bits."""
    bits = width(type)
    x &= (1 << bits) - 1
    return x - (1 << bits) if type[0] == "s" and x >> (bits - 1) else x


def clamped(x: int, type: str) -> int:
    bits = width(type)
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if type[0] == "s" else (0, 2**bits - 1)
    return min(max(x, low), high)


def compute(i: Instruction, get: Get) -> Result:
    type = i.types[-1].name
    if i.name == "cvt":
        return converted(i, get)
    if i.name in ("setp", "set", "selp", "slct", "testp"):
        return chosen(i, get, type)
    if i.name in ("mov", "cvta"):
        return type, get(1, type)
    if type.endswith("x2"):
        return type, pair(i, get, type)
    if type in floats.FORMATS:
        return type, real(i, [get(k, type) for k in range(1, len(i.operands))], type)
    if i.name in BITS:
        return BITS[i.name](i, get, type)
    return whole(i, get, type)


# ── whole numbers ──


def whole(i: Instruction, get: Get, type: str) -> Result:
    if i.name in ("mul", "mad"):
        return product(i, get, type)
    if i.name == "mul24":
        return type, wrapped(get(1, type), f"{type[0]}24") * wrapped(get(2, type), f"{type[0]}24")
    a = get(1, type)
    b = get(2, type) if len(i.operands) > 2 else 0
    if i.name == "sad":
        return type, abs(a - b) + get(3, type)
    if i.has("sat"):
        return type, clamped(a + b if i.name == "add" else a - b, type)
    return type, {
        "add": lambda: a + b, "sub": lambda: a - b, "min": lambda: min(a, b),
        "max": lambda: max(a, b), "abs": lambda: abs(a), "neg": lambda: -a,
        "and": lambda: a & b, "or": lambda: a | b, "xor": lambda: a ^ b,
        "not": lambda: (not a) if type == "pred" else ~a, "cnot": lambda: int(a == 0),
        "div": lambda: toward_zero(a, b), "rem": lambda: a - b * toward_zero(a, b) if b else a,
    }[i.name]()  # fmt: skip


def toward_zero(a: int, b: int) -> int:
    """All ones for a division by 0, which PTX leaves open."""
    if b == 0:
        return -1
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def product(i: Instruction, get: Get, type: str) -> Result:
    exact = get(1, type) * get(2, type)
    if i.has("wide"):
        type = f"{type[0]}{2 * width(type)}"
    elif i.has("hi"):
        exact >>= width(type)
    return type, exact + (get(3, type) if i.name == "mad" else 0)


# ── bits ──


def shift_left(i: Instruction, get: Get, type: str) -> Result:
    return type, get(1, type) << min(get(2, "u32"), 64)


def shift_right(i: Instruction, get: Get, type: str) -> Result:
    return type, get(1, type) >> min(get(2, "u32"), 64)


def funnel(i: Instruction, get: Get, type: str) -> Result:
    a, b, c = (get(k, "u32") for k in (1, 2, 3))
    n = c % 32 if i.has("wrap") else min(c, 32)
    if i.has("l"):
        return "u32", (b << n) | (a >> (32 - n))
    return "u32", (b << (32 - n)) | (a >> n)


def population(i: Instruction, get: Get, type: str) -> Result:
    return "u32", bin(get(1, type)).count("1")


def leading(i: Instruction, get: Get, type: str) -> Result:
    return "u32", width(type) - get(1, type).bit_length()


def mirrored(i: Instruction, get: Get, type: str) -> Result:
    return type, int(format(get(1, type), f"0{width(type)}b")[::-1], 2)


def highest(i: Instruction, get: Get, type: str) -> Result:
    a = get(1, type)
    length = (~a if a < 0 else a).bit_length()
    if length == 0:
        return "u32", 0xFFFF_FFFF
    return "u32", width(type) - length if i.has("shiftamt") else length - 1


def extracted(i: Instruction, get: Get, type: str) -> Result:
    """The manual's own loop over bits."""
    a, first, count = get(1, f"u{width(type)}"), get(2, "u32") & 0xFF, get(3, "u32") & 0xFF
    last = width(type) - 1
    sign = a >> min(first + count - 1, last) & 1 if type[0] == "s" and count else 0
    result = 0
    for k in range(last + 1):
        inside = k < count and first + k <= last
        result |= (a >> (first + k) & 1 if inside else sign) << k
    return type, result


def inserted(i: Instruction, get: Get, type: str) -> Result:
    a, result = get(1, type), get(2, type)
    first, count = get(3, "u32") & 0xFF, get(4, "u32") & 0xFF
    for k in range(count):
        if first + k < width(type):
            result = result & ~(1 << (first + k)) | (a >> k & 1) << (first + k)
    return type, result


def table_of_three(i: Instruction, get: Get, type: str) -> Result:
    a, b, c, table = (get(k, "u32") for k in (1, 2, 3, 4))
    bits = [table >> ((a >> k & 1) * 4 + (b >> k & 1) * 2 + (c >> k & 1)) & 1 for k in range(32)]
    return "b32", sum(bit << k for k, bit in enumerate(bits))


def permuted(i: Instruction, get: Get, type: str) -> Result:
    both = get(1, "u32").to_bytes(4, "little") + get(2, "u32").to_bytes(4, "little")
    picked = []
    for k in range(4):
        choice = get(3, "u32") >> (4 * k) & 15
        byte = both[choice & 7]
        picked.append((255 if byte & 128 else 0) if choice & 8 else byte)
    return "b32", int.from_bytes(bytes(picked), "little")


BITS: dict[str, Callable[[Instruction, Get, str], Result]] = {
    "shl": shift_left, "shr": shift_right, "shf": funnel, "popc": population, "clz": leading,
    "brev": mirrored, "bfind": highest, "bfe": extracted, "bfi": inserted, "lop3": table_of_three,
    "prmt": permuted,
}  # fmt: skip


# ── floats ──


def real(i: Instruction, operands: list[float], type: str) -> float:
    """The result as a number of the type, rounded."""
    ftz = i.has("ftz") and type == "f32"
    a, b, c = ([floats.flushed(x) if ftz else x for x in operands] + [0.0, 0.0])[:3]
    exact = {
        "add": lambda: floats.add(a, b), "sub": lambda: floats.add(a, -b),
        "mul": lambda: floats.mul(a, b), "fma": lambda: floats.fma(a, b, c),
        "mad": lambda: floats.fma(a, b, c), "div": lambda: floats.div(a, b),
        "rcp": lambda: floats.div(1.0, a), "sqrt": lambda: floats.sqrt(a),
        "min": lambda: floats.least(a, b, i.has("NaN")), "abs": lambda: abs(a),
        "max": lambda: floats.largest(a, b, i.has("NaN")), "neg": lambda: -a,
        "copysign": lambda: math.copysign(b, a),
    }[i.name]()  # fmt: skip
    result = floats.value(floats.bits(exact, type), type)
    result = floats.flushed(result) if ftz else result
    return saturated(result) if i.has("sat") else result


def saturated(x: float) -> float:
    """Between 0 and 1; NaN is 0."""
    return min(x, 1.0) if x > 0 else 0.0


def pair(i: Instruction, get: Get, type: str) -> int:
    """The same for both halves of a register."""
    half = type.removesuffix("x2")
    result = 0
    for shift in (0, 16):
        operands = [
            floats.value(get(k, "u32") >> shift & 0xFFFF, half) for k in range(1, len(i.operands))
        ]
        result |= floats.bits(real(i, operands, half), half) << shift
    return result


# ── comparisons, choices, conversions ──


def chosen(i: Instruction, get: Get, type: str) -> Result:
    if i.name == "selp":
        return type, get(1, type) if get(3, "pred") else get(2, type)
    if i.name == "slct":
        first = i.types[0].name
        return first, get(1, first) if get(3, type) >= 0 else get(2, first)
    if i.name == "testp":
        return "pred", kind_of(get(1, type), type, i.modifiers[0])
    holds = compared(i, get, type)
    if i.name == "set":
        result = i.types[0].name
        return result, float(holds) if result[0] == "f" else -int(holds)
    other = i.one_of("and", "or", "xor")
    if other:
        third = get(3, "pred")
        holds = {"and": holds and third, "or": holds or third, "xor": holds != third}[other]
    return "pred", holds


def kind_of(x: float, type: str, what: str) -> bool:
    normal = math.isfinite(x) and floats.flushed(x, type) != 0
    return {
        "finite": math.isfinite(x), "infinite": math.isinf(x), "number": not math.isnan(x),
        "notanumber": math.isnan(x), "normal": normal,
        "subnormal": math.isfinite(x) and x != 0 and not normal,
    }[what]  # fmt: skip


def compared(i: Instruction, get: Get, type: str) -> bool:
    a, b = get(1, type), get(2, type)
    if i.has("ftz"):
        a, b = floats.flushed(a), floats.flushed(b)
    how = i.modifiers[0]
    nan = isinstance(a, float) and (math.isnan(a) or math.isnan(b))
    if how in ("num", "nan"):
        return nan == (how == "nan")
    if nan:
        return how.endswith("u")
    how = how.removesuffix("u")
    return {
        "eq": a == b, "ne": a != b, "lt": a < b, "le": a <= b, "gt": a > b, "ge": a >= b,
        "lo": a < b, "ls": a <= b, "hi": a > b, "hs": a >= b,
    }[how]  # fmt: skip


def converted(i: Instruction, get: Get) -> Result:
    to, source = (type.name for type in i.types)
    if to.endswith("x2"):
        half = to.removesuffix("x2")
        high, low = (floats.bits(get(k, source), half) for k in (1, 2))
        return to, high << 16 | low
    x: Any = get(1, source)
    if i.has("ftz") and source == "f32":
        x = floats.flushed(x)
    if i.one_of("rni", "rzi", "rmi", "rpi") and math.isfinite(x):
        x = math.copysign(abs(to_integer(i, x)), x)  # -0 stays
    if to not in floats.FORMATS:
        return to, to_whole(x, source, to) if source in floats.FORMATS else resized(i, x, to)
    result = floats.value(floats.bits(Fraction(x) or float(x) if math.isfinite(x) else x, to), to)
    if i.has("ftz") and to == "f32":
        result = floats.flushed(result)
    return to, saturated(result) if i.has("sat") else result


def to_integer(i: Instruction, x: float) -> int:
    how = i.one_of("rni", "rzi", "rmi", "rpi")
    return {"rni": round, "rzi": math.trunc, "rmi": math.floor, "rpi": math.ceil}[how](x)


def to_whole(x: float, source: str, to: str) -> int:
    """What NaN becomes: "Zero if source is not .f64 and destination is not .s64, .u64. Otherwise
    1 << (BitWidth(dst) - 1)", says the manual."""
    if math.isnan(x):
        return 1 << (width(to) - 1) if source == "f64" or width(to) == 64 else 0
    if math.isinf(x):
        return clamped(1 << 70 if x > 0 else -(1 << 70), to)
    return clamped(int(x), to)


def resized(i: Instruction, x: int, to: str) -> int:
    return clamped(x, to) if i.has("sat") else x
