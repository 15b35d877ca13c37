"""Fits of one model to many data sets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _engine
from ._model import ModelOfFunction, as_predictors, model_of
from ._options import bound_arrays, engine_options, threads

#: Fits, at least, at whose ends a program is compared with its function.
CHECKED = 8


@dataclass(frozen=True)
class ManyFits:
    """Results of many fits, in the shape of the data without their last axis.

    Attributes
    ----------
    names : tuple of str
    parameters : ndarray of shape (..., n)
        Parameters of each fit; NaN where there was none.
    stderr : ndarray of shape (..., n)
        Standard errors: zero at a bound, infinite where the data do not determine the parameter, NaN where there was no fit.
    pcov : ndarray of shape (..., n, n), or None
        Covariances, if `pcov=True`.
    cost : ndarray
        Half the sum of squares.
    dof : ndarray of int
        Degrees of freedom.
    success : ndarray of bool
        Whether a fit ended at a minimum.
    message : ndarray of str
        Reason why it did not; empty if it did.
    iterations : ndarray of int
    why_not_traced : str or None
        Reason why the function could not be recorded, so that it was called for each fit in turn.
    """

    names: tuple[str, ...]
    parameters: np.ndarray
    stderr: np.ndarray
    pcov: np.ndarray | None
    cost: np.ndarray
    dof: np.ndarray
    success: np.ndarray
    message: np.ndarray
    iterations: np.ndarray
    why_not_traced: str | None = None

    def __getitem__(self, name: str) -> np.ndarray:
        """Values of a parameter in all fits."""
        if name not in self.names:
            raise KeyError(name)
        return self.parameters[..., self.names.index(name)]

    def to_dataframe(self) -> Any:
        """A table of pandas with a row for each fit."""
        import pandas as pd

        n = len(self.names)
        columns: dict[str, Any] = {}
        for place, name in enumerate(self.names):
            columns[name] = self.parameters.reshape(-1, n)[:, place]
            columns[f"{name}_stderr"] = self.stderr.reshape(-1, n)[:, place]
        columns |= {"cost": self.cost.ravel(), "success": self.success.ravel(), "message": self.message.ravel()}
        index = (
            pd.MultiIndex.from_product([range(length) for length in self.cost.shape]) if self.cost.ndim > 1 else None
        )
        return pd.DataFrame(columns, index=index)


def fit_many(
    f: Any,
    x: Any,
    Y: Any,
    p0: Any = None,
    *,
    sigma: Any = None,
    bounds: Any = None,
    fixed: Any = None,
    ties: Any = None,
    loss: str | None = None,
    f_scale: float | None = None,
    counts: bool = False,
    absolute_sigma: bool = False,
    pcov: bool = False,
    max_iterations: int | None = None,
    n_jobs: int = 0,
    progress: Callable[[int, int], Any] | None = None,
) -> ManyFits:
    """Fits a curve to each of many data sets: the pixels of an image, the wells of a plate, the spectra of a run.

    Fits run in the lanes of vector registers and on all cores, without Python's lock. The result of a fit does not depend on the others.

    Parameters
    ----------
    f : callable or str
        A function `f(x, a, b, …)`, a formula, or the name of a model. A function that cannot be recorded is fitted to one data set after
        the other by `fit`, and `ManyFits.why_not_traced` says why.
    x : array_like
        Predictors that all fits share: of shape (m,), or (k, m) for several.
    Y : array_like of shape (..., m)
        Observations, of float32 or float64, in which the fits are made.
    p0 : array_like of shape (n,) or (..., n), optional
        Start for all fits, or one for each. Default: guessed.
    sigma : array_like of shape (m,) or (..., m), optional
        Standard deviations of the observations, for all fits or for each.
    bounds, fixed, ties, loss, f_scale, counts, absolute_sigma
        As for `fit`, for all fits.
    pcov : bool
        Whether covariances are returned.
    max_iterations : int, optional
        Largest number of trial steps of a fit; default 200.
    n_jobs : int
        Number of threads; 0 for one thread per core.
    progress : callable, optional
        Called about 20 times a second with the number of fits that are done and that of all, from the calling thread.

    Returns
    -------
    ManyFits

    Examples
    --------
    >>> import numpy as np
    >>> from marquardt import fit_many
    >>> t = np.linspace(0, 5, 40)
    >>> rates = np.array([[0.5, 1.0], [1.5, 2.0]])
    >>> image = 3 * np.exp(-rates[..., None] * t)
    >>> fit_many("a*exp(-k*x)", t, image, p0=[1, 1])["k"].round(6)
    array([[0.5, 1. ],
           [1.5, 2. ]])
    """
    if hasattr(Y, "to_numpy"):
        Y = Y.to_numpy()
    observed = np.asarray(Y)
    if observed.dtype != np.float32:
        observed = observed.astype(np.float64, copy=False)
    if observed.ndim == 0 or observed.shape[-1] == 0:
        raise ValueError("Y must have observations along its last axis")
    shape, m, kind = observed.shape[:-1], observed.shape[-1], observed.dtype.type
    rows = np.ascontiguousarray(observed.reshape(-1, m))
    predictors, predictor_names = as_predictors(x)
    if np.shape(predictors)[-1:] != (m,) and isinstance(predictors, np.ndarray):
        raise ValueError(f"x has {np.shape(predictors)[-1]} rows, but the last axis of Y has {m}")
    starts = None if p0 is None else np.asarray(p0, dtype=float)
    first = None if starts is None else starts.reshape(-1, starts.shape[-1])[0] if starts.ndim else starts
    as_arrays = (lambda names: bound_arrays(bounds, names)) if bounds is not None else None
    model, first = model_of(f, predictors, m, predictor_names, first, as_arrays, None)
    options = engine_options(
        model.names, m, bounds=bounds, fixed=fixed, ties=ties, loss=loss, f_scale=f_scale, counts=counts
    )
    if absolute_sigma:
        options["absolute_sigma"] = True
    n = len(model.names)
    own_start = None
    if starts is not None:
        own_start = _per_fit(np.atleast_1d(starts), shape, n, "p0", kind)
    own_sigma = None if sigma is None else _per_fit(np.asarray(sigma, dtype=float), shape, m, "sigma", kind)
    options |= {"covariances": pcov, "max_iterations": max_iterations}
    if isinstance(model, ModelOfFunction) and model.trace is None:
        return _one_by_one(f, predictors, rows, shape, own_start, own_sigma, model, locals())
    matrix = model.matrix if isinstance(model, ModelOfFunction) else model.matrix_for(predictors)
    assert matrix is not None
    call = _engine.fit_many_single if kind is np.float32 else _engine.fit_many
    found = call(
        model.engine,
        np.ascontiguousarray(matrix, dtype=kind),
        rows,
        own_start,
        own_sigma,
        options,
        threads(n_jobs),
        progress,
    )
    parameters, errors, covariances, cost, dof, success, message, iterations = found
    ends = parameters[success][:: max(1, int(success.sum()) // CHECKED)].astype(float)
    if not all(model.check_end(end) for end in ends):
        # Where fits have ended, the program has other values than the function.
        model = ModelOfFunction(
            f, predictors, m, model.names, np.ones(n) if first is None else first, None, None, False
        )
        return _one_by_one(f, predictors, rows, shape, own_start, own_sigma, model, locals())
    return ManyFits(
        model.names,
        parameters.reshape(*shape, n),
        errors.reshape(*shape, n),
        None if covariances is None else covariances.reshape(*shape, n, n),
        cost.reshape(shape),
        dof.reshape(shape),
        success.reshape(shape),
        np.array(message, dtype=object).reshape(shape),
        iterations.reshape(shape),
        model.why_not_traced,
    )


def _per_fit(values: np.ndarray, shape: tuple[int, ...], length: int, name: str, kind: type) -> np.ndarray:
    """Values that all fits share, or a row for each fit."""
    if values.ndim == 0:
        values = np.full(length, float(values))
    if values.shape[-1] != length:
        raise ValueError(f"{name} has {values.shape[-1]} values along its last axis, not {length}")
    if values.ndim == 1:
        return np.ascontiguousarray(values, dtype=kind)
    if values.shape[:-1] != shape:
        raise ValueError(f"{name} has shape {values.shape}, but there are fits of shape {shape}")
    return np.ascontiguousarray(values.reshape(-1, length), dtype=kind)


def _one_by_one(
    f: Any,
    x: Any,
    rows: np.ndarray,
    shape: tuple[int, ...],
    starts: Any,
    sigma: Any,
    model: ModelOfFunction,
    given: dict[str, Any],
) -> ManyFits:
    """Fits by calls of a function."""
    from ._fit import fit

    n, count = len(model.names), len(rows)
    parameters, errors, covariances = (
        np.full((count, n), np.nan),
        np.full((count, n), np.nan),
        np.full((count, n, n), np.nan),
    )
    cost, dof, success = np.full(count, np.nan), np.zeros(count, dtype=np.uint64), np.zeros(count, dtype=bool)
    message, iterations = np.full(count, "", dtype=object), np.zeros(count, dtype=np.uint64)
    options = {name: given[name] for name in ("bounds", "fixed", "ties", "loss", "f_scale", "counts", "absolute_sigma")}
    for index, y in enumerate(rows):
        start = None if starts is None else starts if starts.ndim == 1 else starts[index]
        own_sigma = None if sigma is None else sigma if sigma.ndim == 1 else sigma[index]
        try:
            fitted = fit(f, x, y, start, sigma=own_sigma, retry=False, **options)
        except ValueError as error:
            message[index] = str(error)
            continue
        parameters[index], errors[index], covariances[index] = fitted.popt, fitted.perr, fitted.pcov
        cost[index], dof[index], success[index] = 0.5 * fitted.chisqr, fitted.dof, fitted.success
        message[index] = "" if fitted.success else fitted.message
        iterations[index] = fitted._fitted.iterations
        if given["progress"] is not None:
            given["progress"](index + 1, count)
    return ManyFits(
        model.names, parameters.reshape(*shape, n), errors.reshape(*shape, n),
        covariances.reshape(*shape, n, n) if given["pcov"] else None, cost.reshape(shape), dof.reshape(shape),
        success.reshape(shape), message.reshape(shape), iterations.reshape(shape), model.why_not_traced,
    )  # fmt: skip
