"""Measure a real GPU: suites of kernels timed beside libraries, and Nsight Compute's counters.

It runs on a bare GPU machine with NumPy, Numba-CUDA and CuPy, and times PyTorch too if installed.
``warpwise.benchmark_records`` reads what it records.
"""
