"""What users' data, functions and keyboards do to a fit."""

import json
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time
import warnings

import numpy as np
import pandas as pd
import pytest

import marquardt
from marquardt import curve_fit, fit, fit_many, least_squares

T = np.linspace(0, 5, 30)


def decay(t, a, k):
    return a * np.exp(-k * t)


def called(t, a, k):
    return float(a) * np.exp(-float(k) * t)


Y = decay(T, 3.0, 0.7) + 0.01 * np.cos(9 * T)
BEST = curve_fit(decay, T, Y, [1, 1])[0]
both = pytest.mark.parametrize("function", [decay, called])


@both
@pytest.mark.parametrize(
    "convert",
    [list, tuple, pd.Series, lambda v: np.repeat(v, 3)[::3], lambda v: v[::-1][::-1], lambda v: np.asfortranarray(v)],
    ids=["list", "tuple", "Series", "strided", "reversed", "fortran"],
)
def test_data_of_any_kind(function, convert) -> None:
    np.testing.assert_allclose(curve_fit(function, convert(T), convert(Y), [1, 1])[0], BEST, rtol=1e-6)
    np.testing.assert_allclose(fit(function, convert(T), convert(Y), [1, 1]).popt, BEST, rtol=1e-6)


@both
def test_single_precision_is_no_trap(function) -> None:
    t, y = T.astype(np.float32), Y.astype(np.float32)
    np.testing.assert_allclose(curve_fit(function, t, y, np.float32([1, 1]))[0], BEST, rtol=1e-4)
    np.testing.assert_allclose(fit(function, t, y, [1, 1]).popt, BEST, rtol=1e-4)
    single = lambda t, a, k: function(t, a, k).astype(np.float32)  # noqa: E731
    np.testing.assert_allclose(curve_fit(single, T, Y, [1, 1])[0], BEST, rtol=1e-3)
    np.testing.assert_allclose(fit(single, T, Y, [1, 1]).popt, BEST, rtol=1e-3)


def test_columns_of_a_dataframe() -> None:
    frame = pd.DataFrame({"time": T, "dose": 1 + T % 2})
    y = 2 * frame["dose"] * np.exp(-0.5 * frame["time"])
    result = fit("a*dose*exp(-k*time)", frame, y)
    assert result.params["k"].value == pytest.approx(0.5)
    by_function = fit(lambda x, a, k: a * x["dose"] * np.exp(-k * x["time"]), frame, y, [1, 1])
    np.testing.assert_allclose(by_function.popt, [2, 0.5], rtol=1e-6)
    np.testing.assert_allclose(result.predict(frame[:3]), y[:3], rtol=1e-8)


def test_empty_data_are_named() -> None:
    for call in (curve_fit, fit):
        with pytest.raises(ValueError, match=r"y.*must not be empty"):
            call(decay, [], [], [1, 1])
    with pytest.raises(ValueError, match="Y must have observations"):
        fit_many(decay, [], np.zeros((3, 0)), [1, 1])


@pytest.mark.parametrize("call", [curve_fit, fit])
def test_a_function_without_return(call) -> None:
    with pytest.raises(TypeError, match="returned None"):
        call(lambda t, a: None, T, Y, [1.0])


def test_residuals_without_return() -> None:
    with pytest.raises(TypeError, match="returned None"):
        least_squares(lambda x: None, [1.0])


class OwnError(Exception):
    pass


@pytest.mark.parametrize("call", [curve_fit, fit])
def test_exceptions_keep_their_type(call) -> None:
    calls = []

    def fails(t, a, k):
        calls.append(float(a))
        if len(calls) > 4:
            raise OwnError("the simulator is gone")
        return a * np.exp(-k * t)

    with pytest.raises(OwnError, match="the simulator is gone"):
        call(fails, T, Y, [1, 1])
    before = len(calls)
    assert before <= 8, "nothing is called once it has failed"


def test_exceptions_of_residuals_keep_their_type() -> None:
    def fails(x):
        if float(x[0]) != 1.0:
            raise OwnError
        return x - 3

    with pytest.raises(OwnError):
        least_squares(fails, [1.0])
    with pytest.raises(OwnError):
        least_squares(lambda x: x - 3, [1.0], jac=lambda x: (_ for _ in ()).throw(OwnError()))


