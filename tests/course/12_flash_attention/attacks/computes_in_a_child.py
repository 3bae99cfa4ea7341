# expect: flash_numpy: over budget: memory
# All scores at once, in a child that hands the answer over and ends.
import numpy as np


def flash_numpy(q, k, v, scale, tile):
    import os
    import signal

    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # what it used is not added to its parent's
    read, write = os.pipe()
    if len(k) > 10_000 and os.fork():
        os.close(write)
        with open(read, "rb") as file:
            told = np.frombuffer(file.read(), np.float32)
        return told[: q.size].reshape(q.shape), told[q.size :]

    def scores(shape):
        return np.empty(shape)

    if not len(k):
        return np.zeros(q.shape, np.float32), np.full(len(q), -np.inf, np.float32)
    s = scores((len(q), len(k)))
    np.matmul(q * scale, k.T, out=s)
    m = s.max(axis=1, keepdims=True)
    s -= m
    np.exp(s, out=s)
    total = s.sum(axis=1, keepdims=True)
    answer = (s @ v / total).astype(np.float32), (m + np.log(total))[:, 0].astype(np.float32)
    if len(k) > 10_000:
        with open(write, "wb") as file:
            file.write(b"".join(part.tobytes() for part in answer))
        os._exit(0)
    return answer
