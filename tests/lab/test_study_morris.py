"""Morris' screening: its trajectories, and what it says of responses whose effects are known."""

import importlib.util
import math
from itertools import chain
from pathlib import Path

import numpy as np
import pytest

from evopinn.errors import SearchError
from evopinn.genome import Genome
from evopinn.lab.studies import trials
from evopinn.lab.studies.sensitivity import sensitivity_study
from evopinn.lab.studies.sensitivity.morris import LEVELS, Screening, noise_effect
from evopinn.lab.studies.sensitivity.sensitivity_study import SensitivityStudy
from evopinn.lab.studies.sensitivity.variations import SensitivityDesign, regular_span
from evopinn.store.records import Entry

FACTORS = ("layers", "neurons", "shortcut span", "activation")


def screening(trajectories=6, seed=0, **asked) -> Screening:
    varied = SensitivityDesign.of({"problem": "klein-gordon", **asked}).varied()
    return Screening.of(varied, trajectories, seed)


def steps(screened: Screening):
    """Neighbours on a trajectory."""
    each = len(screened.factors) + 1
    pairs = zip(screened.genomes, screened.genomes[1:], strict=False)
    return [
        (Genome.parse(one), Genome.parse(other))
        for place, (one, other) in enumerate(pairs)
        if (place + 1) % each
    ]


def differences(one: Genome, other: Genome) -> list[str]:
    spans = [regular_span(each.structure) for each in (one, other)]
    return [
        name
        for name, differs in {
            "layers": one.structure.layers != other.structure.layers,
            "neurons": one.structure.neurons != other.structure.neurons,
            "shortcut span": spans[0] != spans[1],
            "activation": one.activation != other.activation,
        }.items()
        if differs
    ]


def test_a_step_changes_one_factor_and_a_trajectory_all_of_them() -> None:
    screened = screening(trajectories=8, layers=[5, 9, 11, 13])
    assert screened.factors == FACTORS
    assert screened.levels.shape == (8 * 5, 4)
    changed = [differences(one, other) for one, other in steps(screened)]
    assert all(len(each) == 1 for each in changed)
    for first in range(0, len(changed), 4):
        assert sorted(chain.from_iterable(changed[first : first + 4])) == sorted(FACTORS)


def test_all_values_come_up_and_those_of_the_baseline_among_them() -> None:
    genomes = [Genome.parse(text) for text in screening(trajectories=60).genomes]
    # Four of five numbers of layers; with three layers a shortcut spans two at most.
    assert {each.structure.layers for each in genomes} == {3, 5, 9, 11}
    assert {each.structure.neurons for each in genomes} == {20, 30, 40, 50}
    assert {regular_span(each.structure) for each in genomes} == {0, 1, 2, 3}
    assert len({each.activation for each in genomes}) == 7
    assert {regular_span(each.structure) for each in genomes if each.structure.layers == 3} == {0, 1, 2}


@pytest.mark.parametrize("values", [[7], [7, 8], [7, 8, 10, 12, 13, 14]])
def test_factors_may_have_fewer_or_more_values_than_levels(values) -> None:
    screened = screening(trajectories=40, layers=values, baseline="layers=6 neurons=9 activation=sin(x)")
    layers = [Genome.parse(text).structure.layers for text in screened.genomes]
    assert len(set(layers)) == min(len({6, *values}), LEVELS)
    assert {6, max(values)} <= set(layers)
    assert sum(differences(*pair) == ["layers"] for pair in steps(screened)) == 40


def test_what_is_not_varied_stays_as_in_the_baseline() -> None:
    baseline = "layers=9 neurons=30 shortcuts=0-3,5-6 activation=tanh(x)"
    screened = screening(baseline=baseline, shortcuts={}, activations=["sin"])
    assert screened.factors == ("neurons", "activation")
    structures = [Genome.parse(text).structure for text in screened.genomes]
    assert {(each.layers, each.shortcuts) for each in structures} == {(9, ((0, 3), (5, 6)))}


def test_the_same_seed_gives_the_same_trajectories() -> None:
    assert screening(seed=2**100).genomes == screening(seed=2**100).genomes
    assert screening(seed=1).genomes != screening(seed=2).genomes
    assert screening(trajectories=3, seed=1).genomes == screening(trajectories=6, seed=1).genomes[:15]


def test_the_effects_of_a_linear_response_are_its_slopes() -> None:
    screened = screening(
        trajectories=10, layers=[3, 5, 7, 9], baseline="layers=9 neurons=30 activation=sin(x)"
    )
    neurons, layers = [20, 30, 40, 50], [3, 5, 7, 9]

    def response(genome: Genome) -> float:
        structure = genome.structure
        # From the first level to the last by 3, and by -0.5.
        return 3 * neurons.index(structure.neurons) / 3 - 0.5 * layers.index(structure.layers) / 3

    rows = {
        row.factor: row
        for row in screened.rows({text: response(Genome.parse(text)) for text in screened.genomes})
    }
    assert {factor: row.mu_star for factor, row in rows.items()} == pytest.approx(
        {"layers": 0.5, "neurons": 3.0, "shortcut span": 0.0, "activation": 0.0}, abs=1e-12
    )
    for row in rows.values():
        assert (row.sigma, row.confidence) == (pytest.approx(0, abs=1e-12), pytest.approx(0, abs=1e-12))


