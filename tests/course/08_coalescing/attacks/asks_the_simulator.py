# expect: sectors_for: raised an error
# Leaves the work to the package that the lab is about.


def sectors_for(stride, offset, itemsize):
    import numpy as np

    from warpwise import trace

    def load(src, dst, stride, offset):
        from warpwise import cuda

        lane = cuda.threadIdx.x
        dst[lane] = src[offset + stride * lane]

    src = np.zeros(offset + 31 * stride + 1, dtype=f"int{8 * itemsize}")
    return trace(load, 1, 32, src, np.zeros(32, src.dtype), stride, offset).metrics.global_load_sectors
