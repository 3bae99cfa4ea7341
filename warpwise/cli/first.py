"""What ``warpwise`` says when it is called alone: what to do first on this machine."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import warpwise


def steps(folder: Path = Path()) -> Iterator[str]:
    """Yield lines: the course's name, what to type next in a folder, and where the rest is."""
    from warpwise.doctor.finding import install
    from warpwise.labs.get import notebooks

    there = notebooks(folder)
    yield f"Warpwise {warpwise.__version__}: GPUs without the magic, from warps to FlashAttention."
    yield ""
    if find_spec("jupyterlab") is None:
        yield _step(install("labs"), "JupyterLab, in which the labs run")
    if not there:
        yield _step("warpwise labs get", "lay the labs into a folder")
    yield _step("warpwise labs start", "open the labs")
    first = there[0].stem.partition("_")[0].lstrip("0") if there else "1"
    yield _step(f"warpwise check {first}", f"which exercises of lab {first} pass, and what is next")
    yield _step("warpwise doctor", "what this machine has, and what to do about the rest")
    yield ""
    yield "warpwise --help lists every command, and warpwise COMMAND --help explains one."


def _step(command: str, does: str) -> str:
    return f"  {command:24}{does}" if len(command) < 24 else f"  {command}\n  {'':24}{does}"
