"""Studies carried out, stopped and resumed."""

import csv
import itertools
import json
import re
import shutil
from pathlib import Path

import pytest
from studies import PROBLEM, carried_out, comparison, essence, reproduction, stopping_after, unwatched

import evopinn as ep
from evopinn.errors import EvopinnError, RunError
from evopinn.lab.studies.comparison.equal_cost import ComparisonDesign
from evopinn.lab.studies.execution import DESIGN
from evopinn.lab.studies.forecasting import forecast
from evopinn.lab.studies.kinds import study_of
from evopinn.lab.studies.reproduction import ReproductionDesign
from evopinn.lab.studies.trials import settled_entries, write_csv
from evopinn.run.budget_plan import Pace
from evopinn.run.config import read_config
from evopinn.run.progress import Snapshot
from evopinn.run.record import RunRecord
from evopinn.run.session import Observer
from evopinn.search import find_method

EXPERIMENTS = sorted(
    file
    for kind in ("compare", "reproduce", "sensitivity")
    for file in (Path(__file__).parents[2] / "experiments" / kind).glob("*.toml")
)


@pytest.fixture(scope="module")
def reproduced(tmp_path_factory):
    directory = tmp_path_factory.mktemp("studies") / "reproduced"
    carried_out(reproduction(), directory)
    return directory


@pytest.fixture(scope="module")
def compared(tmp_path_factory):
    directory = tmp_path_factory.mktemp("studies") / "compared"
    carried_out(comparison(), directory)
    return directory


def test_each_published_model_is_trained_on_each_case_as_often_as_asked(reproduced):
    trials = reproduction().trials(reproduced)
    counted = sorted((each.model, each.case, each.entry.seed) for each in trials)
    models, cases = ("bo-fcnet-2", "evo-dpste-1"), ("klein-gordon:I", "klein-gordon:II")
    assert counted == list(itertools.product(models, cases, (0, 1)))


def test_a_training_of_a_study_is_the_training_that_train_does(reproduced):
    trial = next(each for each in reproduction().trials(reproduced) if each.entry.seed == 1)
    problem = ep.find_problem(trial.case).coarsened(8.0)
    result = ep.train(problem, trial.entry.genome, epochs=3, seed=1, optimizer="lbfgs")
    assert result.loss == trial.entry.loss


def test_published_and_measured_stand_side_by_side(reproduced):
    study = reproduction()
    rows = study.reproduced(study.trials(reproduced))
    assert [(row.model.name, row.published.case) for row in rows] == [
        ("evo-dpste-1", "I"),
        ("evo-dpste-1", "II"),
        ("bo-fcnet-2", "I"),
        ("bo-fcnet-2", "II"),
    ]
    assert rows[0].published.mean == ep.published_model("klein-gordon", "evo-dpste-1").error("I").mean
    assert {row.verdict for row in rows} == {"worse"}  # after three epochs


def test_a_finished_study_is_not_done_again(reproduced):
    assert carried_out(reproduction(), reproduced) == []


@pytest.mark.parametrize("moment", [1, 4])
def test_a_study_that_was_broken_off_ends_the_same(reproduced, tmp_path, moment):
    study = reproduction()
    assert not carried_out(study, tmp_path / "again", stopping_after(moment))
    assert carried_out(study, tmp_path / "again")
    assert essence(study.trials(tmp_path / "again")) == essence(study.trials(reproduced))
    assert study.data(tmp_path / "again")["rows"] == study.data(reproduced)["rows"]


def test_a_comparison_that_was_broken_off_ends_the_same(compared, tmp_path):
    study, place = comparison(), tmp_path / "again"
    for moment in (3, 30):
        assert not carried_out(study, place, stopping_after(moment))
    assert carried_out(study, place)
    assert essence(study.trials(place)) == essence(study.trials(compared))
    for again, before in zip(study.discoveries(place), study.discoveries(compared), strict=True):
        assert (again.model, again.genome, again.mean_loss) == (before.model, before.genome, before.mean_loss)
    assert study.data(place)["contrasts"] == study.data(compared)["contrasts"]


def test_whoever_watches_a_run_is_told_that_it_is_a_part_of_a_study(tmp_path):
    seen: list[Snapshot] = []

    def watched(go) -> bool:
        return go(Observer(seen.append, say=lambda _: None, stopped=lambda: True))

    assert not carried_out(reproduction(), tmp_path / "watched", watched)
    assert seen
    assert all(now.in_study for now in seen)


