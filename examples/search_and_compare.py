"""A search, and what it found beside a network as one would design it by hand, trained the same way.

    python examples/search_and_compare.py klein-gordon 2m

Both networks are trained from scratch, from as many seeds and for as many epochs; the means are compared.
"""

import sys
import tempfile

import evopinn as ep

BY_HAND = "layers=6 neurons=40 activation=tanh(x)"

if __name__ == "__main__":
    problem, budget = sys.argv[1:3] if len(sys.argv) > 2 else ("heat", "30 trainings")
    with tempfile.TemporaryDirectory() as folder:
        found = ep.search(
            problem,
            budget=budget,
            settings={"candidates": 2, "evaluations": 3},
            run=f"{folder}/run",
            progress=sys.stderr.isatty(),
        )
        winner = found.finalists[0]
        epochs = found.weights(winner.tasks[0]).settings["epochs"]
        print(found)
        print("the winner's activation in LaTeX:", found.best.latex())

    trainings = [ep.train(problem, BY_HAND, epochs=epochs, seed=seed) for seed in range(len(winner.tasks))]
    loss = sum(training.loss for training in trainings) / len(trainings)
    error = sum(max(training.errors.values()) for training in trainings) / len(trainings)
    print(f"\nmeans of {len(trainings)} trainings from scratch, {epochs} epochs each:")
    print(f"found    loss {winner.mean_loss:.2e}  error {winner.mean_error:.2e}  {winner.genome}")
    print(f"by hand  loss {loss:.2e}  error {error:.2e}  {BY_HAND}")
