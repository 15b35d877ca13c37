"""The estimators of scikit-learn."""

import pickle

import numpy as np
import pytest

pytest.importorskip("sklearn")

from sklearn.datasets import load_digits, make_friedman1
from sklearn.model_selection import train_test_split
from sklearn.utils.estimator_checks import parametrize_with_checks

from marquardt.sklearn import LMClassifier, LMRegressor


@parametrize_with_checks([LMRegressor((16,), random_state=0), LMClassifier((16,), random_state=0)])
def test_of_scikit_learn(estimator, check) -> None:
    check(estimator)


def test_friedmans_function_is_learnt() -> None:
    x, y = make_friedman1(600, noise=0.0, random_state=0)
    x, held_out, y, expected = train_test_split(x, y, random_state=0)
    model = LMRegressor((16,), random_state=0).fit(x, y)
    assert np.sqrt(np.mean((model.predict(held_out) - expected) ** 2)) < 0.5
    again = pickle.loads(pickle.dumps(model))
    assert (again.predict(held_out) == model.predict(held_out)).all()
    assert (LMRegressor((16,), random_state=0, n_jobs=1).fit(x, y).predict(held_out) == model.predict(held_out)).all()


def test_standard_deviations_cover_new_targets() -> None:
    random = np.random.default_rng(1)
    x = random.uniform(-1, 1, size=(2000, 1))
    y = 100.0 + 7.0 * (np.sin(4 * x[:, 0]) + 0.2 * random.normal(size=2000))
    model = LMRegressor((8,), random_state=0).fit(x[:200], y[:200])
    values, std = model.predict(x[200:], return_std=True)
    assert (values == model.predict(x[200:])).all() and std.shape == values.shape
    share = np.mean(np.abs(y[200:] - values) < 1.96 * std)
    assert 0.92 < share < 0.98, share
    assert abs(np.median(std) - 1.4) < 0.2
    far = model.predict([[5.0]], return_std=True)[1][0]
    assert far > 2 * std.max()
    again = pickle.loads(pickle.dumps(model))
    assert (again.predict(x, return_std=True)[1] == model.predict(x, return_std=True)[1]).all()
    both = LMRegressor((8,), random_state=0).fit(x[:200], np.stack([y[:200], -1e-3 * y[:200]], axis=1))
    assert both.predict(x[:5], return_std=True)[1].shape == (5, 2)


def test_digits_are_told_apart() -> None:
    x, y = load_digits(return_X_y=True)
    x, held_out, y, expected = train_test_split(x, y, random_state=0)
    model = LMClassifier((16,), random_state=0, max_iter=8).fit(x, y)
    assert model.score(held_out, expected) > 0.9
    np.testing.assert_allclose(model.predict_proba(x).sum(axis=1), 1.0)


@pytest.mark.parametrize("solver", ["lm", "kfac", "adam"])
@pytest.mark.parametrize("activation", ["tanh", "relu", "logistic", "identity"])
def test_solvers_and_activations(solver: str, activation: str) -> None:
    random = np.random.default_rng(0)
    x = random.normal(size=(200, 3))
    y = np.stack([x @ [1, 2, 3], x @ [-1, 0, 2]], axis=1)
    model = LMRegressor((8,), activation, solver, learning_rate_init=0.02, batch_size=50, random_state=0).fit(x, y)
    assert model.predict(x).shape == (200, 2) and model.score(x, y) > 0.95
    with pytest.raises(ValueError, match="solver must be"):
        LMRegressor((8,), activation, "lbfgs").fit(x, y)
