"""The compiler: a kernel's syntax tree and argument types -> closures over NumPy lanes."""
