"""A kernel's text before any type is known: syntax tree, names, CUDA's words, refused syntax."""
