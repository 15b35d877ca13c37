"""`fit`: a curve fit with its statistics."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _engine
from ._fit_result import Fit
from ._model import ModelOfFunction, as_predictors, model_of
from ._options import array, bound_arrays, engine_options, threads


class Specification:
    """Specification of a fit, from which it can be repeated."""

    def __init__(self, f: Any, x: Any, y: Any, p0: Any, jac: Any, n_jobs: int, options: dict[str, Any]) -> None:
        self.f, self.p0, self.jac, self.n_jobs, self.options = f, p0, jac, threads(n_jobs), options
        self.x, self.predictors = as_predictors(x)
        self.y = array(y, "y").copy()
        if self.y.size == 0:
            raise ValueError("y must not be empty")
        #: Label of the group of each row, and names of the parameters that groups share.
        self.groups: Any = None
        self.shared: Any = None

    def part(self, x: Any, y: Any, options: dict[str, Any]) -> Specification:
        """The fit of some of the rows."""
        return Specification(self.f, x, y, self.p0, self.jac, self.n_jobs, options)

    def prepared(self, is_traced: bool = True) -> tuple[Any, np.ndarray, Any, dict[str, Any]]:
        """Model, its columns, start, and options of the engine."""
        rows, bounds = self.y.size, self.options.get("bounds")
        as_arrays = (lambda names: bound_arrays(bounds, names)) if bounds is not None else None
        model, start = model_of(self.f, self.x, rows, self.predictors, self.p0, as_arrays, self.jac, is_traced)
        options = engine_options(model.names, rows, p0=self.p0, **self.options)
        if isinstance(model, ModelOfFunction):
            matrix = model.matrix
            if "sigma_x" in options and (model.trace is None or model.trace.sources != [0]):
                raise ValueError(
                    "sigma_x needs a formula, a model of the library, or a function that is recorded with x alone as its column"
                )
            if model.trace is None:
                self._mask_predictors(options)
                value = model.function(self.x, *(np.ones(len(model.names)) if start is None else start))
                if getattr(value, "dtype", None) == np.float32:
                    options["accuracy"] = float(np.finfo(np.float32).eps)
        else:
            matrix = model.matrix_for(self.x)
        if len(matrix) != rows:
            raise ValueError(f"x has {len(matrix)} rows, but y has {rows}")
        return model, matrix, None if start is None else start.tolist(), options

    def _mask_predictors(self, options: dict[str, Any]) -> None:
        """Rows whose predictors are missing are left out, where that is wanted: the engine does not see them."""
        if options.get("omit_nan") and isinstance(self.x, np.ndarray):
            is_there = np.isfinite(self.x).all(axis=tuple(range(self.x.ndim - 1)))
            mask = np.asarray(options.get("mask", np.ones(self.y.size, dtype=bool)))
            if is_there.shape == mask.shape:
                options["mask"] = (mask & is_there).tolist()


def fit(
    f: Any,
    x: Any,
    y: Any,
    p0: Any = None,
    *,
    fixed: Any = None,
    ties: Any = None,
    priors: Any = None,
    bounds: Any = None,
    constraints: Any = None,
    loss: str | None = None,
    f_scale: float | None = None,
    sigma: Any = None,
    absolute_sigma: bool = False,
    sigma_x: Any = None,
    counts: bool = False,
    weights: Any = None,
    mask: Any = None,
    derive: Any = None,
    nan_policy: str = "raise",
    groups: Any = None,
    shared: Any = None,
    jac: Any = None,
    retry: bool = True,
    max_nfev: int | None = None,
    n_jobs: int = 0,
) -> Fit:
    """Fits a curve to data.

    Parameters
    ----------
    f : callable or str
        A function `f(x, a, b, …)`; a formula such as ``"a*exp(-k*x) + c"``, whose names other than predictors are parameters; or names of
        models of the library, such as ``"gaussian+linear"``.
    x : array_like, mapping or DataFrame
        Predictors: an array of shape (m,), of shape (k, m) for several, or columns by name, which formulas know by these names.
    y : array_like of shape (m,)
        Observations.
    p0 : array_like or mapping, optional
        Start, in the order of the parameters or by name. Other parameters are guessed.
    fixed : sequence of str, or mapping, optional
        Parameters that are fixed at their start, or at these values.
    ties : mapping, optional
        Parameters that are computed from others, such as ``{"c": "1 - a"}``.
    priors : mapping, optional
        Gaussian priors, ``{"k": (mean, standard deviation)}``; with `absolute_sigma` or `counts`.
    bounds : mapping, or 2-tuple of array_like, optional
        Bounds, ``{"k": (0, None)}``, or all lower and all upper ones.
    constraints : sequence of str, optional
        Linear inequalities between parameters, such as ``"a + b <= 1"``.
    loss : {'huber', 'soft_l1', 'cauchy', 'arctan', 'tukey', 'geman_mcclure', 'welsch'}, optional
        Robust loss. Its scale is estimated from the residuals unless `f_scale` is given.
    f_scale : float, optional
        Scale of the loss, in units of `sigma`.
    sigma : float, or array_like of shape (m,) or (m, m), optional
        Standard deviations of the observations, or their covariance.
    absolute_sigma : bool
        Whether `sigma` is the standard deviation of the noise. If False, only the ratios of `sigma` count.
    sigma_x : float or array_like, optional
        Standard deviations of the predictors: the fit minimises orthogonal distances.
    counts : bool
        Whether the observations are counts whose mean is the curve; the fit maximises the Poisson likelihood.
    weights : array_like of shape (m,), optional
        Weights in place of `sigma`. Rows of weight 0 are left out.
    mask : array_like of bool, optional
        Rows to fit.
    derive : mapping, optional
        Quantities that are computed from the parameters, ``{"half_life": "ln(2)/k"}``, for the report.
    nan_policy : {'raise', 'omit'}
        Whether rows with NaN or infinity are refused or left out.
    groups : array_like of shape (m,), optional
        Label of the group of each row: one fit of all groups, each with its own parameters, except for the `shared` ones.
    shared : sequence of str, optional
        Parameters that all groups share.
    jac : callable or {'2-point', '3-point'}, optional
        Derivatives `jac(x, a, b, …)` of shape (m, n), or differences for functions that are not recorded.
    retry : bool
        Whether a fit with a bad end is tried again by other methods and from other starts.
    max_nfev : int, optional
        Largest number of evaluations.
    n_jobs : int
        Number of threads of a large fit; 0 for one thread per core.

    Returns
    -------
    Fit
        Parameters, covariance and statistics; see `Fit.warnings` and `Fit.usable`.

    Raises
    ------
    ValueError, TypeError
        For an invalid argument; the message names it.

    Examples
    --------
    >>> from marquardt import fit
    >>> result = fit("a*exp(-k*x)", [0, 1, 2, 4, 6, 9], [9.8, 7.5, 5.4, 3.1, 1.6, 0.7])
    >>> round(result.params["k"].value, 3)
    0.294
    """
    options = {
        "fixed": fixed, "ties": ties, "priors": priors, "bounds": bounds, "constraints": constraints, "loss": loss,
        "f_scale": f_scale, "sigma": sigma, "absolute_sigma": absolute_sigma, "sigma_x": sigma_x, "counts": counts,
        "weights": weights, "mask": mask, "derive": derive, "nan_policy": nan_policy, "retry": retry, "max_nfev": max_nfev,
    }  # fmt: skip
    specification = Specification(f, x, y, p0, jac, n_jobs, options)
    if groups is None:
        if shared is not None:
            raise ValueError("shared needs groups, which share the parameters")
        return run(specification)
    specification.groups, specification.shared = groups, shared
    return run(specification)


def run(specification: Specification) -> Fit:
    """Fits, by the program of a function if it has the function's values where the fit ends as well."""
    if specification.groups is not None:
        from ._groups import fit_groups

        return fit_groups(specification)
    for is_traced in (True, False):
        model, matrix, start, options = specification.prepared(is_traced)
        fitted = _engine.fit(model.engine, matrix, specification.y, start, options, specification.n_jobs)
        if model.check_end(fitted.values):
            break
    return Fit(specification, model, fitted)


def refitted(specification: Specification, popt: np.ndarray) -> Fit:
    """The fit once more, from where it ended."""
    parts = vars(specification)
    again = object.__new__(Specification)
    # Groups start where they did, as their parameters have other names.
    vars(again).update(parts if specification.groups is not None else parts | {"p0": popt})
    return run(again)
