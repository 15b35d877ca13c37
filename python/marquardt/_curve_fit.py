"""`curve_fit`, as SciPy has it."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from . import _engine
from ._least_squares import least_squares
from ._scipy import bounds_of, warning_class
from ._signature import parameter_names
from ._trace import STEPS, TRACES, Untraceable, is_trusted, second_point

_UNBOUNDED = (-np.inf, np.inf)
#: Ends that are no minimum, and mean that more work would be needed.
_NOT_FOUND = {"max_iterations", "max_evaluations", "time", "cancelled", "failed", "wrong_derivatives"}
_CODES = {"ftol": 1, "xtol": 2, "gtol": 4, "zero": 1, "flat": 1, "no_progress": 1}
#: Settings of MINPACK and of `least_squares` that the engine does not need: it solves to the last digits, and scales by itself.
_UNNEEDED = {"xtol", "gtol", "epsfcn", "factor", "diag", "col_deriv", "x_scale", "diff_step", "tr_solver", "tr_options",
             "verbose", "workers"}  # fmt: skip
#: SciPy's `ftol`, by which a solve ends whose derivatives are differences of one side: these have half of the digits anyway.
_FTOL = 1.49012e-8
#: Data from which on a trace that is kept is compared with its function once in a fit.
_LONG = 10_000
#: Data times parameters from which on a fit is first tried by plain steps, and their number.
_MANY = 100_000
_FEW = 20
_GENERAL = {"loss", "f_scale", "jac_sparsity", "callback"}


def curve_fit(
    f: Callable[..., Any],
    xdata: Any,
    ydata: Any,
    p0: Any = None,
    sigma: Any = None,
    absolute_sigma: bool = False,
    check_finite: bool | None = None,
    bounds: Any = _UNBOUNDED,
    method: str | None = None,
    jac: Any = None,
    *,
    full_output: bool = False,
    nan_policy: str | None = None,
    **kwargs: Any,
) -> Any:
    """Fits a function to data, in place of `scipy.optimize.curve_fit`.

    The function is recorded as a program with exact derivatives where that is possible, and is called where it is not. Fits are solved to
    the last digits that rounding allows, whatever `xtol`, `gtol`, `epsfcn`, `factor`, `diag` and `x_scale` say. `ftol` counts where a
    function is called and differenced on one side, as by default; it is SciPy's 1.49e-8 then.

    Parameters
    ----------
    f : callable
        Model `f(x, a, b, …)`.
    xdata : array_like or object
        Predictors, in the form that `f` takes.
    ydata : array_like of length M
        Observations.
    p0 : array_like, optional
        Start. Default: the middle of the bounds, or 1.
    sigma : float, or array_like of shape (M,) or (M, M), optional
        Standard deviations of the observations, or their covariance.
    absolute_sigma : bool
        Whether `sigma` is the standard deviation of the noise. If False, only the ratios of `sigma` count.
    check_finite : bool, optional
        Whether NaN and infinity in the data are refused; True unless `nan_policy` is given.
    bounds : 2-tuple of array_like, or Bounds
        Lower and upper bounds.
    method : {'lm', 'trf', 'dogbox'}, optional
        Accepted as in SciPy, with its restrictions; all are the same algorithm here.
    jac : callable or {'2-point', '3-point', 'cs'}, optional
        Derivatives `jac(x, a, b, …)`, of shape (M, N), or differences for functions that are not recorded.
    full_output : bool
        Whether `infodict`, `mesg` and `ier` are also returned.
    nan_policy : {'raise', 'omit'}, optional
        Policy for NaN in the data: an error, or the rows are left out.
    **kwargs
        Settings of `scipy.optimize.leastsq` or `least_squares`. `maxfev` and `max_nfev` limit evaluations; `loss` and `f_scale` are
        those of `least_squares`.

    Returns
    -------
    popt : ndarray
        Parameters.
    pcov : ndarray
        Their covariance; infinite where the data do not determine them. The variance of a parameter that a bound holds is zero.
    infodict : dict
        `nfev` and `fvec`, if `full_output`.
    mesg : str
        Reason for which the solve ended, if `full_output`.
    ier : int
        Code from 1 to 4 if a solution was found, if `full_output`.

    Raises
    ------
    ValueError
        For invalid data, bounds or options.
    RuntimeError
        If no minimum was found.

    Warns
    -----
    OptimizeWarning
        If the covariance could not be estimated, or nothing can be concluded: a parameter ran away, or a constant describes the data
        better.

    Examples
    --------
    >>> import numpy as np
    >>> from marquardt import curve_fit
    >>> def decay(t, a, k):
    ...     return a * np.exp(-k * t)
    >>> t = np.array([0.0, 1.0, 2.0, 4.0, 6.0, 9.0])
    >>> popt, pcov = curve_fit(decay, t, [9.8, 7.5, 5.4, 3.1, 1.6, 0.7], p0=[5, 1])
    >>> popt.round(3)
    array([9.868, 0.294])
    """
    if p0 is None:
        names, start = parameter_names(f, None), None
    else:
        start = np.array(p0, dtype=float, ndmin=1)
        if start.ndim > 1:
            raise ValueError("`p0` must have at most 1 dimension.")
        names = parameter_names(f, start.size)
    is_bounded = bounds is not _UNBOUNDED
    pair = None
    if is_bounded:
        pair = bounds_of(bounds, len(names))
        is_bounded = bool((np.isfinite(pair[0]) | np.isfinite(pair[1])).any())
        _check_bounds(pair, start)
    if start is None:
        start = _feasible(pair, len(names))
    if method is None:
        method = "trf" if is_bounded else "lm"
    if method not in ("lm", "trf", "dogbox"):
        raise ValueError("`method` must be 'trf', 'dogbox' or 'lm'.")
    if method == "lm" and is_bounded:
        raise ValueError("Method 'lm' only works for unconstrained problems. Use 'trf' or 'dogbox' instead.")
    if "args" in kwargs:
        raise ValueError("'args' is not a supported keyword argument.")
    xdata, y, sigma = _data(
        xdata, ydata, sigma, nan_policy is None if check_finite is None else check_finite, nan_policy
    )
    y = _broadcast(f, xdata, y, start)
    if method == "lm" and y.size < len(names):
        raise TypeError(
            f"The number of func parameters={len(names)} must not exceed the number of data points={y.size}"
        )

    sigma, covariance = _noise(sigma, y.size)
    is_general = y.size < len(names) or (kwargs and any(kwargs.get(name) not in (None, "linear") for name in _GENERAL))
    if is_general:
        return _by_least_squares(
            f, xdata, y, start, (sigma, covariance), absolute_sigma, pair, jac, full_output, kwargs
        )

    options: dict[str, Any] = {}
    if covariance is not None:
        options["covariance"] = covariance
    elif sigma is not None:
        options["sigma"] = sigma
    if absolute_sigma:
        options["absolute_sigma"] = True
        if sigma is None and covariance is None:
            options["sigma"] = np.ones(y.size)
    if is_bounded and pair is not None:
        options["bounds"] = [
            (name, low, high) for name, low, high in zip(names, *pair, strict=True) if low > -np.inf or high < np.inf
        ]
    _limits(options, kwargs)
    # An infinity that was let in is no error before the fit in SciPy.
    ftol = kwargs.get("ftol")
    box = pair if is_bounded else None
    # A trace that is kept may be of another function than the one that is there now, and so may a new one of a function with branches.
    for trust in ("kept", "new", "none"):
        model, matrix, is_traced = _model(f, xdata, y.size, names, start, box, jac, options, ftol, trust)
        fitted = _solved(model, matrix, y, start.tolist(), options, is_traced)
        end = fitted.values
        if trust == "kept" and y.size >= _LONG:
            # Not compared at the start: beside the end, where no parameter happens to be zero, and all of a function counts.
            end = second_point(end, box, STEPS[1])
        if not is_traced or is_trusted(model, matrix, lambda at: f(xdata, *at), [end]):
            break
        if trust == "kept":
            TRACES.forget(f)
        else:
            TRACES.refuse(f, xdata, names, y.size, "the program has other values than the function where a fit ended")
    popt, status = fitted.values, fitted.status
    # Where derivatives are differences, these contradict the function by rounding errors alone.
    is_rough = not is_traced and not callable(jac) and status == "wrong_derivatives"
    if status in _NOT_FOUND and not is_rough:
        raise RuntimeError(f"Optimal parameters not found: {fitted.message}")
    pcov = fitted.covariance
    if (y.size <= len(names) and not absolute_sigma) or not math.isfinite(np.add.reduce(pcov, axis=None)):
        pcov = np.full_like(pcov, np.inf)
        warnings.warn("Covariance of the parameters could not be estimated", warning_class(), stacklevel=2)
    if (status == "no_progress" or is_rough) and not fitted.is_converged:
        warnings.warn(f"The fit may be no minimum: {fitted.message}", warning_class(), stacklevel=2)
    for sentence, is_unusable in fitted.warnings:
        if is_unusable:
            warnings.warn(sentence, warning_class(), stacklevel=2)
    if not full_output:
        return popt, pcov
    infodict: dict[str, Any] = {"nfev": fitted.evaluations[0], "fvec": fitted.residuals(True)}
    if method == "lm":
        jacobian = _jacobian(model, matrix, f, xdata, popt, infodict["fvec"], (sigma, covariance))
        infodict |= _factors(jacobian, infodict["fvec"])
        if callable(jac):
            infodict["njev"] = fitted.evaluations[1]
    return popt, pcov, infodict, fitted.message, _CODES.get(status, 1)


def _solved(
    model: _engine.Model,
    matrix: np.ndarray,
    y: np.ndarray,
    start: list[float],
    options: dict[str, Any],
    is_traced: bool,
) -> _engine.Fit:
    """The fit of many data by plain steps, each of which takes fewer evaluations, where a few of them are enough; as always otherwise."""
    if is_traced and y.size * len(start) >= _MANY:
        plain = options | {"acceleration": False, "max_iterations": _FEW, "retry": False}
        fitted = _engine.fit(model, matrix, y, start, plain)
        if fitted.is_converged and not any(is_unusable for _, is_unusable in fitted.warnings):
            return fitted
    return _engine.fit(model, matrix, y, start, options)


def _jacobian(
    model: _engine.Model, matrix: np.ndarray, f: Any, x: Any, at: np.ndarray, fvec: np.ndarray, noise: Any
) -> np.ndarray:
    """Derivatives of the whitened residuals."""
    try:
        jacobian = model.jacobian(matrix, at)
    except ValueError:
        # A function without derivatives.
        steps = np.cbrt(np.finfo(float).eps) * np.where(at == 0.0, 1.0, np.abs(at))
        moved = [(f(x, *(at + step)) - f(x, *(at - step))) for step in np.diag(steps)]
        jacobian = np.stack(np.broadcast_arrays(*moved, fvec)[:-1], axis=1) / (2.0 * steps)
    sigma, covariance = noise
    if covariance is not None:
        return np.linalg.solve(np.linalg.cholesky(covariance), jacobian)
    return jacobian if sigma is None else jacobian / sigma[:, None]


def _factors(jacobian: np.ndarray, fvec: np.ndarray) -> dict[str, np.ndarray]:
    """The factors of the Jacobian that MINPACK returns: `R` of a pivoted QR factorisation, the pivots, and `Qᵀ r`."""
    rest, n = jacobian.copy(), jacobian.shape[1]
    pivots = np.arange(n)
    for place in range(n):
        best = place + int(np.argmax((rest[:, place:] ** 2).sum(axis=0)))
        rest[:, [place, best]], pivots[[place, best]] = rest[:, [best, place]], pivots[[best, place]]
        norm = np.linalg.norm(rest[:, place])
        if norm > 0.0:
            unit = rest[:, place] / norm
            rest[:, place + 1 :] -= np.outer(unit, unit @ rest[:, place + 1 :])
    q, r = np.linalg.qr(jacobian[:, pivots])
    fjac = np.zeros((n, fvec.size))
    fjac[:, : r.shape[0]] = r.T
    return {"fjac": fjac, "ipvt": (pivots + 1).astype(np.int32), "qtf": q.T @ fvec}


def _model(
    f: Any,
    x: Any,
    rows: int,
    names: tuple[str, ...],
    start: Any,
    pair: Any,
    jac: Any,
    options: dict[str, Any],
    ftol: float | None,
    trust: str,
) -> tuple[_engine.Model, np.ndarray, bool]:
    """Program of a function with its columns, or the function itself with the numbers of the rows; whether it is a program."""
    if callable(jac):
        model = _engine.Model.callable(f, x, rows, list(names), jac)
    else:
        if jac is not None and jac not in ("2-point", "3-point", "cs"):
            raise ValueError("`jac` must be '2-point', '3-point', 'cs' or callable.")
        if trust != "none":
            try:
                trace, matrix = TRACES.find(
                    f, x, names, rows, start, pair, is_checked_later=trust == "kept" and rows >= _LONG
                )
                return trace.model, matrix, True
            except Untraceable:
                pass
        if jac in (None, "2-point"):
            options["ftol"] = _FTOL if ftol is None else float(ftol)
        first = f(x, *start)
        model = _engine.Model.callable(f, x, rows, list(names), None, jac or "2-point", (start.tolist(), first))
        if getattr(first, "dtype", None) == np.float32:
            options["accuracy"] = float(np.finfo(np.float32).eps)
    return model, np.arange(float(rows)).reshape(rows, 1), False


def _check_bounds(pair: tuple[np.ndarray, np.ndarray], start: np.ndarray | None) -> None:
    lower, upper = pair
    if (lower >= upper).any():
        raise ValueError("Each lower bound must be strictly less than each upper bound.")
    if start is not None and ((start < lower) | (start > upper)).any():
        raise ValueError("Initial guess is outside of provided bounds")


def _feasible(pair: tuple[np.ndarray, np.ndarray] | None, count: int) -> np.ndarray:
    """The middle between two bounds, one beyond a single one, or one."""
    start = np.ones(count)
    if pair is not None:
        lower, upper = pair
        has_lower, has_upper = np.isfinite(lower), np.isfinite(upper)
        both = has_lower & has_upper
        start[both] = 0.5 * (lower[both] + upper[both])
        start[has_lower & ~has_upper] = lower[has_lower & ~has_upper] + 1.0
        start[has_upper & ~has_lower] = upper[has_upper & ~has_lower] - 1.0
    return start


def _finite(values: Any) -> np.ndarray:
    """An array of finite numbers."""
    array = np.asarray(values, float)
    # The sum is cheaper than a look at each number, and finite for nearly all data.
    if not math.isfinite(np.add.reduce(array, axis=None)) and not np.isfinite(array).all():
        raise ValueError("array must not contain infs or NaNs")
    return array


def _data(xdata: Any, ydata: Any, sigma: Any, is_checked: bool, nan_policy: str | None) -> tuple[Any, np.ndarray, Any]:
    y = _finite(ydata) if is_checked else np.asarray(ydata, float)
    if isinstance(xdata, list | tuple | np.ndarray):
        xdata = _finite(xdata) if is_checked else np.asarray(xdata, float)
    if y.size == 0:
        raise ValueError("`ydata` must not be empty!")
    if is_checked or nan_policy is None:
        return xdata, y, sigma
    if nan_policy == "propagate":
        raise ValueError("`nan_policy='propagate'` is not supported by this function.")
    if nan_policy not in ("raise", "omit"):
        raise ValueError("nan_policy must be one of {None, 'raise', 'omit'}")
    x = np.asarray(xdata, float)
    missing = np.isnan(x)
    missing = missing.any(axis=tuple(range(missing.ndim - 1))) | np.isnan(y)
    if not missing.any():
        return xdata, y, sigma
    if nan_policy == "raise":
        raise ValueError("The input contains nan values")
    if sigma is not None and np.ndim(sigma):
        sigma = np.asarray(sigma)
        sigma = sigma[~missing] if sigma.ndim == 1 else sigma[~missing][:, ~missing]
    return x[..., ~missing], y[~missing], sigma


def _broadcast(f: Any, x: Any, y: np.ndarray, start: np.ndarray) -> np.ndarray:
    """Observations in one dimension; a single one stands for as many as the function has values."""
    if y.ndim != 1:
        y = y.ravel()
    if y.size == 1:
        y = np.resize(y, np.size(f(x, *start)))
    return np.ascontiguousarray(y)


def _noise(sigma: Any, rows: int) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Standard deviations, or the covariance of the observations."""
    if sigma is None:
        return None, None
    sigma = np.asarray(sigma, dtype=float)
    if sigma.size == 1:
        return np.full(rows, sigma.ravel()[0]), None
    if sigma.shape == (rows,):
        return np.ascontiguousarray(sigma), None
    if sigma.shape == (rows, rows):
        try:
            np.linalg.cholesky(sigma)
        except np.linalg.LinAlgError:
            raise ValueError("`sigma` must be positive definite.") from None
        # As SciPy, by the lower half alone.
        return None, np.tril(sigma) + np.tril(sigma, -1).T
    raise ValueError("`sigma` has incorrect shape.")


