"""Assignments and their results on their way to nodes that do not see the run's directory."""

import pickle
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from evopinn.errors import StoredModelError
from evopinn.run.evaluation import Assignment, Kept, Trouble
from evopinn.training import load_checkpoint
from evopinn.training.whole import write_whole


def sealed(work: Any) -> bytes:
    """An assignment as it is sent: with the state to go on from in the place of the file that has it.

    The paths are left out: on another machine there may be something else under the same name.
    """
    if isinstance(work, Assignment):
        lost, state = _to_go_on_from(work.before)
        before = tuple(replace(each, keep=None) for each in lost)
        work = replace(work, before=before, keep=None, carry=work.keep is not None, state=state)
    return pickle.dumps(work, pickle.HIGHEST_PROTOCOL)


def unsealer(accept: Callable[[Any, Any], bool]) -> Callable[[Any, bytes], Any]:
    """What opens a result, checks it and writes down the state that came with it.

    Args:
        accept: Whether a payload's result makes sense.
    """

    def unsealed(work: Any, packed: bytes) -> Any:
        try:
            value = pickle.loads(packed)
        except Exception as error:  # bytes that are no pickle can raise anything
            raise ValueError(f"a result could not be read: {type(error).__name__}: {error}") from error
        result = value.result if isinstance(value, Kept) else value
        if not accept(work, result):
            raise ValueError(f"a result that makes no sense: {result!r:.200}")
        if isinstance(value, Kept) and isinstance(work, Assignment) and work.keep is not None:
            return _written(value, work.keep)
        return result

    return unsealed


def _written(kept: Kept, path: Path) -> Any:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, lambda temporary: temporary.write_bytes(kept.state))
    except OSError as error:
        return Trouble(f"the checkpoint could not be saved as {path}: {error}.")
    return kept.result


def _to_go_on_from(before: tuple[Assignment, ...]) -> tuple[tuple[Assignment, ...], bytes | None]:
    """The latest state that is kept whole, and the trainings after it, which have to be done again."""
    for index, each in enumerate(before):
        if each.keep is None:
            continue
        try:
            load_checkpoint(each.keep)  # which tells a damaged file
            return before[:index], each.keep.read_bytes()
        except (OSError, StoredModelError):
            continue
    return before, None
