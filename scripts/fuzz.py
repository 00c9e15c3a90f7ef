"""Look for programs that break a property: other random ones every time, until the time is over.

    make fuzz MINUTES=30
    make fuzz MINUTES=30 PYTEST_ARGS="-k levels"

Every test that draws its examples with Hypothesis runs in rounds, each with a seed of its own. The
first failure ends the search: the smallest example that fails is printed, and how to run it again.
"""

from __future__ import annotations

import argparse
import secrets
import signal
import subprocess
import sys
import time

ROUND = ["-m", "hypothesis", "--hypothesis-profile=fuzz", "-q", "--no-header"]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--minutes", type=float, default=10)
    options, for_pytest = parser.parse_known_args()
    until = time.monotonic() + 60 * options.minutes
    while (left := until - time.monotonic()) > 0:
        seed = secrets.randbelow(1 << 32)
        print(f"==> seed {seed}, {left / 60:.1f} minutes left", flush=True)
        status = run_round([*ROUND, f"--hypothesis-seed={seed}", *for_pytest], left)
        if status:
            again = f"{sys.executable} -m pytest --hypothesis-profile=fuzz --hypothesis-seed={seed}"
            print(f"==> To run it again, add the name that FAILED gives above:\n{again}")
            return status
    print("==> the time is over")
    return 0


def run_round(options: list[str], seconds: float) -> int:
    """pytest's exit status; 0 where the time was over before anything failed."""
    command = [sys.executable, "-m", "pytest", "-n", "auto", "--maxfail=1", *options]
    process = subprocess.Popen(command)
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)
        process.wait()
        return 0


if __name__ == "__main__":
    sys.exit(main())
