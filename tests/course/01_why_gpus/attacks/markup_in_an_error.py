# expect: add: assertion failed
# A message of its own, with markup and a terminal's control sequences.
from warpwise import cuda


@cuda.jit
def add(a, b, out):
    assert out.size < 0, "<script>alert(1)</script><img src=x onerror=alert(1)> \x1b[2J\x1b]0;pwned\x07 =cmd|'x'!A1"
