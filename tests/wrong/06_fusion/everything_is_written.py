# expect: elements_moved: wrong result
# What nobody needs later is written too, as if every operation had a kernel of its own.
def elements_moved(reads, makes, kernels, results):
    moved = len(makes)
    for k in set(kernels.tolist()):
        made = set(makes[kernels == k].tolist())
        moved += len(set(reads[kernels == k].ravel().tolist()) - {-1} - made)
    return moved
