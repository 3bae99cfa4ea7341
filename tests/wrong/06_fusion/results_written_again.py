# expect: elements_moved: wrong result
# A result that a later kernel reads is counted as two writes.
def elements_moved(reads, makes, kernels, results):
    moved = len(results)
    for k in set(kernels.tolist()):
        made = set(makes[kernels == k].tolist())
        moved += len(set(reads[kernels == k].ravel().tolist()) - {-1} - made)
        moved += len(made & set(reads[kernels > k].ravel().tolist()))
    return moved
