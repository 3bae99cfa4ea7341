"""llm.c's files: a model, and the debug state that its tests compare with.

Both begin with 256 integers of 32 bits (github.com/karpathy/llm.c, ``train_gpt2.py``,
``write_model`` and ``write_state``). Numbers are float32; a model may have bfloat16, to be read.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from warpwise.errors import LaunchError
from warpwise.gpt2.config import Config
from warpwise.kernels.bfloat16 import from_bfloat16

HEADER = 256
MODEL, STATE = 20240326, 20240327
FLOAT32, BFLOAT16, PADDED = 3, 5, 2  # versions: two of models, and states with a padded vocabulary


@dataclass(frozen=True)
class State:
    """One batch: tokens and targets (batch, positions), logits, mean loss, and the gradient."""

    tokens: np.ndarray
    targets: np.ndarray
    logits: np.ndarray
    loss: float
    gradient: np.ndarray


def write_model(path: Path, config: Config, parameters: np.ndarray) -> None:
    """Write a model's parameters as float32, which ``read_model`` and llm.c read."""
    sizes = config.positions, config.vocabulary, config.layers, config.heads
    header = _header(MODEL, FLOAT32, *sizes, config.channels, config.padded)
    path.write_bytes(header + parameters.astype("<f4").tobytes())


def read_model(path: Path) -> tuple[Config, np.ndarray]:
    """Return the sizes and the parameters. Raises LaunchError for a file that is no such model."""
    header, rest = _opened(path, MODEL, (FLOAT32, BFLOAT16))
    config = Config(*map(int, header[2:8]))
    if header[1] == FLOAT32:
        return config, _numbers(path, rest, "<f4", config.parameters)
    return config, from_bfloat16(_numbers(path, rest, "<u2", config.parameters))


def write_state(path: Path, state: State) -> None:
    """Write a batch with what a model computes of it, as llm.c's debug state."""
    header, loss = _header(STATE, PADDED, *state.tokens.shape), np.float32(state.loss)
    whole = [one.astype("<i4").tobytes() for one in (state.tokens, state.targets)]
    floats = [one.astype("<f4").tobytes() for one in (state.logits, loss, state.gradient)]
    path.write_bytes(b"".join([header, *whole, *floats]))


def read_state(path: Path, config: Config) -> State:
    """Return the state of a model of these sizes. Raises LaunchError for any other file."""
    header, rest = _opened(path, STATE, (PADDED,))
    shape, n = tuple(map(int, header[2:4])), int(header[2] * header[3])
    of_logits = n * config.vocabulary
    whole = _numbers(path, rest, "<i4", 2 * n + of_logits + 1 + config.parameters)
    tokens, targets = whole[: 2 * n].reshape(2, *shape)
    logits, loss, gradient = np.split(whole[2 * n :].view("<f4"), [of_logits, of_logits + 1])
    return State(tokens, targets, logits.reshape(*shape, -1), float(loss[0]), gradient)


def _header(*numbers: int) -> bytes:
    return np.array([*numbers, *[0] * (HEADER - len(numbers))], "<i4").tobytes()


def _opened(path: Path, magic: int, versions: tuple[int, ...]) -> tuple[np.ndarray, bytes]:
    held = path.read_bytes()
    header = np.frombuffer(held[: 4 * HEADER].ljust(4 * HEADER, b"\0"), "<i4")
    if header[0] != magic or header[1] not in versions:
        wanted = f"{magic} and {' or '.join(map(str, versions))}"
        raise LaunchError(f"{path} begins with {header[0]} and {header[1]}, not {wanted}")
    return header, held[4 * HEADER :]


def _numbers(path: Path, held: bytes, kind: str, count: int) -> np.ndarray:
    if len(held) != (wanted := count * np.dtype(kind).itemsize):
        raise LaunchError(f"{path} needs {wanted:,} bytes after its header, and has {len(held):,}")
    return np.frombuffer(held, kind)
