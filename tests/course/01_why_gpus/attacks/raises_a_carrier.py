# expect: choose_launch: raised an error
# An error whose type and text are made from the hidden arguments, chained to others.
import numpy as np


def choose_launch(n, sms):
    try:
        raise ExceptionGroup(f"got {n}", [ValueError(n), KeyError(sms)])
    except BaseException as group:
        raise type(f"Got{n}_{sms}", (BaseException,), {"__str__": lambda self: 1 / 0})(n, sms) from group
