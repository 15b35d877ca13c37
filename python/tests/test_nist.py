"""NIST's certified values, by functions as users of SciPy write them."""

import warnings

import numpy as np
import pytest
from nist import ALL, Dataset

from marquardt import curve_fit, fit


@pytest.mark.parametrize("start", [0, 1], ids=["far", "near"])
@pytest.mark.parametrize("dataset", ALL, ids=lambda dataset: dataset.name)
def test_certified_values_are_found(dataset: Dataset, start: int) -> None:
    popt, pcov = curve_fit(dataset.model, dataset.x, dataset.y, dataset.starts[start])
    # Of Lanczos1 the residuals are rounding errors of the data.
    assert dataset.digits(popt) > (8.0 if dataset.name == "Lanczos1" else 9.0)
    if dataset.name != "Lanczos1":
        np.testing.assert_allclose(np.sqrt(np.diag(pcov)), dataset.errors, rtol=1e-6)


def test_mean_digits() -> None:
    digits = []
    for dataset in ALL:
        for start in dataset.starts:
            digits.append(dataset.digits(curve_fit(dataset.model, dataset.x, dataset.y, start)[0]))
    assert np.mean(digits) >= 10.7


@pytest.mark.parametrize("dataset", ALL, ids=lambda dataset: dataset.name)
def test_all_models_are_recorded(dataset: Dataset) -> None:
    result = fit(dataset.model, dataset.x, dataset.y, dataset.starts[1])
    assert result.why_not_traced is None and result.formula


def test_calls_of_the_function_find_most() -> None:
    """The same functions, hidden from the recorder: derivatives are differences."""
    solved = 0
    for dataset in ALL:
        for start in dataset.starts:

            def hidden(x, *b, model=dataset.model):
                return model(x, *(float(value) for value in b))

            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    popt, _ = curve_fit(hidden, dataset.x, dataset.y, start)
                except RuntimeError:
                    continue
            solved += dataset.digits(popt) >= 4
    assert solved >= 47
