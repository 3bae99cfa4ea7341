"""llm.c's debug state: a batch, and what a model computes of it, which its tests compare with.

It begins like a file of a model (github.com/karpathy/llm.c, ``train_gpt2.py``, ``write_state``).
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from warpwise.gpt2.checkpoint import header, numbers, opened
from warpwise.gpt2.config import Config

STATE, PADDED = 20240327, 2  # what it begins with; the version with a padded vocabulary


@dataclass(frozen=True)
class State:
    """One batch: tokens and targets (batch, positions), logits, mean loss, and the gradient."""

    tokens: np.ndarray
    targets: np.ndarray
    logits: np.ndarray
    loss: float
    gradient: np.ndarray


def write_state(path: Path, state: State) -> None:
    """Write a batch with what a model computes of it, as llm.c's debug state."""
    start, loss = header(STATE, PADDED, *state.tokens.shape), np.float32(state.loss)
    whole = [one.astype("<i4").tobytes() for one in (state.tokens, state.targets)]
    floats = [one.astype("<f4").tobytes() for one in (state.logits, loss, state.gradient)]
    path.write_bytes(b"".join([start, *whole, *floats]))


def read_state(path: Path, config: Config) -> State:
    """Return the state of a model of these sizes. Raises LaunchError for any other file."""
    start, rest = opened(path, STATE, (PADDED,))
    shape, n = tuple(map(int, start[2:4])), int(start[2] * start[3])
    of_logits = n * config.vocabulary
    whole = numbers(path, rest, "<i4", 2 * n + of_logits + 1 + config.parameters)
    tokens, targets = whole[: 2 * n].reshape(2, *shape)
    logits, loss, gradient = np.split(whole[2 * n :].view("<f4"), [of_logits, of_logits + 1])
    return State(tokens, targets, logits.reshape(*shape, -1), float(loss[0]), gradient)
