"""How much memory this process has."""

import sys
from pathlib import Path
from typing import Literal

STATUS = Path("/proc/self/status")


def process_memory(row: Literal["VmRSS", "VmHWM"]) -> int:
    """Resident memory of this process in bytes: `VmRSS`, now, or `VmHWM`, the highest so far.

    Linux keeps both per program. Elsewhere the highest stands for both: its growth is then a lower bound.
    """
    if STATUS.exists():
        (line,) = [line for line in STATUS.read_text().splitlines() if line.startswith(row)]
        return 1024 * int(line.split()[1])
    import resource

    highest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return highest if sys.platform == "darwin" else 1024 * highest
