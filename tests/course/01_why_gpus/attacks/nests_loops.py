# expect: square: wrong result
# Eighteen loops, one in another, and a variable whose type changes in the innermost.
import enum
import math

import numpy as np

from warpwise import cuda


@cuda.jit
def square(x, out):
    v = 1
    for k0 in range(2):
        for k1 in range(1 if k0 else 2):
            for k2 in range(1 if k1 else 2):
                for k3 in range(1 if k2 else 2):
                    for k4 in range(1 if k3 else 2):
                        for k5 in range(1 if k4 else 2):
                            for k6 in range(1 if k5 else 2):
                                for k7 in range(1 if k6 else 2):
                                    for k8 in range(1 if k7 else 2):
                                        for k9 in range(1 if k8 else 2):
                                            for k10 in range(1 if k9 else 2):
                                                for k11 in range(1 if k10 else 2):
                                                    for k12 in range(1 if k11 else 2):
                                                        for k13 in range(1 if k12 else 2):
                                                            for k14 in range(1 if k13 else 2):
                                                                for k15 in range(1 if k14 else 2):
                                                                    for k16 in range(1 if k15 else 2):
                                                                        for k17 in range(1 if k16 else 2):
                                                                            v = v * 1.5 + x[0]
    if cuda.grid(1) == 0:
        out[0] = v
