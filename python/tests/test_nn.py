"""Networks as Keras has them."""

import numpy as np
import pytest

from marquardt.nn import Dense, Input, Sequential, optimizers

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


@pytest.mark.parametrize(
    ("loss", "last", "metrics"),
    [
        ("mse", Dense(1), ["mae", "mean_squared_error", "rmse", "r2_score"]),
        ("sparse_categorical_crossentropy", Dense(2, "softmax"), ["accuracy"]),
        ("sparse_categorical_crossentropy", Dense(2), "acc"),
        ("categorical_crossentropy", Dense(2, "softmax"), ["accuracy"]),
        ("binary_crossentropy", Dense(1, "sigmoid"), ["accuracy", "binary_accuracy"]),
        ("binary_crossentropy", Dense(1), ["accuracy"]),
    ],
)
def test_evaluation_is_that_of_the_training(loss: str, last: Dense, metrics) -> None:
    """Losses and metrics of the rows that are held out, as the engine computes them."""
    labels = (np.hypot(X[:, 0], X[:, 1]) < 0.7).astype(float)
    y = Y if loss == "mse" else np.eye(2)[labels.astype(int)] if loss.startswith("categorical") else labels
    model = Sequential([Input(shape=(2,)), Dense(6, "tanh"), last])
    model.compile("adam", loss, metrics, learning_rate=0.01)
    history = model.fit(X[:300], y[:300], epochs=5, validation_data=(X[300:], y[300:])).history
    found = model.evaluate(X[300:], y[300:], return_dict=True)
    given = [metrics] if isinstance(metrics, str) else metrics
    assert list(found) == ["loss", *given]
    for name, value in found.items():
        assert value == pytest.approx(history[f"val_{name}"][-1], rel=1e-9), name
        assert len(history[name]) == 5
    assert model.evaluate(X[300:], y[300:]) == list(found.values())
    model.compile("adam", loss)
    assert model.evaluate(X[300:], y[300:]) == found["loss"]


def test_callbacks_see_each_pass_and_end_the_training(capsys) -> None:
    model, seen = Sequential([Dense(8, "tanh"), Dense(1)]), []
    model.compile("adam", metrics=["mae"])
    history = model.fit(
        X, Y, epochs=4, verbose=1, callbacks=lambda epoch, logs: seen.append((epoch, logs["mae"]))
    ).history
    assert [epoch for epoch, _ in seen] == [0, 1, 2, 3] and [mae for _, mae in seen] == history["mae"]
    printed = capsys.readouterr().out.splitlines()
    assert len(printed) == 4 and printed[0].startswith("Epoch 1/4 - loss: ") and "mae: " in printed[0]
    ended = model.fit(X, Y, epochs=10**7, callbacks=[lambda epoch, logs: epoch >= 3])
    assert 4 <= len(ended.epoch) < 10**6

    def fails(epoch, logs):
        raise KeyError("own")

    with pytest.raises(KeyError, match="own"):
        model.fit(X, Y, epochs=10**7, callbacks=fails)


def test_weights_are_those_of_keras(tmp_path, capsys) -> None:
    model = Sequential([Input(shape=2), Dense(8, "swish"), Dense(1)])
    assert model.count_params() == 33
    model.summary()
    assert "total" in capsys.readouterr().out
    Sequential([Dense(3)]).summary()
    model.fit(X, Y, epochs=3)
    kernel, bias, *_ = model.get_weights()
    assert kernel.shape == (2, 8) and bias.shape == (8,)
    model.save_weights(tmp_path / "weights.npz")
    other = Sequential([Dense(8, "silu"), Dense(1)])
    other.load_weights(tmp_path / "weights.npz")
    assert (other(X) == model.predict(X)).all()
    for wrong in ([], [kernel], [kernel.T, bias], model.get_weights()[:-1]):
        with pytest.raises(ValueError, match="shapes"):
            other.set_weights(wrong)
    with pytest.raises(ValueError, match="NaN"):
        other.set_weights([np.full_like(one, np.nan) for one in model.get_weights()])


def test_weights_of_rows_count() -> None:
    """Rows of weight zero have no influence on the loss that is reported, nor on the outputs."""
    weights = (X[:, 0] > 0).astype(float)
    spoilt = np.where(weights[:, None] > 0, Y, 100.0)
    model = Sequential([Dense(10, "tanh"), Dense(1)])
    model.fit(X, spoilt, epochs=60, sample_weight=weights, shuffle=False)
    assert np.abs(model.predict(X) - Y)[weights > 0].mean() < 0.05


def test_wrong_input_is_named() -> None:
    model, classes = Sequential([Dense(3, "tanh"), Dense(1)]), Sequential([Dense(2)])
    classes.compile(loss="sparse_categorical_crossentropy")
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
        (lambda: Sequential().evaluate(X, Y), "no layers"),
        (lambda: model.evaluate(X, Y), "call fit first"),
        (lambda: model.compile(metrics=["f1"]), "metrics"),
        (lambda: model.compile("adam", "binary_crossentropy", ["mae"]), "of values"),
        (lambda: model.fit(X, Y, sample_weight=np.ones(3)), "sample_weight"),
        (lambda: model.fit(X, Y, validation_data=(X[:, :1], Y)), "validation_data"),
        (lambda: model.fit(X, Y, validation_data=(X, Y), validation_split=0.1), "one of them"),
        (lambda: Sequential([Input(shape=3), Dense(1)]).fit(X, Y), "Input has 3"),
        (lambda: Sequential([Dense(1), Input(shape=3)]), "first of the layers"),
        (lambda: Input(shape=(2, 2)), "shape"),
        (lambda: Sequential([Dense(1)]).count_params(), "call fit first"),
        (lambda: classes.fit(X, np.full(400, 2)), "numbers of classes"),
        (lambda: Sequential([Dense(2, "softmax"), Dense(1)]).fit(X, Y), "softmax"),
    ]:
        with pytest.raises(ValueError, match=words):
            wrong()
    model.fit(X, Y, epochs=2)
    with pytest.raises(ValueError, match="1 columns"):
        model.predict(X[:, :1])
