"""The tables of studies: what they say, and that all formats say it."""

import math
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

from evopinn.study.compare import ComparisonStudy
from evopinn.study.course import Forecast
from evopinn.study.parts import Load
from evopinn.study.statistics import Contrast
from evopinn.study.trials import Spread
from evopinn.view.study.sheets import Column, Sheet
from evopinn.view.study.tables import (
    accounting_table,
    contrasts_table,
    discovery_tables,
    forecast_table,
    methods_table,
    morris_table,
    ranking_table,
    reproduction_table,
    sensitivity_table,
)
from evopinn.view.study.wording import (
    conditions_note,
    count_cell,
    published_error,
    scale_note,
    spread_cell,
    structure_cell,
)

HOSTILE = "<script>alert(1)</script> [red]*a*[/red] | `b` \x1b[31m $x$"


def printed(table, width=200):
    """As a terminal shows it."""
    file = StringIO()
    Console(file=file, width=width).print(table.rich())
    return file.getvalue()


def column(sheet, name):
    place = [each.name for each in sheet.columns].index(name)
    return [row[place] for row in sheet.rows]


@pytest.fixture
def forecast():
    loads = [
        Load("3 × evo-dpste", "lame", "lbfgs", 25, 800),
        Load("lame:I, trained by lm", "lame:I", "lm", 30, 150_000),
    ]
    return Forecast(loads, [75.0, 7200.0])


def test_published_and_measured_stand_side_by_side_with_a_verdict():
    study = reproduction()
    sheet = reproduction_table(study, reproduction_trials(study))
    assert column(sheet, "model") == ["evo-dpste-1"] * 4 + ["bo-fcnet-1"] * 4
    assert column(sheet, "case") == ["I", "I", "II", "II"] * 2
    assert column(sheet, "verdict") == ["within"] * 2 + ["better"] * 2 + ["worse"] * 2 + ["failed"] * 2
    assert column(sheet, "published error")[0] == "6.18e-06 ± 1.74e-06"
    assert column(sheet, "measured error")[0] == "6.18e-06 ± 6.18e-07"
    assert column(sheet, "ratio") == ["1", "1", "0.5", "0.5", "3,000", "3,000", "–", "–"]
    assert column(sheet, "trainings")[-3:] == ["3", "0 of 3", "0 of 3"]
    assert (
        sheet.notes[0]
        == "Of 8 rows: 2 within the published spread, 2 better, 2 worse, 2 without any network."
    )


def test_what_is_not_trained_yet_has_not_failed():
    study = reproduction()
    begun = [trial for trial in reproduction_trials(study) if trial.case == "lame:I"]
    sheet = reproduction_table(study, begun)
    assert column(sheet, "verdict") == ["within", "within", "–", "–", "worse", "worse", "–", "–"]
    assert sheet.notes[0].endswith("2 worse, 4 not trained yet.")


def test_costs_are_those_of_the_study():
    study = comparison()
    sheet = accounting_table(study, discoveries(study))
    assert column(sheet, "method") == list(study.methods)
    epochs = [study.epochs(method) for method in study.methods]
    assert column(sheet, "epochs of a search") == [f"{each:,}" for each in epochs]
    assert column(sheet, "share of the budget") == [f"{each / study.budget:.3f}" for each in epochs]
    assert column(sheet, "of these spent") == ["75%"] * len(study.methods)
    assert f"The budget is {study.budget:,} epochs" in sheet.notes[0]


def test_ours_has_a_table_of_its_own():
    study = comparison()
    theirs, ours = discovery_tables(study, discoveries(study), comparison_trials(study))
    assert set(column(theirs, "method")) == {"bo-fcnet", "evo-dpste"}
    assert set(column(ours, "method")) == {OURS}
    assert "Levenberg-Marquardt" in ours.notes[0]
    assert set(column(ours, "published error")) == {"–"}
    assert "1.38e-04 ± 4.65e-05" in column(theirs, "published error")
    assert column(theirs, "parameters")[:2] == ["364", "364"]  # 12·3 + 2 (12·13) + 13 + 3 of the activation
    alone = comparison(methods=["evo-dpste"])
    assert len(discovery_tables(alone, discoveries(alone), comparison_trials(alone))) == 1


