"""The paper's section 4: five methods, and ours with second-order training, compared at equal cost."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evopinn.errors import RunError, UnknownNameError
from evopinn.means import Mean
from evopinn.run.deceit import deceit
from evopinn.run.reading import Reader
from evopinn.run.summary import find_best
from evopinn.searchers import METHODS, Layout, Method, find_method
from evopinn.study.design import Comparison
from evopinn.study.equal import REFERENCE, layout_of, reference, total_epochs
from evopinn.study.parts import Load, Part, case_place, search_part, trainings_part
from evopinn.study.plain import plain
from evopinn.study.statistics import Contrast, Pairing, contrasts
from evopinn.study.trials import Trial, quantities, settled_entries, trials_of
from evopinn.training import spends_by_cost

OURS = "evo-dpste+lm"
"""Evolution with DPSTE that trains by Levenberg-Marquardt, in the space of small networks."""

OUR_OPTIMIZER = "lm"
COMPARED = ("bo-fcnet", "bo-fcresnet", "random", "evolution", REFERENCE, OURS)
_PAPER_NAMES = {"evolution": "evo"}
"""Of methods that published models call otherwise than they are called here."""


@dataclass(frozen=True)
class Discovery:
    """What one search found.

    Attributes:
        method: By name.
        search: Its number, from 1.
        seed: Of the search.
        genome: The winner.
        mean: Which one decided.
        mean_loss: Of its final evaluations.
        mean_error: Of the same, where a solution is known.
        epochs: Planned for the whole search.
        spent: Those that its trainings took: fewer, as some fail and others end early.
        trainings: Done by it.
        seconds: Of all workers together.
        run: The search's directory.
        deceit: What to say if its loss is small only on the points that it was trained on.
    """

    method: str
    search: int
    seed: int
    genome: str
    mean: Mean
    mean_loss: float
    mean_error: float | None
    epochs: int
    spent: int
    trainings: int
    seconds: float
    run: Path
    deceit: str = ""

    @property
    def model(self) -> str:
        """What the discovered model is called, as the published ones are: `evo-dpste-1`."""
        return f"{self.method}-{self.search}"

    @property
    def published_name(self) -> str:
        """Its counterpart among the published models."""
        return f"{published_method(self.method)}-{self.search}"


class ComparisonStudy:
    """Searches by several methods at equal cost, and trains what they discover on all cases.

    Args:
        asked: What to do.
    """

    def __init__(self, asked: Comparison) -> None:
        methods = list(dict.fromkeys(asked.methods or COMPARED))
        for name in methods:
            if name not in COMPARED:
                raise UnknownNameError(
                    "method to compare", name, COMPARED, f"There are {', '.join(COMPARED)}."
                )
        self.methods: Sequence[str] = methods
        self.design = asked.settled().model_copy(update={"methods": methods})
        self.searches = self.design.searches or 0
        self.layouts: Mapping[str, Layout] = {name: layout_of(asked, _row(name)) for name in methods}

    @property
    def budget(self) -> int:
        """The epochs that a search by evolution with DPSTE trains for."""
        return total_epochs(METHODS[REFERENCE], reference(self.design))

    def epochs(self, method: str) -> int:
        """The epochs that a search by a method trains for."""
        return total_epochs(_row(method), self.layouts[method])

    def loads(self) -> Sequence[Load]:
        """The searches, then the trainings of what they find."""
        design = self.design
        searches = [
            Load(
                f"{self.searches} × {method}",
                design.problem,
                self._optimizer(method),
                self.searches * _row(method).workload(self.layouts[method], _row(method).defaults).trainings,
                self.searches * self.epochs(method),
                space=self._space(method),
                mean_cost=_row(method).mean_cost(even=spends_by_cost(self._optimizer(method))),
            )
            for method in self.methods
        ]
        return searches + [
            Load(
                f"{case}, trained by {optimizer}",
                case,
                optimizer,
                trainings,
                trainings * (design.epochs or 0),
                space=self._space(methods[0]),
            )
            for optimizer, methods in self._by_optimizer().items()
            for case in design.case_names()
            for trainings in [len(methods) * self.searches * (design.trials or 0)]
        ]

    def parts(self, directory: Path) -> Iterator[Part]:
        """The searches, each method's first before any method's second; then trainings case by case."""
        design = self.design
        for search in range(1, self.searches + 1):
            for method in self.methods:
                yield search_part(
                    design,
                    _search_place(method, search),
                    f"{method}, search {search} of {self.searches}",
                    _row(method).name,
                    self.layouts[method],
                    design.seed + search - 1,
                    self._optimizer(method),
                    self._space(method),
                )
        found = self.discoveries(directory)
        for optimizer, methods in self._by_optimizer().items():
            genomes = [each.genome for each in found if each.method in methods]
            for case in design.case_names():
                title = f"{case}, what was discovered, trained by {optimizer}"
                yield trainings_part(design, case_place(case, optimizer), title, case, genomes, optimizer)

    def discoveries(self, directory: Path) -> list[Discovery]:
        """What the searches found, method by method."""
        return [
            self._discovery(directory, method, search)
            for method in self.methods
            for search in range(1, self.searches + 1)
        ]

    def trials(self, directory: Path) -> list[Trial]:
        """All trainings of what was discovered."""
        found = self.discoveries(directory)
        return [
            trial
            for optimizer, methods in self._by_optimizer().items()
            for case in self.design.case_names()
            for trial in trials_of(
                directory / case_place(case, optimizer),
                case,
                {each.model: each.genome for each in found if each.method in methods},
            )
        ]

    recorded = trials  # searches are runs of their own

    def contrasts(self, trials: Sequence[Trial]) -> list[Contrast]:
        """All methods against each other: pairs share the case, the field, the search and the seed.

        Losses take the place of errors where no solution is known. Ours, which trains in another way, is left
        out.
        """
        judged = quantities(trials)
        errors: dict[str, dict[Pairing, float]] = {method: {} for method in self.methods if method != OURS}
        for trial in trials:
            method, _, search = trial.model.rpartition("-")
            for each in judged if method in errors else ():
                errors[method][trial.case, each.name, search, trial.entry.seed] = each.of(trial)
        return contrasts(errors)

    def courses(self, directory: Path) -> dict[str, list[list[tuple[float, float]]]]:
        """For each method and search, how the best loss falls with the epochs that all its trainings took."""
        return {
            method: [
                _best_so_far(directory / _search_place(method, search))
                for search in range(1, self.searches + 1)
            ]
            for method in self.methods
        }

    def data(self, directory: Path) -> dict[str, Any]:
        """What came out, as plain data."""
        trials = self.trials(directory)
        found = self.discoveries(directory)
        errors = [
            {"model": each.model, "case": case, "field": quantity.name}
            | plain(quantity.spread(t for t in trials if (t.model, t.case) == (each.model, case)))
            for each in found
            for case in self.design.case_names()
            for quantity in quantities(trials)
        ]
        return {
            "study": str(directory),
            "design": plain(self.design.model_dump()),
            "budget": self.budget,
            "epochs": {method: self.epochs(method) for method in self.methods},
            "discoveries": plain(found),
            "errors": errors,
            "contrasts": plain(self.contrasts(trials)),
        }

    def _optimizer(self, method: str) -> str:
        return OUR_OPTIMIZER if method == OURS else self.design.optimizer

    def _space(self, method: str) -> str:
        return "" if method == OURS else self.design.space

    def _by_optimizer(self) -> Mapping[str, list[str]]:
        groups: dict[str, list[str]] = {}
        for method in self.methods:
            groups.setdefault(self._optimizer(method), []).append(method)
        return groups

    def _discovery(self, directory: Path, method: str, search: int) -> Discovery:
        run = directory / _search_place(method, search)
        with Reader(run) as reader:
            finalists = reader.finalists(1)
            if not finalists:
                raise RunError(f"the search {run} found no network: all of its trainings failed.")
            generations = reader.generations()
            best = find_best(reader)
        winner = finalists[0]
        return Discovery(
            method,
            search,
            self.design.seed + search - 1,
            winner.genome,
            winner.mean,
            winner.mean_loss,
            winner.mean_error,
            self.epochs(method),
            sum(entry.epochs for entry in settled_entries(run)),
            sum(each.settled for each in generations),
            sum(each.seconds for each in generations),
            run,
            deceit(best.residuals) if best else "",
        )


def published_method(method: str) -> str:
    """What published models call a method."""
    return _PAPER_NAMES.get(method, method)


def _row(method: str) -> Method:
    return find_method(REFERENCE if method == OURS else method)


def _best_so_far(run: Path) -> list[tuple[float, float]]:
    spent, best = 0.0, float("inf")
    course: list[tuple[float, float]] = []
    for entry in settled_entries(run):
        spent += entry.epochs
        if entry.loss < best:
            best = entry.loss
            course.append((spent, best))
    return course


def _search_place(method: str, search: int) -> str:
    return f"searches/{method}-{search}"
