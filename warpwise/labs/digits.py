"""Numbers as messages show them: with the digits that their type has, and bit patterns in base 16.

A float32 has the fewest digits that tell it from its neighbours: 0.1, not 0.10000000149011612."""

from __future__ import annotations

from typing import Any

import numpy as np

LEAST_BITS = 16  # from which on unsigned integers are taken for bit patterns
LARGE = 1e9  # from which on a number is shown with an exponent


def digits(value: Any) -> str:
    """Return a number, of NumPy's or Python's, as a message shows it."""
    if isinstance(value, np.float32 | np.float16):
        usual = value == 0 or 1e-4 <= abs(float(value)) < LARGE
        return np.format_float_positional(value, trim="-") if usual else str(value)
    if isinstance(value, np.unsignedinteger) and 8 * value.itemsize >= LEAST_BITS:
        return f"0x{int(value):0{2 * value.itemsize}x}"
    return f"{float(value):.9g}" if isinstance(value, float) else str(value)


def all_digits(array: np.ndarray) -> str:
    """Return the numbers of an array as Python writes a list of them: 3.0 for a float."""
    if array.dtype == np.float64:
        return str(array.tolist())
    if not array.ndim:
        whole = array.dtype.kind == "f" and digits(array[()]).lstrip("-").isdigit()
        return digits(array[()]) + (".0" if whole else "")
    return f"[{', '.join(map(all_digits, array))}]"
