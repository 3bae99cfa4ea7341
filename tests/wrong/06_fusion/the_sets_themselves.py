# expect: elements_moved: wrong type
# It returns what moves, not how much.
def elements_moved(reads, makes, kernels, results):
    moved = set()
    for k in set(kernels.tolist()):
        made = set(makes[kernels == k].tolist())
        needed = set(reads[kernels > k].ravel().tolist()) | set(results.tolist())
        moved |= set(reads[kernels == k].ravel().tolist()) - {-1} - made
        moved |= made & needed
    return moved
