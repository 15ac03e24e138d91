"""Brazilian codes: text of fixed width, with the official check digit; never numbers, never cut to fit.

UF 2 · município 7 (UF, sequence, check digit) · district 9 (município + 2) · TSE município 5.
"""

from dataclasses import dataclass
from functools import lru_cache

import polars as pl

from transforms.errors import UsageError


@dataclass(frozen=True, slots=True)
class State:
    """A unit of the federation: IBGE code, abbreviation, name and region."""

    code: str
    uf: str
    name: str
    region: str  # N, NE, SE, S, CO


_STATES = """
11 RO N Rondônia|12 AC N Acre|13 AM N Amazonas|14 RR N Roraima|15 PA N Pará|16 AP N Amapá|17 TO N Tocantins
21 MA NE Maranhão|22 PI NE Piauí|23 CE NE Ceará|24 RN NE Rio Grande do Norte|25 PB NE Paraíba
26 PE NE Pernambuco|27 AL NE Alagoas|28 SE NE Sergipe|29 BA NE Bahia|31 MG SE Minas Gerais
32 ES SE Espírito Santo|33 RJ SE Rio de Janeiro|35 SP SE São Paulo|41 PR S Paraná|42 SC S Santa Catarina
43 RS S Rio Grande do Sul|50 MS CO Mato Grosso do Sul|51 MT CO Mato Grosso|52 GO CO Goiás
53 DF CO Distrito Federal
"""
STATES = tuple(
    State(code, uf, name, region)
    for code, uf, region, name in (entry.split(" ", 3) for entry in _STATES.strip().replace("\n", "|").split("|"))
)
BY_UF = {state.uf: state for state in STATES}
BY_CODE = {state.code: state for state in STATES}
UF_OF_CODE = {state.code: state.uf for state in STATES}

FERNANDO_DE_NORONHA = "2605459"  # a state district of Pernambuco, not a município
SAO_PAULO_CAPITAL = "3550308"  # every district is urban seat: codes 01..96, none is a candidate

# IBGE numbered these nine before the check digit was settled: official all the same.
CHECK_DIGIT_EXCEPTIONS = frozenset("2201919 2201988 2202251 2611533 3117836 3152131 4305871 5203939 5203962".split())

UF_CODE, MUNICIPALITY_CODE, DISTRICT_CODE, TSE_CODE = r"^\d{2}$", r"^[1-5]\d{6}$", r"^[1-5]\d{8}$", r"^\d{5}$"


def state(uf: str) -> State:
    """The state of an abbreviation. Unknown ones and the DF (CF art. 32: it cannot be divided) are refused."""
    found = BY_UF.get(uf.strip().upper())
    if found is None:
        raise UsageError(f"unknown state {uf!r}", where="--uf", action=f"one of {', '.join(sorted(BY_UF))}")
    if found.uf == "DF":
        raise UsageError(
            "the Distrito Federal cannot be divided into municípios (CF art. 32)",
            where="--uf DF",
            action="choose one of the 26 states",
        )
    return found


def in_state(code: str, state_code: str) -> pl.Expr:
    """Whether a column's codes of places are of a state. As a range: Parquet tells of each block from where to where
    its codes go, so that those of other states are not read.
    """
    return (pl.col(code) >= state_code) & (pl.col(code) < str(int(state_code) + 1))


def check_digit(six_digits: str) -> str:
    """IBGE's check digit: weights 1 2 1 2 1 2, digits of each product summed, complement to ten.

    >>> check_digit("320500")
    '2'
    """
    products = (int(digit) * weight for digit, weight in zip(six_digits, (1, 2) * 3, strict=True))
    total = sum(product // 10 + product % 10 for product in products)
    return str(-total % 10)


@lru_cache(maxsize=10_000)  # the whole country's are asked about for each state
def is_municipality(code: str) -> bool:
    """Whether seven digits are a well-formed município code: known UF, right check digit (or an exception)."""
    return (
        len(code) == 7
        and code.isdigit()
        and code[:2] in BY_CODE
        and (check_digit(code[:6]) == code[6] or code in CHECK_DIGIT_EXCEPTIONS)
    )


def municipality(text: str) -> str:
    """The full code of a município that a source wrote with six digits, or as a number (`530010.0`).

    Raises UsageError on anything else; sequence 0000 is a state's "município ignorado", no município.
    """
    digits = text.strip().removesuffix(".0")
    if len(digits) == 6 and digits.isascii() and digits.isdigit():
        exceptions = {code[:6]: code for code in CHECK_DIGIT_EXCEPTIONS}
        digits = exceptions.get(digits, digits + check_digit(digits))
    if not is_municipality(digits) or digits[2:6] == "0000":
        raise UsageError(f"{text!r} is no município", action="write the 7-digit code of IBGE")
    return digits


def is_seat(district_code: pl.Expr) -> pl.Expr:
    """Seat districts: suffix 05; every district of São Paulo's capital (its suffixes run 01 to 96)."""
    return district_code.str.ends_with("05") | district_code.str.starts_with(SAO_PAULO_CAPITAL)
