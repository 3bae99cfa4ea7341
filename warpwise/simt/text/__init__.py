"""What a kernel's text says before any type is known: its syntax tree, the names around it, the words of CUDA, what is refused."""
