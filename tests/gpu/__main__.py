"""Both measurements, one after the other: ``python tests/gpu``, which is what ``make gpu`` runs."""

from __future__ import annotations

import sys

import compare_counters
import time_kernels
from provenance import NEEDS_GPU, has_gpu


def main() -> int:
    if not has_gpu():
        print(NEEDS_GPU, file=sys.stderr)
        return 1
    return compare_counters.main([]) | time_kernels.main([])


if __name__ == "__main__":
    sys.exit(main())
