# expect: sectors_for: does not end
# Computes for ever, and ignores the signals that ask it to stop.


def sectors_for(stride, offset, itemsize):
    import signal

    for number in range(1, 32):
        if number not in (signal.SIGKILL, signal.SIGSTOP):
            signal.signal(number, signal.SIG_IGN)
    while True:
        pass