def test_a_model_whose_loss_deceives_is_told_of():
    study = comparison()
    found = discoveries(study)
    found[1] = replace(found[1], deceit="the residual is larger elsewhere: the loss deceives")
    theirs, ours = discovery_tables(study, found, comparison_trials(study))
    said = f"Of {found[1].model}, the residual is larger elsewhere: the loss deceives."
    assert theirs.notes[-1] == said
    assert not any("deceives" in note for note in ours.notes)


def test_methods_are_means_of_all_their_trainings():
    study = comparison()
    trials = comparison_trials(study)
    sheet = methods_table(study, trials)
    assert [each.name for each in sheet.columns] == ["method", "figures", "I u", "II u"]
    assert column(sheet, "figures") == ["measured", "published"] * 2 + ["measured"]
    own = [
        trial.error("u") for trial in trials if trial.case.endswith(":I") and trial.model.startswith("bo-")
    ]
    assert sheet.rows[0][2] == f"{sum(own) / len(own):.2e}"
    reported = [published_error("klein-gordon", f"bo-fcnet-{run}", "I", "u").mean for run in (1, 2, 3)]
    assert sheet.rows[1][2] == f"{sum(reported) / 3:.2e}"


def test_tests_between_methods_say_who_is_more_exact():
    study = comparison()
    sheet = contrasts_table(study, comparison_trials(study))
    (row,) = sheet.rows
    assert row[:4] == ["bo-fcnet", "evo-dpste", "12", "4"]
    assert row[4] == "+1.00"
    assert float(row[5]) < 0.001
    assert row[-1] == "evo-dpste is more exact"
    (few,) = contrasts_table(study, comparison_trials(study)[:1]).rows
    assert few[2:] == ["0", "–", "–", "–", "–", "too few pairs"]


def test_a_few_large_ratios_do_not_turn_what_the_test_of_ranks_says(monkeypatch):
    study = comparison()
    turned = Contrast("bo-fcnet", "evo-dpste", 30, ratio=1.4, effect=-0.6, p=0.001, p_holm=0.001)
    monkeypatch.setattr(ComparisonStudy, "contrasts", lambda *_: [turned])
    ((*_, so),) = contrasts_table(study, []).rows
    assert so == "bo-fcnet is more exact"


def test_a_problem_without_a_solution_is_judged_by_its_loss():
    study = comparison(problem="not-in-the-paper", cases=None)
    trials = [
        make_trial(each.model, "not-in-the-paper", each.genome, seed, {})
        for each in discoveries(study)
        for seed in SEEDS
    ]
    sheet, _ = discovery_tables(study, discoveries(study), trials)
    assert "mean loss" in [each.name for each in sheet.columns]
    assert set(column(sheet, "field")) == {"–"}
    assert set(column(sheet, "mean loss")) == {"5.00e-01 ± 0.00e+00"}
    assert set(column(sheet, "parameters")) == {"–"}
    assert "nothing is published" in sheet.notes[0]
    (contrast,) = study.contrasts(trials)
    assert (contrast.pairs, contrast.ratio) == (6, 1.0)
    tests = contrasts_table(study, trials)
    assert "ratio of losses" in [each.name for each in tests.columns]
    assert "on pairs of losses" in tests.notes[0]


def test_a_forecast_adds_up_and_says_what_the_paper_took(forecast):
    sheet = forecast_table(forecast)
    assert sheet.rows[-1] == ["all", "", "55", "150,800", "about 2 h 01 min"]
    assert "four Tesla V100" in sheet.notes[0]
    assert "few hours to more than 10" in sheet.notes[0]


def test_sensitivity_is_shown_beside_the_baseline():
    study = Sensing()
    sheet = sensitivity_table(study.table(study.made_up()))
    assert column(sheet, "value") == ["3", "9 (baseline)", "tanh (baseline)", "sin"]
    assert column(sheet, "beside the baseline") == ["10", "1", "1", "0.001"]
    ranked = ranking_table(study.ranking([]))
    assert column(ranked, "objective") == ["activation", "layers"]
    assert column(ranked, "share") == ["75%", "25%"]
    assert column(ranked, "rank") == ["1", "2"]


