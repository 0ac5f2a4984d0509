"""Check digits of the numbers that people and their accounts go by; texts of ASCII digits and capitals, no separators.

As their issuers have published them: ISO/IEC 7812-1 (Luhn), ISO 13616 (IBAN, ISO 7064 mod 97-10), Verhoeff 1969
(Aadhaar), ISO 7064 mod 11,10 (Steuer-ID), GB 11643-1999 (mod 11-2), and so on; named at each function.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

_PRODUCTS = """
0123456789 1234067895 2340178956 3401289567 4012395678 5987604321 6598710432 7659821043 8765932104 9876543210
"""
_PERMUTATIONS = "0123456789 1576283094 5803796142 8916043527 9453126870 4286573901 2793806415 7046913258"
_TIMES, _PERMUTED = _PRODUCTS.split(), _PERMUTATIONS.split()
_ODD_CF = (1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23)


def luhn(digits: str) -> bool:
    """ISO/IEC 7812-1: cards, Canadian SIN, Swedish personnummer."""
    doubled = (int(digit) * (1 + place % 2) for place, digit in enumerate(reversed(digits)))
    return sum(number // 10 + number % 10 for number in doubled) % 10 == 0


def mod_97(iban: str) -> bool:
    """ISO 7064 mod 97-10 as IBANs have it: the first four characters last, letters as 10 to 35, the rest is 1."""
    return int("".join(str(int(sign, 36)) for sign in iban[4:] + iban[:4])) % 97 == 1


def verhoeff(digits: str) -> bool:
    """The dihedral group D5 of Verhoeff 1969; the last digit is the check."""
    state = 0
    for place, digit in enumerate(reversed(digits)):
        state = int(_TIMES[state][int(_PERMUTED[place % 8][int(digit)])])
    return state == 0


def steuer_id(digits: str) -> bool:
    """Germany, 11 digits: of the first ten one stands twice or thrice and no other twice; ISO 7064 mod 11,10."""
    counts = Counter(digits[:10])
    repeated = [times for times in counts.values() if times > 1]
    if digits[0] == "0" or repeated not in ([2], [3]):
        return False
    product = 10
    for digit in digits[:10]:
        product = ((int(digit) + product) % 10 or 10) * 2 % 11
    return (11 - product) % 10 == int(digits[10])


def resident_id(number: str) -> bool:
    """China, GB 11643-1999: 17 digits and a check of mod 11-2, X for 10."""
    total = sum(int(digit) * pow(2, 17 - place, 11) for place, digit in enumerate(number[:17]))
    return "10X98765432"[total % 11] == number[17]


def cpf(digits: str) -> bool:
    """Brazil, 11 digits: two checks of mod 11; not all digits the same."""
    return len(set(digits)) > 1 and all(_cpf_check(digits[:n]) == int(digits[n]) for n in (9, 10))


def _cpf_check(digits: str) -> int:
    total = weighted(digits, range(len(digits) + 1, 1, -1))
    return (total * 10 % 11) % 10


def nhs(digits: str) -> bool:
    """England's NHS number, 10 digits, mod 11 with weights 10 to 2; a check of 10 is not issued."""
    return (11 - weighted(digits[:9], range(10, 1, -1)) % 11) % 11 == int(digits[9])


def dni(number: str) -> bool:
    """Spain: the letter of DNI and NIE is the number mod 23; X, Y, Z of a NIE stand for 0, 1, 2."""
    digits = number[:-1].translate(str.maketrans("XYZ", "012"))
    return "TRWAGMYFPDXBNJZSQVHLCKE"[int(digits) % 23] == number[-1]


def nir(digits: str) -> bool:
    """France's social security number, 15 digits: 97 less the first 13 mod 97."""
    return 97 - int(digits[:13]) % 97 == int(digits[13:])


def codice_fiscale(code: str) -> bool:
    """Italy, 16 characters; the last is the sum of the others' values mod 26, those in odd places by a table."""
    total = 0
    for place, sign in enumerate(code[:15]):
        value = int(sign) if sign.isdigit() else ord(sign) - ord("A")
        total += _ODD_CF[value] if place % 2 == 0 else value
    return chr(ord("A") + total % 26) == code[15]


def rrn(digits: str) -> bool:
    """South Korea, 13 digits: mod 11 of weights 2 to 9 and 2 to 5 (numbers given out since October 2020 have none)."""
    return (11 - weighted(digits[:12], (*range(2, 10), *range(2, 6))) % 11) % 10 == int(digits[12])


def pesel(digits: str) -> bool:
    """Poland, 11 digits, weights 1 3 7 9 mod 10."""
    return weighted(digits, (1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1)) % 10 == 0


def bsn(digits: str) -> bool:
    """The Netherlands, 9 digits: the eleven test, the last digit counted -1."""
    return int(digits) > 0 and weighted(digits, (9, 8, 7, 6, 5, 4, 3, 2, -1)) % 11 == 0


def weighted(digits: str, weights: Sequence[int]) -> int:
    """The sum of each digit times its weight."""
    return sum(int(digit) * weight for digit, weight in zip(digits, weights, strict=True))
