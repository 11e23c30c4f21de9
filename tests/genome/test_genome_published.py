"""The published models: all there, in the paper's space, with the paper's figures."""

from collections import Counter

import pytest

from evopinn.errors import UnknownNameError
from evopinn.genome import PAPER, Genome, PublishedModel, published_model, published_models

CASES = {"klein-gordon": 3, "burgers": 3, "lame": 5}
FIELDS = {"klein-gordon": ["u"], "burgers": ["u"], "lame": ["u", "v"]}
METHODS = ["bo-fcnet", "bo-fcresnet", "random", "evo", "evo-dpste"]


def test_there_are_45_models() -> None:
    models = published_models()
    assert len(models) == 45
    assert Counter((m.problem, m.method) for m in models) == {(p, m): 3 for p in CASES for m in METHODS}
    assert len({(m.problem, m.name) for m in models}) == 45
    for problem in CASES:
        assert [m.run for m in published_models(problem)] == [1, 2, 3] * 5


@pytest.mark.parametrize("model", published_models(), ids=lambda model: f"{model.problem}-{model.name}")
def test_each_model_is_in_the_papers_space(model: PublishedModel) -> None:
    PAPER.check(model.genome)
    assert Genome.parse(model.genome.text, PAPER) == model.genome
    numerals = ["I", "II", "III", "IV", "V"][: CASES[model.problem]]
    assert [(e.case, e.field) for e in model.errors] == [
        (c, f) for c in numerals for f in FIELDS[model.problem]
    ]
    assert all(1e-6 < e.mean < 1e-3 and 1e-7 < e.deviation < 2e-3 for e in model.errors)
    if model.method == "bo-fcnet":
        assert model.genome.structure.shortcuts == ()


@pytest.mark.parametrize(
    ("problem", "name", "case", "field", "mean", "deviation"),
    [
        ("klein-gordon", "bo-fcnet-1", "I", "u", 1.38e-4, 4.65e-5),
        ("klein-gordon", "bo-fcnet-2", "III", "u", 7.12e-4, 1.15e-3),
        ("klein-gordon", "random-2", "II", "u", 8.87e-5, 2.12e-5),
        ("klein-gordon", "evo-3", "III", "u", 9.62e-5, 2.77e-5),
        ("klein-gordon", "evo-dpste-1", "I", "u", 8.85e-5, 3.40e-5),
        ("klein-gordon", "evo-dpste-3", "II", "u", 7.42e-5, 1.67e-5),
        ("burgers", "bo-fcresnet-3", "II", "u", 7.77e-5, 1.79e-5),
        ("burgers", "evo-2", "I", "u", 1.55e-4, 2.57e-4),
        ("burgers", "evo-dpste-2", "III", "u", 4.00e-5, 4.55e-5),
        ("burgers", "evo-dpste-3", "II", "u", 5.93e-5, 8.37e-6),
        ("lame", "bo-fcnet-1", "IV", "v", 5.09e-5, 1.01e-5),
        ("lame", "random-3", "V", "v", 1.60e-5, 9.52e-6),
        ("lame", "evo-dpste-1", "I", "u", 6.18e-6, 1.74e-6),
        ("lame", "evo-dpste-3", "I", "v", 6.04e-6, 6.70e-7),
        ("lame", "evo-dpste-3", "V", "u", 6.49e-6, 2.30e-6),
    ],
)
def test_figures(problem: str, name: str, case: str, field: str, mean: float, deviation: float) -> None:
    error = published_model(problem, name).error(case, field)
    assert (error.mean, error.deviation) == (mean, deviation)


@pytest.mark.parametrize(
    ("problem", "name", "text"),
    [
        ("klein-gordon", "bo-fcresnet-2", "layers=8 neurons=40 shortcuts=0-2,2-4,4-6,6-7 activation=sin(x)"),
        ("klein-gordon", "random-1", "layers=6 neurons=32 shortcuts=none activation=a*cos(x)*erf(b*x)"),
        (
            "klein-gordon",
            "evo-dpste-2",
            "layers=9 neurons=44 shortcuts=0-1,1-2,2-3,3-5,7-8 activation=a*tanh(b*x)*cos(x)",
        ),
        ("burgers", "evo-1", "layers=8 neurons=22 shortcuts=0-2 activation=a*(-tanh(b*x))"),
        ("burgers", "evo-2", "layers=10 neurons=42 shortcuts=none activation=swish(a*x)"),
        ("burgers", "evo-dpste-2", "layers=5 neurons=20 shortcuts=0-3 activation=a*sigmoid(b*x)"),
        ("lame", "bo-fcnet-2", "layers=10 neurons=50 shortcuts=none activation=x*sigmoid(a*x)"),
        ("lame", "random-3", "layers=9 neurons=26 shortcuts=1-2,2-5,5-8 activation=atan(x)*(-sigmoid(x))"),
        (
            "lame",
            "evo-dpste-1",
            "layers=10 neurons=42 shortcuts=0-1,1-2,2-3,3-4,4-5,5-6,6-7,7-9 activation=x/(exp(x)+exp(-x))",
        ),
    ],
)
def test_genomes(problem: str, name: str, text: str) -> None:
    assert published_model(problem, name).genome.text == text


@pytest.mark.parametrize(
    ("problem", "name", "edges"),
    [
        ("klein-gordon", "evo-dpste-1", ()),
        ("klein-gordon", "evo-dpste-2", (1, 2)),
        ("klein-gordon", "evo-dpste-3", (0, 4, 7)),
        ("burgers", "evo-dpste-1", (2,)),
        ("burgers", "evo-dpste-2", (0, 1)),
        ("burgers", "evo-dpste-3", (0, 2)),
        ("lame", "evo-dpste-1", ()),
        ("lame", "evo-dpste-2", (2,)),
        ("lame", "evo-dpste-3", (1, 2)),
    ],
)
def test_parameters_are_on_the_published_edges(problem: str, name: str, edges: tuple[int, ...]) -> None:
    assert published_model(problem, name).genome.activation.parameter_edges == edges


def test_unknown_names_are_refused_with_suggestions() -> None:
    with pytest.raises(UnknownNameError, match="klein-gordon"):
        published_models("klein-gorden")
    with pytest.raises(UnknownNameError, match="evo-dpste-1"):
        published_model("lame", "evo-dpst-1")
    with pytest.raises(UnknownNameError, match=r"burgers.*'IV u'.*I u"):
        published_model("burgers", "evo-1").error("IV")


@pytest.mark.parametrize(
    ("problem", "figures", "means", "deviations"),
    [
        ("klein-gordon", 45, 6.8261e-3, 3.3914e-3),
        ("burgers", 45, 4.2474e-3, 1.77001e-3),
        ("lame", 150, 2.66916e-3, 7.8874e-4),
    ],
)
def test_the_figures_add_up(problem: str, figures: int, means: float, deviations: float) -> None:
    """Sums over each of the paper's tables, taken from its source: a slip in any figure would show."""
    errors = [error for model in published_models(problem) for error in model.errors]
    assert len(errors) == figures
    assert sum(error.mean for error in errors) == pytest.approx(means, rel=1e-12)
    assert sum(error.deviation for error in errors) == pytest.approx(deviations, rel=1e-12)
