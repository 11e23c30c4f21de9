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
        title: Its title; may be empty.
        equation: The equation as its author writes it, if given.
        domain: Its domain.
        terms: The terms of the loss: the equation and the conditions.
        definitions: The definitions of right-hand sides that have names.
        unwritten: The names of right-hand sides that are too long to write.
        points: The placement of points, in a few words.
        solution: The known solution that errors are measured against, in words.
        scales: The scales of coordinates, fields and residuals; empty if there are none.
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
        """All formulas."""
        first = (self.equation,) if self.equation else ()
        of_terms = (each for term in self.terms for each in term.equations)
        return (*first, self.domain, *of_terms, *self.definitions)


@dataclass(frozen=True)
class RunFacts:
    """The content of a report on a run.

    Attributes:
        record: The record of the run.
        problem: The problem; None if it cannot be loaded.
        problem_missing: The reason why it cannot be loaded; empty if it can.
        network_missing: Why the most accurate network cannot be read; empty if it can or there is none.
        formula: The formula of its activation.
        loading: Python code that loads it; empty if it cannot be loaded.
        pictures: The pictures by name.
        undrawn: Names of figures that could not be drawn, with the reason.
        repeat: The command that repeats the search; empty if none can.
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
        pictures: The pictures that compare all runs.
        undrawn: Names of such figures that could not be drawn, with the reason.
        made: The time of its making, in seconds since 1970.
        version: The version of evopinn that made it.
    """

    title: str
    runs: Sequence[RunFacts]
    pictures: Sequence[Picture]
    undrawn: Mapping[str, str]
    made: float
    version: str
