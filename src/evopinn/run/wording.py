"""How runs are spoken of: by a name that a command takes, and with a reason where there is no network."""

import re
import shlex
import unicodedata
from collections.abc import Mapping, Sequence
from pathlib import Path

from evopinn.run.listed import FailureCount, RunState
from evopinn.run.place import RUNS
from evopinn.run.statuses import MEANINGS

_TURNING = re.compile("[\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_UNSEEN = ("Cc", "Cs", "Zl", "Zp")

# What helps, by what most trainings ended with.
_ADVICE: Mapping[str, str] = {
    "not-finite": "look in the problem for what has no value everywhere, such as 1/x, a logarithm or a root, "
    "and for huge weights",
    "raised": "`evopinn show {run}` has the exception: mend the problem",
    "memory": "allow the workers more (--memory), or give the problem fewer points",
    "deadline": "allow a training more time (--deadline), or give the problem fewer points",
    "too-costly": "give a smaller --space, or the problem fewer points",
}
_LOOK = "`evopinn show {run}` has what is known of the first of each kind"


def run_name(directory: Path) -> str:
    """How a user names a run to a command."""
    return shlex.quote(directory.name if directory.parent == RUNS else str(directory))


def why_no_network(directory: Path, state: RunState, failures: Sequence[FailureCount]) -> str:
    """Why a run has no trained network, and what to do: a sentence without its full stop.

    Args:
        directory: The run's.
        state: How it stands.
        failures: The ways in which its trainings failed.
    """
    run = run_name(directory)
    failed = [each for each in failures if each.failed]
    if not failed:
        return {
            "running": "no training is over yet; wait for the first",
            "stopped": f"no training was over when it stopped; `evopinn resume {run}` goes on",
            "finished": "it came to its end without a training; search again with a larger budget",
        }[state]
    count = sum(each.failed for each in failed)
    kinds = ", ".join(_kind(each, alone=len(failed) == 1) for each in failed)
    all_of_them = "the only training" if count == 1 else f"all {count:,} trainings"
    advice = _ADVICE.get(failed[0].status, _LOOK).format(run=run)
    after = "stop it and search again" if state == "running" else "then search again"
    return f"{all_of_them}{'' if state == 'finished' else ' so far'} failed: {kinds}; {advice}, {after}"


def visible(text: str) -> str:
    r"""Text in one line in which nothing acts on a terminal: control characters and the like are escaped.

    Examples:
        >>> print(visible("a\x1b[31mred"))
        a\x1b[31mred
    """
    return "".join(_escaped(character) if is_unseen(character) else character for character in text)


def is_unseen(character: str) -> bool:
    """Whether a character is not printed but acts, or cannot be written at all."""
    return unicodedata.category(character) in _UNSEEN or bool(_TURNING.match(character))


def _kind(each: FailureCount, *, alone: bool) -> str:
    meaning = MEANINGS.get(each.status, "")
    count = "" if alone else f"{each.failed:,} "
    return f"{count}{each.status}" + (f" ({meaning})" if meaning else "")


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
