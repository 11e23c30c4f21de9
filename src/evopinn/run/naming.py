"""Names of runs."""

import hashlib
import re
import time
from pathlib import Path

from evopinn.run.config import Config
from evopinn.run.place import RUNS
from evopinn.run.source import OBJECT

_UNFIT = re.compile(r"[^A-Za-z0-9.]+")


def run_path(name: str | Path) -> Path:
    """The directory of a run that a user names: a plain name is one in `runs`, anything else a path."""
    path = Path(name)
    return RUNS / path if len(path.parts) == 1 and str(name) not in (".", "..") else path


def dated_name(problem: str) -> str:
    """A new name for each run."""
    return f"{_short(problem)}-{time.strftime('%Y%m%d-%H%M%S')}"


def request_name(config: Config, request: str) -> str:
    """The same name for the same search."""
    return f"{_short(config.problem)}-{config.method}-{request[:8]}"


def request_digest(config: Config, fingerprint: float) -> str:
    """Stands for all that decides what a search does, its problem included; not for its workers."""
    asked = config.model_dump_json(exclude={"workers", "recorded"})
    text = f"{asked} {fingerprint:.9e}"
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _short(problem: str) -> str:
    """A problem's name as part of a file's: of a path, the file; of an object, its name."""
    last = problem.removeprefix(OBJECT).rpartition("/")[2].replace(".py", "")
    return _UNFIT.sub("-", last).strip("-.") or "problem"
