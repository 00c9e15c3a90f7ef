"""Wrong and right words. What is changed is a belief about bits."""

from __future__ import annotations

from autograder.check.framework import alternative, mutant


def _checked(values, fields):
    for value, (name, width, signed) in zip(values, fields, strict=True):
        low = -(2 ** (width - 1)) if signed else 0
        if not low <= value <= low + 2**width - 1:
            raise ValueError(f"{name} does not hold {value}")


@mutant("u13.encode")
def the_first_field_is_the_highest(values, fields):
    _checked(values, fields)
    word = 0
    for value, (_, width, _) in zip(values, fields, strict=True):
        word = word << width | value % 2**width
    return word


@mutant("u13.encode")
def a_negative_value_as_sign_and_size(values, fields):
    _checked(values, fields)
    word = at = 0
    for value, (_, width, signed) in zip(values, fields, strict=True):
        sign = 2 ** (width - 1) if signed and value < 0 else 0
        word += (abs(value) % 2**width | sign) << at
        at += width
    return word


@mutant("u13.encode")
def a_negative_value_runs_into_the_next_field(values, fields):
    _checked(values, fields)
    word = at = 0
    for value, (_, width, _) in zip(values, fields, strict=True):
        word |= value << at
        at += width
    return word


@mutant("u13.encode")
def cuts_what_does_not_fit(values, fields):
    word = at = 0
    for value, (_, width, _) in zip(values, fields, strict=True):
        word |= value % 2**width << at
        at += width
    return word


@mutant("u13.encode")
def a_signed_field_holds_what_an_unsigned_one_does(values, fields):
    for value, (name, width, signed) in zip(values, fields, strict=True):
        if not (-(2 ** (width - 1)) if signed else 0) <= value < 2**width:
            raise ValueError(name)
    return cuts_what_does_not_fit(values, fields)


@mutant("u13.encode")
def forgets_the_least_negative(values, fields):
    for value, (name, width, signed) in zip(values, fields, strict=True):
        half = 2 ** (width - 1)
        if not (-half < value < half if signed else 0 <= value < 2**width):
            raise ValueError(name)
    return cuts_what_does_not_fit(values, fields)


@mutant("u13.encode")
def every_field_starts_at_a_byte(values, fields):
    _checked(values, fields)
    word = at = 0
    for value, (_, width, _) in zip(values, fields, strict=True):
        word |= value % 2**width << at
        at += -(-width // 8) * 8
    return word


@mutant("u13.encode")
def does_not_say_which_field(values, fields):
    try:
        _checked(values, fields)
    except ValueError:
        raise ValueError("a value does not fit") from None
    return cuts_what_does_not_fit(values, fields)


@mutant("u13.encode")
def looks_at_all_but_the_last(values, fields):
    _checked(values[:-1], fields[:-1])
    return cuts_what_does_not_fit(values, fields)


@mutant("u13.encode")
def names_all_fields(values, fields):
    try:
        _checked(values, fields)
    except ValueError:
        raise ValueError(f"one of {fields} does not fit") from None
    return cuts_what_does_not_fit(values, fields)


@mutant("u13.encode")
def cuts_the_word_at_256_bits(values, fields):
    _checked(values, fields)
    return cuts_what_does_not_fit(values, fields) % 2**256


@alternative("u13.encode")
def digit_by_digit(values, fields):
    _checked(values, fields)
    text = ""
    for value, (_, width, _) in zip(values, fields, strict=True):
        text = format(value + 2**width if value < 0 else value, f"0{width}b") + text
    return int(text, 2)


@alternative("u13.encode")
def from_the_last_to_the_first(values, fields):
    _checked(values, fields)
    word = 0
    for value, (_, width, _) in reversed(list(zip(values, fields, strict=True))):
        word = word * 2**width + value % 2**width
    return word


@alternative("u13.encode")
def by_bytes(values, fields):
    total, word = 0, 0
    for value, (name, width, signed) in zip(values, fields, strict=True):
        size = width // 8 + 1
        data = int.from_bytes((value % 256**size).to_bytes(size, "little"), "little")
        kept = data & ((1 << width) - 1)
        back = kept - (1 << width) if signed and kept >> (width - 1) else kept
        if back != value:
            raise ValueError(f"field {name}: {value}")
        word, total = word | kept << total, total + width
    return word


def _decoded(word, fields, sign=True):
    found = []
    for _, width, signed in fields:
        value, word = word % 2**width, word // 2**width
        found.append(value - 2**width if sign and signed and value >= 2 ** (width - 1) else value)
    return found, word


@mutant("u13.decode")
def nothing_is_negative(word, fields):
    found, rest = _decoded(word, fields, sign=False)
    if rest:
        raise ValueError
    return found


@mutant("u13.decode")
def takes_what_is_behind(word, fields):
    return _decoded(word, fields)[0]


@mutant("u13.decode")
def looks_at_the_next_bit_only(word, fields):
    found, rest = _decoded(word, fields)
    if rest % 2:
        raise ValueError
    return found


@mutant("u13.decode")
def the_highest_field_first(word, fields):
    found, rest = _decoded(word, fields[::-1])
    if rest:
        raise ValueError
    return found[::-1]


@mutant("u13.decode")
def the_highest_bit_is_only_a_sign(word, fields):
    found, rest = [], word
    for _, width, signed in fields:
        value, rest = rest % 2**width, rest // 2**width
        half = 2 ** (width - 1)
        found.append(-(value - half) if signed and value >= half else value)
    if rest:
        raise ValueError
    return found


@mutant("u13.decode")
def every_high_bit_is_a_sign(word, fields):
    found, rest = _decoded(word, [(name, width, True) for name, width, _ in fields])
    if rest:
        raise ValueError
    return found


@alternative("u13.decode")
def with_masks(word, fields):
    found, at = [], 0
    for _, width, signed in fields:
        value = word >> at & (1 << width) - 1
        found.append((value ^ 1 << width - 1) - (1 << width - 1) if signed else value)
        at += width
    if word >> at:
        raise ValueError("more bits than fields")
    return found


@alternative("u13.decode")
def of_digits(word, fields):
    text = format(word, "b").zfill(sum(width for _, width, _ in fields))
    if len(text) > sum(width for _, width, _ in fields):
        raise ValueError(text)
    found = []
    for _, width, signed in fields:
        digits, text = text[len(text) - width :], text[: len(text) - width]
        found.append(int(digits, 2) - (2**width if signed and digits[0] == "1" else 0))
    return found


@alternative("u13.decode")
def with_divmod(word, fields):
    found = []
    for _, width, signed in fields:
        word, value = divmod(word, 2**width)
        found.append(value - 2**width * (signed and 2 * value >= 2**width))
    if word != 0:
        raise ValueError("a bit behind the last field")
    return tuple(found)
