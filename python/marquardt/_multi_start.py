"""Fits from many starts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _engine
from ._fit import Specification
from ._fit_result import Fit
from ._options import seed_of


@dataclass(frozen=True)
class Minimum:
    """A minimum: its parameters, its cost (half the sum of squares), and the number of starts that led to it."""

    parameters: np.ndarray
    cost: float
    starts: int


@dataclass(frozen=True)
class MultiStart:
    """Result of fits from many starts.

    Attributes
    ----------
    best : Fit
        The fit with the lowest cost.
    minima : list of Minimum
        All minima, the lowest first.
    failed : int
        Number of starts that led to no minimum.
    """

    best: Fit
    minima: list[Minimum]
    failed: int


def multi_start(
    f: Any,
    x: Any,
    y: Any,
    ranges: Mapping[str, tuple[float, float]] | None = None,
    log_ranges: Mapping[str, tuple[float, float]] | None = None,
    *,
    starts: int = 32,
    seed: int = 0,
    p0: Any = None,
    jac: Any = None,
    n_jobs: int = 0,
    **options: Any,
) -> MultiStart:
    """Fits a curve from many starts, spread by a Latin hypercube.

    Parameters
    ----------
    f, x, y, p0, jac
        As for `fit`.
    ranges, log_ranges : mapping, optional
        Ranges of starts by name, ``{"k": (0.01, 10)}``, uniform, or uniform in the logarithm. Parameters with finite bounds need none.
    starts : int
        Number of starts.
    seed : int
    n_jobs : int
        Number of threads; 0 for one thread per core. A function that is not recorded is called from the calling thread alone.
    **options
        Options of `fit`.

    Returns
    -------
    MultiStart
    """
    known = ("fixed", "ties", "priors", "bounds", "constraints", "loss", "f_scale", "sigma", "absolute_sigma", "sigma_x", "counts",
             "weights", "mask", "derive", "nan_policy", "retry", "max_nfev")  # fmt: skip
    for name in options:
        if name not in known:
            raise TypeError(f"multi_start() got an unexpected keyword argument {name!r}")
    defaults: dict[str, Any] = dict.fromkeys(known) | {
        "absolute_sigma": False,
        "counts": False,
        "nan_policy": "raise",
        "retry": True,
    }
    specification = Specification(f, x, y, p0, jac, n_jobs, defaults | options)
    spread = [(name, float(low), float(high), False) for name, (low, high) in (ranges or {}).items()]
    spread += [(name, float(low), float(high), True) for name, (low, high) in (log_ranges or {}).items()]
    for is_traced in (True, False):
        model, matrix, start, prepared = specification.prepared(is_traced)
        best, minima, failed = _engine.multi_start(
            model.engine, matrix, specification.y, start, prepared, starts, seed_of(seed), spread, specification.n_jobs
        )
        if model.check_end(best.values):
            break
    found = [Minimum(np.array(parameters), cost, count) for parameters, cost, count in minima]
    return MultiStart(Fit(specification, model, best), found, failed)
