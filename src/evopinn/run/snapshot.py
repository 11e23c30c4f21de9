"""How a search stands at a moment: what a display needs to know, and no more."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from evopinn.run.listed import Entry, RoundKind

Phase = Literal["loading", "starting", "measuring", "searching", "evaluating", "finished", "stopped"]
"""The problem is loaded, and may be refused; workers start; the problem's speed is measured; generations;
final evaluations; the two ways to end."""


@dataclass(frozen=True)
class Snapshot:
    """How a search stands.

    Attributes:
        directory: The run's.
        problem: The problem's name.
        method: The method's; empty where trainings are only timed.
        phase: What it is at.
        round: What is under way: a generation, or something else that is counted like one.
        generation: Its number, from 1; 0 before the first.
        generations: How many generations, or batches, there will be.
        done: Trainings of this round that are over.
        asked: Trainings of this round.
        trained: Trainings that are over, those of earlier sessions included.
        failed: How many of them have no finite loss.
        trainings: How many trainings there will be at most.
        epochs: Epochs that are over, by plan: a training that ended early counts whole.
        epochs_planned: Epochs of all trainings.
        seconds: Since this session began.
        epochs_per_second: Of this session, all workers together; 0 while nothing is known.
        seconds_left: Until the end, as predicted; None while nothing is known.
        workers: How many there are.
        hall_of_fame: The best genomes so far, best first.
        course: The least loss so far, after each training or, of many, after every few.
        in_study: Whether it is a part of a study, with which the command goes on that began it.
    """

    directory: Path
    problem: str
    method: str
    phase: Phase
    round: RoundKind = "generation"
    generation: int = 0
    generations: int = 0
    done: int = 0
    asked: int = 0
    trained: int = 0
    failed: int = 0
    trainings: int = 0
    epochs: int = 0
    epochs_planned: int = 0
    seconds: float = 0.0
    epochs_per_second: float = 0.0
    seconds_left: float | None = None
    workers: int = 1
    hall_of_fame: Sequence[Entry] = ()
    course: Sequence[float] = ()
    in_study: bool = False
