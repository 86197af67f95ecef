"""Stops a PostgreSQL and removes its folder as soon as the process that started it is gone, however it went.

Run as ``python -I -S watchdog.py FOLDER`` with a pipe as its input. The starter holds the other end; when the pipe
closes, after Ctrl-C, an exit or kill -9, this cleans up. It stands in a session of its own, so Ctrl-C passes it by.
"""

import os
import shutil
import signal
import sys
import time
from pathlib import Path


def main() -> None:
    """Wait for the end of the input, then clean up."""
    folder = Path(sys.argv[1])
    sys.stdin.buffer.read()
    try:
        pid = int((folder / "data" / "postmaster.pid").read_text().splitlines()[0])
    except (OSError, ValueError, IndexError):
        pid = 0
    deadline = time.monotonic() + 10
    try:
        while pid and time.monotonic() < deadline:
            # Immediate shutdown: nothing in the folder will be read again.
            os.kill(pid, signal.SIGQUIT)
            time.sleep(0.05)
    except OSError:
        pass  # it has ended
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