def _limits(options: dict[str, Any], kwargs: dict[str, Any]) -> None:
    """Moves limits of the solve to its options, and refuses settings that nobody knows."""
    for name, value in kwargs.items():
        if name in ("maxfev", "max_nfev"):
            if value:
                options["max_evaluations"] = int(value)
        elif name != "ftol" and name not in _UNNEEDED and name not in _GENERAL:
            raise TypeError(f"curve_fit() got an unexpected keyword argument {name!r}")


def _by_least_squares(
    f: Any,
    x: Any,
    y: np.ndarray,
    start: np.ndarray,
    noise: Any,
    absolute: bool,
    pair: Any,
    jac: Any,
    full_output: bool,
    kwargs: Any,
) -> Any:
    """A fit under a loss, or of fewer observations than parameters, as SciPy makes it."""
    sigma, covariance = noise
    factor = np.linalg.cholesky(covariance) if covariance is not None else None

    def whitened(values: Any) -> Any:
        if factor is not None:
            return np.linalg.solve(factor, values)
        return values if sigma is None else values / (sigma if np.ndim(values) == 1 else sigma[:, None])

    def fun(parameters: np.ndarray) -> Any:
        return whitened(f(x, *parameters) - y)

    settings = dict(kwargs)
    if "maxfev" in settings:
        settings.setdefault("max_nfev", settings.pop("maxfev"))
    for name in ("epsfcn", "factor", "diag", "col_deriv"):
        settings.pop(name, None)
    own_jac = (lambda parameters: whitened(np.asarray(jac(x, *parameters)))) if callable(jac) else jac or "2-point"
    solved = least_squares(fun, start, own_jac, bounds=pair or _UNBOUNDED, **settings)
    if not solved.success:
        raise RuntimeError("Optimal parameters not found: " + solved.message)
    dense = solved.jac.toarray() if hasattr(solved.jac, "toarray") else solved.jac
    _, singular, rows = np.linalg.svd(dense, full_matrices=False)
    kept = singular > np.finfo(float).eps * max(dense.shape) * singular[0]
    pcov = (rows[kept].T / singular[kept] ** 2) @ rows[kept]
    if not absolute:
        if y.size > start.size:
            pcov = pcov * (2.0 * solved.cost / (y.size - start.size))
        else:
            pcov = np.full_like(pcov, np.inf)
            warnings.warn("Covariance of the parameters could not be estimated", warning_class(), stacklevel=3)
    if not full_output:
        return solved.x, pcov
    return solved.x, pcov, {"nfev": solved.nfev, "fvec": solved.fun}, solved.message, solved.status
