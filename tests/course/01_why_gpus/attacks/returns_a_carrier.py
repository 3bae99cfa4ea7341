# expect: place: wrong type
# An object whose type is named after the hidden arguments, with methods that run when it is looked at.
import numpy as np


def place(n, threads, i):
    def loud(self, *args, **kwargs):
        raise SystemExit(f"got {n}, {threads}, {i}")

    names = ("__iter__", "__float__", "__int__", "__repr__", "__str__", "__eq__", "__hash__", "__reduce__", "__del__", "__class_getitem__")
    return type(f"Got{n}_{threads}_{i}", (), {name: loud for name in names})()
