"""Wording for runs: names, rounds, failures, warnings and advice."""

import re
import shlex
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from evopinn.store.directory import RUNS
from evopinn.store.records import FailureCount, RoundKind, RunState
from evopinn.training.status import MEANINGS

_TURNING = re.compile("[\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_UNSEEN = ("Cc", "Cs", "Zl", "Zp")

# Advice, by the most frequent status.
_ADVICE: Mapping[str, str] = {
    "not-finite": "check the problem for expressions that are undefined somewhere, such as 1/x, a logarithm "
    "or a root, and for huge weights",
    "raised": "`evopinn show {run}` shows the exception; fix the problem",
    "memory": "allow the workers more (--memory), or give the problem fewer points",
    "deadline": "allow a training more time (--deadline), or give the problem fewer points",
    "too-costly": "give a smaller --space, or the problem fewer points",
}
_LOOK = "`evopinn show {run}` shows the first failure of each kind"

_LONGEST_REASON = 300


@dataclass(frozen=True)
class RoundWords:
    """The names of a round; `{number}` is its number.

    Attributes:
        label: Among others, in a table or below a chart.
        brief: On its own, where there is little room.
        name: In a sentence.
    """

    label: str
    brief: str
    name: str


ROUNDS: Mapping[RoundKind, RoundWords] = {
    "generation": RoundWords("{number:,}", "gen {number:,}", "generation {number:,}"),
    "batch": RoundWords("{number:,}", "batch {number:,}", "batch {number:,}"),
    "bests": RoundWords("bests again", "bests again", "each generation's best once more"),
    "final": RoundWords("final", "final", "final evaluations"),
}
"""The names of rounds, by their kind."""


def round_label(kind: RoundKind, number: int) -> str:
    """A round among others: `3`, `bests again`, `final`."""
    return ROUNDS[kind].label.format(number=number)


def round_brief(kind: RoundKind, number: int) -> str:
    """A round on its own: `gen 3`, `batch 3`, `bests again`, `final`."""
    return ROUNDS[kind].brief.format(number=number)


def round_name(kind: RoundKind, number: int) -> str:
    """A round in a sentence: `generation 3`, `final evaluations`."""
    return ROUNDS[kind].name.format(number=number)


def one_line(note: str) -> str:
    """A note in a line: of a traceback the exception, of what a worker printed the last line."""
    first, *rest = note.strip().splitlines() or [""]
    before, traceback, _ = first.partition("Traceback ")
    start = before if traceback else f"{first} " if rest else first
    return (start + (rest[-1].strip() if rest else ""))[:_LONGEST_REASON]


def failure_note(note: str, status: str) -> str:
    """Why a training failed: its note, or else the meaning of its status."""
    return note.strip() or MEANINGS.get(status, "")


def run_name(directory: Path) -> str:
    """The name of a run for a command line."""
    return shlex.quote(directory.name if directory.parent == RUNS else str(directory))


def why_no_network(directory: Path, state: RunState, failures: Sequence[FailureCount]) -> str:
    """Why a run has no trained network, and advice: a sentence without its full stop.

    Args:
        directory: The run's.
        state: The state of the run.
        failures: The kinds of failure.
    """
    run = run_name(directory)
    failed = [each for each in failures if each.failed]
    if not failed:
        return {
            "running": "no training has finished yet; wait for the first",
            "stopped": f"it stopped before any training finished; resume with `evopinn resume {run}`",
            "finished": "it finished without any training; search again with a larger budget",
        }[state]
    count = sum(each.failed for each in failed)
    kinds = ", ".join(_kind(each, alone=len(failed) == 1) for each in failed)
    all_of_them = "the only training" if count == 1 else f"all {count:,} trainings"
    advice = _ADVICE.get(failed[0].status, _LOOK).format(run=run)
    after = "stop it and search again" if state == "running" else "then search again"
    return f"{all_of_them}{'' if state == 'finished' else ' so far'} failed: {kinds}; {advice}, {after}"


def visible(text: str) -> str:
    r"""Text in one line that cannot affect a terminal: control characters and the like are escaped.

    Examples:
        >>> print(visible("a\x1b[31mred"))
        a\x1b[31mred
    """
    return "".join(_escaped(character) if is_unseen(character) else character for character in text)


def is_unseen(character: str) -> bool:
    """Whether a character is invisible and affects a terminal, or cannot be written at all."""
    return unicodedata.category(character) in _UNSEEN or bool(_TURNING.match(character))


def _kind(each: FailureCount, *, alone: bool) -> str:
    meaning = MEANINGS.get(each.status, "")
    count = "" if alone else f"{each.failed:,} "
    return f"{count}{each.status}" + (f" ({meaning})" if meaning else "")


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
