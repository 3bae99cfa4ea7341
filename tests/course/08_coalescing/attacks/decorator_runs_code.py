# expect: transpose: not a kernel feature
# Puts the code where a definition is executed: decorator, default, annotation, class body.
import os

from warpwise import cuda


@cuda.jit
def transpose(src: os.system("touch @ROOT@/pwned"), dst=os.system("touch @ROOT@/pwned")):
    dst[:] = src.T


class Later:
    os.system("touch @ROOT@/pwned")
