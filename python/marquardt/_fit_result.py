"""Result of a fit."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _engine
from ._model import Model, ModelOfFunction, ModelOfText, as_predictors
from ._options import seed_of
from ._parameter import Estimate, Interval, Parameter
from ._statistics import Band, Bootstrap, Profile

if TYPE_CHECKING:
    from ._fit import Specification


class Fit:
    """A fitted curve: parameters with standard errors, and how well the curve describes the data.

    `print` shows the report.

    Attributes
    ----------
    popt : ndarray
        Parameters.
    pcov : ndarray
        Their covariance; infinite for parameters that the data do not determine.
    params : mapping of str to Parameter
        Parameters by name, with `value`, `stderr` and `state`.
    warnings : list of str
        Warnings about the result; empty if there are none.
    usable : bool
        False if the fit is unusable: a parameter ran away, or a constant describes the data better.
    success : bool
        Whether the solve ended at a minimum.
    message : str
        Reason for which it ended.
    """

    def __init__(self, specification: Specification, model: Model, fitted: _engine.Fit) -> None:
        self._specification, self._model, self._fitted = specification, model, fitted
        self.popt: np.ndarray = fitted.values
        self.pcov: np.ndarray = fitted.covariance
        parameters = zip(
            fitted.names, fitted.values.tolist(), fitted.standard_errors.tolist(), fitted.states, strict=True
        )
        self.params: Mapping[str, Parameter] = MappingProxyType(
            {name: Parameter(name, *rest) for name, *rest in parameters}
        )
        warned = fitted.warnings
        self.warnings: list[str] = [sentence for sentence, _ in warned]
        self.usable: bool = not any(is_unusable for _, is_unusable in warned)
        self.success: bool = fitted.is_converged
        self.message: str = fitted.message

    # What was fitted.

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the parameters."""
        return tuple(self.params)

    @property
    def perr(self) -> np.ndarray:
        """Standard errors of the parameters."""
        return self._fitted.standard_errors

    @property
    def correlation(self) -> np.ndarray:
        """Correlations of the parameters."""
        return self._fitted.correlation

    @property
    def formula(self) -> str | None:
        """Formula of the curve. For a function: its recorded formula, or `None` if it was not recorded."""
        return self._model.formula

    @property
    def why_not_traced(self) -> str | None:
        """Reason why the function could not be recorded; `None` if it was recorded."""
        return self._model.why_not_traced

    @property
    def is_traced(self) -> bool:
        """Whether the curve was recorded as a program, with exact derivatives."""
        return self._model.why_not_traced is None

    # Goodness of fit.

    @property
    def nfev(self) -> int:
        """Number of evaluations of the curve at all data, without those for differences."""
        return self._fitted.evaluations[0]

    @property
    def attempts(self) -> int:
        """Number of attempts, the first included."""
        return self._fitted.attempts

    @property
    def dof(self) -> int:
        """Degrees of freedom."""
        return self._fitted.degrees_of_freedom

    @property
    def chisqr(self) -> float:
        """Sum of the squared residuals, each divided by its sigma."""
        return self._fitted.chi_square

    @property
    def redchi(self) -> float | None:
        """`chisqr` divided by the degrees of freedom."""
        return self._fitted.reduced_chi_square

    @property
    def rsquared(self) -> float | None:
        """Coefficient of determination R²."""
        return self._fitted.r_squared

    @property
    def aic(self) -> float:
        """Akaike's information criterion."""
        return self._fitted.criteria[0]

    @property
    def aicc(self) -> float:
        """AIC, corrected for few observations."""
        return self._fitted.criteria[1]

    @property
    def bic(self) -> float:
        """Schwarz's Bayesian information criterion."""
        return self._fitted.criteria[2]

    @property
    def best_fit(self) -> np.ndarray:
        """Values of the curve at the data, without rows that were left out."""
        return self._fitted.fitted()

    @property
    def residuals(self) -> np.ndarray:
        """Curve minus observation."""
        return self._fitted.residuals()

    @property
    def omitted_rows(self) -> list[int]:
        """Rows that were left out, counted from 0."""
        return self._fitted.omitted_rows

    # Uncertainty.

    def conf_interval(self, name: str | None = None, level: float = 0.95, method: str = "t", **settings: Any) -> Any:
        """Confidence interval of a parameter, or of all free ones by name.

        Parameters
        ----------
        name : str, optional
            The parameter; all that were fitted by default.
        level : float
            Probability.
        method : {'t', 'profile', 'bootstrap'}
            By Student's t, by the profile likelihood, or by percentiles of a bootstrap.
        **settings
            Those of `bootstrap`.
        """
        if method not in ("t", "profile", "bootstrap"):
            raise ValueError(f"method must be 't', 'profile' or 'bootstrap', not {method!r}")
        sample = self.bootstrap(**settings) if method == "bootstrap" else None

        def interval(of: str) -> Interval:
            self._check_name(of)
            if sample is not None:
                return sample.interval(of, level)
            if method == "profile":
                return Interval(*self._fitted.profile_interval(of, level))
            return Interval(*self._fitted.confidence_interval(of, level))

        if name is not None:
            return interval(name)
        return {
            of: interval(of)
            for of, parameter in self.params.items()
            if parameter.state in ("free", "tied") or method == "t"
        }

    def profile(self, name: str, level: float = 0.95, points: int = 10) -> Profile:
        """Profile of a parameter or derived quantity up to the ends of its interval, with `points` on either side."""
        interval, values, tau, parameters = self._fitted.profile(name, level, points)
        return Profile(name, Interval(*interval), np.array(values), np.array(tau), parameters)

    def bootstrap(self, n: int = 1000, scheme: str | None = None, seed: int = 0) -> Bootstrap:
        """Fits to resampled data.

        Parameters
        ----------
        n : int
            Replicates.
        scheme : {'residuals', 'cases', 'parametric'}, optional
            What is resampled. Default: residuals, or Poisson counts for `counts=True`.
        seed : int
        """
        if scheme not in (None, "residuals", "cases", "parametric"):
            raise ValueError(f"scheme must be 'residuals', 'cases' or 'parametric', not {scheme!r}")
        samples, failed = self._fitted.bootstrap(int(n), scheme, seed_of(seed))
        return Bootstrap(self.names, samples, failed)

    def derive(self, formula: str, level: float = 0.95) -> Estimate:
        """A quantity that is computed from the parameters, such as ``"ln(2)/k"``, by the delta method."""
        return Estimate(*self._fitted.derive(formula, level))

    def predict(self, x: Any) -> np.ndarray:
        """The curve at other predictors."""
        x, _ = as_predictors(x)
        return self._model.predict(x, self.popt)

    def confidence_band(self, x: Any, level: float = 0.95) -> Band:
        """Pointwise band that contains the curve at each of these predictors with probability `level`."""
        return self._band(x, level, False, None)

    def prediction_band(self, x: Any, level: float = 0.95, sigma: Any = None) -> Band:
        """The band that contains a new observation; with `sigma`, one of these standard deviations, in the units of that of the fit."""
        return self._band(x, level, True, sigma)

    bands = confidence_band

    def _part(self, group: str | None) -> tuple[Model, np.ndarray, np.ndarray]:
        """Model, parameters and covariance of the curve, or of that of a group."""
        return self._model, self.popt, self.pcov

    def _rows_of(self, matrix: np.ndarray, group: str | None) -> np.ndarray:
        """Rows of predictors as the engine knows them, given those of the curve, or of that of a group."""
        return matrix

    def _band(self, x: Any, level: float, of_prediction: bool, sigma: Any, group: str | None = None) -> Band:
        x, _ = as_predictors(x)
        model, popt, pcov = self._part(group)
        matrix = model.matrix_for(x)
        rows = np.shape(x)[-1] if isinstance(x, np.ndarray) else None
        if sigma is not None:
            count = len(matrix) if matrix is not None else int(rows or 1)
            sigma = np.ascontiguousarray(np.broadcast_to(np.asarray(sigma, dtype=float), (count,)))
        if matrix is not None:
            return Band(*self._fitted.band(self._rows_of(matrix, group), level, of_prediction, sigma))
        assert isinstance(model, ModelOfFunction)
        value, jacobian = model.predict(x, popt).ravel(), model.jacobian(x, popt)
        with np.errstate(invalid="ignore"):
            variance = np.einsum("ij,jk,ik->i", jacobian, np.where(np.isfinite(pcov), pcov, 0.0), jacobian)
        variance[(jacobian[:, ~np.isfinite(np.diag(pcov))] != 0.0).any(axis=1)] = np.inf
        if of_prediction:
            variance = variance + self._noise_variance(sigma)
        margin = self._quantile(level) * np.sqrt(variance)
        return Band(value, np.sqrt(variance), value - margin, value + margin)

    def _noise_variance(self, sigma: Any) -> Any:
        options = self._specification.options
        if options["counts"] or options["loss"] not in (None, "linear"):
            raise ValueError(
                "prediction bands of counts and robust fits need a function that is recorded, or a formula"
            )
        scale = 1.0 if options["absolute_sigma"] else self.redchi
        if scale is None:
            return np.inf
        if sigma is None:
            given = options["sigma"]
            if given is not None and np.ndim(given) and np.ptp(np.asarray(given)):
                raise ValueError("sigma differs from row to row: give that of the new observations as sigma")
            sigma = 1.0 if given is None else float(np.ravel(given)[0])
        return scale * np.asarray(sigma) ** 2

    def _quantile(self, level: float) -> float:
        """Two-sided quantile of Student's t, by an interval that the engine has made with it."""
        for name, parameter in self.params.items():
            if 0.0 < parameter.stderr < np.inf:
                low, high = self._fitted.confidence_interval(name, level)
                return (high - low) / (2.0 * parameter.stderr)
        return float("nan")

    def x_for(
        self, y: Any, level: float = 0.95, within: tuple[float, float] | None = None, sigma: float | None = None
    ) -> list[Estimate]:
        """Predictors at which the curve has the mean of these observations, with intervals. Searched in the range of the data, or `within`."""
        model = self._model
        if isinstance(model, ModelOfFunction) and (model.trace is None or model.trace.sources != [0]):
            raise ValueError(
                "x_for needs a formula, a model of the library, or a function that is recorded with x alone as its column"
            )
        found = self._fitted.x_for(np.atleast_1d(np.asarray(y, dtype=float)).tolist(), level, within, sigma)
        return [Estimate(*values) for values in found]

    def _check_name(self, name: str) -> None:
        if name not in self.params:
            raise ValueError(f"there is no parameter {name!r}; there are {', '.join(self.names)}")

    # Reports.

    def report(self, digits: int | None = None) -> str:
        """The report, with as many digits as the standard errors leave meaningful, or `digits` significant ones."""
        return self._fitted.report(digits)

    def __str__(self) -> str:
        return self.report()

    def __repr__(self) -> str:
        values = ", ".join(
            f"{parameter.name}={parameter.value:.6g}±{parameter.stderr:.2g}" for parameter in self.params.values()
        )
        return f"<Fit {values}{'' if self.success else ', not converged'}>"

    def _repr_html_(self) -> str:
        import html

        rows = "".join(
            f"<tr><td>{html.escape(p.name)}</td><td>{p.value:.8g}</td><td>{p.stderr:.3g}</td><td>{html.escape(p.state)}</td></tr>"
            for p in self.params.values()
        )
        warned = "".join(f"<li>{html.escape(sentence)}</li>" for sentence in self.warnings)
        formula = f"<p><code>{html.escape(self.formula)}</code></p>" if self.formula and len(self.formula) < 400 else ""
        return (
            f"<div>{formula}<p>{html.escape(self.message)}; χ² = {self.chisqr:.6g}, {self.dof} degrees of freedom</p>"
            f"<table><tr><th></th><th>value</th><th>standard error</th><th></th></tr>{rows}</table>"
            f"{f'<ul>{warned}</ul>' if warned else ''}</div>"
        )

    def summary(self) -> dict[str, Any]:
        """The report as a dictionary."""
        import json

        return json.loads(self._fitted.summary_json())

    def to_json(self) -> str:
        """The fit as JSON, as the command `marquardt` and the library store it. The model is part of it unless it is a function."""
        return self._fitted.to_json()

    def to_markdown(self) -> str:
        """The report as Markdown."""
        return self._fitted.markdown()

    def plot(self, ax: Any = None, points: int = 400, level: float = 0.95) -> Any:
        """Draws data, curve and confidence band by matplotlib, and returns the axes."""
        import matplotlib.pyplot as plt

        x = self._specification.x
        if isinstance(x, Mapping) or hasattr(x, "columns"):
            x = np.asarray(next(iter(x.values())) if isinstance(x, Mapping) else x.to_numpy().T)
        if not isinstance(x, np.ndarray) or np.ndim(x) != 1:
            raise ValueError("a curve of several predictors is not drawn")
        axes = plt.gca() if ax is None else ax
        axes.plot(x, self._specification.y, ".", label="data")
        grid = np.linspace(x.min(), x.max(), points)
        try:
            at: Any = {self._specification.predictors[0]: grid} if isinstance(self._specification.x, Mapping) else grid
            band = self.confidence_band(at, level)
        except Exception:
            # A function of these predictors alone.
            order = np.argsort(x)
            axes.plot(x[order], self.predict(self._specification.x)[order], label="fit")
        else:
            axes.plot(grid, band.value, label="fit")
            axes.fill_between(grid, band.low, band.high, alpha=0.3, label=f"{level:.0%} band")
        axes.legend()
        return axes

    # Pickles hold what the fit is made of, and its numbers.

    def __getstate__(self) -> dict[str, Any]:
        kept = {
            name: value for name, value in vars(self).items() if name not in ("_fitted", "_model", "_models", "params")
        }
        kept["params"] = dict(self.params)
        return kept

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self.params = MappingProxyType(state["params"])

    def __getattr__(self, name: str) -> Any:
        # A fit that was unpickled is repeated from its end when its statistics are asked for.
        if name in ("_fitted", "_model", "_models") and "_specification" in vars(self):
            from ._fit import refitted

            again = refitted(self._specification, self.popt)
            vars(self).update(
                {part: value for part, value in vars(again).items() if part in ("_fitted", "_model", "_models")}
            )
            return vars(self)[name]
        raise AttributeError(name)


__all__ = ["Fit", "ModelOfText"]
