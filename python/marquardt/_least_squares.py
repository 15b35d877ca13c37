"""`least_squares`, as SciPy has it."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from . import _engine
from ._least_squares_input import (
    check_choices,
    check_scale,
    check_shape,
    check_tolerances,
    check_trust_region,
    checked_bounds,
    dense_jacobian,
    first_residuals,
    loss_of,
    pattern_of,
)
from ._scipy import result_class
from ._trace import Untraceable, is_trusted, record, second_point

_UNBOUNDED = (-np.inf, np.inf)
#: Share of `ftol` that ends a solve by differences: a whole one takes plateaus for minima.
_SHARE_OF_FTOL = 0.1
_STATUS = {"gtol": 1, "ftol": 2, "xtol": 3, "zero": 1, "target": 2, "flat": 2, "no_progress": 2, "stopped": -2}
_MESSAGES = {
    -2: "`callback` function raised `StopIteration`.",
    -1: "Improper input parameters status returned from `leastsq`",
    0: "The maximum number of function evaluations is exceeded.",
    1: "`gtol` termination condition is satisfied.",
    2: "`ftol` termination condition is satisfied.",
    3: "`xtol` termination condition is satisfied.",
    4: "Both `ftol` and `xtol` termination conditions are satisfied.",
}


def least_squares(
    fun: Callable[..., Any],
    x0: Any,
    jac: Any = "2-point",
    bounds: Any = _UNBOUNDED,
    method: str = "trf",
    ftol: float | None = 1e-8,
    xtol: float | None = 1e-8,
    gtol: float | None = 1e-8,
    x_scale: Any = None,
    loss: Any = "linear",
    f_scale: float = 1.0,
    diff_step: Any = None,
    tr_solver: str | None = None,
    tr_options: dict[str, Any] | None = None,
    jac_sparsity: Any = None,
    max_nfev: int | None = None,
    verbose: int = 0,
    args: Any = (),
    kwargs: dict[str, Any] | None = None,
    callback: Callable[..., Any] | None = None,
    workers: Any = None,
) -> Any:
    """Minimises half a sum of squares, or of a robust loss, in place of `scipy.optimize.least_squares`.

    A function whose residuals are all computed in the same way is recorded as a program with exact derivatives, unless `jac` is a function.

    Parameters
    ----------
    fun : callable
        Residuals `fun(x, *args, **kwargs)`, an array of length M.
    x0 : array_like of length N
        Start.
    jac : {'2-point', '3-point', 'cs'} or callable
        Derivatives of shape (M, N), or differences where the function is not recorded.
    bounds : 2-tuple of array_like, or Bounds
        Lower and upper bounds.
    method : {'trf', 'dogbox', 'lm'}
        Accepted as in SciPy, with its restrictions; all are the same algorithm here.
    ftol, xtol, gtol : float or None
        Checked as in SciPy. The solve goes on to the last digits that rounding allows, so that they are met; a tenth of `ftol` ends it
        where a function is called and differenced by `'2-point'`.
    x_scale : array_like or 'jac', optional
        Checked as in SciPy. Parameters are scaled by the columns of the Jacobian.
    loss : {'linear', 'huber', 'soft_l1', 'cauchy', 'arctan', 'tukey', 'geman_mcclure', 'welsch'} or callable
        Loss of the squared residuals.
    f_scale : float
        Size of a residual above which the loss differs from least squares.
    diff_step : None or array_like
        Not needed: steps of differences are chosen by the size of parameters and residuals.
    tr_solver, tr_options
        Checked as in SciPy, and not needed.
    jac_sparsity : array_like or sparse matrix, optional
        Pattern of the Jacobian, of shape (M, N). The linear systems are then solved by a sparse Cholesky factorisation.
    max_nfev : int, optional
        Largest number of evaluations, without those for differences.
    verbose : {0, 1, 2}
        Whether a line at the end, or one for each iteration as well, is printed.
    args, kwargs
        Further arguments of `fun` and `jac`.
    callback : callable, optional
        Called after each iteration, with `intermediate_result`; `StopIteration` ends the solve.
    workers
        Accepted, and not needed: the function is called from no other thread.

    Returns
    -------
    result : OptimizeResult
        `x`, `cost`, `fun`, `jac`, `grad`, `optimality`, `active_mask`, `nfev`, `njev`, `status`, `message`, `success`, as in SciPy.

    Examples
    --------
    >>> import numpy as np
    >>> from marquardt import least_squares
    >>> def rosenbrock(x):
    ...     return np.array([10 * (x[1] - x[0] ** 2), 1 - x[0]])
    >>> least_squares(rosenbrock, [2, 2]).x
    array([1., 1.])
    """
    check_choices(method, jac, tr_solver, loss, verbose, max_nfev)
    if np.iscomplexobj(x0):
        raise ValueError("`x0` must be real.")
    start = np.atleast_1d(x0).astype(float)
    if start.ndim > 1:
        raise ValueError("`x0` must have at most 1 dimension.")
    lower, upper = checked_bounds(bounds, start, method)
    check_scale(x_scale, start)
    check_tolerances(ftol, xtol, gtol, method)
    check_trust_region(tr_solver, tr_options)
    keywords, calls = kwargs or {}, 0

    def own_fun(x: np.ndarray) -> Any:
        nonlocal calls
        calls += 1
        return fun(x, *args, **keywords)

    value = own_fun(start.copy())
    first = first_residuals(value)
    if method == "lm" and first.size < start.size:
        raise ValueError("Method 'lm' doesn't work when the number of residuals is less than the number of variables.")
    options: dict[str, Any] = {"max_evaluations": max_nfev, "first": first.tolist()}
    if getattr(value, "dtype", None) == np.float32:
        options["accuracy"] = float(np.finfo(np.float32).eps)
    if np.isfinite(lower).any() or np.isfinite(upper).any():
        options["bounds"] = (lower.tolist(), upper.tolist())
    if loss != "linear":
        options |= {"loss": loss_of(loss, first, f_scale), "f_scale": f_scale}
    if verbose == 2 or callback is not None:
        options["callback"] = _Callback(own_fun, callback if method != "lm" else None, verbose == 2)
    sparse_jac = None
    pattern = None
    if callable(jac):
        matrix = jac(start.copy(), *args, **keywords)
        sparse_jac = matrix if hasattr(matrix, "tocsr") else None
        is_operator = hasattr(matrix, "matmat") and not hasattr(matrix, "toarray")
        if method == "lm" and (sparse_jac is not None or is_operator):
            raise ValueError("method='lm' works only with dense Jacobian matrices.")
        if tr_solver == "exact" and (sparse_jac is not None or is_operator):
            raise ValueError("tr_solver='exact' works only with dense Jacobian matrices.")
        if is_operator and isinstance(x_scale, str):
            raise ValueError("x_scale='jac' can't be used when `jac` returns LinearOperator.")
        check_shape(matrix, (first.size, start.size))
        options["jacobian"] = dense_jacobian(jac, args, keywords)
    else:
        options["difference"] = jac
        pattern = pattern_of(jac_sparsity, first.size, start.size, method, tr_solver)
        if pattern is not None:
            options["sparsity"] = [row.tolist() for row in pattern]
    problem: Any = own_fun
    if pattern is None and not callable(jac):
        problem = _recorded(own_fun, start, first, (lower, upper)) or own_fun
    if problem is own_fun and jac == "2-point" and ftol is not None:
        options["ftol"] = _SHARE_OF_FTOL * float(ftol)
    if callback is not None and method == "lm":
        warnings.warn("Callback function specified, but not supported with `lm` method.", stacklevel=2)
    before = calls
    solved = _engine.least_squares(problem, start.tolist(), first.size, options)
    if callable(jac):
        solved["nfev"] = 1 + calls - before
    if method == "lm":
        solved["njev"] = None
    return _result(
        solved, first, start, (lower, upper), loss, f_scale, ftol, gtol, pattern, sparse_jac, callback, verbose
    )


def _recorded(fun: Any, start: np.ndarray, first: np.ndarray, bounds: tuple[np.ndarray, np.ndarray]) -> Any:
    """A program of the residuals with its columns, if one repeats them all."""
    names = [f"x[{index}]" for index in range(start.size)]
    try:
        trace = record(fun, lambda recorders: (np.array(recorders, dtype=object),), names, first.size)
    except Untraceable:
        return None
    points = [start, second_point(start, bounds, 0.0123)]
    return (trace.model, trace.matrix) if is_trusted(trace.model, trace.matrix, fun, points) else None


class _Callback:
    """What is called after each iteration: SciPy's callback, and the line of `verbose=2`."""

    def __init__(self, fun: Any, callback: Any, is_verbose: bool) -> None:
        self._fun, self._callback, self._is_verbose, self._iteration = fun, callback, is_verbose, 0
        if is_verbose:
            print(f"{'Iteration':^15}{'Cost':^15}")

    def __call__(self, x: np.ndarray) -> None:
        self._iteration += 1
        residuals = np.asarray(self._fun(x), dtype=float)
        cost = 0.5 * float(residuals @ residuals)
        if self._is_verbose:
            print(f"{self._iteration:^15}{cost:^15.4e}")
        if self._callback is None:
            return
        import inspect

        result = result_class()(x=x.copy(), fun=residuals, nit=self._iteration, cost=cost)
        if set(inspect.signature(self._callback).parameters) == {"intermediate_result"}:
            self._callback(intermediate_result=result)
        else:
            self._callback(x.copy())


