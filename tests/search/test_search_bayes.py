"""Bayesian optimisation: valid proposals, repeatable, better than chance; the Gaussian process by itself."""

from math import inf, log10, nan
from statistics import mean
from typing import Any

import mpmath
import numpy as np
import pytest
from toy import drive

from evopinn.errors import SearchError
from evopinn.genome import COMMON, PAPER, Genome, Space, published_models, regular_shortcuts
from evopinn.search import BayesianOptimisation, BayesSettings, Score, Task, Trials, WorkloadStage
from evopinn.search.gaussian import JITTER, GaussianProcess, matern, most_promising

ACTIVATIONS = {row.activation: place for place, row in enumerate(COMMON.values())}
KINDS = {
    "mixed": BayesSettings(batch=4),
    "faithful": BayesSettings(batch=4, faithful=True, startup=5),
}
TRIALS = Trials(18, 30)


def bowl(task: Task) -> float:
    """Least at 8 layers, 40 neurons and one activation out of thirteen, whose neighbours are no better."""
    structure = task.genome.structure
    right = ACTIVATIONS[task.genome.activation] == 6
    distance = (structure.layers - 8) ** 2 / 16 + (structure.neurons - 40) ** 2 / 200
    return 10.0 ** (distance + (0 if right else 2) - 4)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("span", [0, 2])
def test_proposals_are_networks_of_the_kind_that_was_asked_for(kind: str, span: int) -> None:
    settings = BayesSettings(span=span, faithful=kind == "faithful", batch=6, startup=6)
    driven = drive(BayesianOptimisation(Trials(20, 30), 0, settings=settings), bowl)
    assert [len(driven.of(g)) for g in range(1, 6)] == [6, 6, 6, 2, 12]
    for task in driven.tasks:
        PAPER.check(task.genome)
        assert task.genome.structure.shortcuts == regular_shortcuts(task.genome.structure.layers, span)
        assert task.genome.activation in ACTIVATIONS
        assert task.epochs == 30
    assert len({task.seed for task in driven.tasks}) == 32


@pytest.mark.parametrize("kind", KINDS)
def test_starts_are_proposed_where_the_space_has_several(kind: str) -> None:
    space = Space(starts=("paper", "unit"))

    def loss(task: Task) -> float:
        start = task.genome.start
        return 10.0 ** (-2 - abs(log10(start.values[1]))) if start.kind == "unit" else 1.0

    settings = BayesSettings(faithful=kind == "faithful", batch=8, startup=16)
    driven = drive(BayesianOptimisation(Trials(48, 30), 0, space, settings), loss)
    for task in driven.tasks:
        space.check(task.genome)
    starts = [task.genome.start for task in driven.tasks]
    assert {start.kind for start in starts[:16]} == {"paper", "unit"}
    firsts = {start.values[1] for start in starts if start.kind == "unit"}
    assert firsts <= {0.25, 0.397, 0.63, 1.0, 1.59, 2.52, 4.0}
    assert {0.25, 4.0} & {start.values[1] for start in starts[-12:]}  # the best of them win


