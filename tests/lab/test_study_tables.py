"""The tables of studies: what they say, and that all formats say it."""

import math
import re
from dataclasses import replace
from io import StringIO

import pytest
from rich.console import Console
from shown import (
    OURS,
    SEEDS,
    Sensing,
    assert_golden,
    comparison,
    comparison_trials,
    discoveries,
    make_trial,
    reproduction,
    reproduction_trials,
)

from evopinn.lab.studies.comparison.comparison_tables import (
    contrasts_table,
    cost_table,
    discovery_tables,
    methods_table,
)
from evopinn.lab.studies.forecasting import Forecast
from evopinn.lab.studies.labels import (
    conditions_note,
    count_cell,
    mean_cell,
    published_error,
    scale_note,
    structure_cell,
)
from evopinn.lab.studies.reproduction import reproduction_table
from evopinn.lab.studies.sensitivity.sensitivity_tables import (
    morris_table,
    ranking_table,
    sensitivity_table,
)
from evopinn.lab.studies.statistics import Contrast
from evopinn.lab.studies.study import Load
from evopinn.lab.studies.trials import Sample


def printed(table, width=200):
    """As a terminal shows it."""
    file = StringIO()
    Console(file=file, width=width).print(table.rich())
    return file.getvalue()


def text_of(table):
    """The cells of a table as a terminal shows them."""
    return [[cell.text for cell in row] for row in table.rows]


def reproduced_table(study):
    return reproduction_table(study.design, study.reproduced(reproduction_trials(study)))


def contrasts_of(study, trials):
    return contrasts_table(study.contrasts(trials), trials)


def column(sheet, name):
    place = [each.name for each in sheet.columns].index(name)
    return [row[place].text for row in sheet.rows]


@pytest.fixture
def forecast():
    loads = [
        Load("3 × evo-dpste", "lame", "lbfgs", 25, 800),
        Load("lame:I, trained by lm", "lame:I", "lm", 30, 150_000),
    ]
    return Forecast(loads, [75.0, 7200.0])


def test_published_and_measured_stand_side_by_side_with_a_verdict():
    study = reproduction()
    sheet = reproduced_table(study)
    assert column(sheet, "model") == ["evo-dpste-1"] * 4 + ["bo-fcnet-1"] * 4
    assert column(sheet, "case") == ["I", "I", "II", "II"] * 2
    assert column(sheet, "verdict") == ["within"] * 2 + ["better"] * 2 + ["worse"] * 2 + ["failed"] * 2
    assert column(sheet, "published error")[0] == "6.18e-06 ± 1.74e-06"
    assert column(sheet, "measured error")[0] == "6.18e-06 ± 6.18e-07"
    assert column(sheet, "ratio") == ["1", "1", "0.5", "0.5", "3,000", "3,000", "–", "–"]
    assert column(sheet, "trainings")[-3:] == ["3", "0 of 3", "0 of 3"]
    assert re.findall(r"\d+", sheet.notes[0]) == ["8", "2", "2", "2", "2"]


def test_what_is_not_trained_yet_has_not_failed():
    study = reproduction()
    begun = [trial for trial in reproduction_trials(study) if trial.case == "lame:I"]
    sheet = reproduction_table(study.design, study.reproduced(begun))
    assert column(sheet, "verdict") == ["within", "within", "–", "–", "worse", "worse", "–", "–"]
    assert "2 worse, 4 " in sheet.notes[0]


def test_costs_are_those_of_the_study():
    study = comparison()
    sheet = cost_table(study.epochs, study.budget, discoveries(study))
    assert column(sheet, "method") == list(study.methods)
    planned = [study.epochs[method] for method in study.methods]
    _, _, epochs, share, spent, *_ = zip(*text_of(sheet), strict=True)
    assert list(epochs) == [f"{each:,}" for each in planned]
    assert list(share) == [f"{each / study.budget:.3f}" for each in planned]
    assert list(spent) == ["75%"] * len(study.methods)
    headers = [each.name for each in sheet.columns]
    assert all(word in name for word, name in zip(("epochs", "budget", "spent"), headers[2:5], strict=True))
    assert f"{study.budget:,} epochs" in sheet.notes[0]


