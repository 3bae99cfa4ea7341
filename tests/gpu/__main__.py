"""``python tests/gpu``: compare solutions and test programs on this GPU with the simulator."""

import sys

import compare_results

sys.exit(compare_results.main(sys.argv[1:]))
