"""Lists of genomes, carried out like searches."""

import pytest

import evopinn as ep
from evopinn.run.config import Config

GENOMES = ("layers=3 neurons=6 activation=sin(x)", "layers=3 neurons=8 activation=tanh(x)")


@pytest.fixture(scope="module")
def listed(tmp_path_factory):
    return ep.search(
        "heat",
        method="listed",
        schedule=ep.Roster(GENOMES, 4),
        settings={"evaluations": 2},
        training={"optimizer": "lbfgs", "coarseness": 2.0},
        seed=5,
        workers=2,
        run=tmp_path_factory.mktemp("runs") / "listed",
        progress=False,
    )


def test_each_training_is_the_one_that_train_does_on_as_many_points(listed):
    problem = ep.find_problem("heat").coarsened(2.0)
    rows = {(row["genome"], row["seed"]): row["loss"] for row in listed.evaluations()}
    assert len(rows) == 4
    for (genome, seed), loss in rows.items():
        assert seed in (5, 6)
        assert ep.train(problem, genome, epochs=4, seed=seed, optimizer="lbfgs").loss == loss


def test_the_networks_of_all_trainings_are_kept(listed):
    tasks = [task for finalist in listed.finalists for task in finalist.tasks]
    assert sorted(tasks) == [0, 1, 2, 3]
    assert all(listed.weights(task).seed in (5, 6) for task in tasks)


def test_published_models_are_listed_by_name():
    roster = {"genomes": ["paper:evo-dpste-1", "paper:lame/bo-fcnet-1"], "epochs": 3}
    workplan = Config.of({"problem": "klein-gordon:II", "method": "listed", "roster": roster}).workplan()
    published = (("klein-gordon", "evo-dpste-1"), ("lame", "bo-fcnet-1"))
    assert workplan.genomes == tuple(ep.published_model(*each).genome.text for each in published)


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"method": "listed"}, r"\blisted\b.*\[roster\].*\bgenomes\b"),
        ({"method": "listed", "budget": "10m"}, r"\blisted\b.*\[roster\].*\bgenomes\b"),
        ({"method": "listed", "schedule": ep.Trials(3, 4)}, r"\blisted .*\btrials\b"),
        ({"method": "random", "schedule": ep.Roster(GENOMES, 4)}, r"\brandom .*\broster\b.*\bpopulations\b"),
        ({"method": "listed", "schedule": ep.Roster(GENOMES, 4), "settings": {"elitists": 1}}, "elitists"),
        ({"method": "listed", "schedule": ep.Roster(("layers=3",), 4)}, r"\bneurons="),
        (
            {"schedule": ep.Schedule((4,), (5,)), "training": {"coarseness": 0.5}},
            r"\bcoarseness = 0\.5\b.*\bat least 1\b",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(tmp_path, given, reason):
    with pytest.raises(ep.EvopinnError, match=reason):
        ep.search("heat", run=tmp_path / "never", progress=False, **given)
