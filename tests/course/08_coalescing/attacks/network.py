# expect: sectors_for: raised an error
# Fetches the answer from a server.


def sectors_for(stride, offset, itemsize):
    import socket

    with socket.create_connection(("127.0.0.1", @PORT@), timeout=5) as line:
        line.sendall(f"{stride} {offset} {itemsize}".encode())
    first = [itemsize * (offset + stride * lane) // 32 for lane in range(32)]
    return len(set(first))
