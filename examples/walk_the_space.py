"""A walk through the search space: random genomes, a crossover, and mutations with their names."""

import numpy as np

from evopinn import Space
from evopinn.genome import MutationRates, crossover, mutate, random_genome

if __name__ == "__main__":
    space = Space.parse("layers=3-6 neurons=20-30:2")
    print(f"{space}: {space.count_models():.2e} models")

    rng = np.random.default_rng(1)
    mother, father = random_genome(space, rng), random_genome(space, rng)
    print("mother:", mother)
    print("father:", father)
    child, sibling = crossover(mother, father)
    print("child:", child)
    print("sibling:", sibling)

    for _ in range(6):
        child, operations = mutate(child, space, MutationRates(), rng)
        print(f"{', '.join(operations) or 'nothing'}:", child)
    print("key of the last one:", child.key)
