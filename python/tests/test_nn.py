"""Networks as Keras has them."""

import numpy as np
import pytest

from marquardt.nn import Dense, Sequential, optimizers

RANDOM = np.random.default_rng(0)
X = RANDOM.uniform(-1, 1, (400, 2))
Y = np.sin(3 * X[:, :1]) + X[:, 1:] ** 2


@pytest.mark.parametrize("optimizer", optimizers)
def test_every_optimizer_lowers_the_loss(optimizer: str) -> None:
    model = Sequential([Dense(8, "silu"), Dense(6, "softplus"), Dense(1)])
    model.compile(optimizer, learning_rate=None if optimizer in ("lm", "kfac") else 0.01)
    history = model.fit(X, Y, epochs=30).history
    assert (
        len(history["loss"]) == 30 and history["loss"][-1] < (1e-3 if optimizer == "lm" else 0.9) * history["loss"][0]
    )
    # The outputs here are those of the engine: their error is of the size of its loss.
    error = float(np.mean((model.predict(X) - Y) ** 2))
    assert error < 1.5 * history["loss"][-1] and error > 1e-3 * history["loss"][-1]


def test_training_goes_on_from_the_weights() -> None:
    model = Sequential([Dense(8, "tanh"), Dense(1)])
    first = model.fit(X, Y, epochs=10).history["loss"]
    second = model.fit(X, Y, epochs=1).history["loss"]
    assert second[0] < 1.01 * first[-1] < 0.1 * first[0]


@pytest.mark.parametrize("activation", ["softmax", None])
def test_classes(activation: str | None) -> None:
    labels = (np.hypot(X[:, 0], X[:, 1]) < 0.7).astype(int)
    model = Sequential([Dense(12, "tanh"), Dense(2, activation)])
    model.compile(loss="sparse_categorical_crossentropy")
    history = model.fit(X, labels, epochs=60, validation_split=0.2, patience=10).history
    assert len(history["val_loss"]) == len(history["loss"])
    outputs = model.predict(X)
    assert np.mean(outputs.argmax(axis=1) == labels) > 0.95
    if activation:
        np.testing.assert_allclose(outputs.sum(axis=1), 1.0)
        one_hot = Sequential([Dense(12, "tanh"), Dense(2, activation)])
        one_hot.compile(loss="categorical_crossentropy")
        one_hot.fit(X, np.eye(2)[labels], epochs=40)
        assert np.mean(one_hot.predict(X).argmax(axis=1) == labels) > 0.95


def test_two_classes_by_one_output() -> None:
    labels = (X[:, 0] > 0.3 * X[:, 1]).astype(float) * (np.abs(X[:, 1]) < 0.8)
    model = Sequential([Dense(8, "relu"), Dense(1, "sigmoid")])
    model.compile(loss="binary_crossentropy")
    model.fit(X, labels, epochs=60)
    probabilities = model.predict(X)[:, 0]
    assert ((probabilities >= 0) & (probabilities <= 1)).all() and np.mean((probabilities > 0.5) == labels) > 0.95


def test_wrong_input_is_named() -> None:
    model = Sequential([Dense(3, "tanh"), Dense(1)])
    for wrong, words in [
        (lambda: Dense(0), "units"),
        (lambda: Dense(3, "swoosh"), "activation"),
        (lambda: model.compile("lion"), "optimizer"),
        (lambda: model.compile(loss="hinge"), "loss"),
        (lambda: model.compile("adam", weight_decay=0.1), "weight_decay"),
        (lambda: model.predict(X), "call fit first"),
        (lambda: model.fit(X, Y[:-1]), "400 rows"),
        (lambda: model.fit(X, X), "2 columns"),
        (lambda: model.fit(X * np.nan, Y), "x contains NaN"),
        (lambda: model.fit(X, Y, batch_size=-1), "batch_size"),
        (lambda: model.fit(X, Y, batch_size=0), "batch_size"),
        (lambda: model.fit(X, Y, epochs=-1), "epochs"),
        (lambda: model.fit(X, Y, validation_split=2), "validation"),
        (lambda: model.fit(X[:0], Y[:0]), "rows"),
        (lambda: Sequential().fit(X, Y), "no layers"),
        (lambda: Sequential([Dense(2, "softmax"), Dense(1)]).fit(X, Y), "softmax"),
    ]:
        with pytest.raises(ValueError, match=words):
            wrong()
    model.fit(X, Y, epochs=2)
    with pytest.raises(ValueError, match="1 columns"):
        model.predict(X[:, :1])
