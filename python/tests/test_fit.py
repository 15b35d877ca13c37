"""`fit`, its options and its statistics, against what is known of them."""

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse
import scipy.stats

from marquardt import compare, curve_fit, fit, fit_many, least_squares, multi_start

RANDOM = np.random.default_rng(7)
X = np.linspace(0, 5, 40)
Y = 3 * np.exp(-0.7 * X) + 1 + 0.05 * RANDOM.normal(size=X.size)


def decay(x, a, k, c):
    return a * np.exp(-k * x) + c


def called(x, a, k, c):
    return float(a) * np.exp(-float(k) * x) + float(c)


FORMS = pytest.mark.parametrize("f", [decay, called, "a*exp(-k*x)+c"], ids=["program", "called", "formula"])


@FORMS
def test_parameters_and_errors_are_scipys(f) -> None:
    popt, pcov = scipy.optimize.curve_fit(decay, X, Y, [1, 1, 1], ftol=1e-14, xtol=1e-14)
    result = fit(f, X, Y, [1, 1, 1])
    np.testing.assert_allclose(result.popt, popt, rtol=1e-6)
    np.testing.assert_allclose(result.pcov, pcov, rtol=1e-4)
    np.testing.assert_allclose(result.perr, [p.stderr for p in result.params.values()])
    assert result.names == ("a", "k", "c") and result.dof == 37 and result.success and not result.warnings


@FORMS
def test_intervals_are_students(f) -> None:
    result = fit(f, X, Y, [1, 1, 1])
    quantile = scipy.stats.t.ppf(0.95, 37)
    for name, interval in result.conf_interval(level=0.9).items():
        parameter = result.params[name]
        assert tuple(interval) == pytest.approx(
            (parameter.value - quantile * parameter.stderr, parameter.value + quantile * parameter.stderr)
        )
    assert 0.7 in result.conf_interval("k", method="profile")
    assert 0.7 in result.conf_interval("k", method="bootstrap", n=200)


@FORMS
def test_bands_are_those_of_the_delta_method(f) -> None:
    result = fit(f, X, Y, [1, 1, 1])
    at = np.array([0.5, 2.0, 7.0])
    a, k, _ = result.popt
    jacobian = np.stack([np.exp(-k * at), -a * at * np.exp(-k * at), np.ones(3)], axis=1)
    variance = np.einsum("ij,jk,ik->i", jacobian, result.pcov, jacobian)
    band, prediction = result.confidence_band(at, 0.9), result.prediction_band(at, 0.9)
    quantile = scipy.stats.t.ppf(0.95, 37)
    np.testing.assert_allclose(band.value, result.predict(at), rtol=1e-12)
    np.testing.assert_allclose(band.stderr, np.sqrt(variance), rtol=1e-5)
    np.testing.assert_allclose(prediction.stderr, np.sqrt(variance + result.redchi), rtol=1e-5)
    np.testing.assert_allclose(prediction.high - prediction.value, quantile * prediction.stderr, rtol=1e-9)


def test_bands_where_a_function_computes_columns_of_x() -> None:
    def function(x, a, b):
        return a * np.log(x) + b * np.sqrt(x)

    x = X + 1
    result = fit(function, x, function(x, 2, 3) + 0.1 * np.sin(9 * x), [1, 1])
    at = np.array([2.0, 3.0])
    jacobian = np.stack([np.log(at), np.sqrt(at)], axis=1)
    np.testing.assert_allclose(
        result.confidence_band(at).stderr, np.sqrt(np.einsum("ij,jk,ik->i", jacobian, result.pcov, jacobian)), rtol=1e-9
    )
    np.testing.assert_allclose(result.predict(at), function(at, *result.popt))
    with pytest.raises(ValueError, match="x_for needs"):
        result.x_for([3.0])


@FORMS
def test_options_of_parameters(f) -> None:
    fixed = fit(f, X, Y, [1, 1, 1], fixed={"c": 1.0})
    assert fixed.params["c"].value == 1.0 and fixed.params["c"].state == "fixed" and fixed.params["c"].stderr == 0
    tied = fit(f, X, Y, [1, 1, 1], ties={"c": "a/3"})
    assert tied.params["c"].value == pytest.approx(tied.params["a"].value / 3) and tied.params["c"].state == "tied"
    bounded = fit(f, X, Y, [1, 0.3, 1], bounds={"k": (0, 0.5)})
    assert bounded.params["k"].value == 0.5 and bounded.params["k"].state == "at upper bound" and bounded.warnings
    constrained = fit(f, X, Y, [1, 1, 1], constraints=["a + c <= 3.5"])
    assert constrained.params["a"].value + constrained.params["c"].value == pytest.approx(3.5)
    prior = fit(f, X, Y, [1, 1, 1], sigma=0.05, absolute_sigma=True, priors={"k": (0.5, 1e-4)})
    assert prior.params["k"].value == pytest.approx(0.5, abs=1e-3)
    by_name = fit(f, X, Y, {"a": 2, "k": 0.5, "c": 0.5})
    np.testing.assert_allclose(by_name.popt, fit(f, X, Y, [1, 1, 1]).popt, rtol=1e-6)


