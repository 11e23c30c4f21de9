"""Names of runs, and the digest of a search."""

import hashlib
import json
import re
import secrets
import time
from pathlib import Path

from evopinn.errors import RunError
from evopinn.problem import OBJECT
from evopinn.run.config import Config, usual_mean
from evopinn.run.wording import is_unseen, visible
from evopinn.search import WORKPLANS
from evopinn.store.directory import RUNS

_FIRST_TABLES = ("schedule", "trials")
"""Of workplans, those that configurations had from the beginning."""
_UNFIT = re.compile(r"[^A-Za-z0-9.]+")


def run_path(name: str | Path, among: Path = RUNS) -> Path:
    """The directory of a run or a study, from its name or path.

    Args:
        name: A plain name, which is one in `among`, or a path such as `./name`.
        among: The directory of such things.
    """
    if not str(name).strip():
        raise RunError(f"the name of the run is {str(name)!r}; give a name for it in {among}, or a path.")
    if any(map(is_unseen, str(name))):
        raise RunError(
            f"the run's name '{visible(str(name))}' has control characters, which could change a terminal "
            "that shows it; choose a name without them."
        )
    path = Path(name)
    is_plain = len(path.parts) == 1 and str(name) not in (".", "..") and not str(name).startswith("./")
    return among / path if is_plain else path


def dated_name(problem: str) -> str:
    """A new name for each run; random digits distinguish runs that start in the same second."""
    stem = f"{_short(problem)}-{time.strftime('%Y%m%d-%H%M%S')}"
    while True:
        name = f"{stem}-{secrets.token_hex(2)}"
        if not (RUNS / name).exists():
            return name


def request_name(config: Config, request: str) -> str:
    """The name of a search, the same for every equal request."""
    return f"{_short(config.problem)}-{config.method}-{request[:8]}"


def request_digest(config: Config, fingerprint: float) -> str:
    """A digest of everything that determines the result of a search, which the workers do not."""
    asked = config.spelled_out().model_dump(mode="json", exclude={"workers", "recorded"})
    # Later entries count only where they differ from what was done before there were such entries, so that
    # older runs keep their digests.
    for kind in WORKPLANS:
        if kind.table not in _FIRST_TABLES and asked[kind.table] is None:
            del asked[kind.table]
    if asked["settings"].get("mean") == usual_mean(asked["training"]["optimizer"]):
        del asked["settings"]["mean"]
    if asked["training"]["coarseness"] == 1:
        del asked["training"]["coarseness"]
    text = f"{json.dumps(asked, sort_keys=True)} {fingerprint:.9e}"
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _short(problem: str) -> str:
    """A problem's name as part of a file name: the file of a path, the name of an object."""
    last = problem.removeprefix(OBJECT).rpartition("/")[2].replace(".py", "")
    return _UNFIT.sub("-", last).strip("-.") or "problem"
