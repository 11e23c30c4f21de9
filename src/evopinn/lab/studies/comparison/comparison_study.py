"""The study that compares search methods, and ours with second-order training, at equal cost."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import geometric_mean
from typing import Any

from evopinn.errors import UnknownNameError
from evopinn.lab.studies.comparison.comparison_tables import (
    contrasts_table,
    cost_table,
    discovery_tables,
    methods_table,
)
from evopinn.lab.studies.comparison.discoveries import Discovery, best_losses, discovery, search_place
from evopinn.lab.studies.comparison.equal_cost import (
    ComparisonDesign,
    reference,
    total_epochs,
    workplan_of,
)
from evopinn.lab.studies.comparison.loss_curves import progress
from evopinn.lab.studies.forecasting import PAPER_TIME
from evopinn.lab.studies.labels import COMPARED, OURS, REFERENCE, conditions_note, measure_of, method_of
from evopinn.lab.studies.page_parts import PagePart, training_parts
from evopinn.lab.studies.statistics import SIGNIFICANT, Contrast, Pairing, contrasts
from evopinn.lab.studies.study import (
    Load,
    Study,
    StudyRun,
    case_place,
    plain_data,
    search_run,
    trainings_run,
)
from evopinn.lab.studies.trials import Trial, quantities, trials_of
from evopinn.search import METHODS, AnyMethod, Workplan, find_method
from evopinn.training import spends_by_cost
from evopinn.view.figures.pictures import PictureRow
from evopinn.view.tables import Table

OUR_OPTIMIZER = "lm"

_PROGRESS = PictureRow(
    "progress",
    "Best loss against cost",
    "The lowest loss of each search so far, against the epochs of all its trainings. A thin line is one "
    "search; a thick line is the geometric mean over a method's searches. The horizontal distance between "
    "two lines shows how much cheaper one method reaches the same loss. Methods that start with short "
    "trainings start higher.",
)


class ComparisonStudy(Study[ComparisonDesign]):
    """Searches by several methods at equal cost, and trains what they discover on all cases.

    Args:
        asked: The design.
    """

    design_class = ComparisonDesign
    title = "{problem}: methods compared at equal cost"
    question = (
        "Which method finds the most accurate networks when all train for equally many epochs? What each "
        "search found is trained from scratch, on the problem that was searched and on its other cases."
    )

    def __init__(self, asked: ComparisonDesign) -> None:
        methods = list(dict.fromkeys(asked.methods or COMPARED))
        for name in methods:
            if name not in COMPARED:
                raise UnknownNameError(
                    "method to compare", name, COMPARED, f"There are {', '.join(COMPARED)}."
                )
        self.methods: Sequence[str] = methods
        self.design = asked.settled().model_copy(update={"methods": methods})
        self.searches = self.design.searches or 0
        self.workplans: Mapping[str, Workplan] = {name: workplan_of(asked, _row(name)) for name in methods}

    @property
    def budget(self) -> int:
        """The epochs that a search by evolution with DPSTE trains for."""
        return total_epochs(METHODS[REFERENCE], reference(self.design))

    @property
    def epochs(self) -> Mapping[str, int]:
        """The epochs that a search by each method trains for."""
        return {method: total_epochs(_row(method), workplan) for method, workplan in self.workplans.items()}

    def loads(self) -> Sequence[Load]:
        """The searches, then the trainings of what they find."""
        design = self.design
        searches = [
            Load(
                f"{self.searches} × {method}",
                design.problem,
                self._optimizer(method),
                self.searches
                * _row(method).workload(self.workplans[method], _row(method).defaults).trainings,
                self.searches * epochs,
                space=self._space(method),
                mean_cost=_row(method).mean_cost(even=spends_by_cost(self._optimizer(method))),
            )
            for method, epochs in self.epochs.items()
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

    def runs(self, directory: Path) -> Iterator[StudyRun]:
        """The searches, each method's first before any method's second; then trainings case by case."""
        design = self.design
        for search in range(1, self.searches + 1):
            for method in self.methods:
                yield search_run(
                    design,
                    search_place(method, search),
                    f"{method}, search {search} of {self.searches}",
                    _row(method).name,
                    self.workplans[method],
                    design.seed + search - 1,
                    self._optimizer(method),
                    self._space(method),
                )
        found = self.discoveries(directory)
        for optimizer, methods in self._by_optimizer().items():
            genomes = [each.genome for each in found if each.method in methods]
            for case in design.case_names():
                title = f"{case}, discovered models, trained by {optimizer}"
                yield trainings_run(design, case_place(case, optimizer), title, case, genomes, optimizer)

    def discoveries(self, directory: Path) -> list[Discovery]:
        """The winners of all searches, method by method."""
        return [
            discovery(directory, method, search, self.design.seed + search - 1, epochs)
            for method, epochs in self.epochs.items()
            for search in range(1, self.searches + 1)
        ]

    def trials(self, directory: Path) -> list[Trial]:
        """All trainings of discovered models. The searches are runs of their own."""
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

    def contrasts(self, trials: Sequence[Trial]) -> list[Contrast]:
        """All pairs of methods: paired trainings share the case, the field, the search and the seed.

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

    def best_losses(self, directory: Path) -> dict[str, list[list[tuple[float, float]]]]:
        """For each method and search, the best losses against the epochs that all its trainings took."""
        return {
            method: [
                best_losses(directory / search_place(method, search))
                for search in range(1, self.searches + 1)
            ]
            for method in self.methods
        }

    def results(self, directory: Path) -> dict[str, Any]:
        """Costs, discoveries, errors and tests."""
        trials = self.trials(directory)
        found = self.discoveries(directory)
        errors = [
            {"model": each.model, "case": case, "field": quantity.name}
            | plain_data(quantity.sample(t for t in trials if (t.model, t.case) == (each.model, case)))
            for each in found
            for case in self.design.case_names()
            for quantity in quantities(trials)
        ]
        return {
            "budget": self.budget,
            "epochs": self.epochs,
            "discoveries": plain_data(found),
            "errors": errors,
            "contrasts": plain_data(self.contrasts(trials)),
        }

    def tables(self, directory: Path) -> list[Table]:
        """Costs, discoveries, methods and tests."""
        trials, found = self.trials(directory), self.discoveries(directory)
        return [
            cost_table(self.epochs, self.budget, found),
            *discovery_tables(self.design, found, trials),
            methods_table(self.design, trials),
            contrasts_table(self.contrasts(trials), trials),
        ]

    def page(self, directory: Path) -> tuple[Sequence[str], Sequence[PagePart]]:
        """Methods, costs, discovered models, histories and maps."""
        trials = self.trials(directory)
        cost, *discovered, methods, tests = self.tables(directory)
        best = partial(progress, self.best_losses(directory), self.epochs)
        parts = [
            PagePart.of("methods", "The methods", tables=[methods, tests]),
            PagePart.of("cost", "Cost", words=[PAPER_TIME], tables=[cost], drawings=[(_PROGRESS, best)]),
            PagePart.of("models", "Discovered models", tables=discovered),
            *training_parts(self.design, trials),
        ]
        return self._summary(trials), parts

    def _summary(self, trials: Sequence[Trial]) -> list[str]:
        """Who is most exact how often, how ours compares, and which differences are more than chance."""
        columns = list(self._mean_errors(trials))
        best = Counter(min(each, key=lambda method: each[method]) for each in map(_theirs, columns) if each)
        listed = ", ".join(f"{method} ({count} of {best.total()})" for method, count in best.most_common())
        measure, _ = measure_of(trials)
        sentences = [f"Lowest mean {measure} by case and field: {listed}."] if best else []
        ratios = [
            each[OURS] / min(_theirs(each).values()) for each in columns if OURS in each and _theirs(each)
        ]
        if ratios:
            sentences.append(
                f"{OURS}, which trains differently and is listed separately, has "
                f"{geometric_mean(ratios):.2g} times the lowest {measure} of the others (geometric mean)."
            )
        tested = self.contrasts(trials)
        shown = sum(each.p_holm <= SIGNIFICANT for each in tested)
        sentences.append(
            f"Of {len(tested)} pairs of methods, {shown} differ by more than chance (p ≤ {SIGNIFICANT:g} "
            "after Holm's correction)."
        )
        return [*sentences, conditions_note(self.design)]

    def _mean_errors(self, trials: Sequence[Trial]) -> Iterable[dict[str, float]]:
        """For each case and field, the mean of each method that has one."""
        for case in self.design.case_names():
            for quantity in quantities(trials):
                of_case = [trial for trial in trials if trial.case == case]
                samples = {
                    method: quantity.sample([each for each in of_case if method_of(each.model) == method])
                    for method in self.methods
                }
                yield {method: each.mean for method, each in samples.items() if each.count and each.mean > 0}

    def _optimizer(self, method: str) -> str:
        return OUR_OPTIMIZER if method == OURS else self.design.optimizer

    def _space(self, method: str) -> str:
        return "" if method == OURS else self.design.space

    def _by_optimizer(self) -> Mapping[str, list[str]]:
        groups: dict[str, list[str]] = {}
        for method in self.methods:
            groups.setdefault(self._optimizer(method), []).append(method)
        return groups


def _row(method: str) -> AnyMethod:
    return find_method(REFERENCE if method == OURS else method)


def _theirs(means: Mapping[str, float]) -> dict[str, float]:
    return {method: mean for method, mean in means.items() if method != OURS}
