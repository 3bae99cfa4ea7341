# expect: attention_memory: wrong result
# L and delta are float32, whatever the elements are.


def attention_memory(heads, n, d, item_bytes):
    matrix, rows, square = heads * n * d, heads * n, heads * n * n
    standard = (3 * matrix + square) * item_bytes, 2 * square * item_bytes
    tiled = 4 * matrix * item_bytes + item_bytes * rows, item_bytes * rows + 4 * matrix
    return *standard, *tiled
