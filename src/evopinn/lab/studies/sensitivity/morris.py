"""Morris' screening: how much each choice matters while all the others vary too.

A trajectory begins at random levels of all factors and changes one factor after another by two of its four
levels. The change of the response, divided by the length of the step as a share of the factor's range, is an
elementary effect: so many decades of error for the whole range. Over the trajectories, μ* is the mean of the
effects' sizes; σ, their deviation, is large where a factor's effect depends on the other factors or on where
in its range it is changed.
"""

import importlib.util
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evopinn.errors import SearchError
from evopinn.genome import Activation, Genome, Structure, regular_shortcuts
from evopinn.lab.studies.sensitivity.variations import REGULAR, Variations, regular_span

LEVELS = 4
_STEP = LEVELS / (2 * (LEVELS - 1))
"""A step of a trajectory, as a share of a factor's range."""

_SAMPLING, _RESAMPLING, _FUNCTIONS = range(3)
"""Purposes of random numbers."""


@dataclass(frozen=True)
class MorrisRow:
    """How much a factor matters.

    The activation has no order: its levels are other functions in each trajectory, so that all pairs of
    functions can come up. Its effects have no sign that would mean anything, and only μ* counts: the mean
    difference between two functions. Nothing can be said of which function is better.

    Attributes:
        factor: `layers`, `neurons`, `shortcut span` or `activation`.
        mu_star: μ*, in decades of the response over the factor's range.
        sigma: σ; without meaning for the activation.
        confidence: Half of the width of the 95 % interval of μ*, by resampling the trajectories.
        noise: The μ* to expect if the response were chance alone; NaN if unknown.
        failed: Number of trainings, of all factors, that failed and were given the worst response.
        case: The problem that was trained on.
    """

    factor: str
    mu_star: float
    sigma: float
    confidence: float
    noise: float = math.nan
    failed: int = 0
    case: str = ""


@dataclass(frozen=True)
class Screening:
    """The networks of all trajectories.

    Attributes:
        factors: The factors that vary.
        levels: For each network a row with the level of each factor, from 0 to 1.
        genomes: As text, in the same order; some may be there more than once.
        seed: The seed of the study.
    """

    factors: tuple[str, ...]
    levels: NDArray[np.float64]
    genomes: tuple[str, ...]
    seed: int

    @classmethod
    def of(cls, varied: Variations, trajectories: int, seed: int) -> "Screening":
        """Trajectories through what a study varies.

        Args:
            varied: Values of layers, neurons and activations; shortcuts are regular ones over 0 to 3 layers.
            trajectories: How many; at least 2, or effects have no deviation.
            seed: The same trajectories for the same seed.
        """
        if trajectories < 2:
            raise SearchError(
                f"Morris' screening cannot have {trajectories} trajectory; give 2 or more, or 0."
            )
        needs_salib()
        from SALib.sample import morris

        factors = _factors(varied)
        if len(factors) < 2:
            raise SearchError(
                f"Morris' screening varies several choices together, but only {', '.join(factors) or 'none'} "
                "of them has several values; give more values, or leave the screening out."
            )
        drawn = morris.sample(
            _problem(tuple(factors)), trajectories, num_levels=LEVELS, seed=_generator(seed, _SAMPLING)
        )
        rng = _generator(seed, _FUNCTIONS)
        genomes: list[str] = []
        for trajectory in drawn.reshape(trajectories, len(factors) + 1, len(factors)):
            values = dict(factors)
            if "activation" in values:
                functions = values["activation"]
                values["activation"] = _spread([functions[each] for each in rng.permutation(len(functions))])
            genomes += [_genome(varied, values, levels) for levels in trajectory]
        return cls(tuple(factors), drawn, tuple(genomes), seed)

    def rows(self, responses: Mapping[str, float]) -> list[MorrisRow]:
        """The effects of the factors, computed from the responses of all networks.

        Args:
            responses: By genome; if one is NaN, nothing is known of any factor.
        """
        if not all(math.isfinite(responses[genome]) for genome in self.genomes):
            return [MorrisRow(factor, math.nan, math.nan, math.nan) for factor in self.factors]
        needs_salib()
        from SALib.analyze import morris

        found = morris.analyze(
            _problem(self.factors),
            self.levels,
            np.array([responses[genome] for genome in self.genomes], dtype=float),
            num_levels=LEVELS,
            seed=_generator(self.seed, _RESAMPLING),
        )
        columns = zip(found["mu_star"], found["sigma"], found["mu_star_conf"], strict=True)
        return [
            MorrisRow(factor, float(mu_star), float(sigma), float(confidence))
            for factor, (mu_star, sigma, confidence) in zip(self.factors, columns, strict=True)
        ]


def noise_effect(deviation: float) -> float:
    """The mean of μ* if responses are nothing but normal noise of this deviation.

    The difference of two of them then has the mean size 2 σ / √π.

    Examples:
        >>> round(noise_effect(1.0), 4)
        1.6926
    """
    return 2 * deviation / math.sqrt(math.pi) / _STEP


def needs_salib() -> None:
    """Refuse to continue without SALib, which only screenings need."""
    if importlib.util.find_spec("SALib") is None:
        raise SearchError(
            'Morris\' screening needs SALib, which is not installed; do: pip install "evopinn[study]".'
        )


def _factors(varied: Variations) -> dict[str, list[Any]]:
    """The values at the levels of each factor that has several values."""
    spans = list(REGULAR.values()) if len(varied.shortcuts) > 1 else []
    values: dict[str, Sequence[Any]] = {
        "layers": varied.layers,
        "neurons": varied.neurons,
        "shortcut span": spans,
        "activation": tuple(varied.activations.values()),
    }
    # All functions are kept: which of them stand at the levels is drawn for each trajectory.
    return {
        factor: list(each) if factor == "activation" else _spread(each)
        for factor, each in values.items()
        if len(each) > 1
    }


def _spread(values: Sequence[Any]) -> list[Any]:
    """As many values as there are levels, from the first to the last; fewer values stand at several."""
    last = len(values) - 1
    if last >= LEVELS - 1:
        return [values[round(level * last / (LEVELS - 1))] for level in range(LEVELS)]
    # A step of two levels leads from any level to another value.
    return [values[level * len(values) // LEVELS] for level in range(LEVELS)]


def _genome(varied: Variations, values: Mapping[str, Sequence[Any]], levels: NDArray[np.float64]) -> str:
    chosen = {
        factor: each[round(level * (LEVELS - 1))]
        for (factor, each), level in zip(values.items(), levels, strict=True)
    }
    own = varied.baseline
    layers: int = chosen.get("layers", own.structure.layers)
    # Without regular shortcuts the baseline has one number of layers, and its own fit.
    span = chosen.get("shortcut span", regular_span(own.structure))
    shortcuts = own.structure.shortcuts if span is None else regular_shortcuts(layers, span)
    activation: Activation = chosen.get("activation", own.activation)
    structure = Structure(layers, chosen.get("neurons", own.structure.neurons), shortcuts)
    return Genome(structure, activation, own.start).text


def _problem(factors: Sequence[str]) -> dict[str, Any]:
    return {"num_vars": len(factors), "names": list(factors), "bounds": [[0.0, 1.0]] * len(factors)}


def _generator(seed: int, purpose: int) -> np.random.Generator:
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(purpose,)))