def test_what_was_discovered_is_trained_with_the_optimiser_that_found_it(compared):
    study = comparison()
    found = {each.model: each.genome for each in study.discoveries(compared)}
    assert list(found) == ["bo-fcnet-1", "evo-dpste-1", "evo-dpste+lm-1"]
    for trial in study.trials(compared):
        assert found[trial.model] == trial.entry.genome
        assert trial.run.name.endswith("-lm") == trial.model.startswith("evo-dpste+lm")


def test_a_discovery_that_overfits_is_known_as_its_run_has_it(compared, tmp_path):
    place = shutil.copytree(compared, tmp_path / "study")
    study = comparison()
    for each in study.discoveries(place):
        assert bool(each.warning) == RunRecord.read(each.run).best.data()["overfitted"]
    best = RunRecord.read(study.discoveries(place)[0].run).best.entry.task
    described = place / "searches" / "bo-fcnet-1" / "weights" / f"{best:08d}.json"
    data = json.loads(described.read_text())
    data["residuals"] = {"training": 1e-9, "held_out": 1e-3}
    described.write_text(json.dumps(data))
    assert "1e+06 times" in study.discoveries(place)[0].warning


def test_every_method_spends_what_evolution_spends(compared):
    study = comparison()
    for each in study.discoveries(compared):
        assert study.budget <= each.epochs <= 1.02 * study.budget
        assert each.spent == sum(entry.epochs for entry in settled_entries(each.run))
        assert 0.5 * each.epochs < each.spent <= each.epochs


def test_the_best_loss_falls(compared):
    for searches in comparison().best_losses(compared).values():
        for found in searches:
            epochs, losses = zip(*found, strict=True)
            assert list(epochs) == sorted(epochs)
            assert list(losses) == sorted(losses, reverse=True)


def test_the_table_of_trainings_has_all_of_them(reproduced, tmp_path):
    trials = reproduction().trials(reproduced)
    write_csv(tmp_path / "trainings.csv", trials)
    with (tmp_path / "trainings.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["model"], row["case"], int(row["seed"])) for row in rows] == [
        (each.model, each.case, each.entry.seed) for each in trials
    ]
    assert [float(row["error_u"]) for row in rows] == pytest.approx([each.error("u") for each in trials])


def test_it_is_told_beforehand_how_long_it_will_take():
    expected = forecast(comparison(), unwatched)
    assert [load.title for load in expected.loads][:3] == [
        "1 × bo-fcnet",
        "1 × evo-dpste",
        "1 × evo-dpste+lm",
    ]
    methods = ("bo-fcnet", "evo-dpste")
    assert [load.epochs for load in expected.loads[:2]] == [comparison().epochs[each] for each in methods]
    assert all(0 < seconds < 600 for seconds in expected.seconds)


def test_cases_with_as_many_points_are_timed_once(monkeypatch):
    problems = []

    def timed(config, source, observer):
        problems.append(config.problem)
        return Pace(seconds_per_epoch=1.0, seconds_per_training=0.0), 1

    monkeypatch.setattr("evopinn.run.session.measure_pace", timed)
    expected = forecast(reproduction(problem="lame", cases=["I", "II", "V"]), unwatched)
    assert problems == ["lame:I", "lame:V"]  # whose points are others
    assert len(expected.seconds) == 3


def test_times_are_those_of_the_space_the_method_and_the_workers_that_there_are(monkeypatch):
    spaces = []

    def timed(config, source, observer):
        spaces.append((config.training.optimizer, config.space))
        return Pace(seconds_per_epoch=1.0, seconds_per_training=0.0), 4

    monkeypatch.setattr("evopinn.run.session.measure_pace", timed)
    study = comparison(workers={"count": 1})  # a cluster may have others than are asked for
    expected = forecast(study, unwatched)
    assert spaces == [("lbfgs", study.design.space), ("lm", "")]
    costs = [
        find_method("bo-fcnet").drift,
        find_method("evo-dpste").drift,
        find_method("evo-dpste").even_drift,
    ]
    assert list(expected.seconds[:3]) == pytest.approx(
        [cost * study.epochs[method] / 4 for cost, method in zip(costs, study.methods, strict=True)]
    )
    assert list(expected.seconds[3:]) == [6 * 2 / 4, 6 / 2]  # two models by L-BFGS, then one, twice each


