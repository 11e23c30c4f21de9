"""The variations of a sensitivity study: each choice of a baseline alone, as in the paper's Fig. 1."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Annotated, Any, Self, cast

from pydantic import BeforeValidator, Field

from evopinn.checks import shown
from evopinn.errors import GenomeError, GenomeSyntaxError, SearchError, UnknownNameError
from evopinn.genome import COMMON, Activation, Genome, Shortcut, Structure, regular_shortcuts
from evopinn.lab.studies.design import Design
from evopinn.problem import is_problem_file

BASELINE = "layers=9 neurons=30 shortcuts=0-2,2-4,4-6,6-8 activation=tanh(x)"
LAYERS, NEURONS = (3, 5, 7, 9, 11), (20, 30, 40, 50)
"""The paper gives no numbers; these lie around the baseline's."""

PATTERNS: Mapping[str, str] = MappingProxyType(
    {"I": "none", "II": "0-2,2-4,4-6,6-8", "III": "0-1,1-3,4-6,7-8", "IV": "1-4,4-6,6-8", "V": "0-3,4-7"}
)
"""The paper's five ways to connect the nine layers of its baseline."""

REGULAR: Mapping[str, int] = MappingProxyType({"none": 0, "over 1": 1, "over 2": 2, "over 3": 3})
"""Patterns by the number of layers that a shortcut spans, for baselines that the paper's do not fit."""

STARRED: Mapping[str, str] = MappingProxyType({"tanh*": "parametric-tanh", "swish*": "parametric-swish"})
"""The paper's names of functions with a parameter that each layer learns."""

ACTIVATIONS = ("tanh", "sigmoid", "sin", "atan", "swish", *STARRED)
"""The paper's text names tanh, sin, tanh* and swish*; the others are the usual ones beside them."""

OBJECTIVES = ("layers", "neurons", "shortcuts", "activation")
_WORD = re.compile(r"(?!x$)[^\W\d][\w-]*\*?", re.ASCII)
_OWN = "baseline"
"""The name of the baseline's value where it has no other."""


@dataclass(frozen=True)
class Variations:
    """The values of each objective, in order, with that of the baseline among them.

    Attributes:
        baseline: The choices while they are not varied.
        layers: Numbers of layers; more than one only if the baseline's shortcuts are regular.
        neurons: Numbers of neurons.
        shortcuts: Patterns for the baseline's layers, by name.
        activations: By name.
    """

    baseline: Genome
    layers: tuple[int, ...]
    neurons: tuple[int, ...]
    shortcuts: Mapping[str, tuple[Shortcut, ...]]
    activations: Mapping[str, Activation]

    @classmethod
    def of(
        cls,
        baseline: str | None,
        layers: Sequence[int] | None,
        neurons: Sequence[int] | None,
        shortcuts: Mapping[str, str] | None,
        activations: Mapping[str, str] | None,
    ) -> "Variations":
        """The given values, by default the paper's, and the baseline's where they are missing.

        Args:
            baseline: As a genome's text.
            layers: Numbers; an empty list, as in the others, leaves the objective out.
            neurons: Numbers.
            shortcuts: Texts such as `0-2,2-4` or `none`, by name.
            activations: Texts such as `tanh(a*x)`, or names of common ones, by name.

        Raises:
            SearchError: One of them makes no sense.
        """
        center = _baseline(BASELINE if baseline is None else baseline)
        return cls(
            center,
            _numbers("layers", _usual_layers(center) if layers is None else layers, center),
            _numbers("neurons", NEURONS if neurons is None else neurons, center),
            _patterns(_usual_patterns(center) if shortcuts is None else shortcuts, center),
            _functions({name: name for name in ACTIVATIONS} if activations is None else activations, center),
        )

    def objectives(self) -> Mapping[str, Mapping[str, str]]:
        """Genomes by objective and by the name of the value; objectives with one value are left out."""
        baseline = self.baseline
        structure = baseline.structure
        span = regular_span(structure) or 0
        found = {
            "layers": {
                str(number): Structure(number, structure.neurons, regular_shortcuts(number, span))
                for number in (self.layers if len(self.layers) > 1 else ())
            },
            "neurons": {str(number): replace(structure, neurons=number) for number in self.neurons},
            "shortcuts": {name: replace(structure, shortcuts=each) for name, each in self.shortcuts.items()},
        }
        texts = {
            objective: {name: replace(baseline, structure=each).text for name, each in values.items()}
            for objective, values in found.items()
        }
        texts["activation"] = {
            name: replace(baseline, activation=each).text for name, each in self.activations.items()
        }
        return {objective: values for objective, values in texts.items() if len(values) > 1}

    def entries(self) -> dict[str, object]:
        """The same as the entries of a design."""
        return {
            "baseline": self.baseline.text,
            "layers": list(self.layers),
            "neurons": list(self.neurons),
            "shortcuts": {name: pattern_text(each) for name, each in self.shortcuts.items()},
            "activations": {name: each.text for name, each in self.activations.items()},
        }


def _by_name(value: object) -> object:
    """A list of names as a table in which each name stands for itself."""
    return {name: name for name in cast("list[Any]", value)} if isinstance(value, list) else value


