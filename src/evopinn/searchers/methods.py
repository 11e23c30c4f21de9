"""The five methods of the paper, by name, and the list that is no search."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from types import MappingProxyType
from typing import Any

from evopinn.errors import SearchError, UnknownNameError
from evopinn.genome import PAPER, Space
from evopinn.searchers.bayes import FCNET, FCRESNET, BayesianOptimisation, BayesSettings
from evopinn.searchers.evolution import Evolution, EvolutionSettings
from evopinn.searchers.listed import Listed, ListedSettings
from evopinn.searchers.schedule import Layout, LayoutKind, Roster, Schedule, Trials, Workload
from evopinn.searchers.task import Searcher

Settings = EvolutionSettings | BayesSettings | ListedSettings


@dataclass(frozen=True)
class Method:
    """A way to search.

    Attributes:
        name: What it is called.
        summary: What it does, in a few words.
        layout: What it follows: a schedule with falling populations, a constant one, trials, or a list.
        defaults: Its settings unless others are given; with `fixed`, what makes it this method.
        fixed: Names of the settings that cannot be changed without its being another method.
        drift: Mean cost of an epoch over a whole search, in epochs of a genome that it begins with. Pressure
            comes to prefer larger networks; trainings that fail at once cost next to nothing. Measured on
            Klein-Gordon for `evo-dpste` and `bo-fcresnet`, from which the others are judged.
        even_drift: The same where epochs are a measure of cost: larger networks are no dearer then.
    """

    name: str
    summary: str
    layout: LayoutKind
    defaults: Settings
    fixed: tuple[str, ...]
    drift: float
    even_drift: float

    def mean_cost(self, *, even: bool) -> float:
        """`even_drift` where epochs are a measure of cost, else `drift`."""
        return self.even_drift if even else self.drift

    def settings(self, **options: Any) -> Settings:
        """The method's settings with some of them changed; what it does not have is refused."""
        known = [row.name for row in fields(self.defaults) if row.name not in self.fixed]
        for name in options:
            if name not in known:
                hint = f"There are {', '.join(known)}."
                raise UnknownNameError(f"setting of {self.name}", name, known, hint)
        return replace(self.defaults, **options)

    def workload(self, layout: Layout, settings: Settings) -> Workload:
        """What the method does at most."""
        match layout, settings:
            case Schedule(), EvolutionSettings():
                return settings.workload(layout)
            case Trials(), BayesSettings():
                return settings.workload(layout)
            case Roster(), ListedSettings():
                return settings.workload(layout)
            case _:
                raise self._unfit(layout, settings)

    def make(
        self, layout: Layout, seed: int, space: Space = PAPER, settings: Settings | None = None
    ) -> Searcher:
        """A searcher at its beginning.

        Args:
            layout: A schedule, or trials for Bayesian optimisation.
            seed: All random choices follow from it and from the scores.
            space: Where the genomes lie.
            settings: From `settings`; the method's own by default.
        """
        match layout, settings or self.defaults:
            case Schedule(), EvolutionSettings() as chosen:
                return Evolution(layout, seed, space, chosen)
            case Trials(), BayesSettings() as chosen:
                return BayesianOptimisation(layout, seed, space, chosen)
            case Roster(), ListedSettings() as chosen:
                return Listed(layout, seed, chosen)
            case _, chosen:
                raise self._unfit(layout, chosen)

    def _unfit(self, layout: Layout, settings: Settings) -> SearchError:
        needed = {"trials": "Trials", "roster": "a Roster"}.get(self.layout, "a Schedule")
        return SearchError(
            f"{self.name} got {type(layout).__name__} and {type(settings).__name__}; "
            f"it needs {needed} and {type(self.defaults).__name__}."
        )


_ROWS = (
    Method(
        "evo-dpste",
        "evolution, populations falling and epochs rising",
        "dpste",
        EvolutionSettings(),
        ("pressure",),
        drift=1.2,
        even_drift=0.87,
    ),
    Method(
        "evolution",
        "evolution at a constant population and number of epochs",
        "constant",
        EvolutionSettings(),
        ("pressure",),
        drift=1.2,
        even_drift=0.93,
    ),
    Method(
        "random",
        "random search: evolution with random parents and survivors",
        "dpste",
        EvolutionSettings(pressure=False),
        ("pressure",),
        drift=0.75,
        even_drift=0.72,
    ),
    Method(
        "bo-fcnet",
        "Bayesian optimisation of networks without shortcuts",
        "trials",
        BayesSettings(span=FCNET),
        ("span",),
        drift=1.15,
        even_drift=0.84,
    ),
    Method(
        "bo-fcresnet",
        "Bayesian optimisation of networks with a shortcut over every two layers",
        "trials",
        BayesSettings(span=FCRESNET),
        ("span",),
        drift=1.15,
        even_drift=0.84,
    ),
)

METHODS: Mapping[str, Method] = MappingProxyType({row.name: row for row in _ROWS})
"""The methods that search, by name."""

LISTED = Method(
    "listed",
    "no search: the genomes of a list, each trained several times",
    "roster",
    ListedSettings(),
    (),
    drift=1.0,
    even_drift=1.0,
)
"""What is carried out like a search, for the sake of its workers and its record."""

_BY_NAME: Mapping[str, Method] = METHODS | {LISTED.name: LISTED}


def find_method(name: str) -> Method:
    """A method by name, or the list; `UnknownNameError` if there is none."""
    if name not in _BY_NAME:
        raise UnknownNameError("search method", name, _BY_NAME, f"There are {', '.join(_BY_NAME)}.")
    return _BY_NAME[name]