def test_another_study_in_the_same_place_is_refused(reproduced):
    with pytest.raises(RunError, match=r"study\.toml"):
        carried_out(reproduction(epochs=4), reproduced)


def test_a_run_that_is_not_the_studys_is_refused(reproduced, tmp_path):
    (tmp_path / "trainings").mkdir()
    (tmp_path / "trainings" / "klein-gordon-I").symlink_to(reproduced / "trainings" / "klein-gordon-I")
    study = reproduction(epochs=4)
    (tmp_path / DESIGN).write_text(study.design.toml())
    with pytest.raises(RunError, match="klein-gordon-I"):
        carried_out(study, tmp_path)


def test_a_place_with_other_things_in_it_is_refused(tmp_path):
    (tmp_path / "thesis.tex").write_text("")
    with pytest.raises(RunError, match="not empty"):
        carried_out(reproduction(), tmp_path)


@pytest.mark.parametrize(
    ("design", "values", "reason"),
    [
        (ReproductionDesign, {"problem": "heat"}, r"'heat'.*\bklein-gordon, burgers, lame\b"),
        (ReproductionDesign, {"problem": "lame", "models": ["evo-9"]}, r"\bmodel .*'evo-9'.*\bevo-dpste-1\b"),
        (ReproductionDesign, {"problem": "lame", "scale": 0.0}, r"\bscale = 0\.0\b.*\bgreater than 0\b"),
        (ReproductionDesign, {"problem": "lame", "scale": 2.0}, r"\bscale = 2\.0\b.*\bat most 1\b"),
        (
            ReproductionDesign,
            {"problem": "lame", "cases": ["X"]},
            r"\bcase of lame .*'X'.*\blame:I, .*\blame:V\b",
        ),
        (ReproductionDesign, {"problem": "lame", "tirals": 3}, r"'tirals'.* trials\?.*\bcoarseness\b"),
        (ReproductionDesign, {"problem": "lame", "kind": "compare"}, r"'compare'.*'reproduce'"),
        (
            ComparisonDesign,
            {"problem": "lame", "methods": ["annealing"]},
            r"\bmethod .*'annealing'.*\bbo-fcnet\b.*\bevo-dpste\b",
        ),
        (ComparisonDesign, {"problem": "lame", "budget": "10m"}, "equal epochs"),
        (ComparisonDesign, {"problem": "lame", "budget": "100 epochs"}, "too small"),
        (ComparisonDesign, {"problem": "lame", "searches": 0}, r"\bsearches = 0\b.*\bat least 1\b"),
        (ComparisonDesign, {"problem": "nonsense"}, r"\bproblem .*'nonsense'.*`evopinn problems`"),
    ],
)
def test_a_design_that_makes_no_sense_is_refused(tmp_path, design, values, reason):
    kind = design.model_fields["kind"].default
    with pytest.raises(EvopinnError, match=reason):
        carried_out(study_of(kind, values, "the study"), tmp_path / "never", stopping_after(1))


def test_what_is_named_twice_is_done_and_counted_once():
    study = reproduction(cases=["I", "i", "klein-gordon:I"], models=["evo-dpste-1", "evo-dpste-1"])
    assert study.design.case_names() == ("klein-gordon:I",)
    assert study.design.models == ["evo-dpste-1"]
    assert comparison(methods=["random", "evo-dpste", "random"]).methods == ["random", "evo-dpste"]


def test_without_any_names_all_cases_are_meant():
    assert reproduction(cases=[]).design.case_names() == reproduction(cases=None).design.case_names()


@pytest.mark.parametrize("file", EXPERIMENTS, ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_the_experiments_of_the_project_are_designs(file):
    values = read_config(file)
    study = study_of(values["kind"], values, str(file))
    assert file.parent.name == values["kind"]
    assert study.design.problem == file.stem
    assert sum(load.epochs for load in study.loads()) > 0


def test_a_study_of_a_problem_that_was_changed_is_refused(tmp_path):
    file = tmp_path / "mine.py"
    text = Path(PROBLEM).read_text()
    file.write_text(text)
    study = comparison(problem=str(file), methods=["bo-fcnet"])
    assert carried_out(study, tmp_path / "study")
    file.write_text(text.replace("weight=10", "weight=11"))
    with pytest.raises(RunError, match=re.escape(str(file))):
        carried_out(study, tmp_path / "study")
    file.write_text(text)
    assert carried_out(study, tmp_path / "study") == []
