"""A search, and what it found beside a network as one would design it by hand, trained the same way.

    python examples/search_and_compare.py klein-gordon 2m

Both networks are trained from scratch, from as many seeds and at the same cost; the geometric means are
compared. The search is kept in `runs`: if it is stopped, the same command goes on with it. Without arguments
a small search is tried, which leaves nothing behind unless it is stopped.
"""

import shlex
import shutil
import sys
import tempfile

import evopinn as ep
from evopinn.means import mean_of

BY_HAND = "layers=5 neurons=20 activation=tanh(x)"


def compare(problem: str, budget: str, run: str | None) -> None:
    """Search, train the network made by hand, and print both.

    Args:
        problem: As the command line takes it.
        budget: Of the search.
        run: Where the search is kept; None for a name in `runs` that stands for this very search.
    """
    settings = {"candidates": 2, "evaluations": 3}
    shown = sys.stderr.isatty()
    found = ep.search(problem, budget=budget, settings=settings, run=run, progress=shown)
    if found.state != "finished":
        if not shown:  # on a terminal, progress ends with this
            print(f"stopped; go on with: evopinn resume {shlex.quote(str(found.directory))}", file=sys.stderr)
        sys.exit(130)

    winner = found.finalists[0]
    epochs = found.weights(winner.tasks[0]).settings["epochs"]
    print(found)
    print("the winner's activation in LaTeX:", found.best.latex())

    settings = {"epochs": epochs, "optimizer": found.best.optimizer}
    trainings = [ep.train(problem, BY_HAND, seed=seed, **settings) for seed in range(len(winner.tasks))]
    loss = mean_of([training.loss for training in trainings], winner.mean)
    error = mean_of([max(training.errors.values()) for training in trainings], winner.mean)
    print(f"\nmeans of {len(trainings)} trainings from scratch, {epochs} epochs each{winner.which_mean}:")
    print(f"found    loss {winner.mean_loss:.2e}  error {winner.mean_error:.2e}  {winner.genome}")
    print(f"by hand  loss {loss:.2e}  error {error:.2e}  {BY_HAND}")


if __name__ == "__main__":
    if len(sys.argv) > 2:
        compare(*sys.argv[1:3], run=None)
    else:
        folder = tempfile.mkdtemp()
        compare("heat", "30 trainings", f"{folder}/run")
        shutil.rmtree(folder)
