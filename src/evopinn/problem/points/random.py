"""Points drawn at random or from low-discrepancy sequences."""

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from scipy.stats import qmc  # pyright: ignore[reportMissingTypeStubs]

from evopinn.errors import DomainError
from evopinn.problem.arrays import Booleans, Floats
from evopinn.problem.domains import Domain, SpaceTime
from evopinn.problem.points.counts import Count, fewer, shares, total, whole
from evopinn.problem.points.spec import Cloud, Points

Stream: TypeAlias = Callable[[int], Floats]
"""Draws further points of the unit cube, shape (m, k); the first draw gives at least as many as asked for."""

_PURPOSES = {"interior": 0, "initial": 1, "boundary": 2}
"""Each purpose has random numbers of its own, so that a count of one does not move the points of another."""
_PATIENCE = 1_000_000
"""Draws, besides 1,000 for each point asked for, after which a domain counts as too thin to draw in."""


@dataclass(frozen=True)
class SampledPoints(Points):
    """Points drawn from the unit cube and carried over to the domain; counts are totals.

    Inside, points are drawn in the box around the domain and those outside are left out, until there are
    enough. The boundary is shared by its parts in proportion to their lengths or areas.

    Attributes:
        seed: Same seed, same points.
    """

    seed: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "seed", whole(f"{self._kind}(seed=...)", self.seed, least=0))

    @abstractmethod
    def _stream(self, dimension: int, rng: np.random.Generator) -> Stream:
        """An endless supply of points of the unit cube of a dimension."""

    def interior_points(self, domain: Domain) -> Floats:
        """Points strictly inside the domain, shape (interior, d)."""
        count = total(self._kind, "interior", self.interior)
        return self._accepted(domain.bounds, domain.inside, count, self._rng("interior"))

    def _slice_points(self, domain: SpaceTime) -> Floats:
        count = total(self._kind, "initial", self._given("initial", self.initial, "100"))
        return self._accepted(domain.space.bounds, domain.space.closure, count, self._rng("initial"))

    def _fewer_around(self, domain: Domain, factor: float, given: Count, parts: Sequence[str]) -> Count:
        axes = domain.dimension - 1
        least = max(2**axes, 2 * len(parts))
        return given if isinstance(given, tuple) else fewer(given, factor, axes, least)

    def _clouds(self, domain: Domain, parts: Sequence[str]) -> list[Cloud]:
        counts = self._counts(domain, parts)
        return [self._cloud(domain, part, counts[part]) for part in parts if counts[part]]

    def _counts(self, domain: Domain, parts: Sequence[str]) -> dict[str, int]:
        shape = domain.space
        if isinstance(self.boundary, Mapping):
            table = self._part_counts(self.boundary, domain, parts, "100")
            return {part: total(self._kind, "boundary", count) for part, count in table.items()}
        count = total(self._kind, "boundary", self._given("boundary", self.boundary, "200"))
        measures = dict.fromkeys(shape.parts, 0.0)
        for piece in shape.boundary:
            measures[piece.part] += piece.measure
        return dict(zip(measures, shares(count, np.array(list(measures.values()))), strict=True))

    def _cloud(self, domain: Domain, part: str, count: int) -> Cloud:
        """Points on one part: where along the part, where across (on a face), and when."""
        shape = domain.space
        members = [index for index, piece in enumerate(shape.boundary) if piece.part == part]
        ends: Floats = np.cumsum([shape.boundary[member].measure for member in members])
        across = max(shape.dimension - 2, 0)
        stream = self._stream(
            1 + across + (domain.time is not None), self._rng("boundary", shape.parts.index(part))
        )
        drawn = stream(count)[:count]
        along: Floats = drawn[:, 0] * ends[-1]
        places = np.minimum(np.searchsorted(ends, along, side="right"), len(members) - 1)
        points = np.empty((count, shape.dimension))
        for place, member in enumerate(members):
            mine, piece = places == place, shape.boundary[member]
            # What is left of the first number, once it has chosen the piece, is as evenly spread as it was.
            first = (along[mine] - (ends[place] - piece.measure)) / piece.measure
            parameters = np.column_stack([np.clip(first, 0.0, 1.0), drawn[mine, 1 : 1 + across]])
            points[mine] = piece.at(parameters[:, : piece.parameters])
        if domain.time is not None:
            instants = _scaled(drawn[:, -1:], np.array([domain.time.span]))
            points = np.column_stack([points, instants])
        return Cloud(points, np.array(members, dtype=np.intp)[places])

    def _rng(self, purpose: str, part: int = 0) -> np.random.Generator:
        return np.random.default_rng([self.seed, _PURPOSES[purpose], part])

    def _accepted(
        self, bounds: Floats, accepts: Callable[[Floats], Booleans], count: int, rng: np.random.Generator
    ) -> Floats:
        """The first `count` drawn points in the box that are accepted, shape (count, d)."""
        stream = self._stream(len(bounds), rng)
        batch, drawn, found = count, 0, np.empty((0, len(bounds)))
        while len(found) < count:
            if drawn > _PATIENCE + 1000 * count:
                raise DomainError(
                    f"{self._kind} found only {len(found)} of {count} points among {drawn} in the box around "
                    "the domain, which fills too little of it; give a shape of larger area or volume."
                )
            points = _scaled(stream(batch), bounds)
            drawn += len(points)
            found = np.concatenate([found, points[accepts(points)]])
            batch = max(count, 1024)
        return found[:count]


@dataclass(frozen=True)
class Uniform(SampledPoints):
    """Independent points, each equally likely to be anywhere.

    Examples:
        >>> from evopinn.problem import Disk
        >>> Uniform(interior=1000, boundary=200, seed=1).interior_points(Disk()).shape
        (1000, 2)
    """

    def _stream(self, dimension: int, rng: np.random.Generator) -> Stream:
        return lambda count: rng.random((count, dimension))


@dataclass(frozen=True)
class Sobol(SampledPoints):
    """Scrambled Sobol points, which fill space more evenly than independent ones."""

    def _stream(self, dimension: int, rng: np.random.Generator) -> Stream:
        engine = qmc.Sobol(dimension, rng=rng)

        def draw(count: int) -> Floats:
            # Balance needs powers of two: as many first, then each time as many as there were.
            size = max(count - 1, 0).bit_length()
            return engine.random_base2(
                int(engine.num_generated).bit_length() - 1 if engine.num_generated else size
            )

        return draw


@dataclass(frozen=True)
class LatinHypercube(SampledPoints):
    """Latin hypercube points: along each axis, one in each of as many equal slices as there are points.

    The slices are those of the box around the domain; where points outside are left out, some stay empty.
    """

    def _stream(self, dimension: int, rng: np.random.Generator) -> Stream:
        engine = qmc.LatinHypercube(dimension, rng=rng)
        return lambda count: np.asarray(engine.random(count), dtype=np.float64)


def _scaled(unit: Floats, bounds: Floats) -> Floats:
    """Carry points of the unit cube over to a box, shapes (n, d) and (d, 2)."""
    return bounds[:, 0] + unit * (bounds[:, 1] - bounds[:, 0])
