"""What a report says, as plain data that every format is made from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from evopinn.run.listed import Event, FinalistEntry, GenerationSummary, RoundKind, RunState


@dataclass(frozen=True)
class Formula:
    """A formula.

    Attributes:
        latex: Its LaTeX.
        mathml: The same as MathML; empty if it could not be made.
    """

    latex: str
    mathml: str


@dataclass(frozen=True)
class Picture:
    """A figure, drawn.

    Attributes:
        name: Of the figure, and of its file.
        title: A heading.
        caption: What is seen and how to read it.
        kind: `svg` or `png`.
        data: The file.
        width: In inches.
    """

    name: str
    title: str
    caption: str
    kind: str
    data: bytes
    width: float


@dataclass(frozen=True)
class TermFacts:
    """A term of the loss: see `TermFormula`."""

    name: str
    weight: float
    count: int
    place: str
    equations: Sequence[Formula]
    source: str


@dataclass(frozen=True)
class ProblemFacts:
    """The problem.

    Attributes:
        title: One line of its author's; may be empty.
        equation: As its author writes it, if that is known.
        domain: Where it holds.
        terms: The equation and the conditions, as the loss has them.
        definitions: Of the right-hand sides that have names.
        unwritten: Names of right-hand sides that are too long.
        points: How points are placed, in a word.
        solution: What errors are measured by, in words.
    """

    title: str
    equation: Formula | None
    domain: Formula
    terms: Sequence[TermFacts]
    definitions: Sequence[Formula]
    unwritten: Sequence[Formula]
    points: str
    solution: str


@dataclass(frozen=True)
class GenomeFacts:
    """A genome in words and symbols; numbers are None where it cannot be read."""

    text: str
    layers: int | None
    neurons: int | None
    shortcuts: str
    activation: str
    formula: Formula
    parameters: int | None


@dataclass(frozen=True)
class HallRow:
    """A network of the hall of fame.

    Attributes:
        rank: From 1.
        task: The number of its training.
        generation: The round that it was trained in.
        round: What kind of round that is.
        loss: Its loss.
        error: Its largest error, where a solution is known.
        epochs: How long it was trained.
        seconds: What that took.
        origin: What its genome was made by.
        genome: The genome.
        kept: Whether its weights are in the run's directory.
    """

    rank: int
    task: int
    generation: int
    round: RoundKind
    loss: float
    error: float | None
    epochs: int
    seconds: float
    origin: str
    genome: GenomeFacts
    kept: bool


@dataclass(frozen=True)
class FinalistRow:
    """A finalist: its final evaluations, and its genome."""

    rank: int
    entry: FinalistEntry
    genome: GenomeFacts

    @property
    def deciding(self) -> str:
        """How the finals are decided, in a sentence or two."""
        if self.entry.mean == "arithmetic":
            return "Their means decide."
        return (
            "Their geometric means decide, which weigh orders of magnitude: one bad training does not "
            "outweigh several good ones."
        )


@dataclass(frozen=True)
class WinnerFacts:
    """The best network.

    Attributes:
        genome: Its genome.
        task: The number of its training.
        loss: Its loss.
        errors: Of each field, where a solution is known.
        epochs: How long it was trained.
        seconds: What that took.
        finalist: All final evaluations of its genome; None before there are any.
        residuals: Root mean squares of the residual, on the training's points and on others, if recorded.
        overfitted: Whether these differ so much that the loss deceives.
        weights: Its files; empty if they are lost.
        missing: Then why.
        loading: Python code that gets it.
    """

    genome: GenomeFacts
    task: int
    loss: float
    errors: Mapping[str, float]
    epochs: int
    seconds: float
    finalist: FinalistEntry | None
    residuals: Mapping[str, float]
    overfitted: bool
    weights: Sequence[Path]
    missing: str
    loading: str


@dataclass(frozen=True)
class FailureRow:
    """Failures of a kind."""

    status: str
    failed: int
    retried: int
    task: int
    note: str


@dataclass(frozen=True)
class RunFacts:
    """A run.

    Attributes:
        name: The directory's.
        directory: As it was given.
        problem_name: The problem's name.
        source: Where the problem comes from.
        method: The search method.
        seed: Of all random choices.
        plan: What is to be done, in words.
        state: Whether it runs, and if not, how it ended.
        killed: Whether it has stopped without having said so, as when its process is killed.
        created: When it began, in seconds since 1970.
        ended: When the last training ended; None before the first.
        pauses: How often it was gone on with.
        trained: Trainings that are over.
        failed: Those without a finite loss.
        epochs: Trained in all attempts.
        seconds: Spent by all workers together.
        problem: The problem; None if it cannot be had.
        problem_missing: Then why.
        winner: The best network; None before there is one.
        hall: The hall of fame.
        finalists: The final evaluations.
        fields: Fields whose errors are known.
        rounds: The generations and what came after them.
        round_epochs: The epochs of a training in each.
        failures: By kind.
        pictures: By name.
        undrawn: Names of figures that could not be drawn, with the reason.
        events: What happened to the run.
        config: What it does, as TOML.
        versions: Of the software.
        repeat: The command that does it again.
    """

    name: str
    directory: Path
    problem_name: str
    source: str
    method: str
    seed: int | None
    plan: str
    state: RunState
    killed: bool
    created: float
    ended: float | None
    pauses: int
    trained: int
    failed: int
    epochs: int
    seconds: float
    problem: ProblemFacts | None
    problem_missing: str
    winner: WinnerFacts | None
    hall: Sequence[HallRow]
    finalists: Sequence[FinalistRow]
    fields: Sequence[str]
    rounds: Sequence[GenerationSummary]
    round_epochs: Mapping[int, int]
    failures: Sequence[FailureRow]
    pictures: Mapping[str, Picture]
    undrawn: Mapping[str, str]
    events: Sequence[Event]
    config: str
    versions: Mapping[str, str]
    repeat: str

    @property
    def has_means(self) -> bool:
        """Whether final evaluations chose the winner, so that its loss and error are means."""
        return self.winner is not None and self.winner.finalist is not None

    @property
    def best_loss(self) -> float | None:
        """The winner's mean over the final evaluations; before there are any, its loss."""
        if self.winner is None:
            return None
        finalist = self.winner.finalist
        return self.winner.loss if finalist is None else finalist.mean_loss

    @property
    def best_error(self) -> float | None:
        """The same of the largest error; None where no solution is known."""
        if self.winner is None:
            return None
        if self.winner.finalist is not None:
            return self.winner.finalist.mean_error
        return max(self.winner.errors.values(), default=None)


@dataclass(frozen=True)
class ReportFacts:
    """A report.

    Attributes:
        title: Its title.
        runs: One run, or several side by side.
        pictures: Of all runs together.
        undrawn: Figures of these that could not be drawn, with the reason.
        made: When the report was made, in seconds since 1970.
        version: Of evopinn, that it was made with.
    """

    title: str
    runs: Sequence[RunFacts]
    pictures: Sequence[Picture]
    undrawn: Mapping[str, str]
    made: float
    version: str