@pytest.mark.parametrize(
    ("options", "batch"), [({}, 2), ({"faithful": True}, 1), ({"faithful": True, "batch": 3}, 3)]
)
def test_the_papers_proposals_come_one_by_one(options: dict[str, Any], batch: int) -> None:
    settings = BayesSettings(**options)
    assert len(BayesianOptimisation(TRIALS, 0, settings=settings).ask()) == batch
    assert settings.workload(TRIALS).stages[0] == WorkloadStage(batch, 30, 18 // batch, kind="batch")


@pytest.mark.parametrize(("method", "span"), [("bo-fcnet", 0), ("bo-fcresnet", 2)])
def test_the_papers_own_discoveries_could_be_proposed(method: str, span: int) -> None:
    found = [model.genome for model in published_models() if model.method == method]
    assert len(found) == 9
    for genome in found:
        assert genome.structure.shortcuts == regular_shortcuts(genome.structure.layers, span)
        assert genome.activation in ACTIVATIONS


@pytest.mark.parametrize("kind", KINDS)
def test_same_seed_same_course_whatever_the_order_of_telling(kind: str) -> None:
    usual = BayesianOptimisation(TRIALS, 5, settings=KINDS[kind])
    driven = drive(usual, bowl)
    shuffled = BayesianOptimisation(TRIALS, 5, settings=KINDS[kind])
    assert drive(shuffled, bowl, np.random.default_rng(0)).tasks == driven.tasks
    assert shuffled.finalists == usual.finalists
    other = BayesianOptimisation(TRIALS, 6, settings=KINDS[kind])
    assert drive(other, bowl).tasks != driven.tasks


@pytest.mark.parametrize("kind", KINDS)
def test_a_recorded_search_is_taken_up_where_it_was(kind: str) -> None:
    usual = BayesianOptimisation(TRIALS, 5, settings=KINDS[kind])
    driven = drive(usual, bowl)
    again = BayesianOptimisation(TRIALS, 5, settings=KINDS[kind])
    for task in driven.tasks[:14]:
        again.tell(task.number, Score(bowl(task)))
    asked = again.ask()
    assert list(asked) == driven.tasks[14:16]
    for task in asked:
        again.tell(task.number, Score(bowl(task)))
    assert drive(again, bowl).tasks == driven.tasks[16:]
    assert again.finalists == usual.finalists


@pytest.mark.parametrize("kind", ["mixed", "faithful"])
def test_it_learns(kind: str) -> None:
    """After the random start, what is proposed is on average far better than that start."""
    settings = BayesSettings(faithful=kind == "faithful", objective="log10", startup=8, batch=4)
    early, late = [], []
    for seed in range(3):
        driven = drive(BayesianOptimisation(Trials(32, 1), seed, settings=settings), bowl)
        exponents = [log10(driven.losses[number]) for number in range(32)]
        early.append(mean(exponents[:8]))
        late.append(mean(exponents[-8:]))
    assert all(after < before for before, after in zip(early, late, strict=True))
    assert mean(late) < mean(early) - 0.5  # a factor of three in the loss


def test_the_mixed_space_finds_a_better_network_than_chance() -> None:
    trials = Trials(36, 1)
    guided, chance = [], []
    for seed in range(5):
        for startup, exponents in ((10, guided), (36, chance)):
            search = BayesianOptimisation(trials, seed, settings=BayesSettings(startup=startup, batch=4))
            drive(search, bowl)
            exponents.append(log10(search.finalists[0].mean_loss))
    assert mean(guided) < mean(chance) - 0.5


@pytest.mark.parametrize("kind", KINDS)
def test_candidates_are_the_best_distinct_networks(kind: str) -> None:
    search = BayesianOptimisation(TRIALS, 1, settings=KINDS[kind])
    driven = drive(search, bowl)
    proposed = sorted(driven.doing("proposed"), key=lambda task: driven.losses[task.number])
    best = list(dict.fromkeys(task.genome for task in proposed))[:3]
    assert [finalist.genome for finalist in search.finalists] == best
    assert len(driven.doing("candidate")) == 12


@pytest.mark.parametrize("kind", KINDS)
def test_failures_are_taken_for_the_worst_loss(kind: str) -> None:
    def fails(task: Task) -> float:
        return (inf, nan, 1e9)[task.number % 3] if task.number % 2 else bowl(task)

    search = BayesianOptimisation(TRIALS, 0, settings=KINDS[kind])
    driven = drive(search, fails)
    assert all(task.origin.parents[0] % 2 == 0 for task in driven.doing("candidate"))


@pytest.mark.parametrize("kind", KINDS)
def test_a_search_in_which_all_fails_ends(kind: str) -> None:
    search = BayesianOptimisation(TRIALS, 0, settings=KINDS[kind])
    drive(search, lambda task: nan)
    assert search.finalists[0].mean_loss == inf


@pytest.mark.parametrize(
    ("options", "loss", "cost"),
    [
        ({}, 1e-3, -3.0),
        ({}, nan, 4.0),
        ({}, inf, 4.0),
        ({}, 1e7, 4.0),
        ({}, 0.0, -300.0),
        ({"faithful": True}, 1e-3, 1e-3),
        ({"faithful": True}, nan, 1e4),
        ({"faithful": True, "objective": "log10"}, 0.1, -1.0),
        ({"objective": "loss"}, 0.1, 0.1),
    ],
)
def test_the_objective(options: dict[str, Any], loss: float, cost: float) -> None:
    assert BayesSettings(**options).cost(Score(loss)) == pytest.approx(cost)


def test_nothing_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    drive(BayesianOptimisation(TRIALS, 0, settings=KINDS["mixed"]), bowl)
    assert capfd.readouterr() == ("", "")


def test_a_space_bounds_the_proposals() -> None:
    space = Space(4, 4, (10, 12, 1), max_operators=1, max_parameters=0)
    driven = drive(BayesianOptimisation(Trials(14, 1), 0, space), bowl)
    for task in driven.tasks:
        space.check(task.genome)
    nothing = Space(unary=("exp",), binary=(), extra=())
    with pytest.raises(SearchError, match=r"\b13\b.* search space"):
        BayesianOptimisation(TRIALS, 0, nothing)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"objective": "log"}, r"\bobjective is 'log'.*\blog10 or loss\b"),
        ({"batch": 0}, r"\bbatch is 0\b.*\bat least 1\b"),
        ({"startup": 0}, r"\bstartup is 0\b.*\bat least 1\b"),
        ({"span": -1}, r"\bspan is -1\b.*\bat least 0\b"),
        ({"kappa": nan}, r"\bkappa is nan\b.*\bat least 0\b"),
        ({"candidates": 1.5}, r"\bcandidates is 1\.5\b.*\bwhole number\b"),
    ],
)
def test_bad_settings_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(SearchError, match=message):
        BayesSettings(**options)


