"""A network written as text: trained, saved, loaded, and used from NumPy and from torch."""

import tempfile
from pathlib import Path

import numpy as np
import torch

import evopinn as ep

GENOME = "layers=3 neurons=20 shortcuts=0-2 activation=a*tanh(b*x)*cos(x)"

if __name__ == "__main__":
    result = ep.train(ep.find_problem("heat"), GENOME, epochs=60, seed=4)
    print(result.status, result.errors)
    with tempfile.TemporaryDirectory() as folder:
        weights, sidecar = ep.save(result, Path(folder) / "heat")
        print("saved", weights.name, "and", sidecar.name)
        loaded = ep.load(Path(folder) / "heat")
    points = np.array([[0.5, 0.1], [0.5, 0.2]])  # x, t
    print("the same after loading:", np.array_equal(loaded.predict(points), result.predict(points)))

    network = loaded.to_torch()
    x = torch.tensor(points, requires_grad=True)
    (gradient,) = torch.autograd.grad(network(x).sum(), x)
    print("u_x and u_t there:", gradient.numpy().round(3).tolist())
    print("a and b of each layer:", [a.tolist() for a in network.activations])
    print("activation in LaTeX:", loaded.latex())
