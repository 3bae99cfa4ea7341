# expect: sectors_for: passed
# Right, but leaves a process behind that has its own session and waits.


def sectors_for(stride, offset, itemsize):
    import os
    import time

    if stride == 0 and os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for number in range(3):
                os.close(number)
            time.sleep(3600)
        os._exit(0)
    addresses = [itemsize * (offset + stride * lane) for lane in range(32)]
    return len({address // 32 for address in addresses})