def _rho(loss: Any, z: np.ndarray) -> np.ndarray:
    """The loss and its derivatives, of residuals that were scaled and squared."""
    if callable(loss):
        return np.asarray(loss(z), dtype=float)
    with np.errstate(all="ignore"):
        root, inside = np.sqrt(np.maximum(z, 1e-300)), z <= 1
        table: dict[str, Any] = {
            "huber": lambda: (
                np.where(inside, z, 2 * root - 1),
                np.where(inside, 1, 1 / root),
                np.where(inside, 0, -0.5 / root**3),
            ),
            "soft_l1": lambda: (2 * (np.sqrt(1 + z) - 1), (1 + z) ** -0.5, -0.5 * (1 + z) ** -1.5),
            "cauchy": lambda: (np.log1p(z), 1 / (1 + z), -1 / (1 + z) ** 2),
            "arctan": lambda: (np.arctan(z), 1 / (1 + z**2), -2 * z / (1 + z**2) ** 2),
            "tukey": lambda: (
                np.where(inside, (1 - (1 - z) ** 3) / 3, 1 / 3),
                np.where(inside, (1 - z) ** 2, 0),
                np.where(inside, -2 * (1 - z), 0),
            ),
            "geman_mcclure": lambda: (z / (1 + z), (1 + z) ** -2.0, -2 * (1 + z) ** -3.0),
            "welsch": lambda: (-np.expm1(-z), np.exp(-z), -np.exp(-z)),
        }
        return np.array(table[loss](), dtype=float)


