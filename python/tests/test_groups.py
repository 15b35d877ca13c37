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
    with pytest.raises(ValueError, match="one of the groups"):
        result.predict([1.0])
    with pytest.raises(ValueError, match="bands"):
        result.confidence_band([1.0])
