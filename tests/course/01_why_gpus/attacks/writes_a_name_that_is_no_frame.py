# expect: place: wrong type
# Writes a frame whose name is markup, a formula and a terminal's control sequence.
import numpy as np


def place(n, threads, i):
    import os

    for number in range(3, 10):
        try:
            os.write(number, b"t" + b"=cmd|'x'!A1<script>alert(1)</script>\x1b[2J")
        except OSError:
            pass
    os._exit(0)
