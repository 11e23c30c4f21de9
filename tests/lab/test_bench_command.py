"""`evopinn bench` from end to end, mostly without processes of its own, which take seconds to start."""

import json

import pytest
from inline import Inline
from typer.testing import CliRunner

from evopinn.cli import app
from evopinn.lab.bench.cases import FULL, QUICK, TARGETS, Case
from evopinn.lab.bench.contestants import BASELINE, contestants
from evopinn.lab.bench.findings import CaseTimings, OptimizerCost, ScalePoint, Scaling, StepCost, Timing
from evopinn.lab.bench.isolation import CrashedError
from evopinn.lab.bench.optimizer_steps import TimedLBFGS
from evopinn.lab.bench.sections import SECTIONS
from evopinn.network import Layout


class Failing(Inline):
    """One in which an engine crashes."""

    def call(self, method, *arguments):
        if method == "prepare" and self.served.contestant == "taylor":
            raise CrashedError("gone")
        return super().call(method, *arguments)


def without_libraries(monkeypatch, isolated):
    monkeypatch.setattr(
        "evopinn.lab.bench.contestant_timing.is_installed", lambda name: name not in ("DeepXDE", "JAX jit")
    )
    for module in ("contestant_timing", "sections"):
        monkeypatch.setattr(f"evopinn.lab.bench.{module}.Isolated", isolated)


def bench(*options):
    ended = CliRunner().invoke(app, ["bench", "--quick", "--rounds", "3", *options], env={"COLUMNS": "250"})
    assert ended.exit_code == 0, ended.output
    return ended.stdout, ended.stderr


def test_the_table_has_all_contestants_and_tells_what_is_missing(monkeypatch, tmp_path):
    without_libraries(monkeypatch, Inline)
    out, err = bench("--json", str(tmp_path / "bench.json"))
    header = next(line for line in out.splitlines() if "problem" in line)
    assert all(name in header for name in (*contestants(), "JAX jit compile", "target"))
    rows = [line for line in out.splitlines() if line.strip().startswith("klein-gordon")]
    assert len(rows) == 2
    for row, case, target in zip(rows, QUICK.cases, ("taylor 5×: ", "taylor 2×: "), strict=True):
        assert case.label in row
        assert row.count("not installed") == 2
        assert target in row
    for text in ("processor", "cores, one used", "python 3.", "torch 2.", "medians of 3"):
        assert text in out
    assert all(word in err for word in ("engines 2/2", "klein-gordon", "4×20 tanh(x)"))

    data = json.loads((tmp_path / "bench.json").read_text())
    assert data.keys() == {"machine", "rounds", *SECTIONS}
    assert data["rounds"] == 3
    assert data["machine"]["versions"]["torch"].startswith("2.")
    assert data["scaling"] == []
    (evolved, _) = data["engines"]
    assert evolved["network"] == str(QUICK.cases[0].genome)
    assert evolved["timings"].keys() == set(contestants())
    taylor, peer = evolved["timings"]["taylor"], evolved["timings"][BASELINE]
    assert taylor["ratio"] == peer["seconds"] / taylor["seconds"]
    assert taylor["target"] == 5
    assert evolved["timings"]["DeepXDE"] == {
        **dict.fromkeys(("seconds", "setup", "ratio", "target", "shortfall")),
        "note": "not installed",
    }


@pytest.mark.parametrize(
    ("section", "texts"),
    [
        ("scaling", ("taylor", "by", "100", "400", "peak memory", "below 1,000 MB: met")),
        ("precision", ("taylor", "float64", "float32", "1.5×: ")),
        ("lbfgs", ("taylor", "927", "history", "share", "below 10 %: ")),
        ("lm", ("klein-gordon", "927", "JᵀJ", "trials", "below 2.5×: ")),
    ],
)
def test_one_section_can_be_asked_for(monkeypatch, section, texts):
    without_libraries(monkeypatch, Inline)
    out, err = bench("--only", section)
    assert all(text in " ".join(out.split()) for text in ("processor", *texts))
    assert BASELINE not in out.partition("measured")[2]
    assert err.startswith(f"{section}: ")


