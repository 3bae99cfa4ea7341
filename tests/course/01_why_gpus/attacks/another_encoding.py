# expect: square: not done yet
# A comment that names an encoding in which another comment would be code.
# -*- coding: utf-7 -*-
import enum
import math

import numpy as np

from warpwise import cuda


@cuda.jit
def square(x, out):
    # +AAo-    out[0] = 1
    """Squares."""
