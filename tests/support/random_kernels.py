"""Kernels drawn at random, as text: branches, loops and device functions over small integers."""

from numpy.random import Generator

HEAD = """
import numpy as np
from numba import cuda

@cuda.jit(device=True)
def helper(p, q):
    if p > q:
        return p - q
    count = 0
    while q > p:
        q = q // 2 - 1
        count += 1
        if count > 5:
            return count + p % 7
    return count

@cuda.jit
def kernel(a, n, out):
    i = cuda.grid(1)
    mine = cuda.local.array(4, np.int64)
    for k in range(4):
        mine[k] = 0
    if i >= out.shape[0]:
        return
    u = v = w = a[i % 16]
"""
VARIABLES = ("u", "v", "w")


class Writer:
    """A writer of one program, as long as its budget of statements lasts."""

    def __init__(self, rng: Generator):
        self.rng, self.budget, self.loops, self.lines = rng, 22, 0, []

    def one_of(self, *choices: str) -> str:
        return choices[self.rng.integers(len(choices))]

    def number(self, depth: int = 0) -> str:
        if depth > 2 or self.rng.random() < 0.3:
            return self.one_of(*VARIABLES, "i", "n", "k", str(self.rng.integers(-4, 10)))
        a, b = self.number(depth + 1), self.number(depth + 1)
        return self.one_of(
            f"({a} + {b})",
            f"({a} - {b})",
            f"({a} * {b}) % 1000",
            f"({a} // {self.one_of('2', '3', '8', '-3')})",
            f"({a} % {self.one_of('4', '5', '-3')})",
            f"min({a}, {b})",
            f"max({a}, {b})",
            f"abs({a})",
            f"(-{a})",
            f"({a} if {self.condition(depth + 1)} else {b})",
            f"a[({a}) % 16]",
            f"mine[({a}) % 4]",
            f"helper({a}, {b})",
            f"({a} & {b})",
            f"({a} ^ {b})",
        )

    def condition(self, depth: int = 0) -> str:
        compared = (
            f"{self.number(depth + 1)} {self.one_of('<', '>', '==', '!=', '<=', '>=')} "
            f"{self.number(depth + 1)}"
        )
        if depth > 1 or self.rng.random() < 0.5:
            return compared
        other, odd = self.condition(depth + 1), f"{self.number(depth)} % 2"
        return self.one_of(
            f"({compared} and {other})",
            f"({compared} or {other})",
            f"(not {other})",
            f"0 < {compared}",
            odd,
        )

    def block(self, indent: int, in_loop: bool) -> None:
        self.line(indent, f"{self.one_of(*VARIABLES)} += 1")  # so that no block is empty
        for _ in range(self.rng.integers(1, 5)):
            if self.budget > 0 and indent < 24:
                self.budget -= 1
                self.statement(indent, in_loop)

    def line(self, indent: int, text: str) -> None:
        self.lines.append(" " * indent + text)

    def statement(self, indent: int, in_loop: bool) -> None:
        kind = self.rng.random()
        if kind < 0.3:
            self.line(
                indent,
                (
                    f"{self.one_of(*VARIABLES)} {self.one_of('=', '+=', '-=')} "
                    f"({self.number()}) % 1000"
                ),
            )
        elif kind < 0.4:
            self.line(
                indent,
                f"{self.one_of('u, v', 'v, w')} = ({self.number()}) % 777, ({self.number()}) % 555",
            )
        elif kind < 0.5:
            self.line(
                indent, f"out[i, {self.rng.integers(4)}] {self.one_of('=', '+=')} {self.number()}"
            )
        elif kind < 0.55:
            self.line(indent, f"mine[({self.number()}) % 4] = {self.number()}")
        elif kind < 0.6:
            self.line(indent, f"if {self.condition()}:")
            self.line(
                indent + 4, self.one_of("break", "continue", "return") if in_loop else "return"
            )
        elif kind < 0.8 or self.loops > 2:
            self.branch(indent, in_loop)
        else:
            self.loops += 1
            self.loop(indent)
            self.loops -= 1

    def branch(self, indent: int, in_loop: bool) -> None:
        self.line(indent, f"if {self.condition()}:")
        self.block(indent + 4, in_loop)
        if self.rng.random() < 0.3:
            self.line(indent, f"elif {self.condition()}:")
            self.block(indent + 4, in_loop)
        if self.rng.random() < 0.5:
            self.line(indent, "else:")
            self.block(indent + 4, in_loop)

    def loop(self, indent: int) -> None:
        if self.rng.random() < 0.6:
            some = f"({self.number()}) % 5"
            numbers = self.one_of("3", some, f"{some}, 6", f"{some}, -1, -1", f"0, 9, 1 + {some}")
            self.line(indent, f"for k in range({numbers}):")
        else:
            trips = f"trips{self.loops}"
            self.line(indent, f"{trips} = 0")
            self.line(indent, f"while {self.condition()}:")
            self.line(indent + 4, f"{trips} += 1")
            self.line(indent + 4, f"if {trips} > {self.rng.integers(1, 6)}:")
            self.line(indent + 8, "break")
        self.block(indent + 4, in_loop=True)

    def program(self) -> str:
        while self.budget > 0:
            self.block(4, in_loop=False)
        self.line(4, "out[i, 3] = u + 2 * v + 3 * w + mine[0] + 5 * mine[-1]")
        return HEAD + "\n".join(self.lines) + "\n"
