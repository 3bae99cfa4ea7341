# expect: elements_moved: wrong result
# Value v is taken for what operation v - 1 makes, as in the first graph of the lab.
def elements_moved(reads, makes, kernels, results):
    moved = 0
    for k in set(kernels.tolist()):
        made = set((1 + (kernels == k).nonzero()[0]).tolist())
        needed = set(reads[kernels > k].ravel().tolist()) | set(results.tolist())
        moved += len(set(reads[kernels == k].ravel().tolist()) - made - {-1})
        moved += len(made & needed)
    return moved
