"""Names for a class that does not exist, from many scripts, with every trouble that names make.

    people(300, random.Random(0))      # -> [Student("s000001", "Ada Lovelace", ...), ...]

Next room: rehearsal.py, what they hand in.
"""

from __future__ import annotations

import random
import unicodedata
from dataclasses import dataclass

GIVEN = (
    "Ada", "Zoë", "José", "Søren", "Łukasz", "Nguyễn", "Þóra", "Ayşe", "Chloé", "Siân",
    "Bob", "Mary-Jane", "O'Brien", "Jean-Luc", "Дмитрий", "Олена", "Γεωργία", "明", "さくら",
    "지우", "محمد", "نور", "שרה", "अनिल", "প্রিয়া", "สมชาย", "Թամար", "ნინო",
)  # fmt: skip
FAMILY = (
    "Lovelace", "Müller", "García", "Ødegård", "Wiśniewski", "Văn", "Đỗ", "Yılmaz", "Dupré",
    "Jones", "van-der-Berg", "Иванов", "Шевченко", "Παππάς", "王", "山田", "김", "الحسن", "כהן",
    "शर्मा", "দাস", "ใจดี", "Պետրոսյան", "ბერიძე",
)  # fmt: skip
# Pairs that differ in punctuation, in case, or in how an accent is typed; and long ones.
TROUBLE = (
    "Ann-Marie Lee", "Ann Marie Lee", "Ann.Marie Lee", "ann marie lee",
    "Renée Dupont", unicodedata.normalize("NFD", "Renée Dupont"), "Jo", "jo",
    "山" * 60, "Wolfeschlegelsteinhausenbergerdorff " * 4 + "Sr.", "Nul", "名前",
)  # fmt: skip


@dataclass(frozen=True)
class Student:
    id: str
    name: str
    login: str
    email: str
    number: int  # as an LMS numbers people

    @property
    def short(self) -> str:
        """The name, as much of it as fits into a file name."""
        return self.name.encode()[:150].decode("utf-8", "ignore").strip()


def people(count: int, chance: random.Random) -> list[Student]:
    """So many students: the names that make trouble first, then any."""
    names = list(TROUBLE[:count])
    while len(names) < count:
        names.append(f"{chance.choice(GIVEN)} {chance.choice(FAMILY)}")
    numbers = chance.sample(range(10_000, 99_999), count)
    return [
        Student(f"s{k:05d}", name, f"login{k}", f"s{k:05d}@school.example", number)
        for k, (name, number) in enumerate(zip(names, numbers, strict=True), 1)
    ]