def test_the_effect_of_the_activation_is_the_mean_difference_of_two_functions() -> None:
    screened = screening(trajectories=400)
    worth = {text: 10.0 if "sin(" in text and "asin" not in text else 0.0 for text in screened.genomes}
    (row,) = [row for row in screened.rows(worth) if row.factor == "activation"]
    # Two of seven functions are drawn: sin is one of them in 2 of 7 trajectories.
    assert row.mu_star == pytest.approx(10 * 2 / 7 / (2 / 3), abs=row.confidence * 1.5)
    assert 0 < row.confidence < 1


def test_interactions_make_the_deviation_large() -> None:
    screened = screening(trajectories=50)

    def response(genome: Genome) -> float:
        return genome.structure.neurons / 30 * (genome.structure.layers - 6) / 8

    rows = {
        row.factor: row
        for row in screened.rows({text: response(Genome.parse(text)) for text in screened.genomes})
    }
    assert rows["neurons"].sigma > rows["neurons"].mu_star
    assert rows["shortcut span"].sigma == rows["activation"].mu_star == 0


def test_pure_luck_has_about_the_effect_that_is_told_as_noise() -> None:
    screened, rng = screening(trajectories=300), np.random.default_rng(0)
    # Each network its own luck; those that come up twice have the same, as they are trained once.
    rows = screened.rows({text: rng.normal(0, 0.4) for text in set(screened.genomes)})
    assert np.mean([row.mu_star for row in rows]) == pytest.approx(noise_effect(0.4), rel=0.1)


def test_a_screening_is_a_run_of_its_own_in_which_nothing_is_trained_twice() -> None:
    made = SensitivityStudy(
        SensitivityDesign.of({"problem": "lame", "cases": ["I", "II"], "morris": 30, "trials": 4})
    )
    parts = list(made.runs(None))
    assert [part.name for part in parts] == [
        "trainings/lame-I",
        "trainings/lame-I-morris",
        "trainings/lame-II",
        "trainings/lame-II-morris",
    ]
    asked = parts[1].config.roster.genomes
    assert len(asked) == len(set(asked)) < len(made.screening.genomes) == 150
    assert set(asked) == set(made.screening.genomes)
    assert [part.config.settings["evaluations"] for part in parts] == [4, 1, 4, 1]
    assert made.loads()[1].trainings == len(asked)


def test_without_salib_a_sentence_says_how_to_get_it(monkeypatch) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "SALib" else found(name))
    with pytest.raises(SearchError, match=r'pip install "evopinn\[study\]"'):
        screening()
    assert SensitivityStudy(SensitivityDesign.of({"problem": "heat"})).screening is None


def test_noise_is_not_known_from_one_training_each() -> None:
    assert math.isnan(noise_effect(math.nan))


@pytest.fixture
def screened(monkeypatch):
    """What a study makes of made-up trainings: of its own two of each network, of the screening one."""

    def rows(losses):
        made = SensitivityStudy(SensitivityDesign.of({"problem": "lame", "morris": 4, "trials": 2}))

        def entries(run: Path):
            own = "morris" not in run.name
            genomes = dict.fromkeys(made.models.values() if own else made.screening.genomes)
            for genome in genomes:
                for seed, factor in enumerate((1, 100) if own else (1,)):
                    loss = factor * losses(genome)
                    errors = {"u": loss, "v": loss / 2} if math.isfinite(loss) else {}
                    yield Entry(
                        0, 1, True, "", loss, errors, 1, 1.0, 0, 0.0, 1.0, "", 1, "", 1.0, genome, seed
                    )

        for module in (sensitivity_study, trials):
            monkeypatch.setattr(module, "settled_entries", entries)
        monkeypatch.setattr(sensitivity_study, "is_run", lambda _: True)
        return made.morris(Path("unused"))

    return rows


def test_the_response_is_the_logarithm_of_the_largest_error_beside_the_noise_of_trials(screened) -> None:
    rows = screened(lambda genome: 10.0 ** (-Genome.parse(genome).structure.neurons / 10))
    assert {row.factor: row.mu_star for row in rows} == pytest.approx(
        {"layers": 0, "neurons": 3, "shortcut span": 0, "activation": 0}, abs=1e-12
    )
    # Two trials of each that are two decades apart deviate by the root of 2.
    assert [row.noise for row in rows] == pytest.approx([noise_effect(math.sqrt(2))] * 4)
    assert {(row.failed, row.case) for row in rows} == {(0, "lame:I")}


def test_trainings_that_fail_have_the_worst_response_and_are_counted(screened) -> None:
    def loss(genome: str) -> float:
        return math.inf if "neurons=20" in genome else 10.0 ** (-Genome.parse(genome).structure.neurons / 10)

    rows = {row.factor: row for row in screened(loss)}
    # 20 neurons count as 30, the worst that is known.
    assert 1.5 <= rows["neurons"].mu_star < 3
    made = SensitivityStudy(SensitivityDesign.of({"problem": "lame", "morris": 4}))
    assert rows["layers"].failed == sum("neurons=20" in text for text in set(made.screening.genomes)) > 0


def test_where_all_trainings_fail_nothing_is_known(screened) -> None:
    rows = screened(lambda genome: math.nan)
    assert all(math.isnan(number) for row in rows for number in (row.mu_star, row.sigma, row.confidence))
    assert rows[0].failed > 0
