"""A process that writes made-up evaluations to a run until it is killed."""

import signal
import subprocess
import sys
import time
from pathlib import Path

WRITER = """
import sys
from types import SimpleNamespace
sys.path.insert(0, sys.argv[2])
from simulated import course, make_evaluation
from evopinn.store.store import Store
store = Store.open(sys.argv[1])
first = len(store.losses())
print("open", flush=True)
for number in range(first, 2000):
    store.record([make_evaluation(number, history=SimpleNamespace(**course(number, epochs=200)))])
    print(number, flush=True)
"""


def written_until_killed(directory, seconds):
    """The numbers that a writer reported as recorded before it was killed, some seconds after it opened."""
    command = [sys.executable, "-c", WRITER, str(directory), str(Path(__file__).parent)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout.readline() == "open\n"
        time.sleep(seconds)
        writer.send_signal(signal.SIGKILL)
        lines = writer.stdout.read()
    complete = lines[: lines.rfind("\n") + 1]  # the last line may be cut
    return [int(line) for line in complete.splitlines()]
