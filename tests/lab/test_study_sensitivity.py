"""The sensitivity study: its networks, what is made of their trainings, and that it can be interrupted."""

import math
import re
import tomllib
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import kruskal

from evopinn.errors import EvopinnError
from evopinn.lab.studies.execution import carry_out
from evopinn.lab.studies.sensitivity.importance import expected_range, responses
from evopinn.lab.studies.sensitivity.sensitivity_study import SensitivityStudy
from evopinn.lab.studies.sensitivity.sensitivity_tables import ValueResult
from evopinn.lab.studies.sensitivity.variations import SensitivityDesign
from evopinn.lab.studies.trials import Sample, Trial, settled_entries
from evopinn.run.config import read_config
from evopinn.run.session import Observer
from evopinn.store.directory import is_run
from evopinn.store.records import Entry

EXPERIMENTS = Path(__file__).parents[2] / "experiments" / "sensitivity"
REGULAR = "shortcuts=0-2,2-4,4-6,6-8"
PAPER = {
    "layers": {
        "3": "layers=3 neurons=30 shortcuts=0-2 activation=tanh(x)",
        "5": "layers=5 neurons=30 shortcuts=0-2,2-4 activation=tanh(x)",
        "7": "layers=7 neurons=30 shortcuts=0-2,2-4,4-6 activation=tanh(x)",
        "9": f"layers=9 neurons=30 {REGULAR} activation=tanh(x)",
        "11": f"layers=11 neurons=30 {REGULAR},8-10 activation=tanh(x)",
    },
    "neurons": {
        "20": f"layers=9 neurons=20 {REGULAR} activation=tanh(x)",
        "30": f"layers=9 neurons=30 {REGULAR} activation=tanh(x)",
        "40": f"layers=9 neurons=40 {REGULAR} activation=tanh(x)",
        "50": f"layers=9 neurons=50 {REGULAR} activation=tanh(x)",
    },
    "shortcuts": {
        "I": "layers=9 neurons=30 shortcuts=none activation=tanh(x)",
        "II": "layers=9 neurons=30 shortcuts=0-2,2-4,4-6,6-8 activation=tanh(x)",
        "III": "layers=9 neurons=30 shortcuts=0-1,1-3,4-6,7-8 activation=tanh(x)",
        "IV": "layers=9 neurons=30 shortcuts=1-4,4-6,6-8 activation=tanh(x)",
        "V": "layers=9 neurons=30 shortcuts=0-3,4-7 activation=tanh(x)",
    },
    "activation": {
        name: f"layers=9 neurons=30 {REGULAR} activation={text}"
        for name, text in {
            "tanh": "tanh(x)",
            "sigmoid": "sigmoid(x)",
            "sin": "sin(x)",
            "atan": "atan(x)",
            "swish": "swish(x)",
            "tanh*": "tanh(a*x)",
            "swish*": "x*sigmoid(a*x)",
        }.items()
    },
}


def study(**asked) -> SensitivityStudy:
    return SensitivityStudy(SensitivityDesign.of({"problem": "klein-gordon", **asked}))


def entry(errors, loss=1e-3, genome="", seed=0) -> Entry:
    return Entry(0, 1, True, "finished", loss, errors, 10, 1.0, 0, 0.0, 1.0, "", 1, "", 1.0, genome, seed)


def made_up(of: SensitivityStudy, errors, case="klein-gordon:I") -> list[Trial]:
    """Trials of a study; what is not named has the baseline's errors."""
    return [
        Trial(model, case, Path(), entry({} if error is None else {"u": error}, loss, genome, seed))
        for model, genome in of.models.items()
        for seed, error in enumerate(errors.get(model, errors["baseline"]))
        for loss in [math.inf if error is None else error]
    ]


def test_the_networks_are_those_of_the_papers_caption() -> None:
    assert study().objectives == PAPER


def test_the_baseline_is_trained_once_although_each_objective_has_it() -> None:
    (part,) = study(trials=4, epochs=7).runs(Path("unused"))
    (load,) = study(trials=4, epochs=7).loads()
    genomes = part.config.roster.genomes
    everything = {text for values in PAPER.values() for text in values.values()}
    assert len(genomes) == len(set(genomes)) == 5 + 4 + 5 + 7 - 3
    assert set(genomes) == everything
    assert part.config.problem == load.problem == "klein-gordon:I"
    assert (load.trainings, load.epochs) == (18 * 4, 18 * 4 * 7)