def test_the_kernel_is_materns() -> None:
    """Against the general formula 2^(1-ν)/Γ(ν) z^ν K_ν(z) with z = √(2ν) r / length and ν = 5/2."""
    nu = mpmath.mpf(5) / 2
    for distance in (0.1, 1.0, 3.7, 20.0):
        z = mpmath.sqrt(2 * nu) * distance / 1.7
        expected = 2 ** (1 - nu) / mpmath.gamma(nu) * z**nu * mpmath.besselk(nu, z)
        value = matern(np.zeros((1, 2)), np.array([[0.6, 0.8]]) * distance, 1.7)[0, 0]
        assert value == pytest.approx(float(expected), rel=1e-12)


def test_the_process_is_conditioned_as_the_normal_distribution_says() -> None:
    rng = np.random.default_rng(0)
    points, values, asked = rng.uniform(0, 8, (12, 3)), rng.normal(size=12), rng.uniform(0, 8, (5, 3))
    process = GaussianProcess.with_length(points, values, 2.3)
    known, cross = matern(points, points, 2.3) + JITTER * np.eye(12), matern(asked, points, 2.3)
    standard = (values - values.mean()) / values.std()
    expected = values.mean() + values.std() * cross @ np.linalg.solve(known, standard)
    variance = 1 - np.diag(cross @ np.linalg.solve(known, cross.T))
    mean_, deviation = process.predict(asked)
    np.testing.assert_allclose(mean_, expected, rtol=1e-9)
    np.testing.assert_allclose(deviation, values.std() * np.sqrt(variance), rtol=1e-9)
    np.testing.assert_allclose(process.upper_bound(asked, 2.5), mean_ + 2.5 * deviation)
    sign, logarithm = np.linalg.slogdet(known)
    assert sign == 1
    likelihood = standard @ np.linalg.solve(known, standard) / 2 + logarithm / 2
    assert process.negative_log_likelihood == pytest.approx(likelihood)


def test_the_length_scale_is_the_most_likely_one() -> None:
    rng = np.random.default_rng(1)
    points = rng.uniform(0, 10, (40, 2))
    covariance = matern(points, points, 4.0) + 1e-6 * np.eye(40)
    values = np.linalg.cholesky(covariance) @ rng.normal(size=40)
    fitted = GaussianProcess.fit(points, values)
    surprises = [
        GaussianProcess.with_length(points, values, length).negative_log_likelihood
        for length in np.geomspace(0.1, 100, 400)
    ]
    assert fitted.negative_log_likelihood <= min(surprises) + 0.05
    assert 2 < fitted.length < 8


def test_the_most_promising_point_is_found() -> None:
    points = np.array([[1.0, 1.0], [9.0, 1.0], [5.0, 9.0]])
    process = GaussianProcess.with_length(points, np.array([0.0, 2.0, 1.0]), 3.0)
    bounds = np.array([[0.0, 10.0], [0.0, 10.0]])
    grid = np.stack(np.meshgrid(np.linspace(0, 10, 201), np.linspace(0, 10, 201)), axis=-1).reshape(-1, 2)
    for kappa in (0.0, 2.5):
        best = most_promising(process, bounds, kappa, np.random.default_rng(0))
        assert process.upper_bound(best[None], kappa)[0] > process.upper_bound(grid, kappa).max() - 5e-3


def test_genomes_are_trees_in_their_simplest_form() -> None:
    driven = drive(BayesianOptimisation(Trials(10, 1), 0), bowl)
    assert all(Genome.parse(task.genome.text) == task.genome for task in driven.tasks)
