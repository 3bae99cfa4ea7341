"""Reference kernels: what fast Numba-CUDA looks like, in numbered steps with one idea each.

A module is one computation, from the plain kernel to the fastest one here. Its ``STEPS`` are what ``warpwise measure`` times, what the
tests run in the simulator, and what they compile to hold registers, spills and machine instructions against what is claimed.
"""
