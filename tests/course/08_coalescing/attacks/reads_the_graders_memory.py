# expect: sectors_for: raised an error
# Attaches to its parent process to read the seed.


def sectors_for(stride, offset, itemsize):
    import ctypes
    import os

    libc = ctypes.CDLL(None, use_errno=True)
    if libc.ptrace(16, os.getppid(), 0, 0) != 0:  # PTRACE_ATTACH
        raise PermissionError(ctypes.get_errno(), "ptrace")
    addresses = [itemsize * (offset + stride * lane) for lane in range(32)]
    return len({address // 32 for address in addresses})