def test_ours_has_a_table_of_its_own():
    study = comparison()
    theirs, ours = discovery_tables(study.design, discoveries(study), comparison_trials(study))
    assert set(column(theirs, "method")) == {"bo-fcnet", "evo-dpste"}
    assert set(column(ours, "method")) == {OURS}
    assert "Levenberg-Marquardt" in ours.notes[0]
    assert set(column(ours, "published error")) == {"–"}
    assert "1.38e-04 ± 4.65e-05" in column(theirs, "published error")
    assert column(theirs, "parameters")[:2] == ["364", "364"]  # 12·3 + 2 (12·13) + 13 + 3 of the activation
    alone = comparison(methods=["evo-dpste"])
    assert len(discovery_tables(alone.design, discoveries(alone), comparison_trials(alone))) == 1


def test_a_model_that_overfits_is_noted():
    study = comparison()
    found = discoveries(study)
    found[1] = replace(found[1], warning="the network overfits its training points")
    theirs, ours = discovery_tables(study.design, found, comparison_trials(study))
    said = f"{found[1].model}: the network overfits its training points."
    assert theirs.notes[-1] == said
    assert not any("overfits" in note for note in ours.notes)


def test_methods_are_means_of_all_their_trainings():
    study = comparison()
    trials = comparison_trials(study)
    sheet = methods_table(study.design, trials)
    assert [each.name for each in sheet.columns] == ["method", "figures", "I u", "II u"]
    assert column(sheet, "figures") == ["measured", "published"] * 2 + ["measured"]
    own = [
        trial.error("u") for trial in trials if trial.case.endswith(":I") and trial.model.startswith("bo-")
    ]
    assert text_of(sheet)[0][2] == f"{sum(own) / len(own):.2e}"
    reported = [published_error("klein-gordon", f"bo-fcnet-{run}", "I", "u").mean for run in (1, 2, 3)]
    assert text_of(sheet)[1][2] == f"{sum(reported) / 3:.2e}"


def test_tests_between_methods_say_who_is_more_exact():
    study = comparison()
    (row,) = text_of(contrasts_of(study, comparison_trials(study)))
    assert row[:4] == ["bo-fcnet", "evo-dpste", "12", "4"]
    assert row[4] == "+1.00"
    assert float(row[5]) < 0.001
    assert re.match(r"evo-dpste .*\bmore exact$", row[-1])
    (few,) = text_of(contrasts_of(study, comparison_trials(study)[:1]))
    assert few[2:-1] == ["0", "–", "–", "–", "–"]
    assert re.search(r"\bfew pairs\b", few[-1])


def test_a_few_large_ratios_do_not_turn_what_the_test_of_ranks_says():
    turned = Contrast("bo-fcnet", "evo-dpste", 30, ratio=1.4, effect=-0.6, p=0.001, p_holm=0.001)
    ((*_, so),) = text_of(contrasts_table([turned], []))
    assert re.match(r"bo-fcnet .*\bmore exact$", so)


def test_a_problem_without_a_solution_is_judged_by_its_loss():
    study = comparison(problem="not-in-the-paper", cases=None)
    trials = [
        make_trial(each.model, "not-in-the-paper", each.genome, seed, {})
        for each in discoveries(study)
        for seed in SEEDS
    ]
    sheet, _ = discovery_tables(study.design, discoveries(study), trials)
    assert "mean loss" in [each.name for each in sheet.columns]
    assert set(column(sheet, "field")) == {"–"}
    assert set(column(sheet, "mean loss")) == {"5.00e-01 ± 0.00e+00"}
    assert set(column(sheet, "parameters")) == {"–"}
    assert "published" in sheet.notes[0]
    (contrast,) = study.contrasts(trials)
    assert (contrast.pairs, contrast.ratio) == (6, 1.0)
    tests = contrasts_of(study, trials)
    assert next(each.name for each in tests.columns if "ratio" in each.name).endswith(" losses")
    assert "losses" in tests.notes[0]