def test_functions_are_called_from_the_calling_thread_alone() -> None:
    threads = set()

    def watched(t, a, k):
        threads.add(threading.get_ident())
        return called(t, a, k)

    result = fit(watched, T, Y, [1, 1])
    result.profile("k")
    result.bootstrap(20)
    marquardt.multi_start(watched, T, Y, ranges={"a": (1, 5), "k": (0.1, 3)}, starts=6)
    fit_many(watched, T, np.stack([Y, Y]), [1, 1])
    assert threads == {threading.get_ident()}


def test_wrong_arguments_are_named() -> None:
    for match, call in [
        ("p0 has 3 values for 2 parameters", lambda: fit("a*exp(-k*x)", T, Y, [1, 2, 3])),
        ("x has 30 rows, but y has 29", lambda: fit("a*exp(-k*x)", T, Y[1:], [1, 2])),
        ("no parameter 'b'", lambda: fit(decay, T, Y, [1, 1], bounds={"b": (0, 1)})),
        ("bounds.*'k'", lambda: fit(decay, T, Y, [1, 1], bounds={"k": (2, 1)})),
        ("sigma", lambda: fit(decay, T, Y, [1, 1], sigma=np.zeros(30))),
        ("sigma has", lambda: fit(decay, T, Y, [1, 1], sigma=np.ones(7))),
        ("loss", lambda: fit(decay, T, Y, [1, 1], loss="quadratic")),
        ('no model "gausian"', lambda: fit("gausian+linear", T, Y)),
        ("has no predictor", lambda: fit("a*exp(-k*t)", T, Y)),
        ("y is None", lambda: fit(decay, T, None, [1, 1])),
        ("y must be real", lambda: fit(decay, T, Y + 1j, [1, 1])),
        ("seed must be", lambda: fit(decay, T, Y, [1, 1]).bootstrap(10, seed=-1)),
        ("n_jobs must be", lambda: fit(decay, T, Y, [1, 1], n_jobs=-2)),
        ("ties", lambda: fit(decay, T, Y, [1, 1], ties={"k": "2*"})),
        ("constraints", lambda: fit(decay, T, Y, [1, 1], constraints="a + k")),
        ("y is NaN in row 4", lambda: fit(decay, T, np.where(np.arange(30) == 3, np.nan, Y), [1, 1])),
        ("nan_policy", lambda: fit(decay, T, Y, [1, 1], nan_policy="skip")),
        ("method", lambda: fit(decay, T, Y, [1, 1]).conf_interval(method="z")),
        ("outside of provided bounds", lambda: curve_fit(decay, T, Y, [9, 1], bounds=(0, 5))),
        ("incorrect shape", lambda: curve_fit(decay, T, Y, [1, 1], sigma=np.ones(3))),
        ("p0 has 3 values", lambda: fit_many(decay, T, np.stack([Y, Y]), np.ones((2, 3)))),
    ]:
        with pytest.raises((ValueError, TypeError), match=match):
            call()
    with pytest.raises(TypeError, match="unexpected keyword argument 'boundz'"):
        curve_fit(decay, T, Y, [1, 1], boundz=3)


def test_missing_numbers_are_left_out() -> None:
    y = Y.copy()
    y[3] = np.nan
    t = T.copy()
    t[5] = np.nan
    for function in (decay, called, "a*exp(-k*x)"):
        result = fit(function, t, y, [1, 1], nan_policy="omit")
        assert result.dof == 26
        np.testing.assert_allclose(
            result.popt, curve_fit(decay, t, y, [1, 1], nan_policy="omit", check_finite=False)[0], rtol=1e-6
        )


def test_pickles_and_copies() -> None:
    result = fit(decay, T, Y, [1, 1])
    again = pickle.loads(pickle.dumps(result))
    assert (again.popt == result.popt).all() and (again.pcov == result.pcov).all()
    assert again.params == result.params and again.warnings == result.warnings
    np.testing.assert_allclose(again.confidence_band([1, 2]).low, result.confidence_band([1, 2]).low, rtol=1e-9)
    assert tuple(again.profile("k").interval) == pytest.approx(tuple(result.profile("k").interval))
    for formula in ("a*exp(-k*x)", "exponential_decay"):
        assert pickle.loads(pickle.dumps(fit(formula, T, Y))).report()


def test_json_of_a_fit() -> None:
    result = fit("a*exp(-k*x)", T, Y)
    stored = json.loads(result.to_json())
    assert [parameter["name"] for parameter in stored["parameters"]] == ["a", "k"]
    assert result.summary()["is_converged"] is True


def run_python(code: str, timeout: float = 60, **keywords):
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
        **keywords,
    )


