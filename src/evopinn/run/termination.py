"""Asking the process that writes to a run, some other one than this, to end."""

import contextlib
import os
import signal
import time
from pathlib import Path

from evopinn.errors import RunError
from evopinn.run.database import existing
from evopinn.run.place import writer_of

PATIENCE = 30.0
"""Seconds to wait for a run that was asked to stop: it ends its workers and closes its files."""

_INTERVAL = 0.05


def stop_run(directory: Path, patience: float) -> bool:
    """Ask the process that writes to a run to end, and wait until it has.

    Args:
        directory: The run's.
        patience: How many seconds to wait.

    Returns:
        Whether it has ended; if not, it may still be about to.
    """
    existing(directory)
    writer = writer_of(directory)
    if writer is None:
        raise RunError(f"the run {directory} is not running, so there is nothing to stop.")
    if not writer.is_here:
        raise RunError(
            f"the run {directory} is written to by process {writer.process} on {writer.host}; stop it there."
        )
    try:
        with contextlib.suppress(ProcessLookupError):  # it ended in this moment
            os.kill(writer.process, signal.SIGTERM)
    except PermissionError:
        raise RunError(
            f"process {writer.process}, which writes to the run {directory}, is another user's; ask them."
        ) from None
    last = time.monotonic() + patience
    while writer_of(directory) == writer:
        if time.monotonic() > last:
            return False
        time.sleep(_INTERVAL)
    return True
