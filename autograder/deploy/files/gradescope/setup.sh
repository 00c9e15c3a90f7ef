#!/usr/bin/env bash
# Gradescope runs this as root, once, while it builds the image of the autograder.
set -euo pipefail
cd "${AUTOGRADER:-/autograder}/source"
apt-get update
apt-get install --yes --no-install-recommends python3 python3-venv bubblewrap graphviz
python3 -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Choose an image with Python 3.11 or newer.")'
python3 -m venv ../venv
python=../venv/bin/python
"$python" -m pip install uv
# The PyTorch without GPU support is several gigabytes smaller; without uv, pip takes the usual one.
"$python" -m uv pip install --python "$python" --torch-backend cpu -r requirements.txt ||
  "$python" -m pip install -r requirements.txt
"$python" -m compileall -q course_lib lessons autograder
