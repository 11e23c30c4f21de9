"""The list that is carried out like a search."""

import pytest
from toy import drive

from evopinn.errors import SearchError
from evopinn.search import GENOME_LIST, Budget, GenomeListSettings, Roster, find_method, find_preset, planned

GENOMES = ("layers=3 neurons=8 activation=sin(x)", "layers=4 neurons=8 activation=tanh(x)")


def test_each_genome_is_trained_from_each_seed_and_all_of_them_with_one_seed_first() -> None:
    driven = drive(
        GENOME_LIST.make(Roster(GENOMES, 50), seed=7, settings=GenomeListSettings(evaluations=3)),
        lambda task: task.genome.structure.layers + task.seed,
    )
    asked = [(task.genome.text, task.seed, task.epochs) for task in driven.tasks]
    texts = [genome.replace("neurons=8 ", "neurons=8 shortcuts=none ") for genome in GENOMES]
    assert asked == [(text, seed, 50) for seed in (7, 8, 9) for text in texts]


def test_the_best_mean_comes_first() -> None:
    searcher = GENOME_LIST.make(Roster(GENOMES, 50), seed=0)
    drive(searcher, lambda task: -task.genome.structure.layers)
    means = [(each.genome.structure.layers, each.mean_loss) for each in searcher.finalists]
    assert means == [(4, -4.0), (3, -3.0)]


def test_it_keeps_to_its_workload() -> None:
    workload = GENOME_LIST.workload(Roster(GENOMES, 50), GenomeListSettings(evaluations=3))
    assert (workload.trainings, workload.epochs, workload.generations) == (6, 300, 0)


@pytest.mark.parametrize(
    ("refused", "reason"),
    [
        (lambda: Roster((), 50), "no genomes"),
        (lambda: Roster(GENOMES, 0), "at least 1"),
        (lambda: GENOME_LIST.make(Roster(GENOMES + GENOMES[:1], 50), seed=0), "listed twice"),
        (lambda: GenomeListSettings(evaluations=0), "at least 1"),
        (lambda: planned(Budget(epochs=1000), "listed"), r"\blisted\b.*\[roster\]"),
        (lambda: GENOME_LIST.of_preset(find_preset("quick")), "no preset"),
    ],
)
def test_what_makes_no_sense_is_refused(refused, reason: str) -> None:
    with pytest.raises(SearchError, match=reason):
        refused()


def test_it_is_found_by_name() -> None:
    assert find_method("listed") is GENOME_LIST