@pytest.mark.parametrize("name", ["reproduction", "comparison", "forecast", "sensitivity"])
def test_the_format_of_the_tables_is_kept(name, forecast):
    study, sensed = comparison(), Sensing()
    reproduced, trials = reproduction(), comparison_trials(study)
    tables = {
        "reproduction": [reproduction_table(reproduced, reproduction_trials(reproduced))],
        "comparison": [
            accounting_table(study, discoveries(study)),
            *discovery_tables(study, discoveries(study), trials),
            methods_table(study, trials),
            contrasts_table(study, trials),
        ],
        "forecast": [forecast_table(forecast)],
        "sensitivity": [
            sensitivity_table(sensed.table(sensed.made_up())),
            ranking_table(sensed.ranking([])),
            morris_table(sensed.morris(None)),
        ],
    }[name]
    assert_golden(f"{name}.md", "\n".join(table.markdown() for table in tables))


def test_it_is_told_what_failed_trainings_count_as():
    rows = Sensing().ranking([])
    assert not any("failed" in note for note in ranking_table(rows).notes)
    told = "Trainings that failed count as the worst that did not."
    assert ranking_table([replace(rows[0], failed=1), rows[1]]).notes[-1] == told
    assert morris_table([replace(row, failed=1) for row in Sensing().morris(None)]).notes[-1] == told


def test_the_deviation_of_effects_says_nothing_of_activations():
    unordered = replace(Sensing().morris(None)[0], factor="activation")
    assert column(morris_table([unordered]), "σ") == ["–"]


def test_formats_say_the_same():
    study = reproduction()
    sheet = reproduction_table(study, reproduction_trials(study))
    shown, written = printed(sheet), sheet.markdown()
    for row in sheet.shown():
        for cell in row:
            assert cell in shown
            assert cell in written
    assert all(note in shown for note in sheet.notes[:2])


def test_a_narrow_terminal_keeps_what_matters():
    study = reproduction()
    shown = printed(reproduction_table(study, reproduction_trials(study)), width=100)
    assert "6.18e-06 ± 1.74e-06" in shown
    assert "evo-dpste-1" in shown
    assert "trainings " not in shown
    assert "structure " not in shown.splitlines()[1]


def test_words_of_others_stay_words():
    sheet = Sheet("", [Column(HOSTILE), Column("code", "code")], [[HOSTILE, HOSTILE]], groups=1)
    shown, written = printed(sheet, 400), sheet.markdown()
    assert "<script>" in shown
    assert "[red]*a*[/red]" in shown
    assert "\x1b[31m" not in shown
    assert r"\<script\>" in written
    assert "`` <script>alert(1)</script>" in written
    assert written.count("\n") == 3  # nothing has broken a row


def test_groups_are_said_once():
    sheet = Sheet(
        "",
        [Column("a"), Column("b"), Column("c")],
        [["x", "1", "p"], ["x", "1", "q"], ["x", "2", "r"]],
        groups=2,
    )
    assert [list(row) for row in sheet.shown()] == [["x", "1", "p"], ["", "", "q"], ["x", "2", "r"]]
    assert Sheet("", [Column("a")], []).shown() == []


def test_cells():
    assert structure_cell("layers=7 neurons=30 shortcuts=0-2,3-5 activation=tanh(x)") == "7×30 [0-2, 3-5]"
    assert structure_cell("<b>") == "<b>"
    assert spread_cell(Spread.of([])) == "–"
    assert spread_cell(Spread.of([math.nan])) == "failed"
    assert count_cell(Spread.of([1.0, math.nan])) == "1 of 2"


def test_what_differs_from_the_paper_is_told():
    study = comparison(epochs=100)
    assert "100 epochs, the published ones for 50,000; on 1/4 of their points" in conditions_note(
        study.design
    )
    note = scale_note(study.design)
    assert "epochs 100 in place of 50,000" in note
    assert "coarseness 4 in place of 1" in note
    assert "searches 2 in place of 3" in note
    assert note.endswith("its own schedule.")
    whole = scale_note(reproduction(trials=10).design)
    assert whole == "Scale 1: the paper's schedules, points and numbers of trials."
