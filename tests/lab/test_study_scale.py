"""The scale: what it does to each part of a study."""

import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from evopinn.errors import SearchError
from evopinn.lab.studies.comparison.equal_cost import ComparisonDesign, total_epochs
from evopinn.lab.studies.design import Scale
from evopinn.lab.studies.reproduction import ReproductionDesign
from evopinn.lab.studies.sensitivity.variations import SensitivityDesign
from evopinn.search import METHODS, PRESETS, Schedule

SCALES = st.floats(1e-6, 1)


@pytest.mark.parametrize("name", PRESETS)
def test_at_1_everything_is_the_papers(name: str) -> None:
    scale, preset = Scale(), PRESETS[name]
    assert scale.schedule(preset.dpste) == preset.dpste
    assert scale.schedule(preset.constant) == preset.constant
    assert (scale.epochs(50_000), scale.trials(10), scale.searches(3), scale.coarseness) == (50_000, 10, 3, 1)
    assert scale.describe().lower().startswith("scale 1:")


def test_a_hundredth_by_hand() -> None:
    scale = Scale(0.01)
    assert scale.epochs(5000) == 500  # a tenth
    assert scale.population(1000) == 200  # 0.01^0.35 = 0.1995
    assert scale.trials(10) == 3  # 0.01^0.25 = 0.316
    assert scale.searches(3) == 1
    assert scale.coarseness == pytest.approx(math.sqrt(2), rel=2e-3)  # 100^0.075
    assert scale.schedule(Schedule((1000, 15), (100, 5000))) == Schedule((200, 4), (10, 500))
    words = scale.describe()
    assert all(figure in words for figure in ("0.01:", " 0.1 of", " 0.2 of", " 0.316 of"))


@given(scale=SCALES, number=st.integers(1, 10**6))
def test_nothing_becomes_more_than_the_papers_or_nothing(scale: float, number: int) -> None:
    scaled = Scale(scale)
    assert 1 <= scaled.epochs(number) <= number
    assert 1 <= scaled.population(number) <= number
    assert 1 <= scaled.trials(number) <= number
    assert 1 <= scaled.searches(number) <= number
    assert scaled.coarseness >= 1


@given(scales=st.tuples(SCALES, SCALES), number=st.integers(1, 10**6))
def test_a_larger_scale_is_never_less(scales, number: int) -> None:
    smaller, larger = (Scale(each) for each in sorted(scales))
    for part in ("epochs", "population", "trials", "searches"):
        assert getattr(smaller, part)(number) <= getattr(larger, part)(number)
    assert smaller.coarseness >= larger.coarseness


@given(scale=SCALES, name=st.sampled_from(sorted(PRESETS)))
@example(scale=0.9999999999999999, name="paper:burgers")  # 35 individuals are not to become 36, nor stay odd
def test_schedules_stay_schedules(scale: float, name: str) -> None:
    schedule = Scale(scale).schedule(PRESETS[name].dpste)
    assert schedule.generations == PRESETS[name].dpste.generations
    assert all(population % 2 == 0 or scale == 1 for population in schedule.populations if population > 15)


def test_a_searchs_cost_falls_about_as_the_scale_does() -> None:
    method, schedule = METHODS["evo-dpste"], PRESETS["paper:klein-gordon"].dpste
    for scale in (0.5, 0.2, 0.1):
        # On two axes; the final evaluations stay as many, so that it costs somewhat more.
        scaled = Scale(scale)
        cost = total_epochs(method, scaled.schedule(schedule)) / scaled.coarseness**2
        assert scale <= cost / total_epochs(method, schedule) <= 1.5 * scale


@pytest.mark.parametrize("value", [0.0, -1.0, 1.5, math.nan])
def test_what_is_no_share_is_refused(value: float) -> None:
    with pytest.raises(SearchError, match=f"{value:g}"):
        Scale(value)
    with pytest.raises(SearchError, match="scale"):
        ComparisonDesign.of({"problem": "heat", "scale": value})


@pytest.mark.parametrize(
    ("problem", "epochs"), [("klein-gordon", 50_000), ("burgers", 8_000), ("lame", 5_000), ("heat", 5_000)]
)
@pytest.mark.parametrize("design", [ComparisonDesign, SensitivityDesign, ReproductionDesign])
def test_designs_follow_from_the_paper_and_the_scale(design, problem: str, epochs: int) -> None:
    full, small = design(problem=problem).settled(), design(problem=problem, scale=0.01).settled()
    assert (full.epochs, full.trials, full.coarseness) == (epochs, 10, 1)
    assert (small.epochs, small.trials) == (epochs // 10, 3)
    given_all = design(problem=problem, scale=0.01, epochs=7, trials=1, coarseness=3.0)
    assert (given_all.settled().epochs, given_all.settled().trials, given_all.settled().coarseness) == (
        7,
        1,
        3,
    )
    assert full.settled() == full
    assert full.name() == design(problem=problem).name() != small.name()
    assert full.case_names() == design(problem=problem).case_names()
