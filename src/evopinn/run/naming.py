"""Names of runs."""

import hashlib
import json
import re
import secrets
import time
from pathlib import Path

from evopinn.errors import RunError
from evopinn.run.config import Config, usual_mean
from evopinn.run.place import RUNS
from evopinn.run.source import OBJECT
from evopinn.run.wording import is_unseen, visible

_UNFIT = re.compile(r"[^A-Za-z0-9.]+")


def run_path(name: str | Path, among: Path = RUNS) -> Path:
    """The directory of a run, or a study, that a user names.

    Args:
        name: A plain name is one in the directory of such things, anything else a path, such as `./name`.
        among: That directory.
    """
    if not str(name).strip():
        raise RunError(
            f"the run is {str(name)!r}; give it a name, under which it lies in {among}, or a path."
        )
    if any(map(is_unseen, str(name))):
        raise RunError(
            f"the run's name '{visible(str(name))}' has control characters, which would act on a terminal "
            "that shows it; choose a name without them."
        )
    path = Path(name)
    is_plain = len(path.parts) == 1 and str(name) not in (".", "..") and not str(name).startswith("./")
    return among / path if is_plain else path


def dated_name(problem: str) -> str:
    """A new name for each run; random digits tell apart those that begin in the same second."""
    stem = f"{_short(problem)}-{time.strftime('%Y%m%d-%H%M%S')}"
    while True:
        name = f"{stem}-{secrets.token_hex(2)}"
        if not (RUNS / name).exists():
            return name


def request_name(config: Config, request: str) -> str:
    """The same name for the same search."""
    return f"{_short(config.problem)}-{config.method}-{request[:8]}"


def request_digest(config: Config, fingerprint: float) -> str:
    """Stands for all that decides what a search does, its problem included; not for its workers."""
    asked = config.spelled_out().model_dump(mode="json", exclude={"workers", "recorded"})
    # Entries that came later stand for themselves only where they say something: runs that were begun before
    # them have the same digest as ever.
    if asked["roster"] is None:
        del asked["roster"]
    if asked["settings"].get("mean") == usual_mean(asked["training"]["optimizer"]):
        del asked["settings"]["mean"]
    if asked["training"]["coarseness"] == 1:
        del asked["training"]["coarseness"]
    text = f"{json.dumps(asked, sort_keys=True)} {fingerprint:.9e}"
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _short(problem: str) -> str:
    """A problem's name as part of a file's: of a path, the file; of an object, its name."""
    last = problem.removeprefix(OBJECT).rpartition("/")[2].replace(".py", "")
    return _UNFIT.sub("-", last).strip("-.") or "problem"