@pytest.mark.parametrize(
    ("asked", "cases"),
    [
        ({"problem": "kg"}, ["klein-gordon:I"]),
        ({"problem": "kg:ii"}, ["klein-gordon:II"]),
        ({"problem": "lame", "cases": ["ii", "lame:IV"]}, ["lame:II", "lame:IV"]),
        ({"problem": "heat"}, ["heat"]),
    ],
)
def test_it_is_one_case_unless_others_are_given(asked, cases) -> None:
    made = study(**asked)
    assert [part.config.problem for part in made.runs(Path("unused"))] == cases
    assert [load.problem for load in made.loads()] == cases


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"problem": "heat", "morris": 3},
        {"problem": "somewhere/mine.py"},
        {"layers": [4], "neurons": [], "shortcuts": {"one": "0-8"}, "activations": ["sin", "swish*"]},
        {"baseline": "layers=4 neurons=5 activation=a*sin(x)"},
    ],
)
def test_a_settled_study_says_all_and_is_the_same_study(asked) -> None:
    made = study(**asked)
    told = tomllib.loads(made.design.toml())
    again = SensitivityStudy(SensitivityDesign.of(told))
    assert {"baseline", "layers", "neurons", "shortcuts", "activations", "cases", "epochs"} < set(told)
    assert (again.design, again.models) == (made.design, made.models)
    assert again.design.name() == SensitivityDesign.of({"problem": "klein-gordon", **asked}).name()


def test_what_is_given_takes_the_place_of_the_papers_and_the_baseline_stays_among_it() -> None:
    made = study(
        baseline="layers=4 neurons=8 shortcuts=0-1,1-2,2-3 activation=sin(a*x)",
        layers=[6, 3],
        neurons=[],
        shortcuts={"long": "0-3"},
        activations=["tanh"],
    )
    assert made.objectives == {
        "layers": {
            "3": "layers=3 neurons=8 shortcuts=0-1,1-2 activation=sin(a*x)",
            "4": "layers=4 neurons=8 shortcuts=0-1,1-2,2-3 activation=sin(a*x)",
            "6": "layers=6 neurons=8 shortcuts=0-1,1-2,2-3,3-4,4-5 activation=sin(a*x)",
        },
        "shortcuts": {
            "baseline": "layers=4 neurons=8 shortcuts=0-1,1-2,2-3 activation=sin(a*x)",
            "long": "layers=4 neurons=8 shortcuts=0-3 activation=sin(a*x)",
        },
        "activation": {
            "baseline": "layers=4 neurons=8 shortcuts=0-1,1-2,2-3 activation=sin(a*x)",
            "tanh": "layers=4 neurons=8 shortcuts=0-1,1-2,2-3 activation=tanh(x)",
        },
    }


def test_baselines_that_the_papers_patterns_do_not_fit_have_regular_ones() -> None:
    patterns = study(baseline="layers=3 neurons=8 activation=tanh(x)").design.shortcuts
    assert patterns == {"none": "none", "over 1": "0-1,1-2", "over 2": "0-2"}
    irregular = study(baseline="layers=9 neurons=8 shortcuts=0-3 activation=tanh(x)")
    assert list(irregular.objectives) == ["neurons", "shortcuts", "activation"]


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"baseline": "layers=9"}, r"\bfield neurons .*\bneurons="),
        (
            {"baseline": "layers=5 neurons=8 activation=tanh(x)", "shortcuts": {"V": "0-7"}},
            "'V' .*'0-7'.* 0-7",
        ),
        ({"shortcuts": {"odd": "0-2,1-3"}}, r"'odd' .*'0-2,1-3'.* 1-3 .*\b0-2\b"),
        ({"shortcuts": {"a": "0-2", "b": "0-2"}}, r"'a' and 'b' .*\bsame\b"),
        ({"activations": ["tanhh"]}, r"\bactivation .*'tanhh'.* tanh\b"),
        ({"activations": {"open": "tanh(x"}}, r"'open' .*'tanh\(x'.*\bparenthesis\b"),
        ({"activations": {"other": "tanh(x)", "tanh": "tanh"}}, r"'other' and 'tanh' .*\bsame\b"),
        ({"activations": {"": "sin(x)"}}, r"\bempty name\b"),
        ({"activations": {"tanh": "sin(x)"}}, r"'tanh'.*\bbaseline\b"),
        ({"layers": [1]}, r"\bat least 2 layers\b.*\b1\b"),
        ({"neurons": [0]}, r"\bat least 1 neuron\b.*\b0\b"),
        ({"neurons": [2.5]}, r"\bneurons\.0 = 2\.5\b.*\bwhole number\b"),
        (
            {"baseline": "layers=9 neurons=8 shortcuts=0-3 activation=tanh(x)", "layers": [5]},
            r"\bregular\b.*\b9 layers\b",
        ),
        ({"layers": [], "neurons": [], "shortcuts": {}, "activations": []}, r"\bnothing is varied\b"),
        ({"morris": 1}, r"\b1\b.*\b2 or more\b"),
        ({"morris": 2, "layers": [], "neurons": [], "activations": []}, r"\bonly shortcut span\b"),
        ({"problem": "kg:X"}, r":X'.*\bklein-gordon:II, klein-gordon:III\b"),
        ({"cases": ["X"]}, r"'X'.*\bklein-gordon:II, klein-gordon:III\b"),
        ({"problem": "nothing"}, r"\bproblem .*'nothing'.*`evopinn problems`"),
        ({"colour": "red"}, r"'colour'.*\bactivations\b"),
        ({"kind": "compare"}, r"'compare'.*'sensitivity'"),
    ],
)
def test_what_makes_no_sense_is_refused_in_a_line(asked, told: str) -> None:
    with pytest.raises(EvopinnError) as refused:
        study(**asked)
    assert re.search(told, str(refused.value))
    assert "\n" not in str(refused.value)