def test_what_crashes_is_told_and_the_rest_goes_on(monkeypatch):
    without_libraries(monkeypatch, Failing)
    out, _ = bench()
    rows = [line for line in out.splitlines() if line.strip().startswith("klein-gordon")]
    assert all("failed" in row and "taylor 2×: " in row for row in rows[1:])
    _, err = bench("--only", "precision")
    assert "failed" in err


def test_an_unknown_section_is_told_before_anything_runs():
    ended = CliRunner().invoke(app, ["bench", "--only", "speed"])
    assert ", ".join(SECTIONS) in str(ended.exception)


def test_a_file_that_cannot_be_written_is_refused_before_anything_runs(tmp_path):
    ended = CliRunner().invoke(app, ["bench", "--json", str(tmp_path / "nowhere" / "bench.json")])
    assert isinstance(ended.exception, FileNotFoundError)
    assert "engines" not in ended.stderr


def test_ratios_and_how_far_a_target_is_missed():
    timings = {
        BASELINE: Timing(1.0, 0.0),
        "taylor": Timing(0.25, 0.0),
        "fused": Timing(0.05, 1.0),
        "JAX jit": Timing(note="not installed"),
    }
    evolved = CaseTimings(Case("klein-gordon", "layers=3 neurons=4 activation=sin(tanh(x))"), timings)
    plain = CaseTimings(Case("klein-gordon", "layers=3 neurons=4 activation=a*tanh(b*x)"), timings)
    assert evolved.ratio("taylor") == 4
    assert evolved.shortfall("taylor") == pytest.approx(0.2)  # 4 of 5
    assert plain.shortfall("taylor") == 0  # 4 of 2
    assert evolved.shortfall("fused") == 0  # 20 of 10
    assert evolved.ratio("JAX jit") is None
    assert evolved.shortfall("JAX jit") is None
    assert set(TARGETS) == {"taylor", "fused"}


def test_the_exponent_of_a_power_law_is_found():
    cells = [ScalePoint(size, 3e-9 * size**1.5, 0) for size in (10, 100, 1000)]
    assert Scaling("taylor", "points", 1, cells).exponent == pytest.approx(1.5, rel=1e-12)


def test_the_optimizers_share_of_a_step():
    assert OptimizerCost("taylor", 20_000, 100, own=1.0, evaluation=9.0).share == pytest.approx(0.1)


def test_a_step_beside_the_bare_product():
    case = Case("klein-gordon", "layers=3 neurons=4 activation=sin(x)")
    parts = dict.fromkeys(("jacobian", "gram", "factor", "residuals"), 0.1)
    row = StepCost(case, parameters=33, rows=99, product=0.4, trials=2, step=0.6, **parts)
    assert row.data()["ratio"] == pytest.approx(1.5)


def test_the_full_plan_has_what_the_targets_speak_of():
    assert max(FULL.axes["points"].cases) == 100_000
    assert FULL.axes["points"].cases[100_000].statement().terms()[0].count == 100_000
    assert Layout.of_network(FULL.largest.genome, 2, 1).size == 20_247
    assert FULL.memory == 100
    shapes = [(Layout.of_network(each.genome, 2, 1).size, each.problem) for each in FULL.second_order]
    assert any(problem == "klein-gordon" and 2000 <= size <= 2100 for size, problem in shapes)
    assert FULL.search.population == 1000
    assert FULL.search.evaluations == 100_000
    assert (*FULL.sections, "search") == tuple(SECTIONS)


def test_a_step_of_lbfgs_takes_longer_with_more_parameters():
    small, large = (TimedLBFGS().own_seconds(size, memory=20, steps=10) for size in (100, 100_000))
    assert 0 < small < large
