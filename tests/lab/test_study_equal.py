"""Equal cost: each method trains for as many epochs as evolution with DPSTE, or it is said that it cannot."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evopinn.errors import SearchError
from evopinn.lab.studies.comparison.comparison_study import ComparisonStudy
from evopinn.lab.studies.comparison.equal_cost import (
    TOLERANCE,
    ComparisonDesign,
    equal_workplan,
    reference,
    total_epochs,
    workplan_of,
)
from evopinn.lab.studies.labels import COMPARED, OURS, REFERENCE
from evopinn.search import METHODS, PRESETS, Schedule, Score, Trials, Workplan

FAMILIES = ("klein-gordon", "burgers", "lame")
OTHERS = [method for method in METHODS.values() if method.name != REFERENCE]


def asked_for(method, workplan: Workplan) -> int:
    """The epochs of all trainings that a searcher asks for."""
    searcher, epochs = method.make(workplan, seed=0), 0
    while not searcher.finished:
        for task in searcher.ask():
            epochs += task.epochs
            loss = 1.0 + task.genome.structure.neurons
            searcher.tell(task.number, Score(-loss))
    return epochs


def assert_equal(design: ComparisonDesign) -> None:
    budget = total_epochs(METHODS[REFERENCE], reference(design))
    for method in METHODS.values():
        spent = total_epochs(method, workplan_of(design, method))
        assert budget <= spent <= (1 + TOLERANCE) * budget, method.name


@st.composite
def schedules(draw) -> Schedule:
    generations = draw(st.integers(1, 15))
    populations = draw(st.lists(st.integers(2, 300), min_size=generations, max_size=generations))
    epochs = draw(st.lists(st.integers(1, 5000), min_size=generations, max_size=generations))
    return Schedule(tuple(sorted(populations, reverse=True)), tuple(sorted(epochs)))


@given(schedule=schedules(), method=st.sampled_from(OTHERS))
@settings(max_examples=150, deadline=None)
def test_any_schedule_is_matched_to_2_percent_or_refused_in_a_line(schedule, method) -> None:
    budget = total_epochs(METHODS[REFERENCE], schedule)
    try:
        workplan = equal_workplan(method, schedule)
    except SearchError as error:
        workplan, told = None, str(error)
    else:
        told = ""
    if workplan is None:
        assert method.name in told
        assert "\n" not in told
    else:
        assert isinstance(workplan, method.workplan)
        assert budget <= total_epochs(method, workplan) <= (1 + TOLERANCE) * budget


@given(epochs=st.floats(3.7, 6.5).map(lambda power: int(10**power)))
@settings(max_examples=40, deadline=None)
def test_budgets_of_5000_epochs_and_more_are_never_refused(epochs: int) -> None:
    assert_equal(ComparisonDesign(problem="lame", budget=f"{epochs} epochs"))


@given(scale=st.floats(-3, -0.001).map(lambda power: 10**power), family=st.sampled_from(FAMILIES))
@settings(max_examples=40, deadline=None)
def test_scales_from_a_thousandth_on_are_never_refused(scale: float, family: str) -> None:
    assert_equal(ComparisonDesign(problem=family, scale=scale))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "design",
    [
        ComparisonDesign(problem="klein-gordon", scale=0.001),
        ComparisonDesign(problem="burgers", scale=0.003),
        ComparisonDesign(problem="heat", budget="6000 epochs"),
    ],
    ids=["klein-gordon", "burgers", "heat"],
)
def test_what_is_accounted_is_what_the_searchers_ask_for(design: ComparisonDesign, method: str) -> None:
    workplan = workplan_of(design, METHODS[method])
    if isinstance(workplan, Trials):  # proposals take their time, and their number is all that counts
        workplan = Trials(12, workplan.epochs)
    planned, asked = total_epochs(METHODS[method], workplan), asked_for(METHODS[method], workplan)
    assert asked == planned


def test_evolution_with_dpste_has_the_schedule_that_is_given() -> None:
    design = ComparisonDesign.of(
        {"problem": "lame", "schedule": {"populations": [60, 20, 10], "epochs": [20, 60, 120]}}
    )
    assert workplan_of(design, METHODS[REFERENCE]) == Schedule((60, 20, 10), (20, 60, 120))
    assert_equal(design)


def test_methods_without_dpste_train_about_as_long_as_the_last_generation() -> None:
    design = ComparisonDesign(problem="klein-gordon", scale=0.02)
    last = reference(design).epochs[-1]
    constant = workplan_of(design, METHODS["evolution"])
    trials = workplan_of(design, METHODS["bo-fcnet"])
    assert constant.epochs == (constant.epochs[0],) * constant.generations
    assert 0.75 * last <= constant.epochs[0] <= 1.25 * last
    assert trials.epochs == pytest.approx(last, rel=0.05)


@pytest.mark.parametrize("family", FAMILIES)
def test_at_scale_1_all_methods_have_the_papers_presets(family: str) -> None:
    design, preset = ComparisonDesign(problem=family), PRESETS[f"paper:{family}"]
    assert reference(design) == preset.dpste
    for method in METHODS.values():
        assert workplan_of(design, method) == method.of_preset(preset)
    totals = {method.name: total_epochs(method, workplan_of(design, method)) for method in METHODS.values()}
    # The paper's own: evolution with DPSTE never costs more than the others.
    assert min(totals, key=totals.__getitem__) == REFERENCE


def test_a_study_tells_what_each_method_costs_and_ours_costs_as_much_as_the_reference() -> None:
    study = ComparisonStudy(ComparisonDesign(problem="burgers", scale=0.01))
    assert set(study.workplans) == set(COMPARED)
    assert study.epochs[REFERENCE] == study.epochs[OURS] == study.budget
    assert study.workplans[OURS] == study.workplans[REFERENCE]
    assert all(study.budget <= study.epochs[name] <= 1.02 * study.budget for name in COMPARED)


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"budget": "10 min"}, r"\bbudget .*'10 min'.*\bepochs\b.*'30000 epochs'"),
        ({"budget": "30000 epochs", "schedule": {"populations": [9], "epochs": [9]}}, "both given"),
        ({"budget": "1000 epochs"}, r"\bbo-fcnet .*\b994 epochs\b.*\b1,034\b.*\bscale\b.*\bbudget\b"),
        ({"schedule": {"populations": [2], "epochs": [1]}}, r"\bbo-fcnet .*\b10 epochs\b.*\b15\b.*\bscale\b"),
        ({"methods": ["magic"]}, r"\bmethod .*'magic'.*\bbo-fcnet\b.*\bevo-dpste\b"),
    ],
)
def test_what_cannot_be_compared_is_refused(asked, told: str) -> None:
    with pytest.raises((SearchError, LookupError), match=told):
        ComparisonStudy(ComparisonDesign.of({"problem": "lame", **asked}))
