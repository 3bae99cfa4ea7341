"""The machine that runs a compiled kernel: batches of blocks, memory, barriers, warps, atomics."""
