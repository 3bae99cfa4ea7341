"""Ring attention: keys and values travel around a ring of GPUs while each works on its own queries.

Each GPU holds an equal block of the sequence. In step ``t`` it attends its queries to the keys and
values of the GPU ``t`` places back, and meanwhile passes them on and takes the next ones (Liu et
al. 2023, arXiv 2310.01889). Modelled: products at the full rate, links at their full bandwidth with
no latency, and a step that ends when its slowest GPU and its transfer have ended. With a causal
mask the work is unequal, unless each GPU holds a piece from the sequence's front and one from its
back ("zigzag")."""

from __future__ import annotations

from dataclasses import dataclass

from warpwise.model.arguments import one_of, whole

MASKS = ("none", "causal", "zigzag")
ITEM_BYTES = 2  #: of an element of K or V


@dataclass(frozen=True)
class Ring:
    """One pass around the ring, in units of the time of a whole block of scores."""

    gpus: int
    transfer: float  #: time of one step's keys and values on a link
    #: work of each GPU, step by step: 1 for a block of scores that no mask touches
    work: tuple[tuple[float, ...], ...]

    @property
    def lengths(self) -> tuple[float, ...]:
        """Time of each step. After the last nothing has to travel."""
        *before, last = (max(step) for step in zip(*self.work, strict=True))
        return (*(max(most, self.transfer) for most in before), last)

    @property
    def time(self) -> float:
        return sum(self.lengths)

    @property
    def busy(self) -> float:
        """Share of all GPUs' time in which they multiply."""
        return sum(map(sum, self.work)) / (self.gpus * self.time)


def hidden_from(flops_per_s: float, bytes_per_s: float) -> float:
    """Return how many tokens a GPU must hold for its products to last as long as the transfer.

    A block of c tokens makes 4 c² d FLOP a head, and moves 2 c d elements of 2 bytes."""
    return flops_per_s * ITEM_BYTES / 2 / bytes_per_s


def ring(gpus: int, tokens: int, least_tokens: float, mask: str = "none") -> Ring:
    """Model a ring of 2 or more GPUs with ``tokens`` each.

    ``least_tokens``: what ``hidden_from`` gives for the GPU and its link. ``mask``: "none";
    "causal", with one piece of the sequence on each GPU; or "zigzag", causal with two pieces on
    each. Raises LaunchError for anything else."""
    gpus, tokens = whole("gpus", gpus, 2), whole("tokens", tokens, 1)
    of = {"none": _all, "causal": _below, "zigzag": _zigzag}[one_of("mask", mask, MASKS)]
    work = tuple(tuple(of(gpu, (gpu - step) % gpus) for step in range(gpus)) for gpu in range(gpus))
    return Ring(gpus, least_tokens / tokens, work)


def _all(queries: int, keys: int) -> float:
    return 1


def _below(queries: int, keys: int) -> float:
    """Return the share of scores that a causal mask leaves, for pieces in the sequence's order."""
    return 0.5 if keys == queries else float(keys < queries)


def _zigzag(queries: int, keys: int) -> float:
    """Count halves: piece i from the front and piece i from the back. All pairs leave a half."""
    return 0.5