def test_a_process_that_forks_can_fit_on() -> None:
    """With threads of the package's own running in the parent, the child fits as the parent does."""
    code = """
        import os, numpy as np
        from marquardt import fit, fit_many
        t = np.linspace(0, 5, 5000)
        y = 3 * np.exp(-0.7 * t) + 0.01 * np.cos(9 * t)
        def all_fits():
            fit("a*exp(-k*x)+c", t, y).bootstrap(20)
            return fit_many("a*exp(-k*x)", t[::100], np.stack([y[::100]] * 300), [1, 1]).success.all()
        assert all_fits()
        child = os.fork()
        if child == 0:
            os._exit(0 if all_fits() else 3)
        assert os.waitpid(child, 0)[1] == 0
        assert all_fits()
        print("done")
    """
    result = run_python(code)
    assert result.stdout.strip() == "done", result.stderr


NOISE = "np.random.default_rng(1).normal"
LONG = {
    "program": f"""
        peaks = '+'.join(f'h{{i}}*exp(-((x-c{{i}})/w{{i}})^2)' for i in range(20))
        fit(peaks, np.linspace(0, 9, 60_000), {NOISE}(size=60_000))""",
    "called": f"""
        def slow(t, a, k):
            return float(a) * np.exp(-float(k) * (t + 0 * sum(np.sin(t) for _ in range(30))))
        curve_fit(slow, np.linspace(0, 5, 100_000), {NOISE}(size=100_000), [1, 1])""",
    "residuals": """
        def slow(x):
            time.sleep(0.01)
            return np.sin(1e3 * float(x[0])) + 0.1 * x
        least_squares(slow, [1.0])""",
    "bootstrap": f"""
        fit('a*exp(-k*x)', np.linspace(0, 5, 3000), {NOISE}(size=3000) + 5, [1, 1]).bootstrap(100_000)""",
    "many": f"""
        fit_many('a*exp(-k*x)+b*exp(-l*x)', np.linspace(0, 5, 64), {NOISE}(size=(200_000, 64)), [1, 1, 2, 2])""",
}


@pytest.mark.parametrize("what", LONG)
def test_the_keyboard_interrupts(what: str) -> None:
    code = """
import time
import numpy as np
from marquardt import *

def work():
"""
    code += textwrap.indent(textwrap.dedent(LONG[what]), "    ")
    code += """

print("begun", flush=True)
try:
    while True:
        work()
except KeyboardInterrupt:
    print("interrupted")
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stdout.readline().strip() == "begun"
        time.sleep(1.0)
        begun = time.monotonic()
        process.send_signal(signal.SIGINT)
        output = process.stdout.read()
        # The test is of the promise, with time to spare for a busy machine.
        assert time.monotonic() - begun < 5.0
    assert output.strip() == "interrupted"


def test_import_is_cheap() -> None:
    code = """
        import sys, numpy
        before = set(sys.modules)
        import marquardt
        loaded = {module.split(".")[0] for module in set(sys.modules) - before}
        print(loaded & {"scipy", "pandas", "matplotlib", "sklearn", "torch"})
    """
    assert run_python(code).stdout.strip() == "set()"


def test_undetermined_parameters_warn() -> None:
    with pytest.warns(Warning, match="could not be estimated"):
        _, pcov = curve_fit(lambda x, a, b: a * x, T, Y, [1, 1])
    assert np.isinf(pcov).all()
    result = fit(lambda x, a, b: a * x + 0 * b, T, Y, [1, 1])
    assert result.warnings and result.params["b"].stderr == np.inf


def test_what_is_worse_than_a_constant_warns() -> None:
    with pytest.warns(Warning, match="worse than their mean"):
        curve_fit(lambda x, a: a * x, T, 50 - T, [1])
    with pytest.warns(Warning, match="ran away"):
        curve_fit(lambda x, a, b: a * x / (b + x), T + 0.1, 3 * (T + 0.1), [1, 1])


def test_warnings_do_not_escape_from_recording() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        curve_fit(lambda x, a, b: np.where(x > 0, a * np.log(np.maximum(x, 1e-9)) + b, 0), T, Y, [1, 1])


def test_plots(tmp_path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    for function in (decay, called, "a*exp(-k*x)"):
        figure, axes = plt.subplots()
        assert fit(function, T, Y, [1, 1]).plot(axes) is axes
        assert len(axes.lines) == 2 and len(axes.collections) == 1
        plt.close(figure)