def _predicted_reduction(jacobian: Any, residuals: np.ndarray) -> float:
    """Reduction of the cost that the linearised problem predicts for its best step."""
    gradient = jacobian.T @ residuals
    try:
        if hasattr(jacobian, "tocsr"):
            from scipy.sparse.linalg import splu

            return 0.5 * float(gradient @ splu((jacobian.T @ jacobian).tocsc()).solve(gradient))
        projected = jacobian @ np.linalg.lstsq(jacobian, residuals, rcond=None)[0]
    except (RuntimeError, np.linalg.LinAlgError):
        return np.inf
    return 0.5 * float(projected @ projected)


def _result(
    solved: dict[str, Any],
    first: Any,
    start: Any,
    bounds: Any,
    loss: Any,
    f_scale: float,
    ftol: Any,
    gtol: Any,
    pattern: Any,
    sparse_jac: Any,
    callback: Any,
    verbose: int,
) -> Any:
    residuals, n = solved["fun"], start.size
    scaled, weights = residuals, None
    initial = 0.5 * float(first @ first)
    if loss != "linear":
        rho = _rho(loss, (residuals / f_scale) ** 2)
        rho[0] *= f_scale**2
        initial = 0.5 * f_scale**2 * float(_rho(loss, (first / f_scale) ** 2)[0].sum())
        curvature = rho[1] + 2 * rho[2] * (residuals / f_scale) ** 2
        weights = np.sqrt(np.maximum(curvature, np.finfo(float).eps))
        scaled = residuals * rho[1] / weights
    if "jac" in solved:
        jacobian = solved["jac"]
        if weights is not None:
            jacobian = jacobian * weights[:, None]
        if sparse_jac is not None:
            from scipy.sparse import csr_matrix

            jacobian = csr_matrix(jacobian)
    else:
        from scipy.sparse import csr_matrix

        ends = np.concatenate([[0], np.cumsum([len(row) for row in pattern])])
        entries = solved["entries"]
        if weights is not None:
            entries = entries * np.repeat(weights, np.diff(ends))
        jacobian = csr_matrix((entries, np.concatenate(pattern), ends), shape=(residuals.size, n))
    gradient = np.asarray(jacobian.T @ scaled)
    mask = np.zeros(n, dtype=int)
    for index, side in solved["active"]:
        mask[index] = -1 if side == "Lower" else 1
    # The largest part of the gradient along which the bounds leave room.
    lower, upper = bounds
    room = np.where((gradient < 0) & np.isfinite(upper), upper - solved["x"], 1.0)
    room = np.where((gradient > 0) & np.isfinite(lower), solved["x"] - lower, room)
    optimality = float(np.abs(gradient * room).max(initial=0.0))
    status = _STATUS.get(solved["status"], 0)
    message = _MESSAGES[status]
    if solved["status"] in ("no_progress", "wrong_derivatives"):
        # Differences are rough: their rounding errors end the solve, which has succeeded if no step could lower the cost noticeably.
        predicted = _predicted_reduction(jacobian, scaled)
        status = 2 if predicted <= max(ftol or 0.0, np.finfo(float).eps) * solved["cost"] else 0
        message = _MESSAGES[2] if status else f"The solve ended before a minimum: {solved['message']}."
    elif status == 0 and solved["status"] not in ("max_evaluations", "max_iterations"):
        message = f"The solve ended before a minimum: {solved['message']}."
    if status > 0 and gtol is not None and optimality < gtol:
        status, message = 1, _MESSAGES[1]
    result = result_class()(
        x=solved["x"], cost=float(solved["cost"]), fun=residuals, jac=jacobian, grad=gradient, optimality=optimality, active_mask=mask,
        nfev=solved["nfev"], njev=solved["njev"], status=status, message=message, success=status > 0,
    )  # fmt: skip
    if callback is not None:
        result["nit"] = solved["nit"]
    if verbose:
        print(result.message)
        print(
            f"Function evaluations {result.nfev}, initial cost {initial:.4e}, final cost {result.cost:.4e}, "
            f"first-order optimality {optimality:.2e}."
        )
    return result
