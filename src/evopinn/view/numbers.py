"""Numbers as a person reads them."""

import math
from datetime import datetime
from decimal import Decimal

LEAST_FOR_QUARTILES = 4
"""The number of trainings in a generation from which quartiles of their losses are meaningful."""

_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def scientific(value: float) -> str:
    """Three digits: `8.85e-05`; also of counts that are too large for a floating-point number."""
    try:
        return f"{value:.2e}"
    except OverflowError:
        return f"{Decimal(value):.2e}"


def typographic(value: float) -> str:
    """Three digits and a power of ten: `8.85 × 10⁻⁵`; numbers of ordinary size as they are."""
    if value in (math.inf, -math.inf):
        return "∞" if value > 0 else "−∞"
    if value == 0:
        return "0"
    if 0.1 <= abs(value) < 1000:
        return f"{value:#.3g}".rstrip(".")
    mantissa, _, exponent = scientific(value).partition("e")
    return f"{mantissa} × 10{str(int(exponent)).translate(_RAISED)}"


def duration(seconds: float) -> str:
    """A duration in the two units that matter: `850 ms`, `12.3 s`, `4 min 05 s`, `2 h 10 min`."""
    if seconds < 1:
        return f"{1000 * seconds:.0f} ms"
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest:02d} s"
    return f"{minutes // 60} h {minutes % 60:02d} min"


def moment(seconds: float) -> str:
    """A time, given in seconds since 1970, in the local time zone: `2026-05-01 14:30`."""
    return datetime.fromtimestamp(seconds).strftime("%Y-%m-%d %H:%M")


def spread(mean: float, deviation: float) -> str:
    """A mean and its standard deviation: `8.85e-05 ± 3.40e-05`."""
    return f"{scientific(mean)} ± {scientific(deviation)}"
