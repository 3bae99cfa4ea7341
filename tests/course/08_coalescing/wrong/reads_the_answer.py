# expect: copy_matrix: not a kernel feature
# It copies the expected array out of the notebook's variables.
from warpwise import cuda

launches = []
answer = launches[0].want[0] if launches else None


@cuda.jit
def copy_matrix(src, dst):
    col, row = cuda.grid(2)
    if row < src.shape[0] and col < src.shape[1]:
        dst[row, col] = answer[row, col]
