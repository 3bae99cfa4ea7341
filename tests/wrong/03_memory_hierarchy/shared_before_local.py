# expect: choose_memory: wrong result
# Asks for shared memory before local memory, so that arrays of one thread go there.
import numpy as np


def choose_memory(variables):
    def memory_of(row):
        on_chip = row[OUTLIVES] == 0
        if on_chip and row[USERS] == 1 and row[DYNAMIC] == 0 and row[BYTES] <= 1_020:
            return REGISTER
        if on_chip and row[USERS] <= 2 and row[BYTES] <= 49_152:
            return SHARED
        if on_chip and row[USERS] == 1 and row[BYTES] <= 524_288:
            return LOCAL
        if row[USERS] == 3 and row[WRITTEN] == 0 and row[SAME] == 1 and row[BYTES] <= 65_536:
            return CONSTANT
        return GLOBAL

    return np.array([memory_of(row) for row in variables], dtype=np.int64)
