"""The compiler: from a kernel's syntax tree, with the types of its arguments, to closures over NumPy lanes."""
