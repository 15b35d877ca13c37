"""Fits of several groups that share parameters."""

import pickle

import numpy as np
import pytest

from marquardt import fit

RANDOM = np.random.default_rng(3)
T = np.tile(np.linspace(0, 5, 25), 3)
LABELS = np.repeat(["A", "B", "C"], 25)
TOPS = np.repeat([1.0, 2.0, 4.0], 25)
Y = TOPS * np.exp(-0.6 * T) + 0.01 * RANDOM.normal(size=T.size)


def decay(t, a, k):
    return a * np.exp(-k * t)


def called(t, a, k):
    return float(a) * np.exp(-float(k) * t)


FORMS = pytest.mark.parametrize("f", [decay, called, "a*exp(-k*x)"], ids=["program", "called", "formula"])


@FORMS
def test_a_shared_rate(f) -> None:
    result = fit(f, T, Y, [1, 1], groups=LABELS, shared=["k"])
    assert result.groups == ["A", "B", "C"] and len(result.popt) == 4 and result.dof == 71

    def by_hand(t, k, a, b, c):
        return np.select([LABELS == "A", LABELS == "B"], [a, b], default=c) * np.exp(-k * t)

    alone = fit(by_hand, T, Y, [1, 1, 1, 1])
    assert result.params["k"].value == pytest.approx(alone.params["k"].value, rel=1e-6)
    assert result.params["k"].stderr == pytest.approx(alone.params["k"].stderr, rel=1e-4)
    np.testing.assert_allclose(result.predict([1.0, 2.0], group="B"), by_hand_values(alone, "b"), rtol=1e-5)
    assert 0.6 in result.conf_interval("k", method="profile")
    again = pickle.loads(pickle.dumps(result))
    np.testing.assert_allclose(again.predict([1.0], group="C"), result.predict([1.0], group="C"), rtol=1e-9)


@FORMS
def test_bands_of_groups(f) -> None:
    result, grid = fit(f, T, Y, [1, 1], groups=LABELS, shared=["k"]), np.array([0.0, 1.0, 7.0])
    k, top = result.params["k"].value, result.params["B.a"].value
    gradient = np.zeros((3, 4))
    gradient[:, result.names.index("B.a")] = np.exp(-k * grid)
    gradient[:, result.names.index("k")] = -grid * top * np.exp(-k * grid)
    variance = np.einsum("ij,jk,ik->i", gradient, result.pcov, gradient)
    band = result.confidence_band(grid, group="B")
    np.testing.assert_allclose(band.value, top * np.exp(-k * grid), rtol=1e-9)
    np.testing.assert_allclose(band.stderr, np.sqrt(variance), rtol=1e-6)
    new = result.prediction_band(grid, group="B")
    np.testing.assert_allclose(new.stderr, np.sqrt(variance + result.redchi), rtol=1e-6)
    np.testing.assert_allclose((new.high - new.value) / new.stderr, (band.high - band.value) / band.stderr, rtol=1e-6)
    doubled = result.prediction_band(grid, sigma=2.0, group="B")
    np.testing.assert_allclose(doubled.stderr, np.sqrt(variance + 4 * result.redchi), rtol=1e-6)
    again = pickle.loads(pickle.dumps(result)).confidence_band(grid, group="B")
    np.testing.assert_allclose(again.low, band.low, rtol=1e-6)


def by_hand_values(alone, top: str) -> np.ndarray:
    return alone.params[top].value * np.exp(-alone.params["k"].value * np.array([1.0, 2.0]))


def test_options_of_groups() -> None:
    result = fit(
        decay,
        T,
        Y,
        [1, 0.3],
        groups=LABELS,
        shared="k",
        sigma=np.full(75, 0.01),
        absolute_sigma=True,
        bounds={"k": (0, 0.5)},
    )
    assert result.params["k"].value == 0.5
    outliers = Y.copy()
    outliers[::10] += 3
    assert fit(decay, T, outliers, [1, 1], groups=LABELS, shared=["k"], loss="tukey", f_scale=0.05).params[
        "k"
    ].value == pytest.approx(0.6, abs=0.05)
    frame = {"t": T}
    assert fit("a*exp(-k*t)", frame, Y, groups=LABELS, shared=["k"]).predict({"t": [0.0]}, group="C")[
        0
    ] == pytest.approx(4, abs=0.1)


def test_wrong_groups_are_named() -> None:
    for match, keywords in [
        ("groups has 3 labels", {"groups": ["A", "B", "C"]}),
        ("shared needs groups", {"shared": ["k"]}),
        ("cannot be shared", {"groups": LABELS, "shared": ["z"]}),
    ]:
        with pytest.raises(ValueError, match=match):
            fit(decay, T, Y, [1, 1], **keywords)
    result = fit(decay, T, Y, [1, 1], groups=LABELS, shared=["k"])
    for of_no_group in (result.predict, result.confidence_band, result.prediction_band):
        with pytest.raises(ValueError, match="group must be one of A, B, C, not None"):
            of_no_group([1.0])
    with pytest.raises(ValueError, match="not 'D'"):
        result.bands([1.0], group="D")
