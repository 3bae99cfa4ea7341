"""The command ``warpwise compile``: from the words of the command line to what is printed."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from warpwise.errors import ToolchainError
from warpwise.kernel_files import load
from warpwise.toolchain.compilation import compile_kernel
from warpwise.toolchain.show import plain, show
from warpwise.toolchain.tools import require


def run(
    kernel: str,
    ccs: Sequence[str],
    types: str | None,
    threads: int,
    *,
    ptx: bool = False,
    sass: bool = False,
    as_json: bool = False,
) -> None:
    """Compile ``FILE:KERNEL`` for each compute capability, and print tables or JSON.

    Raises ToolchainError, whose message is one line."""
    wanted = tuple(dict.fromkeys(map(_compute_capability, ccs)))
    require()  # before a file is executed for nothing
    path, colon, name = kernel.rpartition(":")
    loaded = load(path if colon else name)
    found = loaded.kernel(name if colon else "")
    results = [compile_kernel(found, types, cc) for cc in wanted]
    if as_json:
        print(json.dumps([plain(result, threads, ptx, sass) for result in results], indent=2))
    else:
        show(results, threads, ptx, sass)


def _compute_capability(text: str) -> tuple[int, int]:
    found = re.fullmatch(r"(\d+)\.(\d)", text.strip())
    if not found:
        raise ToolchainError(f"{text!r} is not a compute capability; write it as 9.0")
    return int(found[1]), int(found[2])
