# expect: centre: wrong result
# Lines that a page quotes, with markup that would run a script.
from warpwise import cuda


@cuda.jit
def centre(x, mean, out):
    col, row = cuda.grid(2)  # </text></svg></pre><script>alert(1)</script><img src=x onerror=alert(1)>
    if row < x.shape[0] and col < x.shape[1]:  # "><iframe src=javascript:alert(1)>
        out[row, col] = x[row, col]  # ]]>--></style><script src=//x></script><a href="javascript:alert(1)">
