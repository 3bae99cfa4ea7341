"""The machine that a compiled kernel runs on: batches of blocks, their memory, barriers, warps and atomics."""
