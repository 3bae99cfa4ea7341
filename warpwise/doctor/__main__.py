"""``python -m warpwise.doctor``, or ``python warpwise/doctor`` where NumPy is missing.

Without NumPy the package cannot be imported. Run as a folder, the doctor is a package of its own,
which is why its modules import each other relatively."""

import sys
from importlib import import_module
from pathlib import Path

if __name__ == "__main__":
    if not __package__:
        sys.path.append(str(Path(__file__).resolve().parent.parent))
    sys.exit(import_module("warpwise.doctor" if __package__ else "doctor").main())
