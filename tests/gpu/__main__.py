"""``python tests/gpu``: every solution and every test program on this machine's GPU, compared with the simulator."""

import sys

import compare_results

sys.exit(compare_results.main(sys.argv[1:]))
