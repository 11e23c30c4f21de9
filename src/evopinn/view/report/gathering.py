"""From a run to the facts of its report. Nothing that is missing keeps the rest from being told."""

import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path

from evopinn.errors import EvopinnError
from evopinn.genome import Genome
from evopinn.network import Layout
from evopinn.problem import Problem
from evopinn.run.listed import Entry, FailureCount, FinalistEntry
from evopinn.run.place import CONFIG, WEIGHTS
from evopinn.run.reading import Reader
from evopinn.run.result import SearchResult
from evopinn.run.source import OBJECT
from evopinn.run.statuses import MEANINGS
from evopinn.run.summary import Best, Intent, Summary, activation_of, structure_of, summarise
from evopinn.run.weights import kept_weights
from evopinn.training import TrainingResult
from evopinn.view.figures.subjects import problem_again
from evopinn.view.figures.table import Subject
from evopinn.view.report.facts import (
    FailureRow,
    FinalistRow,
    Formula,
    GenomeFacts,
    HallRow,
    Picture,
    RunFacts,
    WinnerFacts,
)
from evopinn.view.report.formulas import formula
from evopinn.view.report.pictures import ROWS, Scene, Undrawn, drawn
from evopinn.view.report.stating import problem_facts

_LONGEST_NOTE = 4000
_NEED_PROBLEM = frozenset({"solution"})
_UNKNOWN = f"{OBJECT}unknown"
"""The name of a problem that nobody has, so that no figure is made of another one."""

Sizes = tuple[int, int] | None
"""How many inputs and outputs networks have, if that is known."""


def run_facts(
    run: SearchResult, problem: Problem | str | None = None, pictures: Iterable[str] = ROWS
) -> RunFacts:
    """Everything a report says of a run.

    Args:
        run: The run.
        problem: Its problem, or what that is called, if it is not where the run says.
        pictures: Names of the figures to draw.
    """
    summary = summarise(run.directory)
    with Reader(run.directory) as reader:
        about = reader.about()
        fields, efforts = reader.fields(), reader.efforts()
    found, missing = _problem(summary.intent, problem)
    network, lost = _network(run, summary)
    sizes = _sizes(found, network)
    scene = Scene(
        finals=bool(summary.finalists),
        finished=summary.state == "finished",
        line=found is not None and len(found.axes) == 1,
        solved=found is None or found.solution is not None,
    )
    drawings, undrawn = _pictures(run, found, missing, pictures, scene)
    return RunFacts(
        name=run.directory.resolve().name,
        directory=run.directory,
        problem_name=summary.intent.problem,
        source=summary.intent.source,
        method=summary.intent.method,
        seed=summary.intent.seed,
        plan=summary.intent.plan.removeprefix(f"{summary.intent.method}: "),
        state=summary.state,
        killed=_was_killed(summary),
        created=summary.created,
        ended=summary.ended,
        pauses=sum(event.kind == "resumed" for event in summary.events),
        trained=summary.trained,
        failed=summary.failed,
        epochs=summary.epochs,
        seconds=summary.seconds,
        problem=None if found is None else problem_facts(found),
        problem_missing=missing,
        winner=None if summary.best is None else _winner(run, summary.best, network, lost, sizes, found),
        hall=_hall(run.directory, summary.hall_of_fame, sizes),
        finalists=_finalists(summary.finalists, sizes),
        fields=fields,
        rounds=summary.generations,
        round_epochs=efforts,
        failures=[_failure(each) for each in summary.failures],
        pictures=drawings,
        undrawn=undrawn,
        events=summary.events,
        config=about.config,
        versions=about.versions,
        repeat=_repeat(run.directory, summary.intent.source),
    )


def _problem(intent: Intent, given: Problem | str | None) -> tuple[Problem | None, str]:
    """The problem of a run, or None and the reason."""
    try:
        return problem_again(intent, given), ""
    except EvopinnError as reason:
        return None, str(reason)


def _was_killed(summary: Summary) -> bool:
    told = bool(summary.events) and summary.events[-1].kind == "stopped"
    return summary.state == "stopped" and not told


def _network(run: SearchResult, summary: Summary) -> tuple[TrainingResult | None, str]:
    if summary.best is None:
        return None, ""
    try:
        return run.best, ""
    except EvopinnError as reason:
        return None, str(reason)


