# expect: place: passed
# Sockets of every family: internet, unix, netlink, packet, vsock, and a pair.
import numpy as np


def place(n, threads, i):
    if n > 1:
        return np.array([-(-n // threads), -n % threads, i // threads, i % threads])

    import socket

    opened = []
    for family in (1, 2, 10, 16, 17, 31, 38, 40, 44):
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW):
            try:
                opened.append(socket.socket(family, kind))
            except OSError:
                pass
    try:
        opened += socket.socketpair()
    except OSError:
        pass
    if opened:
        raise SystemError(opened)
    return np.array([-(-n // threads), -n % threads, i // threads, i % threads])
