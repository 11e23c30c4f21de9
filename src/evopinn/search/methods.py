"""The table of search methods: the five of the paper, and the list of genomes."""

from collections.abc import Mapping
from types import MappingProxyType

from evopinn.errors import UnknownNameError
from evopinn.search.bayes import FCNET, FCRESNET, BayesMethod, BayesSettings
from evopinn.search.evolution import EvolutionSettings
from evopinn.search.evolution_method import ConstantEvolution, DynamicEvolution
from evopinn.search.genome_list import GenomeListMethod, GenomeListSettings
from evopinn.search.method import AnyMethod
from evopinn.search.workplan import Workplan

_ROWS: tuple[AnyMethod, ...] = (
    DynamicEvolution(
        "evo-dpste",
        "evolution, populations falling and epochs rising",
        EvolutionSettings(),
        fixed=("pressure",),
        drift=1.2,
        even_drift=0.87,
    ),
    ConstantEvolution(
        "evolution",
        "evolution at a constant population and number of epochs",
        EvolutionSettings(),
        fixed=("pressure",),
        drift=1.2,
        even_drift=0.93,
    ),
    DynamicEvolution(
        "random",
        "random search: evolution with random parents and survivors",
        EvolutionSettings(pressure=False),
        fixed=("pressure",),
        drift=0.75,
        even_drift=0.72,
    ),
    BayesMethod(
        "bo-fcnet",
        "Bayesian optimisation of networks without shortcuts",
        BayesSettings(span=FCNET),
        fixed=("span",),
        drift=1.15,
        even_drift=0.84,
    ),
    BayesMethod(
        "bo-fcresnet",
        "Bayesian optimisation of networks with a shortcut over every two layers",
        BayesSettings(span=FCRESNET),
        fixed=("span",),
        drift=1.15,
        even_drift=0.84,
    ),
)

METHODS: Mapping[str, AnyMethod] = MappingProxyType({row.name: row for row in _ROWS})
"""The search methods, by name."""

DEFAULT_METHOD = "evo-dpste"
"""The method of a search for which none is named."""

GENOME_LIST = GenomeListMethod(
    "listed", "no search: the genomes of a list, each trained several times", GenomeListSettings()
)

_BY_NAME: Mapping[str, AnyMethod] = METHODS | {GENOME_LIST.name: GENOME_LIST}

WORKPLANS: tuple[type[Workplan], ...] = tuple(dict.fromkeys(row.workplan for row in _BY_NAME.values()))
"""The kinds of workplan, each once, in the order of their entries in configurations."""


def find_method(name: str) -> AnyMethod:
    """A method by name, or the list; `UnknownNameError` if there is none."""
    if name not in _BY_NAME:
        raise UnknownNameError("search method", name, _BY_NAME, f"There are {', '.join(_BY_NAME)}.")
    return _BY_NAME[name]
