"""Functions that are recorded, those that are not, and those that a recorder without checks would get wrong."""

import warnings

import numpy as np
import pytest
from adversarial import FUNCTIONS, X

from marquardt import compile, curve_fit, fit
from marquardt._trace import TRACES, Untraceable, record


@pytest.mark.parametrize("name", FUNCTIONS)
def test_no_function_is_fitted_wrongly(name: str) -> None:
    function, start, truth, traced = FUNCTIONS[name]
    y = np.asarray(function(X, *np.array(truth)), dtype=float)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = fit(function, X, y, start)
        popt, _ = curve_fit(function, X, y, start)
    if traced is not None:
        assert result.is_traced == traced, result.why_not_traced
    assert (result.why_not_traced is None) == result.is_traced
    np.testing.assert_allclose(function(X, *result.popt), y, atol=2e-5 * np.abs(y).max())
    np.testing.assert_allclose(result.popt[: len(truth)], truth, rtol=1e-4)
    np.testing.assert_allclose(popt[: len(truth)], truth, rtol=1e-4)


def test_most_functions_are_recorded() -> None:
    assert len(FUNCTIONS) >= 60
    recorded = 0
    for function, start, _, _ in FUNCTIONS.values():
        try:
            TRACES.find(function, X, tuple(f"p{i}" for i in range(len(start))), X.size, np.array(start, dtype=float))
            recorded += 1
        except Untraceable:
            pass
    assert recorded >= 34


def test_a_changed_global_is_seen() -> None:
    scale = {"factor": 1.0}

    def function(x, a, b):
        return scale["factor"] * a * np.exp(-b * x)

    y = function(X, 2.0, 0.7)
    assert fit(function, X, y, [1, 1]).is_traced
    scale["factor"] = 4.0
    result = fit(function, X, y, [1, 1])
    assert result.is_traced
    np.testing.assert_allclose(result.popt, [0.5, 0.7], rtol=1e-9)


def test_random_functions_are_not_trusted() -> None:
    random = np.random.default_rng(1)

    def function(x, a):
        return a * x + random.normal()

    with pytest.raises(Untraceable, match="other values"):
        TRACES.find(function, X, ("a",), X.size, np.array([1.0]))


def test_other_predictors_of_the_same_length_are_seen() -> None:
    def function(x, a, b):
        return a * np.log(x) + b * x

    for scale in (1.0, 2.0, 3.0):
        x = scale * X
        result = fit(function, x, function(x, 2.0, 0.7), [1, 1])
        np.testing.assert_allclose(result.popt, [2.0, 0.7], rtol=1e-9)


def test_a_column_that_happens_to_be_x() -> None:
    """With `x = 0, 1, …` a counter of rows is recorded as `x`; for other `x` it is not."""

    def function(x, a, b):
        return a * np.arange(x.size) + b * x

    for x in (np.arange(10.0), np.arange(10.0) ** 1.5):
        y = function(x, 2.0, 0.7)
        popt = curve_fit(function, x, y, [1, 1])[0] if x[2] != 2 else None
        if popt is not None:
            np.testing.assert_allclose(popt, [2.0, 0.7], rtol=1e-8)
        else:
            curve_fit(function, x, y, [1, 1])


def test_arrays_that_are_written_to_later() -> None:
    buffer = np.empty_like(X)

    def function(x, a, b):
        buffer[:] = x
        first = a * buffer
        buffer[:] = x**2
        return first + b * buffer

    result = fit(function, X, function(X, 2.0, 0.7), [1, 1])
    assert result.is_traced
    np.testing.assert_allclose(result.popt, [2.0, 0.7], rtol=1e-9)


def test_programs_do_not_grow_without_end() -> None:
    def function(x, a):
        for k in range(100_000):
            a = a * 1.0000001 + k
        return a * x

    with pytest.raises(Untraceable, match="more than"):
        record(function, lambda parameters: (X, *parameters), ["a"], X.size)


