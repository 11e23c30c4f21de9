"""The content of a report, as plain data that every format is made from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evopinn.run.record import RunRecord
from evopinn.view.figures.pictures import Picture
from evopinn.view.tables import Table


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
        scales: What coordinates, fields and residuals are scaled by; empty if by nothing.
    """

    title: str
    equation: Formula | None
    domain: Formula
    terms: Sequence[TermFacts]
    definitions: Sequence[Formula]
    unwritten: Sequence[Formula]
    points: str
    solution: str
    scales: Table

    @property
    def formulas(self) -> tuple[Formula, ...]:
        """Everything that is written in LaTeX."""
        first = (self.equation,) if self.equation else ()
        of_terms = (each for term in self.terms for each in term.equations)
        return (*first, self.domain, *of_terms, *self.definitions)


@dataclass(frozen=True)
class RunFacts:
    """What a report says of a run beside its record.

    Attributes:
        record: The run.
        problem: The problem; None if it cannot be loaded.
        problem_missing: Then why.
        network_missing: Why the most accurate network cannot be read; empty if it can or there is none.
        formula: Of its activation.
        loading: Python code that gets it; empty if that is not possible.
        pictures: By name.
        undrawn: Names of figures that could not be drawn, with the reason.
        repeat: The command that does the search again; empty if none can.
    """

    record: RunRecord
    problem: ProblemFacts | None
    problem_missing: str
    network_missing: str
    formula: Formula
    loading: str
    pictures: Mapping[str, Picture]
    undrawn: Mapping[str, str]
    repeat: str


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
