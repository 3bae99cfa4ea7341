"""Measuring on a real GPU: suites of kernels, timed beside libraries, and counters beside Nsight Compute's.

It runs on a bare GPU machine with NumPy, Numba-CUDA and CuPy; PyTorch is timed beside them where it is installed. ``warpwise.measurements``
keeps what was measured.
"""
