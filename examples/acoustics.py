"""A system of two equations: sound in a closed tube, with pressure p and velocity v.

p_t + v_x = 0 and v_t + p_x = 0, initially at rest; the solution is p = cos(πx) cos(πt), v = sin(πx) sin(πt).
"""

from torch import cos, pi, sin

import evopinn as ep

problem = ep.Problem(
    domain=ep.Interval(0, 1) * ep.Time(0, 1),
    fields=["p", "v"],
    residual=lambda p, v: [p.t + v.x, v.t + p.x],
    conditions=[
        ep.Initial(lambda p, v, x: [p - cos(pi * x), v], weight=10),
        ep.Boundary(lambda v: v, weight=10, name="closed ends"),
    ],
    points=ep.Grid(interior=(20, 20), initial=21, boundary=42),
    solution=lambda x, t: (cos(pi * x) * cos(pi * t), sin(pi * x) * sin(pi * t)),
    name="acoustics",
)

if __name__ == "__main__":
    result = ep.train(problem, epochs=100)
    for field, error in result.errors.items():
        print(f"error of {field}: {error:.1e}")
    print("p and v in the middle at t = 1/2:", result.predict([[0.5, 0.5]]).round(2))
