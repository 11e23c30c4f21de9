"""Facts of a run and of its best network, in words that every view shares."""

import math
import shlex
from collections.abc import Mapping
from pathlib import Path

from evopinn.run.record import BestNetwork, RunRecord
from evopinn.store.records import FinalistEntry
from evopinn.training.warnings import overfitting_warning
from evopinn.view.tables import Cell, Fact, Facts, Phrase

RECOMMENDED = "recommended architecture"
MOST_ACCURATE = "most accurate network"

_KILLED = " (unexpectedly, for example because its process was killed)"


def run_facts(run: RunRecord) -> Facts:
    """The goal and the state of a run."""
    goal = run.goal
    running = f" (process {run.about.writer})" if run.state == "running" else ""
    started = Phrase(Cell("moment", run.about.created))
    if run.ended is not None:
        started = Phrase(*started, ", last training ", Cell("moment", run.ended))
    failed = (", ", Cell("count", run.failed), " failed") if run.failed else ()
    values: dict[str, Cell | Phrase | str] = {
        "run": Cell("code", str(run.directory)),
        "problem": f"{goal.problem} ({goal.source})" if _is_file(run) else goal.problem,
        "method": goal.method if goal.seed is None else f"{goal.method}, seed {goal.seed}",
        **({"plan": goal.plan} if goal.plan else {}),
        "state": f"{run.state}{running}{_KILLED if run.was_killed else ''}",
        "started": started,
        "trained": Phrase(
            Cell("count", run.trained),
            " networks",
            *failed,
            "; ",
            Cell("count", run.epochs),
            " epochs, ",
            Cell("seconds", run.seconds),
            " of workers' time",
        ),
    }
    told = [Fact("warning", each) for each in goal.warnings]
    return Facts([*(Fact(name, value) for name, value in values.items()), *told])


def best_facts(run: RunRecord) -> Facts:
    """The recommended architecture, if there is one yet, and the most accurate network."""
    best = run.best
    if best is None:
        return Facts([Fact(MOST_ACCURATE, f"none: {run.why_no_network}")])
    entry, architecture = best.entry, run.best_architecture
    trained = Phrase(
        "loss ",
        Cell("scientific", entry.loss),
        " after ",
        Cell("count", entry.epochs),
        " epochs in ",
        Cell("seconds", entry.seconds),
        f" (task {entry.task})",
    )
    genome = Cell("code", entry.genome)
    facts = [Fact(MOST_ACCURATE if best.finalist is None else RECOMMENDED, genome)]
    if architecture is not None and architecture.genome is not None:
        facts.append(Fact("structure", architecture.description))
        if architecture.start:
            facts.append(Fact("start", Cell("code", architecture.start)))
        if architecture.parameters is not None:
            facts.append(Fact("parameters", Cell("count", architecture.parameters)))
    if best.finalist is not None:
        facts += [*_means(best, best.finalist), Fact(MOST_ACCURATE, trained)]
    else:
        if run.finalists:
            facts.insert(0, Fact(RECOMMENDED, _no_recommendation(run)))
        facts.append(Fact("its training", trained))
    facts += [Fact(f"error of {field}", Cell("scientific", each)) for field, each in entry.errors.items()]
    if not entry.errors:
        facts.append(Fact("error", "unknown: the problem has no solution to compare with"))
    return Facts([*facts, *residual_facts(best.residuals)])


def residual_facts(residuals: Mapping[str, float]) -> list[Fact]:
    """The residual on training and held-out points, with a warning if they differ much.

    Args:
        residuals: Its sizes, as `is_overfitted` takes them; there are no facts if they are unknown.
    """
    if "training" not in residuals:
        return []
    size = Phrase(Cell("scientific", residuals["training"]), " (root mean square) on the training points")
    if "held_out" in residuals:
        held_out = residuals["held_out"]
        found = Cell("scientific", held_out) if math.isfinite(held_out) else "not finite"
        size = Phrase(*size, ", ", found, " on held-out points")
    warning = overfitting_warning(residuals)
    return [Fact("residual", size), *([Fact("warning", f"{warning}.")] if warning else [])]


def next_step(run: RunRecord, name: str) -> str:
    """The next steps with a run, which commands know by a name."""
    steps = {
        "running": f"`evopinn stop {name}` ends it; it can be resumed.",
        "stopped": f"`evopinn resume {name}` resumes it.",
        "finished": "It is finished.",
    }
    export = f" `evopinn export {name} best` writes its {MOST_ACCURATE}." if run.best else ""
    return steps[run.state] + export


def why_not_recommended(run: RunRecord) -> str:
    """The reason why there is no recommended architecture yet; empty if there is one, or no network."""
    if run.best is None or run.recommended is not None:
        return ""
    reason = "No final evaluation succeeded" if run.finalists else "There are no final evaluations"
    yet = "" if run.state == "finished" else " yet"
    return f"{reason}{yet}: this is the single training with the lowest loss, which is partly luck."


def how_finalists_are_ranked(run: RunRecord) -> str:
    """The rule that ranks the finalists; empty before there are any."""
    if not run.finalists:
        return ""
    if run.finalists[0].entry.mean == "arithmetic":
        return "They are ranked by mean loss."
    return "They are ranked by geometric mean loss: one bad training does not outweigh several good ones."


def _means(best: BestNetwork, finalist: FinalistEntry) -> list[Fact]:
    """The means over the final evaluations, which decide the recommendation, and the range of losses."""
    error = (", error ", Cell("scientific", best.error)) if best.error is not None else ()
    least, greatest = (Cell("scientific", end(finalist.losses)) for end in (min, max))
    return [
        Fact(
            f"mean of {best.trainings}",
            Phrase("loss ", Cell("scientific", best.loss), *error, finalist.which_mean),
        ),
        Fact("their losses", Phrase("from ", least, " to ", greatest)),
    ]


def _no_recommendation(run: RunRecord) -> str:
    command = f"`evopinn show {shlex.quote(str(run.directory))}`"
    return f"none: the final evaluations of all candidates failed; {command} says why."


def _is_file(run: RunRecord) -> bool:
    return run.goal.source != run.goal.problem and Path(run.goal.source).is_absolute()
