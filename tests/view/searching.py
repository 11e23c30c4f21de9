"""A made-up search in a process of its own, on the terminal that is its standard input.

Commands: `search` runs one until it is stopped or interrupted; `touch` only looks for keys, as if it did not
know that they are not meant for it; `background` takes the part of a shell that runs one of these in the
background.
"""

import os
import signal
import subprocess
import sys
import time


def search():
    from snapshots import make_snapshot

    from evopinn.view.terminal.console import notes_console
    from evopinn.view.terminal.live import search_progress

    asked = []
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("terminated"))
    began = time.monotonic()
    limit = float(os.environ["SEARCH_SECONDS"])
    try:
        with search_progress(notes_console(), lambda: asked.append(True)) as show:
            while not asked and time.monotonic() - began < limit:
                show(make_snapshot())
                time.sleep(0.02)
            show(make_snapshot(phase="stopped" if asked else "finished"))
    except KeyboardInterrupt:
        sys.exit("interrupted")


def touch():
    from evopinn.view.terminal.keys import Keyboard

    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    print(f"pressed: {Keyboard(0).pressed(60.0)!r}")  # noqa: T201


def background(command):
    command = [sys.executable, __file__, command]
    child = subprocess.Popen(command, process_group=0)
    _, status = os.waitpid(child.pid, os.WUNTRACED)
    if os.WIFSTOPPED(status):
        os.kill(child.pid, signal.SIGKILL)
        sys.exit(f"stopped by {signal.Signals(os.WSTOPSIG(status)).name}")
    child.returncode = os.waitstatus_to_exitcode(status)
    sys.exit(f"for the shell: {sys.stdin.readline().strip()}")


if __name__ == "__main__":
    os.close(os.open(os.ttyname(0), os.O_RDWR))  # a new session takes the first terminal it opens for its own
    {"search": search, "touch": touch, "background": background}[sys.argv[1]](*sys.argv[2:])