def test_starts_are_guessed() -> None:
    x = np.linspace(0, 100, 200)
    y = 50 * np.exp(-(((x - 62) / 3) ** 2)) + 0.1 * x + 7
    peak = lambda x, h, c, w, slope, base: h * np.exp(-(((x - c) / w) ** 2)) + slope * x + base  # noqa: E731
    for f in (peak, "h*exp(-((x-c)/w)^2) + slope*x + base"):
        assert fit(f, x, y).params["c"].value == pytest.approx(62)
    assert fit("gaussian+linear", x, y).params["center"].value == pytest.approx(62)


def test_noise_and_losses() -> None:
    sigma = np.where(X > 2, 0.2, 0.05)
    popt, pcov = scipy.optimize.curve_fit(decay, X, Y, [1, 1, 1], sigma=sigma, absolute_sigma=True)
    result = fit(decay, X, Y, [1, 1, 1], sigma=sigma, absolute_sigma=True)
    np.testing.assert_allclose(result.popt, popt, rtol=1e-5)
    np.testing.assert_allclose(result.pcov, pcov, rtol=1e-3)
    covariance = np.diag(sigma**2) + 1e-4
    popt, pcov = scipy.optimize.curve_fit(decay, X, Y, [1, 1, 1], sigma=covariance)
    result = fit(decay, X, Y, [1, 1, 1], sigma=covariance)
    np.testing.assert_allclose(result.popt, popt, rtol=1e-5)
    np.testing.assert_allclose(result.pcov, pcov, rtol=1e-3)
    outliers = Y.copy()
    outliers[::9] += 5
    for loss in ("huber", "tukey"):
        np.testing.assert_allclose(fit(decay, X, outliers, [3, 0.7, 1], loss=loss).popt, [3, 0.7, 1], rtol=0.25)
    counts = RANDOM.poisson(50 * np.exp(-0.7 * X) + 1.0)
    result = fit(decay, X, counts, [40, 1, 2], counts=True)
    assert all(
        abs(p.value - truth) < 3 * p.stderr for p, truth in zip(result.params.values(), [50, 0.7, 1], strict=True)
    )
    weighted = fit(decay, X, Y, [1, 1, 1], weights=1 / sigma**2)
    np.testing.assert_allclose(weighted.popt, fit(decay, X, Y, [1, 1, 1], sigma=sigma).popt, rtol=1e-8)


def test_errors_in_the_predictors() -> None:
    """Pearson's data with York's weights."""
    x = np.array([0.0, 0.9, 1.8, 2.6, 3.3, 4.4, 5.2, 6.1, 6.5, 7.4])
    y = np.array([5.9, 5.4, 4.4, 4.6, 3.5, 3.7, 2.8, 2.8, 2.4, 1.5])
    sigma_x = 1 / np.sqrt([1000.0, 1000.0, 500.0, 800.0, 200.0, 80.0, 60.0, 20.0, 1.8, 1.0])
    sigma_y = 1 / np.sqrt([1.0, 1.8, 4.0, 8.0, 20.0, 20.0, 70.0, 70.0, 100.0, 500.0])
    for f in (lambda x, slope, base: slope * x + base, "slope*x+base"):
        result = fit(f, x, y, [-1, 5], sigma=sigma_y, sigma_x=sigma_x)
        np.testing.assert_allclose(result.popt, [-0.480533, 5.479910], atol=1e-6)
    with pytest.raises(ValueError, match="sigma_x needs"):
        fit(lambda x, slope, base: float(slope) * x + base, x, y, [-1, 5], sigma_x=sigma_x)


def test_derived_quantities_and_unknowns() -> None:
    result = fit("a*exp(-k*x)+c", X, Y, derive={"half_life": "ln(2)/k"})
    half_life = result.derive("ln(2)/k")
    assert half_life.value == pytest.approx(np.log(2) / result.params["k"].value)
    assert "half_life" in result.report() and half_life.low < half_life.value < half_life.high
    (unknown,) = result.x_for(2.0)
    assert float(result.predict(unknown.value)[0]) == pytest.approx(2.0)
    assert unknown.low < unknown.value < unknown.high


def test_reports() -> None:
    result = fit(decay, X, Y, [1, 1, 1])
    assert "degrees of freedom" in str(result) and "<table>" in result._repr_html_() and "| a |" in result.to_markdown()
    assert repr(result).startswith("<Fit a=")
    assert "0.7" in result.report(digits=9)
    profile = result.profile("k", points=3)
    assert profile.values.size == profile.tau.size == len(profile.parameters) and np.all(np.diff(profile.tau) > 0)
    assert compare({"decay": result, "line": fit("linear", X, Y)}).best.name == "decay"