def test_a_row_of_the_table_is_the_mean_of_a_values_trials() -> None:
    made = study(trials=3)
    table = made.sensed(made_up(made, {"baseline": [0.1, 0.2, 0.3], "neurons=40": [0.2, None, 0.4]}))
    rows = {(row.objective, row.value): row for row in table}
    assert len(rows) == len(table) == 21
    assert sum(row.is_baseline for row in table) == 4
    assert rows["neurons", "40"] == ValueResult(
        "neurons",
        "40",
        False,
        {"u": Sample.of([0.2, math.nan, 0.4])},
        Sample.of([0.2, math.inf, 0.4]),
        "klein-gordon:I",
    )
    assert rows["neurons", "40"].measured["u"].failed == 1
    assert rows["activation", "tanh"].is_baseline
    assert rows["activation", "tanh"].measured["u"].mean == pytest.approx(0.2)


def test_objectives_are_ranked_by_how_far_their_means_lie_apart() -> None:
    made = study()
    luck = np.array([0.5, 1.0, 2.0])
    errors = {
        "baseline": list(1e-2 * luck),
        "layers=3": list(1e-1 * luck),
        "activation=sin": list(1e-4 * luck),
        "activation=sigmoid": list(1e-1 * luck),
    }
    ranking = made.ranking(made_up(made, errors))
    assert [(row.objective, row.best, row.worst) for row in ranking[:2]] == [
        ("activation", "sin", "sigmoid"),
        ("layers", "5", "3"),
    ]
    assert [row.effect for row in ranking] == pytest.approx([3, 1, 0, 0], abs=1e-12)
    assert [row.share for row in ranking] == pytest.approx([0.75, 0.25, 0, 0], abs=1e-12)
    deviation = np.log10(luck).std(ddof=1)
    by_row = [expected_range(count) * deviation / math.sqrt(3) for count in (7, 5)]
    assert [row.noise for row in ranking[:2]] == pytest.approx(by_row)
    logs = np.log10(luck)
    groups = [logs - 2] * 5 + [logs - 4, logs - 1]
    assert ranking[0].p == pytest.approx(kruskal(*groups).pvalue)
    assert ranking[0].p_holm == pytest.approx(4 * ranking[0].p)
    assert [row.failed for row in ranking] == [0] * 4


def test_the_effect_of_pure_luck_is_about_the_noise_that_is_told() -> None:
    made, rng = study(trials=4), np.random.default_rng(0)
    effects, noises, small = [], [], []
    for _ in range(60):
        errors = {model: list(10 ** rng.normal(-2, 0.3, 4)) for model in ("baseline", *made.models)}
        for model, genome in made.models.items():
            if genome == made.baseline:
                errors[model] = errors["baseline"]
        rows = made.ranking(made_up(made, errors))
        effects += [row.effect for row in rows]
        noises += [row.noise for row in rows]
        small += [row.p < 0.05 for row in rows]
    assert np.mean(effects) == pytest.approx(np.mean(noises), rel=0.06)
    assert 0.01 < np.mean(small) < 0.09


def test_the_range_of_normal_numbers_is_that_of_a_simulation() -> None:
    numbers = np.random.default_rng(1).normal(size=(40_000, 4))
    assert expected_range(4) == pytest.approx(np.ptp(numbers, axis=1).mean(), rel=0.01)


