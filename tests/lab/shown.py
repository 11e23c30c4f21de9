"""Studies to look at: made-up trainings through the code that reads real ones, and no training at all."""

import math
import os
from pathlib import Path
from typing import ClassVar

from evopinn.genome import Genome, published_model
from evopinn.lab.studies.comparison.comparison_study import ComparisonStudy
from evopinn.lab.studies.comparison.discoveries import Discovery
from evopinn.lab.studies.comparison.equal_cost import ComparisonDesign
from evopinn.lab.studies.labels import OURS
from evopinn.lab.studies.reproduction import ReproductionDesign, ReproductionStudy
from evopinn.lab.studies.sensitivity.importance import RankedObjective
from evopinn.lab.studies.sensitivity.morris import MorrisRow
from evopinn.lab.studies.sensitivity.sensitivity_study import SensitivityStudy
from evopinn.lab.studies.sensitivity.variations import SensitivityDesign
from evopinn.lab.studies.trials import Trial
from evopinn.search.task import Origin, Task
from evopinn.store.records import Entry, Evaluation
from evopinn.store.store import Store
from evopinn.store.weights import save_weights
from evopinn.training import History

GOLDEN = Path(__file__).parent / "golden"
METHODS = ("bo-fcnet", "evo-dpste", OURS)
SEEDS = range(3)
LEVELS = {"bo-fcnet": 4e-4, "evo-dpste": 1e-4, OURS: 1e-7}
"""The error of a method's models, before seeds and cases."""


def assert_golden(name, text):
    """A file has what it had; `GOLDEN=1 pytest tests/lab` writes what it is to have."""
    path = GOLDEN / name
    if os.environ.get("GOLDEN"):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


def make_trial(model, case, genome, seed, errors, run="runs/none", task=0):
    """A training; one of whose errors is not a number has failed."""
    failed = any(math.isnan(error) for error in errors.values())
    return Trial(
        model,
        case,
        Path(run),
        Entry(
            task=task,
            attempt=1,
            final=True,
            status="not-finite" if failed else "finished",
            loss=math.inf if failed else 10 * max(errors.values(), default=0.05),
            errors={} if failed else errors,
            epochs=100,
            seconds=1.5,
            worker=1,
            started=0.0,
            ended=1.5,
            note="",
            generation=1,
            key="",
            coarseness=1.0,
            genome=genome,
            seed=seed,
        ),
    )


def reproduction(**changes):
    """Two published models on two cases of an equation with two fields."""
    asked = {"problem": "lame", "models": ["evo-dpste-1", "bo-fcnet-1"], "cases": ["I", "II"], "trials": 3}
    return ReproductionStudy(ReproductionDesign.of(asked | changes))


FACTORS = {
    ("evo-dpste-1", "I"): 1.0,
    ("evo-dpste-1", "II"): 0.5,
    ("bo-fcnet-1", "I"): 3000.0,
    ("bo-fcnet-1", "II"): math.nan,
}
"""Measured over published: within, better, worse, failed."""


def reproduction_trials(study):
    """Trainings that come out as `FACTORS` says."""
    return [
        make_trial(name, case, genome, seed, errors)
        for case in study.design.case_names()
        for name, genome in study.models.items()
        for seed in SEEDS
        for errors in [
            {
                error.field: error.mean * FACTORS[name, error.case] * (0.9 + 0.1 * seed)
                for error in published_model("lame", name).errors
                if error.case == case.rpartition(":")[2]
            }
        ]
    ]


def comparison(**changes):
    """Three methods with two searches each, the last of which trains in another way."""
    asked = {
        "problem": "klein-gordon",
        "methods": list(METHODS),
        "cases": ["I", "II"],
        "searches": 2,
        "trials": len(SEEDS),
        "epochs": 100,
        "coarseness": 4.0,
        "schedule": {"populations": [8, 4], "epochs": [15, 40]},
    }
    return ComparisonStudy(ComparisonDesign.of(asked | changes))


def genome_of(method, search):
    """A genome for each search, told from all others by its neurons."""
    shortcuts = "0-1,1-2" if search == 2 else "none"
    neurons = 10 + 4 * METHODS.index(method) + 2 * search
    return f"layers=4 neurons={neurons} shortcuts={shortcuts} activation=a*tanh(x)"


def discoveries(study):
    """What its searches found."""
    return [
        Discovery(
            method,
            search,
            search - 1,
            genome_of(method, search),
            "arithmetic",
            1e-3,
            1e-2,
            study.epochs[method],
            study.epochs[method] * 3 // 4,
            25,
            12.0,
            Path("r"),
        )
        for method in study.methods
        for search in (1, 2)
    ]


def error_of(method, search, case, seed):
    """Falls with nothing, rises with everything."""
    return LEVELS[method] * search * (1 + case) * (1 + 0.1 * seed)


