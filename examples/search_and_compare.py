"""A search, and a comparison of the network that it found with one designed by hand.

    python examples/search_and_compare.py klein-gordon 2m

Both networks are trained from scratch, with the same number of seeds and at the same cost; the script
compares the geometric means. It keeps the search in `runs`, so the same command resumes a stopped search.
Without arguments it tries a small search, which leaves nothing behind unless you stop it.
"""

import shlex
import shutil
import sys
import tempfile

import evopinn as ep
from evopinn.search.means import mean_of

BY_HAND = "layers=5 neurons=20 activation=tanh(x)"


def compare(problem: str, budget: str, run: str | None) -> None:
    """Search, train the network designed by hand, and print both.

    Args:
        problem: A name of the catalogue, or a file, as on the command line.
        budget: The budget of the search.
        run: The run's directory; None for a name in `runs` derived from the arguments.
    """
    settings = {"candidates": 2, "evaluations": 3}
    shown = sys.stderr.isatty()
    found = ep.search(problem, budget=budget, settings=settings, run=run, progress=shown)
    if found.state != "finished":
        if not shown:  # on a terminal, the progress display prints this
            run = shlex.quote(str(found.directory))
            print(f"stopped; resume with: evopinn resume {run}", file=sys.stderr)
        sys.exit(130)

    finalist = found.finalists[0]  # the recommended architecture
    epochs = found.weights(finalist.tasks[0]).settings["epochs"]
    print(found)
    print("the recommended activation in LaTeX:", found.best.latex())

    settings = {"epochs": epochs, "optimizer": found.best.optimizer}
    trainings = [ep.train(problem, BY_HAND, seed=seed, **settings) for seed in range(len(finalist.tasks))]
    loss = mean_of([training.loss for training in trainings], finalist.mean)
    error = mean_of([max(training.errors.values()) for training in trainings], finalist.mean)
    print(f"\nmeans of {len(trainings)} trainings from scratch, {epochs} epochs each{finalist.which_mean}:")
    print(f"found    loss {finalist.mean_loss:.2e}  error {finalist.mean_error:.2e}  {finalist.genome}")
    print(f"by hand  loss {loss:.2e}  error {error:.2e}  {BY_HAND}")


if __name__ == "__main__":
    if len(sys.argv) > 2:
        compare(*sys.argv[1:3], run=None)
    else:
        folder = tempfile.mkdtemp()
        compare("heat", "30 trainings", f"{folder}/run")
        shutil.rmtree(folder)
