"""ZeRO: what each rank of a data-parallel group keeps, and what has to travel for the rest.

Rajbhandari et al. 2020 (arXiv 1910.02054): stage 1 divides the optimizer's state among the ranks,
stage 2 the gradients too, stage 3 the weights too. Counted for Adam in mixed precision: 2 bytes of
weight, 2 of gradient, and 12 of state, which are float32's weight, momentum and variance. Left out:
activations, buffers, and what an allocator wastes."""

from __future__ import annotations

from dataclasses import dataclass

from warpwise.model.arguments import one_of, whole

STAGES = (0, 1, 2, 3)
WEIGHT, GRADIENT, STATE = 2, 2, 12  #: bytes of a parameter


@dataclass(frozen=True)
class Kept:
    """Bytes of a rank."""

    weights: float
    gradients: float
    state: float

    @property
    def total(self) -> float:
        return self.weights + self.gradients + self.state


def kept(parameters: float, ranks: int, stage: int, gradient: int = GRADIENT) -> Kept:
    """Return what a rank keeps of a model. ``stage`` 0: all of it.

    ``gradient``: bytes of one, 2, or 4 where sums are kept in float32. Raises LaunchError for
    another stage or no rank."""
    one_of("stage", stage, STAGES)
    n = whole("ranks", ranks, 1)
    return Kept(
        parameters * WEIGHT / (n if stage == 3 else 1),
        parameters * gradient / (n if stage >= 2 else 1),
        parameters * STATE / (n if stage >= 1 else 1),
    )


def passes(stage: int, micro_batches: int = 1) -> tuple[tuple[str, int], ...]:
    """Return the collectives over all parameters in a step, and how often each runs.

    Stage 0's all-reduce is both halves of one. Stage 3 gathers the weights before the forward and
    again before the backward pass of each micro-batch, and stages 2 and 3 keep no whole gradient,
    so they reduce each micro-batch's. Raises LaunchError for another stage."""
    one_of("stage", stage, STAGES)
    m = whole("micro_batches", micro_batches, 1)
    scatters = m if stage >= 2 else 1
    gathers = 2 * m if stage == 3 else 1
    return ("reduce-scatter", scatters), ("all-gather", gathers)


def elements_sent(parameters: float, ranks: int, stage: int, micro_batches: int = 1) -> float:
    """Return the elements that a rank sends in a step, by rings: (n-1)/n of each pass."""
    n = whole("ranks", ranks, 1)
    return parameters * (n - 1) / n * sum(often for _, often in passes(stage, micro_batches))
