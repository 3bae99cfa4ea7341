"""Answers too long, or too odd, to be kept as files: made here, by name, each with the exercise of lab 1 that it replaces and what must
come of it.
"""

from __future__ import annotations

LAB = "01_why_gpus"
PARAMETERS = {"square": "x, out", "add": "a, b, out", "centre": "x, mean, out", "reverse": "x, out"}
REVERSE = """\
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        out[i] = x[x.size - 1 - i]
"""


def kernel(exercise: str, body: str, above: str = "") -> str:
    return f"import numpy as np\n\nfrom warpwise import cuda\n{above}\n\n@cuda.jit\ndef {exercise}({PARAMETERS[exercise]}):\n{body}"


def doubling(times: int) -> str:
    """Device functions, each of which calls the one before it twice."""
    functions = ["@cuda.jit(device=True)\ndef f0(v):\n    return v\n"]
    functions += [f"@cuda.jit(device=True)\ndef f{k}(v):\n    return f{k - 1}(v) + f{k - 1}(v + 1)\n" for k in range(1, times + 1)]
    return "\n\n" + "\n\n".join(functions)


# Name -> (exercise, reason, text).
TEXTS = {
    "doubles_forty_times": ("reverse", "too slow", kernel("reverse", "    out[0] = f40(1)\n", doubling(40))),
    "a_chain_of_calls": ("square", "not Python", kernel("square", "    out[0] = " + "abs(" * 150 + "i" + ")" * 150 + "\n")),
    "writes_everywhere": (
        "add", "too slow",
        kernel("add", "    for k in range(40_000):\n" + "        out[0] = a[0]\n        out[0] += b[0]\n" * 1500),
    ),
    "brackets_without_end": ("centre", "not Python", kernel("centre", f"    out[0, 0] = {'(' * 47_000}1{')' * 47_000}\n")),
    "dots_without_end": ("reverse", "not Python", kernel("reverse", f"    out[0] = x{'.T' * 40_000}\n")),
    "sums_without_end": ("add", "not Python", kernel("add", f"    out[0] = 1{'+1' * 40_000}\n")),
    "a_giant_literal": ("reverse", "passed", kernel("reverse", REVERSE, f"TABLE = ({'7,' * 30_000})\nTEXT = '{'x' * 30_000}'\n")),
    "a_hidden_character": ("centre", "not Python", kernel("centre", "    out[0, 0] = 1 \0 + (\n")),
    "half_a_character": ("square", "not Python", kernel("square", "    out[0] = \ud800\n")),
    "lines_without_end": ("centre", "not done yet", kernel("centre", "    pass\n" * 10_000)),
}  # fmt: skip
