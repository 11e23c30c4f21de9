"""Presets: the paper's schedules by equation, and a short one."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from evopinn.errors import SearchError, UnknownNameError
from evopinn.search.bayes import Trials
from evopinn.search.schedule import Schedule


@dataclass(frozen=True)
class Preset:
    """A fixed amount of work for each kind of method, so that a seed gives the same search on any machine.

    Attributes:
        dpste: For evolution with DPSTE, and for random search.
        constant: For evolution without DPSTE.
        trials: For Bayesian optimisation.
    """

    dpste: Schedule
    constant: Schedule
    trials: Trials


_KLEIN_GORDON = Preset(
    Schedule(
        (1000, 250, 125, 85, 65, 50, 40, 30, 25, 20, 15, 15, 15, 10, 10),
        (100, 200, 400, 600, 800, 1000, 1200, 1600, 2000, 2500, 3000, 3500, 4000, 4500, 5000),
    ),
    Schedule((30,) * 6, (5000,) * 6),
    Trials(200, 5000),
)
_BURGERS = Preset(
    Schedule(
        (1000, 200, 100, 65, 50, 40, 35, 30, 25, 20, 20, 20, 15, 15, 15),
        (100, 200, 400, 600, 800, 1000, 1200, 1400, 1600, 1800, 2000, 2200, 2400, 2700, 3000),
    ),
    Schedule((40,) * 6, (3000,) * 6),
    Trials(300, 3000),
)
# About 3,800 epochs each: a good two minutes on two cores with 3,600 points.
_QUICK = Preset(
    Schedule((64, 20, 12, 6), (16, 28, 44, 72)),
    Schedule((6,) * 5, (72,) * 5),
    Trials(40, 72),
)

_PAPER = "paper"
PRESETS: Mapping[str, Preset] = MappingProxyType(
    {
        "paper:klein-gordon": _KLEIN_GORDON,
        "paper:burgers": _BURGERS,
        "paper:lame": _KLEIN_GORDON,
        "quick": _QUICK,
    }
)
"""The paper's schedules by equation (Lamé's are those of Klein-Gordon), and a short one."""


def find_preset(name: str, problem: str = "") -> Preset:
    """A preset by name; `paper` means that of the problem's family, as in `klein-gordon:II`."""
    full = f"{_PAPER}:{problem.partition(':')[0]}" if name == _PAPER else name
    if full in PRESETS:
        return PRESETS[full]
    if name != _PAPER:
        raise UnknownNameError("preset", name, PRESETS, f"There are {', '.join(PRESETS)}.")
    papers = [each for each in PRESETS if each.startswith(_PAPER)]
    raise SearchError(
        f"the preset {_PAPER} is given for {problem or 'no problem'}, for which the paper has no schedule; "
        f"take one of {', '.join(papers)}, or quick, or a budget."
    )
