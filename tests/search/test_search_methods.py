"""The five methods by name: what all of them promise."""

import re
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from toy import WORKPLANS, drive, exact, noisy

from evopinn.errors import SearchError, UnknownNameError
from evopinn.genome import PAPER
from evopinn.search import METHODS, find_method
from evopinn.search.bayes import BayesSettings
from evopinn.search.evolution import EvolutionSettings


def test_the_five_of_the_paper_come_first() -> None:
    assert list(METHODS)[:5] == ["evo-dpste", "evolution", "random", "bo-fcnet", "bo-fcresnet"]


@pytest.mark.parametrize("name", METHODS)
def test_a_method_runs_within_its_workload(name: str) -> None:
    method = find_method(name)
    workplan = WORKPLANS[name]
    search = method.make(workplan, seed=1)
    driven = drive(search, noisy)
    load = method.workload(workplan, method.defaults)
    epochs = sum(task.epochs for task in driven.tasks)
    assert 0.8 * load.epochs < epochs <= load.epochs
    assert 1 <= len(search.finalists) <= 3
    for task in driven.tasks:
        PAPER.check(task.genome)
    again = method.make(workplan, seed=1)
    assert drive(again, noisy, np.random.default_rng(0)).tasks == driven.tasks


@pytest.mark.parametrize("name", METHODS)
def test_a_method_with_other_settings(name: str) -> None:
    method = find_method(name)
    candidates = {"candidates": 2} if "candidates" in method.setting_names else {}
    search = method.make(WORKPLANS[name], 0, PAPER, method.settings(evaluations=3, **candidates))
    drive(search, exact)
    assert {len(finalist.losses) for finalist in search.finalists} == {3}
    assert len(search.finalists) == 2 or not candidates


def test_what_makes_a_method_cannot_be_changed() -> None:
    with pytest.raises(UnknownNameError, match=r"evolution .*'pressure'"):
        find_method("evolution").settings(pressure=False)
    with pytest.raises(UnknownNameError, match=r"bo-fcnet .*'span'"):
        find_method("bo-fcnet").settings(span=2)
    with pytest.raises(UnknownNameError, match=r"'candidate'.*\bcandidates\b"):
        find_method("random").settings(candidate=2)


def test_a_method_needs_its_own_kind_of_workplan_and_settings() -> None:
    with pytest.raises(SearchError, match=r"^random .*Trials .*Schedule"):
        find_method("random").make(WORKPLANS["bo-fcnet"], 0)
    with pytest.raises(SearchError, match=r"^bo-fcnet .*EvolutionSettings.* BayesSettings"):
        find_method("bo-fcnet").make(WORKPLANS["bo-fcnet"], 0, settings=EvolutionSettings())
    with pytest.raises(SearchError, match=r"^evolution .*BayesSettings.* EvolutionSettings"):
        find_method("evolution").workload(WORKPLANS["evolution"], BayesSettings())


def test_an_unknown_method_is_refused() -> None:
    with pytest.raises(UnknownNameError, match=r"'evo-dpst'.*\bevo-dpste\b"):
        find_method("evo-dpst")


PAGE = (Path(__file__).parents[2] / "docs" / "search.md").read_text(encoding="utf-8")


def test_the_page_has_all_methods() -> None:
    rows = re.findall(
        r"^\| `([\w-]+)` \| (.*) \|$", PAGE.partition("## Methods")[2].partition("They are")[0], re.M
    )
    assert rows == [(method.name, method.summary) for method in METHODS.values()]


@pytest.mark.parametrize(
    ("name", "header"), [("evolution", "setting"), ("bo-fcnet", "setting of `bo-` methods")]
)
def test_the_page_has_all_settings_and_their_defaults(name: str, header: str) -> None:
    method = find_method(name)
    table = PAGE.partition(f"| {header} | default | meaning |\n")[2].partition("\n\n")[0]
    rows = re.findall(r"^\| `(\w+)` \| (.*?) \|", table, re.M)
    assert [row for row, _ in rows] == [
        field.name for field in fields(method.defaults) if field.name not in method.fixed
    ]
    for row, text in rows:
        value = getattr(method.defaults, row)
        if value is None:
            assert text == "by `faithful`"
        elif row == "mean":
            assert "optimiser" in text
        elif row != "mutation":
            assert text == "off" if value is False else float(text) == value


def test_the_page_has_all_drifts() -> None:
    table = PAGE.partition("| method | `drift` | with `lm` |")[2]
    rows = re.findall(r"^\| (`.*`) \| ([\d.]+) \| ([\d.]+) \|", table, re.M)
    told = {
        name: (float(drift), float(even))
        for names, drift, even in rows
        for name in re.findall(r"`([\w-]+)`", names)
    }
    assert told == {method.name: (method.drift, method.even_drift) for method in METHODS.values()}
