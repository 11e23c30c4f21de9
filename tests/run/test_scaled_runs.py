"""A run keeps the scales that its problem had when it started; runs from before there were any have none."""

from pathlib import Path

import pytest
from safetensors.torch import load_file
from searches import PROBLEM

import evopinn as ep
from evopinn.problem import UNSCALED
from evopinn.problem.scales import Scales
from evopinn.run.record import RunRecord
from evopinn.view.figures.subjects import problem_again
from evopinn.view.scale_table import scale_table
from evopinn.workers.problem_source import ProblemSource

UNSCALED_TEXT = Path(PROBLEM).read_text()
SCALED_TEXT = UNSCALED_TEXT.replace("    scale=False,\n", "")


def search(directory, text):
    file = directory / "problem.py"
    file.write_text(text)
    return ep.search(
        str(file),
        method="random",
        schedule=ep.Schedule((3, 2), (3, 3)),
        settings={"candidates": 1, "evaluations": 1},
        workers=1,
        run=directory / "run",
        progress=False,
    )


def tensors(run):
    return {
        path.name: [each.tolist() for each in load_file(path).values()]
        for path in sorted((run.directory / "weights").glob("*.safetensors"))
    }


@pytest.mark.parametrize(("before", "now"), [(SCALED_TEXT, SCALED_TEXT), (UNSCALED_TEXT, SCALED_TEXT)])
def test_a_resumed_run_computes_the_same(tmp_path, before, now):
    assert SCALED_TEXT != UNSCALED_TEXT
    run = search(tmp_path, before)
    expected = tensors(run)
    assert expected
    for path in (run.directory / "weights").iterdir():
        path.unlink()
    (tmp_path / "problem.py").write_text(now)
    record = RunRecord.read(run.directory)
    recorded = record.goal.scales
    assert (recorded == UNSCALED) == (before == UNSCALED_TEXT) == ("scales" not in record.data())
    assert problem_again(record.goal).scales == recorded
    again = ep.resume(run.directory, progress=False)  # which trains lost networks again
    assert tensors(again) == expected
    if before == SCALED_TEXT:
        assert Scales.from_json(record.data()["scales"]) == recorded
        found = ep.load(next((run.directory / "weights").glob("*.json")))
        assert found.scales == recorded
        assert search(tmp_path, now).directory == run.directory


def test_a_source_is_not_loaded_again_for_its_scales(tmp_path):
    file = tmp_path / "problem.py"
    file.write_text(SCALED_TEXT)
    source = ProblemSource.of(str(file))
    problem, fingerprint = source.problem, source.fingerprint
    file.unlink()
    assert source.scaled_as(problem.scales).problem is problem
    assert source.scaled_as(problem.scales).fingerprint == fingerprint
    assert source.scaled_as(UNSCALED).problem.scales == UNSCALED
    assert source.scaled_as(UNSCALED).fingerprint != fingerprint


def test_a_report_shows_scales(tmp_path):
    run = search(tmp_path, SCALED_TEXT)
    assert scale_table(ep.find_problem(str(tmp_path / "problem.py"))).records
    page = ep.report(run.directory).read_text()
    assert ">Scales<" in page
    assert "coordinate" in page[page.index(">Scales<") :]


def test_the_table_of_scales_names_each_component_of_a_term(tmp_path):
    file = tmp_path / "problem.py"
    file.write_text(SCALED_TEXT)
    shown = scale_table(ep.find_problem(str(file)))
    assert [row[:2] for row in shown.records] == [("coordinate", "x"), ("field", "u")]
    assert not scale_table(ep.find_problem("heat")).records
    couple = ep.Problem(
        domain=ep.Interval(0, 1),
        fields=["u", "v"],
        residual=lambda u, v: [u.x - v, v.x + u],
        conditions=[ep.Boundary(lambda u: u - 1)],
        points=ep.Grid(interior=9),
    )
    names = [name for kind, name, *_ in scale_table(couple).records if kind == "term"]
    assert names == ["residual, component 1", "residual, component 2", "boundary"]
