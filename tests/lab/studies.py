"""Studies to test with: small ones, and ways to carry them out and to break them off."""

import sys
from pathlib import Path

from evopinn.lab.studies.comparison.comparison_study import ComparisonStudy
from evopinn.lab.studies.comparison.equal_cost import ComparisonDesign
from evopinn.lab.studies.execution import carry_out
from evopinn.lab.studies.reproduction import ReproductionDesign, ReproductionStudy
from evopinn.run.progress import Snapshot
from evopinn.run.session import Observer

sys.path.append(str(Path(__file__).parents[1] / "run"))

PROBLEM = str(Path(__file__).parents[1] / "run" / "search_problem.py")
TINY = {"epochs": 3, "trials": 2, "coarseness": 8.0, "workers": {"count": 2}}
SCHEDULE = {"populations": [6, 4], "epochs": [30, 50]}


def reproduction(**changes: object) -> ReproductionStudy:
    """Two published models on two cases, for three epochs."""
    asked = {"problem": "KG", "models": ["evo-dpste-1", "bo-fcnet-2"], "cases": ["I", "II"]}
    return ReproductionStudy(ReproductionDesign.of(asked | TINY | changes))


def comparison(**changes: object) -> ComparisonStudy:
    """Three methods with a search each on a problem of twenty points, which has no cases."""
    asked = {
        "problem": PROBLEM,
        "methods": ["bo-fcnet", "evo-dpste", "evo-dpste+lm"],
        "searches": 1,
        "schedule": SCHEDULE,
        "space": "layers=3-5 neurons=8-12:2",
    }
    return ComparisonStudy(ComparisonDesign.of(asked | TINY | {"coarseness": 1.0} | changes))


def unwatched(go) -> bool:
    """Let a run go that nobody watches."""
    return go(Observer(watch=lambda _: None, say=lambda _: None, stopped=lambda: False))


def stopping_after(trainings: int):
    """Let runs go until so many trainings are over in all of them together, then stop whatever runs."""
    over: dict[Path, int] = {}

    def watched(go) -> bool:
        def look(now: Snapshot) -> None:
            over[now.directory] = now.trained

        return go(Observer(look, say=lambda _: None, stopped=lambda: sum(over.values()) >= trainings))

    return watched


def carried_out(study, directory: Path, watched=unwatched) -> list[str]:
    """The titles of the parts that were done, if it came to its end."""
    titles: list[str] = []
    finished = carry_out(study, directory, watched, titles.append)
    return titles if finished else []


def essence(trials) -> list[tuple[object, ...]]:
    """What of trainings must not depend on luck, to the last bit."""
    return [
        (each.model, each.case, each.entry.genome, each.entry.seed, each.entry.loss.hex()) for each in trials
    ] + [(each.model, field, error.hex()) for each in trials for field, error in each.entry.errors.items()]