def test_derivatives_are_exact() -> None:
    def function(x, a, b):
        return a * np.exp(-b * x) / (1 + (b * x) ** 2)

    trace = record(function, lambda parameters: (X, *parameters), ["a", "b"], X.size)
    jacobian = trace.model.jacobian(trace.matrix, np.array([2.0, 0.7]))
    a, b = 2.0, 0.7
    u = np.exp(-b * X) / (1 + (b * X) ** 2)
    np.testing.assert_allclose(jacobian[:, 0], u, rtol=1e-14)
    np.testing.assert_allclose(jacobian[:, 1], a * u * (-X - 2 * b * X**2 / (1 + (b * X) ** 2)), rtol=1e-13)


def test_the_text_is_a_formula() -> None:
    def function(x, a, b):
        return np.where(x > b, a * np.abs(x - b) ** 1.5, -(a / 3) * x)

    y = function(X, 2.0, 0.7)
    result = fit(function, X, y, [1, 1])
    again = fit(result.formula, X, y, {"a": 1, "b": 1})
    np.testing.assert_allclose(again.popt[[again.names.index("a"), again.names.index("b")]], result.popt, rtol=1e-9)


def test_prepared_functions() -> None:
    def decay(t, a, k):
        return a * np.exp(-k * t)

    prepared = compile(decay, list(X))
    for truth in ([3, 0.7], [1, 2]):
        y = decay(X, *truth)
        np.testing.assert_allclose(prepared.curve_fit(y, [1, 1])[0], truth, rtol=1e-9)
        np.testing.assert_allclose(prepared.curve_fit(y)[0], truth, rtol=1e-9)
        np.testing.assert_allclose(prepared(*truth), y, rtol=1e-14)
    np.testing.assert_allclose(prepared.jacobian(3, 0.7)[:, 0], np.exp(-0.7 * X), rtol=1e-14)
    noisy = y + 0.01 * np.cos(9 * X)
    np.testing.assert_allclose(prepared.curve_fit(noisy, [1, 1])[1], curve_fit(decay, X, noisy, [1, 1])[1], rtol=1e-9)
    with pytest.raises(TypeError, match="decision"):
        compile(lambda t, a: a * t if a > 0 else t, X)
    with pytest.raises(ValueError, match="has 40 values"):
        prepared.curve_fit(y[1:])


@pytest.mark.parametrize("rows", [30, 20_000])
def test_a_function_that_changed_since_it_was_recorded_is_recorded_again(rows: int) -> None:
    factor, x = 0.0, np.linspace(0, 2, rows)

    def curve(x, a, b):
        return a * x + factor * b * x**2

    with pytest.warns(UserWarning):
        curve_fit(curve, x, 2 * x + 0.01 * np.cos(9 * x), [1, 0.5])
    factor = 1.0
    popt, pcov = curve_fit(curve, x, 2 * x + 0.01 * np.cos(9 * x), [1, 0.5])
    assert np.isfinite(pcov).all() and popt[0] == pytest.approx(2, abs=0.02) and abs(popt[1]) < 0.02
    if rows > 10_000:
        # The old record has the new values where its own fit ends.
        factor = 0.0
        with pytest.warns(UserWarning):
            curve_fit(curve, x, 2 * x, [1, 0])
        factor = 1.0
        assert np.isfinite(curve_fit(curve, x, 2 * x + 0.01 * np.cos(9 * x), [1, 0])[1]).all()
    popt, _ = curve_fit(curve, x, 2 * x + 3 * x**2, [1, 1])
    np.testing.assert_allclose(popt, [2, 3], rtol=1e-9)
    factor = 2.0
    np.testing.assert_allclose(curve_fit(curve, x, 2 * x + 3 * x**2, [1, 1])[0], [2, 1.5], rtol=1e-9)


@pytest.mark.parametrize("f", [np.fmax, np.fmin, np.maximum, np.minimum])
@pytest.mark.parametrize("is_first", [False, True])
def test_extremes_of_nan_are_those_of_numpy(f, is_first: bool) -> None:
    x, y = np.array([1.0, np.nan, 3.0, 4.0]), np.array([2.0, 2.0, 2.0, 2.0])

    def extreme(v, a):
        return f(a * v, x) if is_first else f(x, a * v)

    trace = record(extreme, lambda recorders: (y, *recorders), ("a",), 4)
    np.testing.assert_array_equal(trace.model.evaluate(trace.matrix, np.array([1.0])), f(x, y))
