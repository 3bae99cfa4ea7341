"""Reference kernels: fast Numba-CUDA in numbered steps with one idea each.

A module is one computation, from the plain kernel to the fastest one here. ``warpwise measure``
times its ``STEPS``, and the tests run them in the simulator and compile them to compare registers,
spills and machine instructions with the claims.
"""
