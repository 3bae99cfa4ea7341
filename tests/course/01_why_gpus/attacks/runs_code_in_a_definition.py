# expect: place: wrong result
# Code in decorators, defaults and annotations, which run when the function is made: to print what a right one would.
import numpy as np


@(lambda f: (__import__("os").write(1, b"q" + bytes(8)), __import__("os").system("touch @ROOT@/pwned /tmp/pwned"), f)[2])
def place(n, threads=__import__("os").system("touch @ROOT@/pwned"), i: __import__("os").system("touch @ROOT@/pwned") = 0):
    return np.zeros(4, int)
