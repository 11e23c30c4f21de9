"""Numbers and names in LaTeX."""

import math
import unicodedata
from fractions import Fraction

_POWERS = (1, 2, -1, -2, 3, 4)
_DIGITS = 6
_SHORT = 8
_EXACT = 1e-14
_GREEK = {
    *("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "mu"),
    *("nu", "xi", "pi", "rho", "sigma", "tau", "upsilon", "phi", "chi", "psi", "omega"),
    *("Gamma", "Delta", "Theta", "Lambda", "Xi", "Pi", "Sigma", "Upsilon", "Phi", "Psi", "Omega"),
}


def print_number(value: float) -> str:
    r"""A number in LaTeX: short ones as they are, multiples of powers of π as such, others to six digits.

    Examples:
        >>> print_number(5 * math.pi), print_number(0.01 / math.pi), print_number(-2.0), print_number(1e-4)
        ('5 \\pi', '\\frac{1}{100 \\pi}', '-2', '10^{-4}')
    """
    if not math.isfinite(value):
        return r"\infty" if value > 0 else r"-\infty" if value < 0 else r"\mathrm{NaN}"
    above, below = number_parts(abs(value))
    return ("-" if value < 0 else "") + (rf"\frac{{{above}}}{{{below}}}" if below else above)


def number_parts(size: float) -> tuple[str, str]:
    """A non-negative number as the numerator and, if there is one, the denominator of a fraction."""
    # Nobody means a multiple of π by few digits.
    found = _fraction(size) if math.isfinite(size) and len(repr(size)) > _SHORT else None
    return found or (_decimal(size) if math.isfinite(size) else print_number(size), "")


def print_name(name: str) -> str:
    r"""A Python identifier as a symbol: Greek by its letter, several letters upright, what follows `_` below.

    Examples:
        >>> print_name("x"), print_name("theta"), print_name("ω"), print_name("u_in"), print_name("speed")
        ('x', '\\theta', '\\omega', 'u_{\\mathrm{in}}', '\\mathrm{speed}')
    """
    first, *rest = [part for part in name.split("_") if part] or [r"\_"]
    symbol = _word(first)
    for each in rest:
        symbol = with_index(symbol, _word(each))
    return symbol


def with_index(symbol: str, below: str) -> str:
    r"""A symbol with something below it; what is below already stays there.

    Examples:
        >>> with_index("u", "x"), with_index("u_{1}", "x")
        ('u_{x}', 'u_{1,\\,x}')
    """
    return rf"{symbol[:-1]},\,{below}}}" if "_{" in symbol else f"{symbol}_{{{below}}}"


def _word(text: str) -> str:
    if text in _GREEK:
        return rf"\{text}"
    if len(text) > 1:
        letters, digits = text.rstrip("0123456789"), text[len(text.rstrip("0123456789")) :]
        if len(letters) == 1 and digits:
            return f"{_word(letters)}_{{{digits}}}"
        return text if text.isdigit() else rf"\mathrm{{{text}}}"
    words = unicodedata.name(text, "").split()
    if words[:1] == ["GREEK"] and words[2:3] == ["LETTER"] and len(words) == 4:
        greek = words[3].lower().replace("lamda", "lambda")
        greek = greek.capitalize() if words[1] == "CAPITAL" else greek
        return rf"\{greek}" if greek in _GREEK else text
    return text


def _decimal(size: float) -> str:
    text = repr(size) if len(repr(size)) <= _SHORT else f"{size:.{_DIGITS}g}"
    mantissa, _, exponent = text.removesuffix(".0").partition("e")
    if not exponent and (size >= 1e6 or 0 < size < 1e-3):
        mantissa, _, exponent = f"{size:.{_DIGITS - 1}e}".partition("e")
        mantissa = mantissa.rstrip("0").rstrip(".")
    if not exponent:
        return mantissa
    power = f"10^{{{int(exponent)}}}"
    return power if mantissa in ("1", "1.0") else rf"{mantissa.removesuffix('.0')} \cdot {power}"


def _fraction(size: float) -> tuple[str, str] | None:
    """A number as a fraction of small whole numbers, times a power of π."""
    for power in (0, *_POWERS):
        ratio = Fraction(size / math.pi**power).limit_denominator(20 if power == 0 else 1000)
        near = ratio and math.isclose(float(ratio) * math.pi**power, size, rel_tol=_EXACT)
        if near and ratio.numerator <= 10_000:
            return _written(ratio, power)
    return None


def _written(ratio: Fraction, power: int) -> tuple[str, str]:
    if power == 0 and 1000 % ratio.denominator == 0:  # 7.2, which rounding had made 7.199999999999999
        return _decimal(float(ratio)), ""
    symbol = "" if power == 0 else r"\pi" if abs(power) == 1 else rf"\pi^{{{abs(power)}}}"
    above = _times(ratio.numerator, symbol if power > 0 else "")
    below = _times(ratio.denominator, symbol if power < 0 else "")
    return above, "" if below == "1" else below


def _times(whole: int, symbol: str) -> str:
    if not symbol:
        return str(whole)
    return symbol if whole == 1 else f"{whole} {symbol}"