def test_many_starts_find_the_lowest_minimum() -> None:
    y = np.sin(2.3 * X) + 0.01 * RANDOM.normal(size=X.size)
    for f in (lambda x, w: np.sin(w * x), lambda x, w: np.sin(float(w) * x)):
        found = multi_start(f, X, y, ranges={"w": (0.1, 6)}, starts=40)
        assert found.best.popt[0] == pytest.approx(2.3, abs=1e-2)
        assert sum(minimum.starts for minimum in found.minima) + found.failed == 40


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_images_are_fitted_pixel_by_pixel(kind) -> None:
    rates = RANDOM.uniform(0.3, 2, size=(4, 5))
    image = (3 * np.exp(-rates[..., None] * X) + 0.01 * RANDOM.normal(size=(4, 5, X.size))).astype(kind)
    image[1, 2, 3] = np.nan
    found = fit_many(lambda x, a, k: a * np.exp(-k * x), X, image, [1, 1], pcov=True)
    assert found.parameters.dtype == kind and found.parameters.shape == (4, 5, 2) and found.pcov.shape == (4, 5, 2, 2)
    assert found.success.sum() == 19 and "not finite" in found.message[1, 2]
    for pixel in [(0, 0), (3, 4)]:
        popt, pcov = curve_fit(lambda x, a, k: a * np.exp(-k * x), X, image[pixel], [1, 1])
        np.testing.assert_allclose(found.parameters[pixel], popt, rtol=1e-4 if kind is np.float32 else 1e-6)
        np.testing.assert_allclose(found.stderr[pixel], np.sqrt(np.diag(pcov)), rtol=1e-3)
    assert list(found.to_dataframe().columns[:2]) == ["a", "a_stderr"] and len(found.to_dataframe()) == 20
    assert (np.abs(found["k"] - rates) < 5 * found.stderr[..., 1])[found.success].all()


def test_many_fits_by_calls_are_the_same() -> None:
    y = np.stack([2 * np.exp(-0.5 * X), 3 * np.exp(-1.5 * X)]) + 0.01 * np.cos(9 * X)
    program = fit_many(lambda x, a, k: a * np.exp(-k * x), X, y, [1, 1], bounds={"k": (0, 1)})
    calls = fit_many(lambda x, a, k: float(a) * np.exp(-float(k) * x), X, y, [1, 1], bounds={"k": (0, 1)})
    assert program.why_not_traced is None and calls.why_not_traced
    np.testing.assert_allclose(program.parameters, calls.parameters, rtol=1e-5)
    np.testing.assert_allclose(program.stderr, calls.stderr, rtol=1e-3, atol=1e-9)
    named = fit_many("gaussian", X, np.exp(-((X - 2) ** 2)) + 0.01 * y)
    assert named.success.all()


def test_progress_of_many_fits() -> None:
    y = np.exp(-RANDOM.uniform(0.5, 2, size=(2000, 1)) * X)
    for f in ("a*exp(-k*x)", lambda x, a, k: float(a) * np.exp(-float(k) * x)):
        seen: list[tuple[int, int]] = []
        rows = y if isinstance(f, str) else y[:20]
        fit_many(f, X, rows, [1, 1], progress=lambda *counts, seen=seen: seen.append(counts))
        assert seen[-1] == (len(rows), len(rows)) and sorted(seen) == seen


def test_a_sparse_problem() -> None:
    """A chain of poses with loops, by the pattern of the Jacobian."""
    n = 60
    angle = np.linspace(0, 2 * np.pi, n, endpoint=False)
    truth = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    pairs = [(i, (i + 1) % n) for i in range(n)] + [(i, (i + 20) % n) for i in range(0, n, 7)]
    first, second = np.array(pairs).T
    measured = truth[second] - truth[first] + 0.01 * RANDOM.normal(size=(len(pairs), 2))

    def residuals(p):
        at = p.reshape(n, 2)
        return np.concatenate(
            [(at[second] - at[first] - measured).ravel() * (1 + (at[0, 0] - 1) ** 2), at[0] - truth[0]]
        )

    pattern = np.zeros((2 * len(pairs) + 2, 2 * n))
    for row, (i, j) in enumerate(pairs):
        for k in range(2):
            pattern[2 * row + k, [2 * i + k, 2 * j + k, 0]] = 1
    pattern[-2, 0] = pattern[-1, 1] = 1
    found = least_squares(residuals, np.zeros(2 * n), jac_sparsity=scipy.sparse.csr_matrix(pattern))
    expected = scipy.optimize.least_squares(residuals, np.zeros(2 * n))
    assert found.success and scipy.sparse.issparse(found.jac) and found.jac.shape == pattern.shape
    np.testing.assert_allclose(found.x, expected.x, atol=1e-5)
    assert found.cost <= expected.cost * (1 + 1e-9)