def test_a_forecast_adds_up_and_says_what_the_paper_took(forecast):
    sheet = forecast.table
    *row, duration = text_of(sheet)[-1]
    assert row == ["all", "", "55", "150,800"]
    assert duration.endswith(" 2 h 01 min")
    assert "V100" in sheet.notes[0]


def test_sensitivity_is_shown_beside_the_baseline():
    study = Sensing()
    sheet = sensitivity_table(study.sensed(study.made_up()))
    assert column(sheet, "value") == ["3", "9 (baseline)", "tanh (baseline)", "sin"]
    (ratio,) = (each.name for each in sheet.columns if "baseline" in each.name)
    assert column(sheet, ratio) == ["10", "1", "1", "0.001"]
    ranked = ranking_table(study.ranking([]))
    assert column(ranked, "objective") == ["activation", "layers"]
    assert column(ranked, "share") == ["75%", "25%"]
    assert column(ranked, "rank") == ["1", "2"]


@pytest.mark.parametrize("name", ["reproduction", "comparison", "forecast", "sensitivity"])
def test_the_format_of_the_tables_is_kept(name, forecast):
    study, sensed = comparison(), Sensing()
    reproduced, trials = reproduction(), comparison_trials(study)
    tables = {
        "reproduction": [reproduced_table(reproduced)],
        "comparison": [
            cost_table(study.epochs, study.budget, discoveries(study)),
            *discovery_tables(study.design, discoveries(study), trials),
            methods_table(study.design, trials),
            contrasts_of(study, trials),
        ],
        "forecast": [forecast.table],
        "sensitivity": [
            sensitivity_table(sensed.sensed(sensed.made_up())),
            ranking_table(sensed.ranking([])),
            morris_table(sensed.morris(None)),
        ],
    }[name]
    assert_golden(f"{name}.md", "\n".join(table.markdown() for table in tables))


def test_it_is_told_what_failed_trainings_count_as():
    rows = Sensing().ranking([])
    assert not any("Failed" in note for note in ranking_table(rows).notes)
    ranking = ranking_table([replace(rows[0], failed=1), rows[1]])
    screening = morris_table([replace(row, failed=1) for row in Sensing().morris(None)])
    for table in (ranking, screening):
        assert re.search(r"^Failed\b.*\bworst\b", table.notes[-1])


def test_the_deviation_of_effects_says_nothing_of_activations():
    unordered = replace(Sensing().morris(None)[0], factor="activation")
    assert column(morris_table([unordered]), "σ") == ["–"]


def test_formats_say_the_same():
    study = reproduction()
    sheet = reproduced_table(study)
    shown, written = printed(sheet), sheet.markdown()
    for row in sheet.shown:
        for cell in row:
            assert cell.text in shown
            assert cell.markdown in written
    assert all(note in shown for note in sheet.notes[:2])


def test_a_narrow_terminal_keeps_what_matters():
    study = reproduction()
    shown = printed(reproduced_table(study), width=100)
    assert "6.18e-06 ± 1.74e-06" in shown
    assert "evo-dpste-1" in shown
    assert "trainings " not in shown
    assert "structure " not in shown.splitlines()[1]


def test_cells():
    assert structure_cell("layers=7 neurons=30 shortcuts=0-2,3-5 activation=tanh(x)") == "7×30 [0-2, 3-5]"
    assert structure_cell("<b>") == "<b>"
    assert mean_cell(Sample.of([])) == "–"
    assert mean_cell(Sample.of([math.nan])) == "failed"
    assert count_cell(Sample.of([1.0, math.nan])) == "1 of 2"


def test_what_differs_from_the_paper_is_told():
    study = comparison(epochs=100)
    conditions = conditions_note(study.design)
    assert all(figure in conditions for figure in ("100 epochs", "50,000", "1/4"))
    note = scale_note(study.design)
    for name, ours, paper in (("epochs", "100", "50,000"), ("coarseness", "4", "1"), ("searches", "2", "3")):
        assert re.search(rf"\b{name} {ours} \D* {paper}\b", note)
    assert "own schedule" in note
    whole = scale_note(reproduction(trials=10).design)
    assert re.fullmatch(r"Scale 1: \D+", whole)  # and nothing that differs