class SensitivityDesign(Design):
    """The design of a sensitivity study.

    The values of the baseline are always among those that are tried; an empty list leaves a choice as it is
    in the baseline. By default, models are trained on one case only: that of the problem's name, or else the
    first.

    Attributes:
        baseline: Layers, neurons, shortcuts, activation and start, as a genome.
        layers: Numbers of layers that are tried, with shortcuts that span as many as those of the baseline.
        neurons: Numbers of neurons.
        shortcuts: Patterns of shortcuts for the layers of the baseline, by name.
        activations: Expressions by name; or names of common ones.
        morris: Trajectories of Morris' screening, in which all choices vary together; none by default.
    """

    kind: str = "sensitivity"
    baseline: str | None = None
    layers: list[int] | None = None
    neurons: list[int] | None = None
    shortcuts: dict[str, str] | None = None
    activations: Annotated[dict[str, str] | None, BeforeValidator(_by_name)] = None
    morris: int = Field(default=0, ge=0, le=1000)

    def varied(self) -> Variations:
        """The values of each choice, checked."""
        return Variations.of(self.baseline, self.layers, self.neurons, self.shortcuts, self.activations)

    def settled(self) -> Self:
        """The same design with everything filled in that follows from the paper and the scale."""
        return super().settled().model_copy(update=self.varied().entries())

    def case_names(self) -> tuple[str, ...]:
        """The cases by their full names: one, unless others are given."""
        names = super().case_names()
        if self.cases or is_problem_file(self.problem):
            return names
        case = self.problem.partition(":")[2]
        return (f"{self.family}:{case.upper()}",) if case else names[:1]


def regular_span(structure: Structure) -> int | None:
    """How many layers each shortcut spans if they are regular, 0 without any; None if they are not.

    Examples:
        >>> regular_span(Structure(6, 30, ((0, 2), (2, 4), (4, 5))))
        2
    """
    spans = (span for span in range(structure.layers) if _regular(structure, span) == structure.shortcuts)
    return next(spans, None)


def pattern_text(shortcuts: Iterable[Shortcut]) -> str:
    """Shortcuts as in a genome's text."""
    return ",".join(f"{start}-{end}" for start, end in shortcuts) or "none"


def _regular(structure: Structure, span: int) -> tuple[Shortcut, ...]:
    return regular_shortcuts(structure.layers, span)


def _baseline(text: str) -> Genome:
    try:
        return Genome.parse(text)
    except GenomeSyntaxError as error:
        raise SearchError(
            f"the baseline is {shown(text)}: {error.reason}; write it like `{BASELINE}`."
        ) from None


def _usual_layers(baseline: Genome) -> tuple[int, ...]:
    return () if regular_span(baseline.structure) is None else LAYERS


def _usual_patterns(baseline: Genome) -> Mapping[str, str]:
    structure = baseline.structure
    if structure.layers == _baseline(BASELINE).structure.layers:
        return PATTERNS
    # The longest shortcuts of a short network are all the same one.
    texts: dict[str, str] = {}
    for name, span in REGULAR.items():
        texts.setdefault(pattern_text(_regular(structure, span)), name)
    return {name: text for text, name in texts.items()}


def _numbers(objective: str, given: Sequence[int], baseline: Genome) -> tuple[int, ...]:
    own: int = getattr(baseline.structure, objective)
    numbers = tuple(sorted({own, *given}))
    if objective == "layers" and len(numbers) > 1 and regular_span(baseline.structure) is None:
        raise SearchError(
            f"the layers are {list(given)}, but the baseline's shortcuts, "
            f"{pattern_text(baseline.structure.shortcuts)}, are not regular and fit {own} layers only; leave "
            "the layers out, or give a baseline with regular shortcuts."
        )
    for number in numbers:
        try:
            replace(Structure(2, 1), **{objective: number})
        except GenomeError as error:
            raise SearchError(f"the {objective} are {shown(list(given))}: {error}") from None
    return numbers


def _patterns(given: Mapping[str, str], baseline: Genome) -> Mapping[str, tuple[Shortcut, ...]]:
    structure = baseline.structure
    found: dict[str, tuple[Shortcut, ...]] = {}
    for name, text in given.items():
        try:
            read = Structure.parse(f"layers={structure.layers} neurons=1 shortcuts={text or 'none'}")
        except GenomeSyntaxError as error:
            raise SearchError(f"the shortcuts {name!r} are {shown(text)}: {error.reason}.") from None
        found[_fresh("shortcuts", name, read.shortcuts, found)] = read.shortcuts
    if structure.shortcuts not in found.values():
        found = {_fresh("shortcuts", _OWN, structure.shortcuts, found): structure.shortcuts, **found}
    return found


def _functions(given: Mapping[str, str], baseline: Genome) -> Mapping[str, Activation]:
    found: dict[str, Activation] = {}
    for name, text in given.items():
        activation = _function(name, text)
        found[_fresh("activations", name, activation, found)] = activation
    own = baseline.activation
    if own not in found.values():
        usual = (name for name in ACTIVATIONS if _function(name, name) == own)
        found = {_fresh("activations", next(usual, _OWN), own, found): own, **found}
    return found


def _function(name: str, text: str) -> Activation:
    common = STARRED.get(text, text)
    if common in COMMON:
        return COMMON[common].activation
    if _WORD.fullmatch(text):
        known = (*COMMON, *STARRED)
        raise UnknownNameError(
            "common activation", text, known, f"There are {', '.join(known)}; or give an expression of x."
        )
    try:
        return Activation.parse(text)
    except GenomeSyntaxError as error:
        raise SearchError(f"the activation {name!r} is {shown(text)}: {error.reason}.") from None


def _fresh(objective: str, name: str, value: object, found: Mapping[str, object]) -> str:
    """A name that, like its value, is new: one network cannot stand for two values."""
    if not name.strip():
        raise SearchError(f"one of the {objective} has an empty name; give it one.")
    twin = next((other for other, known in found.items() if known == value), None)
    if twin is not None:
        raise SearchError(f"the {objective} {twin!r} and {name!r} are the same; give one of them.")
    if name in found:
        raise SearchError(
            f"one of the {objective} is called {name!r}, but differs from the baseline's; rename it."
        )
    return name
