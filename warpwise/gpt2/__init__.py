"""GPT-2, trained by the course's own kernels: all of llm.c's step in a file each of kernels, of the
model and of the loop.

``python -m warpwise.gpt2`` trains a miniature in the simulator. Left out: dropout, gradients summed
over several batches, more than one GPU, lower precision than float32.
"""
