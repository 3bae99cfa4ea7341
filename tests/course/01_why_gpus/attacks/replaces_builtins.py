# expect: choose_launch: wrong result
# A constant called __builtins__, and others named after what the grader uses inside.
# alone
import numpy as np
__builtins__ = {}
frames = answer = job = result = decode = function = 1
__name__ = '__main__'


def choose_launch(n, sms):
    return np.array([1, 32])
