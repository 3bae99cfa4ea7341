"""Compile kernels of the labs and of the oracle's programs with the package that is used.

In an ordinary run they are those of some labs, which run before, and some of each program's.

As a program: print, as JSON, which compiled, and what was said of each that did not.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from support import programs
from support.lab_cases import kernels_for_a_gpu
from support.paths import ROOT
from support.share import share, share_of_kinds
from warpwise.errors import ToolchainError
from warpwise.toolchain import compile_kernel, load
from warpwise.toolchain.argument_types import argument_types

if __name__ == "__main__":
    asked = []
    for path in share(sorted((ROOT / "solutions").glob("*.md")), 4):
        found = load(path)
        kernels = [exercise.name for exercise in kernels_for_a_gpu(path.stem)]
        asked += [(f"{path.stem}.{name}", found.kernel(name), None) for name in kernels]
    for stem in programs.stems():
        for launch in programs.launches(stem):
            asked.append((f"{stem}.{launch.kernel.__name__}", launch.kernel, launch.args))
    names = dict.fromkeys(name for name, *_ in asked)
    tried = {*share_of_kinds(names, kind=lambda name: name.partition(".")[0], one_in=4)}
    compiled, refused, seen = set(), {}, set()
    for name, kernel, args in asked:
        if name not in tried:
            continue
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
