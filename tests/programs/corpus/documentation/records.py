"""Records with an array in them, by attribute, by name, and through a name for one record."""

import numpy as np

from warpwise import cuda

particle = np.dtype([("pos", np.float32, 3), ("mass", np.float32), ("id", np.int32)], align=True)


@cuda.jit
def push(ps, dt):
    i = cuda.grid(1)
    if i < ps.size:
        ps[i].pos[0] += dt * ps[i].mass
        ps[i]["id"] = i
        r = ps[i]
        r.mass = r.mass + 1


def check():
    p = np.zeros(20, particle)
    p["mass"] = np.arange(20)
    push[1, 32](p, np.float32(0.5))
    n = np.arange(20)
    assert (p["id"] == n).all() and (p["mass"] == n + 1).all() and (p["pos"][:, 0] == n * 0.5).all()
