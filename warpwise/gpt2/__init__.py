"""GPT-2, trained by the course's own kernels: llm.c's whole step, with a file each for the kernels,
the model and the loop.

``python -m warpwise.gpt2`` trains a miniature in the simulator. Left out: dropout, gradients summed
over several batches, more than one GPU, products on tensor cores.
"""
