"""GPT-2's training step as it is measured: plugged products, what is right, and PyTorch beside."""