def _sizes(problem: Problem | None, network: TrainingResult | None) -> Sizes:
    if network is not None:
        return len(network.coordinates), len(network.fields)
    return None if problem is None else (len(problem.axes), len(problem.fields))


def _pictures(
    run: SearchResult, problem: Problem | None, missing: str, names: Iterable[str], scene: Scene
) -> tuple[dict[str, Picture], Undrawn]:
    subject = Subject(run, _UNKNOWN if problem is None else problem)
    wanted = list(names)
    left_out = {name for name in wanted if problem is None and name in _NEED_PROBLEM}
    pictures, undrawn = drawn(subject, (name for name in wanted if name not in left_out), scene)
    return pictures, {**dict.fromkeys(sorted(left_out), missing), **undrawn}


def genome_facts(text: str, sizes: Sizes) -> GenomeFacts:
    """A genome in words and symbols; one that cannot be read, as the text that it is."""
    try:
        genome = Genome.parse(text)
        latex = genome.activation.latex()
    except EvopinnError:
        return GenomeFacts(text, None, None, structure_of(text), activation_of(text), Formula("", ""), None)
    structure = genome.structure
    shortcuts = structure.text.partition("shortcuts=")[2].split(" ")[0]
    size = None if sizes is None else Layout.of(genome, *sizes).size
    return GenomeFacts(
        text=text,
        layers=structure.layers,
        neurons=structure.neurons,
        shortcuts=shortcuts or "none",
        activation=genome.activation.text,
        formula=formula(f"f(x) = {latex}"),
        parameters=size,
    )


def _winner(
    run: SearchResult,
    best: Best,
    network: TrainingResult | None,
    lost: str,
    sizes: Sizes,
    problem: Problem | None,
) -> WinnerFacts:
    entry = best.entry
    stem = run.directory / WEIGHTS / f"{entry.task:08d}"
    files = [stem.with_suffix(ending) for ending in (".safetensors", ".json")]
    return WinnerFacts(
        genome=genome_facts(entry.genome, sizes),
        task=entry.task,
        loss=entry.loss,
        errors=dict(entry.errors),
        epochs=entry.epochs,
        seconds=entry.seconds,
        finalist=best.finalist,
        residuals={} if network is None else dict(network.residuals),
        overfitted=network is not None and network.overfitted,
        weights=files if network is not None else (),
        missing=lost,
        loading="" if network is None else _loading(run.directory, network, problem),
    )


def _loading(directory: Path, network: TrainingResult, problem: Problem | None) -> str:
    """Code that gets the network and has it predict something."""
    point = [0.0] * len(network.coordinates)
    if problem is not None:
        middle = problem.terms()[0].sides[0].points
        point = [round(float(value), 4) for value in middle[len(middle) // 2]]
    names = ", ".join(network.coordinates)
    return (
        "import evopinn as ep\n\n"
        f"network = ep.load({str(directory)!r}).best\n"
        f"print(network.predict([{point}]))  # {', '.join(network.fields)} at points ({names})\n"
        "module = network.to_torch()  # an ordinary torch.nn.Module\n"
    )


def _hall(directory: Path, entries: Sequence[Entry], sizes: Sizes) -> list[HallRow]:
    kept = kept_weights(directory)
    return [
        HallRow(
            rank=rank,
            task=each.task,
            generation=each.generation,
            round=each.round,
            loss=each.loss,
            error=each.error,
            epochs=each.epochs,
            seconds=each.seconds,
            origin=", ".join(each.operations),
            genome=genome_facts(each.genome, sizes),
            kept=each.task in kept,
        )
        for rank, each in enumerate(entries, start=1)
    ]


def _finalists(entries: Sequence[FinalistEntry], sizes: Sizes) -> list[FinalistRow]:
    return [
        FinalistRow(rank, each, genome_facts(each.genome, sizes))
        for rank, each in enumerate(entries, start=1)
    ]


def _failure(each: FailureCount) -> FailureRow:
    note = each.note.strip() or MEANINGS.get(each.status, "")
    return FailureRow(each.status, each.failed, each.retried, each.task, note[:_LONGEST_NOTE])


def _repeat(directory: Path, source: str) -> str:
    if source.startswith(OBJECT):
        return ""
    return f"evopinn search --config {shlex.quote(str(directory / CONFIG))}"
