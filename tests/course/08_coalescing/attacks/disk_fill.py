# expect: sectors_for: raised an error
# Fills the disk with files, then with empty ones.


def sectors_for(stride, offset, itemsize):
    number = 0
    while True:
        number += 1
        with open(f"/tmp/{number}", "wb") as file:
            file.write(bytes(1_000_000))
