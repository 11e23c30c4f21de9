"""LaTeX as MathML for browsers; only elements of MathML are let through."""

import html
from collections.abc import Sequence
from functools import lru_cache
from xml.etree.ElementTree import Element, tostring

from latex2mathml.converter import convert_to_element  # pyright: ignore[reportMissingTypeStubs]

from evopinn.view.report.report_facts import Formula

_ELEMENTS = {
    *("math", "mrow", "mi", "mn", "mo", "mtext", "mspace", "ms", "mfrac", "msqrt", "mroot", "mstyle"),
    *("msub", "msup", "msubsup", "munder", "mover", "munderover", "mtable", "mtr", "mtd", "mpadded"),
    *("menclose", "mphantom", "merror", "mfenced"),
}
_ATTRIBUTES = {
    *("display", "mathvariant", "stretchy", "fence", "form", "separator", "accent", "accentunder"),
    *("linethickness", "displaystyle", "scriptlevel", "columnalign", "columnspacing", "rowspacing", "width"),
    *("height", "depth", "lspace", "rspace", "minsize", "maxsize", "movablelimits", "symmetric", "largeop"),
}
_LONGEST = 4000


def formula(latex: str) -> Formula:
    """A formula as LaTeX and as MathML."""
    return Formula(latex, _mathml(latex))


def formulas(texts: Sequence[str]) -> tuple[Formula, ...]:
    """Several formulas."""
    return tuple(map(formula, texts))


@lru_cache(maxsize=1024)
def _mathml(latex: str) -> str:
    if not latex.strip() or len(latex) > _LONGEST:
        return ""
    try:
        element = _cleaned(convert_to_element(latex, display="block"))
    except (Exception, RecursionError):  # noqa: BLE001 - LaTeX of others may be anything; it is shown as it is
        return ""
    return tostring(element, encoding="unicode", short_empty_elements=False)


def _cleaned(element: Element) -> Element:
    """A copy with only the elements and attributes of MathML, and with text unescaped."""
    tag = element.tag.rpartition("}")[2]
    if tag not in _ELEMENTS:
        raise ValueError(tag)
    copy = Element(tag, {name: value for name, value in element.attrib.items() if name in _ATTRIBUTES})
    # The converter writes characters as entities, for which ElementTree has no use.
    copy.text = html.unescape(element.text) if element.text else None
    copy.extend(map(_cleaned, element))
    return copy
