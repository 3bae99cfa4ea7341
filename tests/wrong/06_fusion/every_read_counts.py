# expect: elements_moved: wrong result
# A value that two operations of one kernel read is counted twice.
def elements_moved(reads, makes, kernels, results):
    moved = 0
    for k in set(kernels.tolist()):
        made = set(makes[kernels == k].tolist())
        moved += sum(1 for value in reads[kernels == k].ravel().tolist() if value >= 0 and value not in made)
        needed = set(reads[kernels > k].ravel().tolist()) | set(results.tolist())
        moved += len(made & needed)
    return moved
