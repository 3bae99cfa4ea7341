"""Constants that a factor or a term is known by: a warp's 32 lanes, and logarithms.

Left out: numbers of the case, such as a scale or a length, which ``values`` looks for first."""

from __future__ import annotations

import math

NEAR = 1e-4  # relative difference below which two numbers are one
COUNTS = (2, 4, 8, 16, 32, 64, 128)
LANES = 32
BY_LANES = ", once by every lane?"
UNITS = (2, 3, 6, 9, 12, -2, -3, -6, -9, -12)  # of percent, and of kilo, mega, giga and tera
UNIT = (
    "is a unit changed once too often, or not at all: a percentage, milliseconds, a prefix such as "
    "giga or tera?"
)
OTHER_BASE = "log2 and log, or exp2 and exp, are exchanged"


def of_factor(times: float) -> tuple[str, str] | None:
    """Return what a factor is, and what that suggests; None if it is no known constant."""
    for told, value in (("log(2)", math.log(2)), ("1 / log(2)", 1 / math.log(2))):
        if math.isclose(times, value, rel_tol=NEAR):
            return told, OTHER_BASE
    if math.isclose(times, LANES, rel_tol=NEAR):
        return "the number of lanes of a warp", f"is each element counted {LANES} times{BY_LANES}"
    if math.isclose(times, 1 / LANES, rel_tol=NEAR):
        told = "one over the number of lanes of a warp"
        return told, f"is it divided by {LANES} once too often, or are the lanes' parts not added?"
    return of_unit(times)


def of_unit(times: float) -> tuple[str, str] | None:
    """Return what a power of ten suggests; None if a factor is none of those of usual units."""
    for power in UNITS:
        if math.isclose(times, 10.0**power, rel_tol=NEAR):
            return "a power of ten", UNIT
    return None


def of_term(by: float) -> tuple[str, str] | None:
    """Return what a difference is, and what that suggests; None if it is no known logarithm."""
    for count in COUNTS:
        if not math.isclose(abs(by), math.log(count), rel_tol=NEAR):
            continue
        lanes = BY_LANES if count == LANES else "?"
        if by > 0:
            return f"log({count})", f"is each element counted {count} times{lanes}"
        asked = f"is a sum {count} times too small, as where only one of {count} parts is added?"
        return f"log({count})", asked
    return None
