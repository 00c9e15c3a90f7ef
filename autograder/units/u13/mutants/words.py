"""Wrong and right words. What is changed is a belief about bits."""

from __future__ import annotations

import numpy as np

from autograder.check.framework import alternative, alternatives, mutants

_BITS = "(value & (1 << width) - 1)"
_TEXT = "f'{name} holds {low} to {low + (1 << width) - 1}, not {value}'"

mutants(
    "u13.encode",
    the_first_field_is_the_highest=(f"word |= {_BITS} << at", f"word = word << width | {_BITS}"),
    a_negative_value_as_sign_and_size=(
        _BITS, "(abs(value) % 2 ** width | (1 << width - 1 if value < 0 else 0))"),
    a_negative_value_runs_into_the_next_field=(_BITS, "value"),
    cuts_what_does_not_fit=("if not low", "if False and not low"),
    a_signed_field_holds_what_an_unsigned_one_does=("value < low + (1", "value < (1"),
    # As many negative values as positive ones.
    forgets_the_least_negative=(_BITS, _BITS.replace("value", "max(value, low + signed)")),
    every_field_starts_at_a_byte=("at += width", "at += -(-width // 8) * 8"),
    looks_at_all_but_the_last=("if not low", "if name != fields[-1][0] and not low"),
    does_not_say_which_field=(_TEXT, "'a value does not fit'"),
    names_all_fields=(_TEXT, "f'one of {fields} does not fit'"),
    one_value_for_each_name=(
        "zip(values, fields, strict=True)",
        "[(dict(zip([f[0] for f in fields], values))[f[0]], f) for f in fields]"),
    cuts_the_word_at_256_bits=("return word", "return word % 2 ** 256"),
    cuts_the_word_at_2048_bits=("return word", "return word % 2 ** 2048"),
)  # fmt: skip


def _checked(values, fields):
    for value, (name, width, signed) in zip(values, fields, strict=True):
        low = -(2 ** (width - 1)) if signed else 0
        if not low <= value <= low + 2**width - 1:
            raise ValueError(f"{name} does not hold {value}")


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


mutants(
    "u13.decode",
    nothing_is_negative=("if signed and", "if False and"),
    every_high_bit_is_a_sign=("if signed and", "if"),
    the_highest_bit_is_only_a_sign=("value - (1 << width) if", "(1 << width - 1) - value if"),
    takes_what_is_behind=("if word:", "if False:"),
    looks_at_the_next_bit_only=("if word:", "if word % 2:"),
    the_highest_field_first=("in fields", "in fields[::-1]",
                             "return values", "return values[::-1]"),
    one_value_for_each_name=(
        "return values",
        "return [dict(zip([f[0] for f in fields], values))[f[0]] for f in fields]"),
    as_texts=("return values", "return [str(value) for value in values]"),
    half_a_bit_too_much=("return values", "return [value + 0.5 for value in values]"),
)  # fmt: skip


@alternative("u13.decode")
def with_masks(word, fields):
    values, at = [], 0
    for _, width, signed in fields:
        value = word >> at & (1 << width) - 1
        values.append((value ^ 1 << width - 1) - (1 << width - 1) if signed else value)
        at += width
    if word >> at:
        raise ValueError("more bits than fields")
    return values


@alternative("u13.decode")
def of_digits(word, fields):
    text = format(word, "b").zfill(sum(width for _, width, _ in fields))
    if len(text) > sum(width for _, width, _ in fields):
        raise ValueError(text)
    values = []
    for _, width, signed in fields:
        digits, text = text[len(text) - width :], text[: len(text) - width]
        values.append(int(digits, 2) - (2**width if signed and digits[0] == "1" else 0))
    return values


@alternative("u13.decode")
def with_divmod(word, fields):
    values = []
    for _, width, signed in fields:
        word, value = divmod(word, 2**width)
        values.append(value - 2**width * (signed and 2 * value >= 2**width))
    if word != 0:
        raise ValueError("a bit behind the last field")
    return tuple(values)


alternatives(
    "u13.decode",
    as_an_array=lambda word, fields: np.array(with_masks(word, fields), object),
    of_numpy_numbers=("return values", "return [np.int64(v) if abs(v) < 99 else v for v in values]",
                      "    values = []", "    import numpy as np\n    values = []"),
)  # fmt: skip
