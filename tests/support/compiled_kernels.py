"""Compile every kernel of the labs and of the oracle's programs with the package that is used.

As a program: print, as JSON, how many compiled, and what was said of each that did not.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from support import programs
from support.lab_cases import kernels_for_a_gpu
from support.paths import ROOT
from warpwise.errors import ToolchainError
from warpwise.toolchain import compile_kernel, load
from warpwise.toolchain.argument_types import argument_types

if __name__ == "__main__":
    asked = []
    for path in sorted((ROOT / "solutions").glob("*.md")):
        found = load(path)
        kernels = [exercise.name for exercise in kernels_for_a_gpu(path.stem)]
        asked += [(f"{path.stem}.{name}", found.kernel(name), None) for name in kernels]
    for stem in programs.stems():
        for launch in programs.launches(stem):
            asked.append((f"{stem}.{launch.kernel.__name__}", launch.kernel, launch.args))
    compiled, refused, seen = set(), {}, set()
    for name, kernel, args in asked:
        types = argument_types(kernel, args)
        if (name, types) in seen:
            continue
        seen.add((name, types))
        try:
            assert compile_kernel(kernel, types).registers
            compiled.add(name)
        except ToolchainError as error:
            refused[name] = str(error)
    print(json.dumps({"compiled": sorted(compiled - refused.keys()), "refused": refused}))
