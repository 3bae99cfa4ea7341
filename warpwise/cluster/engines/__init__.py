"""Engines: the same programs on real processes, over MPI or PyTorch's gloo, without a trace.

Each rank is a process with the communicator of the simulated cluster, whose messages travel over
the engine. Collectives are the same copies in the same order, so that results agree bit by bit."""
