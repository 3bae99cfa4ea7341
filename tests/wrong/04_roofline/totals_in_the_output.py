# expect: four_products: output not written
# It adds to what the output held, instead of writing to it.
from warpwise import cuda


@cuda.jit
def four_products(at, xs, out):
    i = cuda.grid(1)
    if i < at.shape[1]:
        for j in range(at.shape[0]):
            element = at[j, i]
            for v in range(4):
                out[v, i] += element * xs[j, v]
