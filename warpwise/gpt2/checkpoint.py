"""llm.c's files of a model (github.com/karpathy/llm.c, ``train_gpt2.py``, ``write_model``).

They begin with 256 integers of 32 bits. Numbers are float32, or bfloat16, to be read.
"""

from dataclasses import astuple
from pathlib import Path

import numpy as np

from warpwise.errors import LaunchError
from warpwise.gpt2.config import Config
from warpwise.kernels.bfloat16 import from_bfloat16

HEADER = 256
MODEL, FLOAT32, BFLOAT16 = 20240326, 3, 5  # what such a file begins with, and two versions


def write_model(path: Path, config: Config, parameters: np.ndarray) -> None:
    """Write a model's parameters as float32, which ``read_model`` and llm.c read."""
    start = header(MODEL, FLOAT32, *astuple(config))
    path.write_bytes(start + config.checked(parameters).astype("<f4").tobytes())


def read_model(path: Path) -> tuple[Config, np.ndarray]:
    """Return the sizes and the parameters. Raises LaunchError for a file that is no such model."""
    start, rest = opened(path, MODEL, (FLOAT32, BFLOAT16))
    try:
        config = Config(*map(int, start[2:8]))
    except LaunchError as error:
        raise LaunchError(f"{path}: {error}") from error
    if start[1] == FLOAT32:
        return config, numbers(path, rest, "<f4", config.parameters)
    return config, from_bfloat16(numbers(path, rest, "<u2", config.parameters))


def header(*integers: int) -> bytes:
    """Return the beginning of a file."""
    return np.array([*integers, *[0] * (HEADER - len(integers))], "<i4").tobytes()


def opened(path: Path, magic: int, versions: tuple[int, ...]) -> tuple[np.ndarray, bytes]:
    """Return a file's beginning and the rest. Raises LaunchError for another magic or version."""
    held = path.read_bytes()
    start = np.frombuffer(held[: 4 * HEADER].ljust(4 * HEADER, b"\0"), "<i4")
    if start[0] != magic or start[1] not in versions:
        wanted = f"{magic} and {' or '.join(map(str, versions))}"
        raise LaunchError(f"{path} begins with {start[0]} and {start[1]}, not {wanted}")
    return start, held[4 * HEADER :]


def numbers(path: Path, held: bytes, kind: str, count: int) -> np.ndarray:
    """Return what is held as ``count`` numbers. Raises LaunchError if there are others."""
    if len(held) != (wanted := count * np.dtype(kind).itemsize):
        raise LaunchError(f"{path} needs {wanted:,} bytes after its header, and has {len(held):,}")
    return np.frombuffer(held, kind)
