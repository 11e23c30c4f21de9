"""How much a search does: populations and epochs by generation, trials, and what they add up to."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import NormalDist
from types import MappingProxyType
from typing import Literal

from evopinn.errors import SearchError, UnknownNameError
from evopinn.searchers.checking import whole
from evopinn.searchers.selection import elitist_count

LayoutKind = Literal["dpste", "constant", "trials", "roster"]


MOST_TRAININGS = 10**7
"""Of a generation: more would not fit into memory."""


@dataclass(frozen=True)
class Stage:
    """So many independent trainings of so many epochs each, all of it so many times one after another.

    Attributes:
        trainings: How many.
        epochs: Of each.
        times: How often.
        saved: Epochs that need no training, because some of the trainings go on from where they were.
        coarseness: Factor by which each axis has fewer points, so that an epoch costs less.
    """

    trainings: int
    epochs: int
    times: int = 1
    saved: int = 0
    coarseness: float = 1.0

    def span(self, workers: int, beside: float, coarse_exponent: float, spread: float) -> float:
        """How long it takes; see `Workload.span`."""
        weight = self.coarseness**-coarse_exponent
        one = weight * self.epochs + beside
        all_of_them = -(-self.trainings // workers) * one - weight * self.saved / workers
        return self.times * max(all_of_them, longest_of(self.trainings, spread) * one)


@dataclass(frozen=True)
class Workload:
    """What a search will do, at most: stages that each wait for the one before.

    Attributes:
        stages: In order; the last one is the evaluation of the candidates.
        closing: How many stages at the end are neither generations nor batches.
    """

    stages: tuple[Stage, ...]
    closing: int = 1

    @property
    def trainings(self) -> int:
        """The number of trainings."""
        return sum(stage.times * stage.trainings for stage in self.stages)

    @property
    def epochs(self) -> int:
        """The epochs of all trainings."""
        return sum(stage.times * (stage.trainings * stage.epochs - stage.saved) for stage in self.stages)

    @property
    def generations(self) -> int:
        """The number of generations, or of batches of proposals."""
        return sum(stage.times for stage in self.stages[: -self.closing] if stage.trainings)

    def span(
        self, workers: int, beside: float = 0.0, coarse_exponent: float = 0.0, spread: float = 0.0
    ) -> float:
        """Epochs one after another: a stage takes ⌈n / workers⌉ of its n trainings, or its longest one.

        Args:
            workers: How many trainings run side by side.
            beside: What a training costs beside its epochs, in epochs.
            coarse_exponent: p, if an epoch on points that are coarser by c costs c^-p; by default all epochs
                count alike.
            spread: Of the times of trainings: standard deviation of their logarithm.
        """
        return sum(stage.span(workers, beside, coarse_exponent, spread) for stage in self.stages)


def longest_of(trainings: int, spread: float) -> float:
    """How long the longest of some trainings takes, in units of their mean: about what is to be expected.

    Their times are taken to be log-normal. The quantile is Blom's, for the largest of so many normal numbers.
    What two wait for each other is left out: the pace of searches was measured on two workers, and has it.

    Examples:
        >>> longest_of(1000, spread=0.0), round(longest_of(16, spread=0.5), 1), longest_of(2, spread=0.5)
        (1.0, 2.1, 1.0)
    """
    if trainings <= 2 or not spread:
        return float(min(trainings, 1))
    largest = NormalDist().inv_cdf((trainings - 0.375) / (trainings + 0.25))
    return max(math.exp(spread * largest - spread**2 / 2), 1.0)


@dataclass(frozen=True)
class Schedule:
    """Populations S_g and training epochs E_g by generation.

    With dynamic population size and training epochs (DPSTE) the former fall and the latter rise.

    Attributes:
        populations: S_1 ≥ S_2 ≥ ... ≥ 2. Children come in pairs; an odd population leaves out the last one.
        epochs: E_1 ≤ E_2 ≤ ...

    Examples:
        >>> Schedule((8, 4), (10, 30)).workload(elitists=0.25, candidates=1, evaluations=2).epochs
        290
    """

    populations: tuple[int, ...]
    epochs: tuple[int, ...]

    def __post_init__(self) -> None:
        """Refuse what cannot be followed."""
        if len(self.populations) != len(self.epochs) or not self.populations:
            raise SearchError(
                f"a schedule has {len(self.populations)} populations and {len(self.epochs)} numbers of "
                "epochs; give one of each for every generation."
            )
        populations = tuple(whole("a population", size, 2, MOST_TRAININGS) for size in self.populations)
        epochs = tuple(whole("a number of epochs", number, 1) for number in self.epochs)
        if sorted(populations, reverse=True) != list(populations):
            raise SearchError(
                f"populations are {_listed(populations)}; they must not grow: put the largest first."
            )
        if sorted(epochs) != list(epochs):
            raise SearchError(f"epochs are {_listed(epochs)}; they must not fall: put the fewest first.")
        object.__setattr__(self, "populations", populations)
        object.__setattr__(self, "epochs", epochs)

    @property
    def generations(self) -> int:
        """The number of generations T."""
        return len(self.populations)

    def workload(
        self,
        elitists: float,
        candidates: int,
        evaluations: int,
        *,
        retrains_best: bool = False,
        continues: bool = False,
        coarseness: Sequence[float] | None = None,
    ) -> Workload:
        """What evolution does by this schedule.

        Args:
            elitists: The share R_e that is trained again in each generation after the first.
            candidates: N_c; there are no more than there are networks to choose them from.
            evaluations: N_e, for each candidate.
            retrains_best: Whether each generation's best is trained once more, as in random search, to choose
                the candidates from these.
            continues: Whether elitists go on from where they were, so that only what is new costs. On other
                points they do so only where epochs rise.
            coarseness: Of each generation's points; 1 by default.
        """
        factors = coarseness or (1.0,) * self.generations
        stages = [Stage(self.populations[0], self.epochs[0], coarseness=factors[0])]
        efforts = zip(self.epochs, factors, strict=True)
        for size, (before, after) in zip(self.populations[1:], pairwise(efforts), strict=True):
            again = elitist_count(size, elitists)
            goes_on = continues and (after[0] > before[0] or after == before)
            saved = again * before[0] if goes_on else 0
            stages.append(Stage(size + again, after[0], saved=saved, coarseness=after[1]))
        if retrains_best:
            stages.append(Stage(self.generations, self.epochs[-1]))
        final = Stage(min(candidates, stages[-1].trainings) * evaluations, self.epochs[-1])
        return Workload((*stages, final), closing=2 if retrains_best else 1)

    def __str__(self) -> str:
        if len(set(zip(self.populations, self.epochs, strict=True))) == 1:
            return (
                f"{_generations(self.generations)} of {self.populations[0]} individuals, "
                f"{self.epochs[0]:,} epochs each"
            )
        return (
            f"{_generations(self.generations)} with populations {_listed(self.populations)} "
            f"and epochs {_listed(self.epochs)}"
        )


@dataclass(frozen=True)
class Trials:
    """So many evaluations, as Bayesian optimisation makes them, of so many epochs each."""

    evaluations: int
    epochs: int

    def __post_init__(self) -> None:
        """Refuse what cannot be followed."""
        object.__setattr__(self, "evaluations", whole("evaluations", self.evaluations, 1, MOST_TRAININGS))
        object.__setattr__(self, "epochs", whole("epochs", self.epochs, 1))

    def workload(self, batch: int, candidates: int, evaluations: int) -> Workload:
        """What Bayesian optimisation does in so many trials, `batch` of them at a time."""
        full, rest = divmod(self.evaluations, batch)
        return Workload(
            (
                Stage(batch, self.epochs, full),
                Stage(rest, self.epochs),
                Stage(min(candidates, self.evaluations) * evaluations, self.epochs),
            )
        )

    def __str__(self) -> str:
        return f"{self.evaluations} proposals, {self.epochs:,} epochs each"


@dataclass(frozen=True)
class Roster:
    """Genomes, as text, that are each trained for so many epochs, whatever comes out.

    Examples:
        >>> str(Roster(("layers=3 neurons=8 activation=sin(x)",), 50))
        '1 genome, 50 epochs a training'
    """

    genomes: tuple[str, ...]
    epochs: int

    def __post_init__(self) -> None:
        """Refuse what cannot be followed."""
        if not self.genomes:
            raise SearchError("a roster has no genomes; give one at least.")
        object.__setattr__(self, "epochs", whole("epochs", self.epochs, 1))

    def workload(self, evaluations: int) -> Workload:
        """What it takes to train each genome so many times."""
        return Workload((Stage(len(self.genomes) * evaluations, self.epochs),))

    def __str__(self) -> str:
        genomes = "1 genome" if len(self.genomes) == 1 else f"{len(self.genomes)} genomes"
        return f"{genomes}, {self.epochs:,} epochs a training"


Layout = Schedule | Trials | Roster


@dataclass(frozen=True)
class Preset:
    """A fixed amount of work for each kind of method, so that a seed means the same search anywhere.

    Attributes:
        dpste: For evolution with DPSTE, and for random search.
        constant: For evolution without DPSTE.
        trials: For Bayesian optimisation.
    """

    dpste: Schedule
    constant: Schedule
    trials: Trials

    def layout(self, kind: LayoutKind) -> Layout:
        """What a kind of method follows; no preset says which genomes a list has."""
        layouts: Mapping[LayoutKind, Layout] = {
            "dpste": self.dpste,
            "constant": self.constant,
            "trials": self.trials,
        }
        if kind not in layouts:
            raise SearchError(
                "a list of genomes has no preset; give it a table [roster] of genomes and epochs."
            )
        return layouts[kind]


_KLEIN_GORDON = Preset(
    Schedule(
        (1000, 250, 125, 85, 65, 50, 40, 30, 25, 20, 15, 15, 15, 10, 10),
        (100, 200, 400, 600, 800, 1000, 1200, 1600, 2000, 2500, 3000, 3500, 4000, 4500, 5000),
    ),
    Schedule((30,) * 6, (5000,) * 6),
    Trials(200, 5000),
)
_BURGERS = Preset(
    Schedule(
        (1000, 200, 100, 65, 50, 40, 35, 30, 25, 20, 20, 20, 15, 15, 15),
        (100, 200, 400, 600, 800, 1000, 1200, 1400, 1600, 1800, 2000, 2200, 2400, 2700, 3000),
    ),
    Schedule((40,) * 6, (3000,) * 6),
    Trials(300, 3000),
)
# About 3,800 epochs each: a good two minutes on two cores with 3,600 points.
_QUICK = Preset(
    Schedule((64, 20, 12, 6), (16, 28, 44, 72)),
    Schedule((6,) * 5, (72,) * 5),
    Trials(40, 72),
)

_PAPER = "paper"
PRESETS: Mapping[str, Preset] = MappingProxyType(
    {
        "paper:klein-gordon": _KLEIN_GORDON,
        "paper:burgers": _BURGERS,
        "paper:lame": _KLEIN_GORDON,
        "quick": _QUICK,
    }
)
"""The paper's schedules by equation (Lamé's are those of Klein-Gordon), and a short one."""


def find_preset(name: str, problem: str = "") -> Preset:
    """A preset by name; `paper` means that of the problem's family, as in `klein-gordon:II`."""
    full = f"{_PAPER}:{problem.partition(':')[0]}" if name == _PAPER else name
    if full in PRESETS:
        return PRESETS[full]
    if name != _PAPER:
        raise UnknownNameError("preset", name, PRESETS, f"There are {', '.join(PRESETS)}.")
    papers = [each for each in PRESETS if each.startswith(_PAPER)]
    raise SearchError(
        f"the preset {_PAPER} is given for {problem or 'no problem'}, for which the paper has no schedule; "
        f"take one of {', '.join(papers)}, or quick, or a budget."
    )


def _listed(numbers: tuple[int, ...]) -> str:
    return ", ".join(str(number) for number in numbers)


def _generations(number: int) -> str:
    return "1 generation" if number == 1 else f"{number} generations"
