"""Networks that overfit their training points: losses that are small because there are few of these."""

import json

import pytest

import evopinn as ep
from evopinn.store.directory import WEIGHTS
from evopinn.store.kept_networks import KeptNetwork, kept_network
from evopinn.training import overfitting_warning


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """A search on five points, which any network fits exactly."""
    problem = ep.Problem(
        domain=ep.Interval(0, 1),
        fields=["u"],
        residual=lambda u, x: u.xx + 400 * u - 100 * x,
        conditions=[ep.Boundary(lambda u: u)],
        points=ep.Grid(interior=5, boundary=2, test=21),
        name="few points",
    )
    return ep.search(
        problem,
        method="listed",
        schedule=ep.Roster(("layers=4 neurons=10 activation=sin(x)",), 60),
        settings={"evaluations": 1},
        run=tmp_path_factory.mktemp("runs") / "fitted",
        progress=False,
        workers=1,
    )


def test_whoever_looks_at_a_run_is_told_that_its_network_overfits(fitted, run):
    assert fitted.best.overfitted
    assert "overfits" in str(fitted)
    code, out, _ = run("show", str(fitted.directory))
    assert code == 0
    assert "overfits" in out
    _, data, _ = run("show", str(fitted.directory), "--json")
    best = json.loads(data)["best"]
    assert best["overfitted"]
    assert best["residuals"] == pytest.approx(dict(fitted.best.residuals))


def test_nothing_is_said_where_nothing_is_known_or_wrong(tmp_path):
    assert overfitting_warning({}) == ""
    assert overfitting_warning({"training": 1e-3, "held_out": 9.9e-3}) == ""
    assert overfitting_warning({"training": 0.0, "held_out": 0.0}) == ""
    assert "12 times" in overfitting_warning({"training": 1e-3, "held_out": 1.2e-2})
    assert "not zero" in overfitting_warning({"training": 0.0, "held_out": 1e-9})
    assert kept_network(tmp_path, 3) == KeptNetwork()
    (tmp_path / WEIGHTS).mkdir()
    for damaged in (
        "",
        "[]",
        '{"residuals": 3}',
        '{"residuals": {"training": "x", "held_out": 1}}',
        "[" * 10**5,
    ):
        (tmp_path / WEIGHTS / "00000003.json").write_text(damaged)
        assert kept_network(tmp_path, 3) == KeptNetwork()