def test_a_training_that_failed_counts_as_the_worst_that_did_not() -> None:
    made = study()
    trials = made_up(made, {"baseline": [1e-3, 1e-3], "layers=3": [1e-5, None], "neurons=20": [1e-1, 1e-1]})
    rows = {row.objective: row for row in made.ranking(trials)}
    assert (rows["layers"].effect, rows["layers"].failed) == (pytest.approx(0), 1)
    assert (rows["neurons"].effect, rows["neurons"].worst) == (pytest.approx(2), "20")
    assert responses([entry({}, 1e-2), entry({}, math.inf), entry({}, 1e-6)]) == pytest.approx([-2, -2, -6])
    assert responses([entry({"u": 1e-3, "v": 1e-1}), entry({}, math.nan)]) == pytest.approx([-1, -1])


def test_where_all_failed_or_one_was_trained_nothing_is_claimed() -> None:
    made = study()
    lost = made.ranking(made_up(made, {"baseline": [None, None]}))
    assert all(math.isnan(row.effect) and math.isnan(row.p) and row.failed for row in lost)
    once = made.ranking(made_up(made, {"baseline": [1e-2], "layers=3": [1e-1]}))
    assert once[0].effect == pytest.approx(1)
    assert all(math.isnan(row.noise) and math.isnan(row.p) for row in once)
    assert made.ranking([]) == []


@pytest.mark.parametrize("name", ["klein-gordon", "burgers", "lame"])
def test_the_experiments_are_the_papers_networks_on_its_case(name: str) -> None:
    file = EXPERIMENTS / f"{name}.toml"
    made = SensitivityStudy(SensitivityDesign.of(read_config(file), str(file)))
    assert made.objectives == PAPER
    alone, together = made.loads()
    assert (alone.problem, alone.trainings) == (f"{name}:I", 54)
    assert 10 < together.trainings <= 20


TINY = {
    "problem": "heat",
    "baseline": "layers=3 neurons=4 shortcuts=0-2 activation=tanh(x)",
    "layers": [4],
    "neurons": [6],
    "shortcuts": {"none": ""},
    "activations": ["sin", "tanh*"],
    "trials": 2,
    "epochs": 3,
    "coarseness": 8.0,
    "engine": "taylor",  # which has no kernels to compile
    "morris": 2,
    "workers": {"count": 1},
}


def carried_out(made: SensitivityStudy, directory: Path, stopped=lambda: False) -> bool:
    def unheard(_: object) -> None:
        pass

    return carry_out(made, directory, lambda go: go(Observer(unheard, unheard, stopped)), unheard)


def test_a_study_that_is_interrupted_and_resumed_comes_to_the_same(tmp_path: Path) -> None:
    made = study(**TINY)
    whole, pieces = tmp_path / "whole", tmp_path / "pieces"
    assert carried_out(made, whole)

    run = pieces / "trainings" / "heat"
    assert not carried_out(made, pieces, lambda: is_run(run) and any(settled_entries(run)))
    done = len(list(settled_entries(run)))
    assert 0 < done < 12
    assert made.morris(pieces) is None
    assert carried_out(study(**TINY, seed=0), pieces)

    trials, again = made.trials(whole), made.trials(pieces)
    assert len(trials) == (6 + 3) * 2  # six networks; the baseline has a name in each of four objectives
    screened = made.recorded(whole)[len(trials) :]
    genomes = list(dict.fromkeys(made.screening.genomes))  # trajectories may meet
    names = [f"morris={number}" for number in range(1, len(genomes) + 1)]
    assert sorted((trial.model, trial.entry.genome) for trial in screened) == sorted(
        zip(names, genomes, strict=True)
    )
    assert made.sensed(trials) == made.sensed(again)
    assert made.ranking(trials) == made.ranking(again)
    assert made.morris(whole) == made.morris(pieces)
    assert [row.factor for row in made.morris(whole) or ()] == [
        "layers",
        "neurons",
        "shortcut span",
        "activation",
    ]
    for row in made.sensed(trials):
        assert row.measured["u"].count == 2
        assert math.isfinite(row.loss.mean)
    assert {row.noise for row in made.morris(whole)} != {math.nan}
    with pytest.raises(EvopinnError, match="another study"):
        carried_out(study(**TINY, seed=1), whole)


def test_all_variations_have_the_start_of_the_baseline() -> None:
    design = SensitivityDesign(
        problem="heat", baseline="layers=4 neurons=20 activation=tanh(x) start=unit(2)"
    )
    genomes = [each for values in design.varied().objectives().values() for each in values.values()]
    assert len(genomes) > 10
    assert all(genome.endswith(" start=unit(2)") for genome in genomes)
