# expect: column_sums: not a kernel feature
# A kernel that would open a file if it were executed.
from warpwise import cuda


@cuda.jit
def column_sums(a, out):
    open("@ROOT@/pwned", "w").write("x")
    __import__("os").system("touch @ROOT@/pwned")
