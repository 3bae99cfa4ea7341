"""Keys and values of requests under way, in places of the cache: reserved for each, or by blocks.

A server that reserves keeps a row of places for the longest answer it allows. One that pages hands
out blocks of a few tokens when they are needed, in any order, and a request keeps a table of its
blocks; requests that begin alike share the full blocks of their common prefix (Kwon et al. 2023,
arXiv 2309.06180). A request's places are given back when it has ended. Left out: recomputation and
swapping when no block is free."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from warpwise.model.arguments import whole


@dataclass(frozen=True)
class Request:
    """A prompt of so many tokens, its answer's, and the step at which it arrives."""

    prompt: int
    answer: int
    arrives: int = 0

    def tokens(self, step: int) -> int:
        """Return the tokens cached after ``step``, one more with each; none once it has ended."""
        age = step - self.arrives
        return self.prompt + age if 0 <= age <= self.answer else 0


@dataclass(frozen=True)
class Held:
    """The cache at one step: each request's blocks, and tokens that are really there."""

    block: int  #: tokens
    tables: tuple[tuple[int, ...], ...]  #: numbers of the blocks of each request, in its order
    tokens: tuple[int, ...]
    shared: int  #: blocks of the prefix, at the front of every table

    @property
    def blocks(self) -> int:
        """Different blocks that are held."""
        return len({number for table in self.tables for number in table})

    @property
    def places(self) -> int:
        """Tokens for which there is room in the blocks held."""
        return self.blocks * self.block

    @property
    def used(self) -> int:
        """Places with a token, each counted once."""
        repeated = max(sum(map(bool, self.tables)) - 1, 0) * self.shared * self.block
        return sum(self.tokens) - repeated


def paged(requests: Sequence[Request], step: int, block: int, prefix: int = 0) -> Held:
    """Return the blocks held after ``step``, handed out in the order of need.

    ``prefix``: tokens with which all prompts begin alike. Raises LaunchError for numbers below 0,
    for blocks of no token, and for a prefix longer than a prompt."""
    step, block = whole("step", step, 0), whole("block", block, 1)
    prefix = whole("prefix", prefix, 0, min(request.prompt for request in requests))
    shared = prefix // block
    free: list[int] = []  # given back, smallest last
    fresh = shared
    tables: list[list[int]] = [[] for _ in requests]
    for now in range(step + 1):
        needs = [-(-request.tokens(now) // block) for request in requests]
        for table, need in zip(tables, needs, strict=True):
            if not need:
                free += table[shared:]
                table.clear()
        free.sort(reverse=True)
        for table, need in zip(tables, needs, strict=True):
            if need and not table:
                table += range(shared)
            while len(table) < need:
                if free:
                    table.append(free.pop())
                else:
                    table.append(fresh)
                    fresh += 1
    tokens = tuple(request.tokens(step) for request in requests)
    return Held(block, tuple(map(tuple, tables)), tokens, shared)


def reserved(requests: Sequence[Request], step: int, longest: int) -> int:
    """Return the places held after ``step`` by a server that keeps ``longest`` for each request."""
    return sum(longest for request in requests if request.tokens(step))
