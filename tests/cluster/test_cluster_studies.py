"""A study on a Ray cluster that really runs, on this host."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "lab"))

from studies import carried_out, essence, reproduction


def test_a_study_on_a_cluster_has_the_figures_of_local_workers(ray_cluster, tmp_path, monkeypatch):
    local = reproduction(cases=["I"])
    assert carried_out(local, tmp_path / "local")
    monkeypatch.setattr("evopinn.run.session.LocalPool", None)  # from here on there are no local ones
    remote = reproduction(cases=["I"], workers={"count": 2, "cluster": ray_cluster.address})
    assert carried_out(remote, tmp_path / "remote")
    found = remote.trials(tmp_path / "remote")
    assert len(found) == 4
    assert essence(found) == essence(local.trials(tmp_path / "local"))
