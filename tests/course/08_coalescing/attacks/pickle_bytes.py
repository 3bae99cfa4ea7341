# expect: sectors_for: wrong type
# Returns an object whose unpickling runs a command.


def sectors_for(stride, offset, itemsize):
    import pickle

    class Payload:
        def __reduce__(self):
            import os

            return os.system, ("touch @ROOT@/pwned",)

    return pickle.dumps(Payload())
