# expect: copy_matrix: not done yet
# Asks nbval to skip the cell and to expect an error.
# NBVAL_SKIP
# NBVAL_RAISES_EXCEPTION
# NBVAL_IGNORE_OUTPUT
from warpwise import cuda


@cuda.jit
def copy_matrix(src, dst):
    ...


raise SystemExit
