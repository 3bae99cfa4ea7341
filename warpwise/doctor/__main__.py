"""``python -m warpwise.doctor``; or ``python warpwise/doctor``, where the package cannot be imported because NumPy is missing."""

import sys
from pathlib import Path

if __package__:
    from warpwise.doctor import main
else:  # run as a folder: it is then a package of its own, which is why its modules name each other by a dot
    sys.path.append(str(Path(__file__).resolve().parent.parent))
    from doctor import main

if __name__ == "__main__":
    sys.exit(main())
