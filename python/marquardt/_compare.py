"""Comparison of fits to the same data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from . import _engine
from ._fit_result import Fit
from ._statistics import Compared, Comparison


def compare(fits: Mapping[str, Fit] | Iterable[Any]) -> Comparison:
    """Compares fits to the same data by the corrected Akaike criterion.

    Parameters
    ----------
    fits : mapping of str to Fit, or iterable of Fit or of pairs of a name and a Fit

    Returns
    -------
    Comparison
        The fits, best first.
    """
    pairs = list(fits.items()) if isinstance(fits, Mapping) else list(fits)
    named = []
    for index, pair in enumerate(pairs):
        name, fit = pair if isinstance(pair, tuple) else (pair.formula or f"fit {index + 1}", pair)
        if not isinstance(fit, Fit):
            raise TypeError(f"fits must be results of fit, not {type(fit).__name__}")
        named.append((name, fit._fitted))
    return Comparison(Compared(*row) for row in _engine.compare(named))