def comparison_trials(study, field="u"):
    """The trainings of what was found."""
    return [
        make_trial(
            each.model, case, each.genome, seed, {field: error_of(each.method, each.search, place, seed)}
        )
        for place, case in enumerate(study.design.case_names())
        for each in discoveries(study)
        for seed in SEEDS
    ]


class Sensing(SensitivityStudy):
    """A study of sensitivity as it is shown: two objectives with known effects."""

    objectives: ClassVar = {
        "layers": {"3": genome_of("bo-fcnet", 1), "9": genome_of("bo-fcnet", 2)},
        "activation": {
            "tanh": genome_of("bo-fcnet", 2),
            "sin": "layers=4 neurons=14 shortcuts=0-1,1-2 activation=sin(x)",
        },
    }
    baseline = genome_of("bo-fcnet", 2)
    errors: ClassVar = {"layers=3": 1e-2, "layers=9": 1e-3, "activation=tanh": 1e-3, "activation=sin": 1e-6}

    def __init__(self):
        asked = {"problem": "klein-gordon", "cases": ["I"], "epochs": 100, "trials": 3}
        self.design = SensitivityDesign.of(asked).settled()

    def write(self, directory):
        """A run of all trainings."""
        values = dict(zip(self.models.values(), self.errors.values(), strict=True))
        write_trainings(
            directory / "trainings/klein-gordon-I",
            dict.fromkeys(values),
            lambda text, seed: values[text] * (1 + 0.1 * seed),
        )

    def made_up(self):
        """The same without any directory."""
        return [
            make_trial(model, "klein-gordon:I", genome, seed, {"u": self.errors[model] * (1 + 0.1 * seed)})
            for model, genome in self.models.items()
            for seed in SEEDS
        ]

    def ranking(self, trials):  # noqa: ARG002
        found = {"noise": 0.05, "p_holm": 0.012, "case": "klein-gordon:I"}
        return [
            RankedObjective("activation", 3.0, "sin", "tanh", 0.75, **found),
            RankedObjective("layers", 1.0, "9", "3", 0.25, **found),
        ]

    def morris(self, directory):  # noqa: ARG002
        return [
            MorrisRow("neurons", 0.8, 0.3, 0.2, case="klein-gordon:I"),
            MorrisRow("layers", 0.1, 0.05, 0.02, case="klein-gordon:I"),
        ]


def write_trainings(run, genomes, error, network=None, field="u", first=0):
    """A run in which genomes are trained from three seeds each.

    Args:
        run: Its directory.
        genomes: As text.
        error: Gives the error of a genome's training from a seed.
        network: What each of them gave, by genome; nothing is kept without it.
        field: Whose error it is; None if no solution is known.
        first: Number of the first task.
    """
    with Store.create(
        run, 'problem = "klein-gordon:I"\nmethod = "listed"\nseed = 0\n', {"evopinn": "0.1.0"}
    ) as store:
        number = first
        for text in genomes:
            for seed in SEEDS:
                store.add_tasks([Task(number, 1, Genome.parse(text), 100, seed, Origin(("candidate",)))])
                found = error(text, seed)
                store.record(
                    [
                        Evaluation(
                            number,
                            "finished",
                            10 * found,
                            errors={} if field is None else {field: found},
                            epochs=100,
                            seconds=1.5,
                            started=1.7e9,
                            ended=1.7e9 + 1.5,
                            history=make_history(found, field),
                        )
                    ]
                )
                if network is not None:
                    save_weights(run, number, network[text])
                number += 1
        store.note("finished")


def make_history(error, field="u"):
    """A hundred epochs in which loss and error fall by halves, to an error and ten times that as loss."""
    losses = tuple(10 * error * 2.0 ** ((100 - epoch) / 10) for epoch in range(101))
    return History(losses, tuple(range(0, 101, 10)), {field: tuple(loss / 10 for loss in losses[::10])})


def write_comparison(study, directory, network=None, field="u"):
    """All runs of a comparison: searches with their final evaluations, and trainings of what they found."""
    (directory).mkdir(parents=True, exist_ok=True)
    for each in discoveries(study):
        write_trainings(
            directory / f"searches/{each.model}",
            [each.genome],
            lambda _, seed, each=each: error_of(each.method, each.search, 0, seed),
            field=field,
        )
    for place, case in enumerate(study.design.case_names()):
        for optimizer, ours in (("lbfgs", False), ("lm", True)):
            own = {each.genome: each for each in discoveries(study) if (each.method == OURS) == ours}
            write_trainings(
                directory / f"trainings/{case.replace(':', '-')}-{optimizer}",
                own,
                lambda text, seed, own=own, place=place: error_of(
                    own[text].method, own[text].search, place, seed
                ),
                network,
                field,
            )
