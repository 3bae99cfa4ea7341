#!/usr/bin/env bash
# Gradescope runs this once, as root, when it builds the image of an assignment: Python with NumPy, and the grader.
set -euo pipefail
cd /autograder/source
umask 022

wanted='import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))'
python=
for name in python3.13 python3.12 python3.11 python3; do
    if command -v "$name" >/dev/null && "$name" -c "$wanted" 2>/dev/null; then
        python=$name
        break
    fi
done
if [ -z "$python" ]; then
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq
    apt-get install -qq -y --no-install-recommends python3.11 python3.11-venv libseccomp2
    python=python3.11
fi

"$python" -m venv /autograder/python
/autograder/python/bin/python -m pip install --quiet --no-cache-dir --disable-pip-version-check --no-deps -r requirements.txt
chmod 755 /autograder
chmod -R go= /autograder/source
/autograder/python/bin/python -I -m warpwise.grading.container /autograder/source
