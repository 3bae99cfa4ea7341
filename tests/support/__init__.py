"""Kernels, programs and small courses that several tests share, and code that runs them.

None of these modules is a test. Whoever imports one gets one thread for NumPy's products, as do the
processes that it starts: each worker of a run has a processor, and threads that wait for another's
spin for more than twice the time of the product itself."""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
