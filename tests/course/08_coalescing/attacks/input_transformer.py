# expect: copy_matrix: wrong result
# Has IPython turn every later cell, the checks included, into pass.
from warpwise import cuda

get_ipython().input_transformers_post.append(lambda lines: ["pass\n"])
get_ipython().input_transformers_cleanup.append(lambda lines: ["pass\n"])


@cuda.jit
def copy_matrix(src, dst):
    col, row = cuda.grid(2)
    if row < src.shape[0] and col < src.shape[1]:
        dst[row, col] = 0
