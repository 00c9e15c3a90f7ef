#!/usr/bin/env bash
# Gradescope runs this once, as root, while it builds the image: bubblewrap, a Python, and the
# packages at the versions of course/constraints.txt. It takes about 2 GB and some minutes.
set -euo pipefail
cd /autograder/source

export DEBIAN_FRONTEND=noninteractive
apt-get update
apt-get install -y --no-install-recommends bubblewrap ca-certificates g++ python3 python3-venv

# The course needs Python 3.11, and the default image (Ubuntu 22.04) has 3.10. It lies in /opt,
# where every user can read it: a student's code runs as a user that nobody else is.
export UV_PYTHON_INSTALL_DIR=/opt/python
python3 -m venv /opt/uv
/opt/uv/bin/python -m pip install uv==@UV@
/opt/uv/bin/uv python install 3.11
python=$(/opt/uv/bin/uv python find 3.11)
"$python" course/scripts/setup_env.py --venv /opt/course --extras torch,llvm,lab,grade
