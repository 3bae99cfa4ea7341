"""Functions that a kernel can call, as tables: each with its NumPy counterpart and Numba's signatures."""
