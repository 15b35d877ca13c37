"""Small dense networks with the interface of Keras, trained by Levenberg-Marquardt or by the optimizers of Keras."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from . import _engine, _network

#: Optimizers by name: the exact method, the one with Kronecker factors, and those of first order.
optimizers = ("lm", "kfac", "adagrad", "adam", "adamw", "rmsprop", "sgd")
#: Losses by name, and their short names.
losses = ("mean_squared_error", "binary_crossentropy", "categorical_crossentropy", "sparse_categorical_crossentropy")
_SHORT = {"mse": "mean_squared_error"}
#: Metrics by name, and their other names.
metrics = ("accuracy", "binary_accuracy", "mae", "mse", "rmse", "r2_score")
_KNOWN = metrics
_METRICS = {
    "acc": "accuracy", "mean_absolute_error": "mae", "mean_squared_error": "mse", "root_mean_squared_error": "rmse", "r2": "r2_score",
}  # fmt: skip
#: Activations of a last layer that losses of classes contain: training is by logits.
_OF_LOSS = {
    "binary_crossentropy": "sigmoid",
    "categorical_crossentropy": "softmax",
    "sparse_categorical_crossentropy": "softmax",
}


@dataclass(frozen=True)
class Dense:
    """A dense layer.

    Parameters
    ----------
    units : int
    activation : {'linear', 'tanh', 'relu', 'sigmoid', 'silu', 'swish', 'softplus', 'softmax'}, optional
        'softmax' is for the last layer; 'swish' is 'silu'.
    """

    units: int
    activation: str | None = None

    def __post_init__(self) -> None:
        if int(self.units) != self.units or self.units < 1:
            raise ValueError(f"units must be a positive whole number, got {self.units!r}")
        if self.activation == "swish":
            object.__setattr__(self, "activation", "silu")
        known = [*_network.ACTIVATIONS, "softmax"]
        if self.activation is not None and self.activation not in known:
            raise ValueError(f"activation must be one of {', '.join(known)}, got {self.activation!r}")


@dataclass(frozen=True)
class Input:
    """Number of predictors, as the first of the layers: `Input(shape=(4,))`. It is known from the data otherwise."""

    shape: tuple[int, ...]

    def __post_init__(self) -> None:
        shape = tuple(np.atleast_1d(self.shape).tolist())
        if len(shape) != 1 or int(shape[0]) != shape[0] or shape[0] < 1:
            raise ValueError(f"shape must be one positive whole number, got {self.shape!r}")
        object.__setattr__(self, "shape", shape)


@dataclass(frozen=True)
class History:
    """Losses and metrics of each pass over the data: `loss`, `val_loss` where rows were held out, and likewise the metrics."""

    history: dict[str, list[float]]
    epoch: list[int] = field(default_factory=list)


class Sequential:
    """Dense layers one after the other.

    Parameters
    ----------
    layers : iterable of Dense
        The first may be an `Input`.
    seed : int
        Seed of the initial weights and of the order of rows.

    Examples
    --------
    >>> import numpy as np
    >>> from marquardt.nn import Dense, Sequential
    >>> x = np.linspace(-1, 1, 200)[:, None]
    >>> model = Sequential([Dense(10, "tanh"), Dense(1)])
    >>> model.compile("lm", loss="mse")
    >>> history = model.fit(x, np.sin(5 * x), epochs=200)
    >>> bool(history.history["loss"][-1] < 1e-4)
    True
    >>> model.predict(x).shape
    (200, 1)
    """

    def __init__(self, layers: Iterable[Dense | Input] = (), seed: int = 0) -> None:
        self.layers: list[Dense] = []
        self.weights: list[np.ndarray] = []
        self._inputs: int | None = None
        self._seed = seed
        self.compile()
        for layer in layers:
            self.add(layer)

    def add(self, layer: Dense | Input) -> None:
        """Adds a layer at the end, before the first fit."""
        if isinstance(layer, Input):
            if self.layers or self._inputs is not None:
                raise ValueError("Input is the first of the layers")
            self._inputs = layer.shape[0]
            return
        if not isinstance(layer, Dense):
            raise TypeError(f"layers must be Dense, not {type(layer).__name__}")
        if self.weights:
            raise ValueError("the network has been trained: make a new one for other layers")
        self.layers.append(layer)

    def compile(
        self,
        optimizer: str = "lm",
        loss: str = "mse",
        metrics: Sequence[str] = (),
        learning_rate: float | None = None,
        weight_decay: float = 0.0,
    ) -> None:
        """Sets how the network is trained.

        Parameters
        ----------
        optimizer : str
            One of `optimizers`.
        loss : str
            One of `losses`, or 'mse'. After a last layer without 'softmax' or 'sigmoid', those of classes take logits.
        metrics : sequence of str
            Some of `metrics`, for the history and for `evaluate`.
        learning_rate : float, optional
            Keras' by default; 1 for 'lm' and 'kfac'.
        weight_decay : float
            For 'lm' and 'kfac'; biases do not decay.
        """
        if optimizer.lower() not in optimizers:
            raise ValueError(f"optimizer must be one of {', '.join(optimizers)}, got {optimizer!r}")
        loss = _SHORT.get(loss, loss)
        if loss not in losses:
            raise ValueError(f"loss must be one of {', '.join(losses)}, got {loss!r}")
        if weight_decay and optimizer.lower() not in ("lm", "kfac"):
            raise ValueError(f"weight_decay is for 'lm' and 'kfac', not for {optimizer!r}")
        given = [metrics] if isinstance(metrics, str) else list(metrics)
        for name in given:
            if _METRICS.get(name, name) not in _KNOWN:
                raise ValueError(f"metrics must be some of {', '.join(_KNOWN)}, got {name!r}")
            if loss != "mean_squared_error" and "accuracy" not in _METRICS.get(name, name):
                raise ValueError(f"the metric {name!r} is of values; the loss {loss} is of classes")
        self._metrics = {name: _METRICS.get(name, name) for name in given}
        self._optimizer, self._loss = optimizer.lower(), loss
        self._learning_rate, self._weight_decay = learning_rate, weight_decay

    def fit(
        self,
        x: Any,
        y: Any,
        batch_size: int | None = None,
        epochs: int = 1,
        verbose: int = 0,
        callbacks: Callable[..., Any] | Sequence[Callable[..., Any]] = (),
        validation_split: float = 0.0,
        validation_data: tuple[Any, Any] | None = None,
        shuffle: bool = True,
        sample_weight: Any = None,
        patience: int | None = None,
        n_jobs: int | None = None,
    ) -> History:
        """Trains the network, from its current weights.

        Parameters
        ----------
        x : array_like of shape (rows, inputs)
        y : array_like of shape (rows, outputs) or (rows,)
            Targets; numbers of classes for 'sparse_categorical_crossentropy'.
        batch_size : int, optional
            Rows of a minibatch: by default eight for each weight for 'lm', 512 at least, and 256 of more than 512 rows for the others.
        epochs : int
            Largest number of passes over the data.
        verbose : int
            Whether a line is printed for each pass; 0 for none.
        callbacks : callable, or sequence of callable
            Called as `callback(epoch, logs)` after each pass, up to 50 ms late; one that returns true ends the training.
        validation_split : float
            Fraction of the rows, from the end, that is held out.
        validation_data : (array_like, array_like), optional
            Rows to validate by, in place of `validation_split`.
        shuffle : bool
            Whether rows are in a new order in each pass.
        sample_weight : array_like of shape (rows,), optional
            Weights of the rows in the loss.
        patience : int, optional
            Number of passes without improvement after which training ends; default: no limit.
        n_jobs : int, optional
            Threads; all cores by default.
        """
        x, y = self._checked(x, y)
        if x.size == 0:
            raise ValueError("x has no rows" if len(x) == 0 else "x has no columns")
        validation = None
        if validation_data is not None:
            if validation_split:
                raise ValueError("validation_data takes the place of validation_split: give one of them")
            validation = self._checked(*validation_data[:2])
            if validation[0].shape[1] != x.shape[1]:
                raise ValueError(f"validation_data has {validation[0].shape[1]} columns, x has {x.shape[1]}")
        if sample_weight is not None:
            sample_weight = np.asarray(sample_weight, dtype=float)
            if sample_weight.shape != (len(x),):
                raise ValueError(f"sample_weight has shape {sample_weight.shape}, x has {len(x)} rows")
        if batch_size is None:
            batch_size = _network.batch_size(len(x), self._count(x.shape[1]), self._optimizer == "lm")
        if batch_size < 1:
            raise ValueError(f"batch_size must be positive, got {batch_size}")
        activations = self._activations()
        if _OF_LOSS.get(self._loss) == activations[-1]:
            activations[-1] = "linear"
        if "softmax" in activations:
            raise ValueError(f"softmax is for the last layer under a loss of classes; the loss is {self._loss}")
        options = {
            "layers": [(layer.units, activation) for layer, activation in zip(self.layers, activations, strict=True)],
            "loss": self._loss,
            "optimizer": self._optimizer,
            "learning_rate": self._learning_rate,
            "weight_decay": float(self._weight_decay),
            "epochs": int(epochs),
            "batch_size": int(batch_size),
            "validation_split": float(validation_split),
            "early_stopping": None if patience is None else (int(patience), 0.0),
            "seed": self._seed,
            "start": np.concatenate([one.ravel() for one in self.weights]).tolist() if self.weights else None,
            "metrics": list(dict.fromkeys(self._metrics.values())),
            "shuffle": bool(shuffle),
            "sample_weight": None if sample_weight is None else sample_weight.tolist(),
        }
        called = [callbacks] if callable(callbacks) else list(callbacks)
        epoch = -1

        def on_epoch(logs: list[tuple[str, float]]) -> bool:
            nonlocal epoch
            epoch += 1
            named = {own: value for name, value in logs for own in self._names_of(name)}
            if verbose:
                print(
                    f"Epoch {epoch + 1}/{epochs} - " + " - ".join(f"{name}: {one:.4g}" for name, one in named.items())
                )
            return any([callback(epoch, named) for callback in called])

        arrays, history = _engine.train_network(
            x, y, options, 0 if n_jobs is None or n_jobs < 0 else int(n_jobs), validation,
            on_epoch if called or verbose else None,
        )  # fmt: skip
        self.weights = [array for _, array in arrays]
        columns = {own: list(column) for name, column in history for own in self._names_of(name)}
        return History(columns, list(range(len(columns["loss"]))))

    def _names_of(self, name: str) -> list[str]:
        """Names under which a metric of the engine was asked for; others keep theirs."""
        prefix, own = ("val_", name[4:]) if name.startswith("val_") else ("", name)
        return [prefix + given for given, known in self._metrics.items() if known == own] or [name]

    def evaluate(self, x: Any, y: Any, return_dict: bool = False) -> Any:
        """The loss of rows; with metrics, a list of the loss and the metrics, or a dictionary of them."""
        x, y = self._checked(x, y)
        values = self._outputs(x, with_loss=True)
        found = {"loss": _LOSSES[self._loss](values, y)}
        found |= {given: _evaluated(known, self._loss, values, y) for given, known in self._metrics.items()}
        if return_dict:
            return found
        return list(found.values()) if self._metrics else found["loss"]

    def count_params(self) -> int:
        """Number of weights and biases."""
        inputs = self.weights[0].shape[1] if self.weights else self._inputs
        if inputs is None:
            raise ValueError("the number of inputs is not known: call fit first, or begin with Input(shape)")
        return self._count(inputs)

    def summary(self, print_fn: Callable[[str], Any] = print) -> None:
        """Prints the layers, the shapes of their outputs, and the numbers of their parameters."""
        width = self.weights[0].shape[1] if self.weights else self._inputs
        print_fn(f"{'layer':<16}{'activation':<12}{'output':>8}{'parameters':>13}")
        for index, layer in enumerate(self.layers):
            count = "?" if width is None else str((width + 1) * layer.units)
            print_fn(f"{f'dense_{index}':<16}{layer.activation or 'linear':<12}{layer.units:>8}{count:>13}")
            width = layer.units
        known = self.weights or self._inputs is not None
        print_fn(f"{'total':<16}{'':<12}{'':>8}{self.count_params() if known else '?':>13}")

    def get_weights(self) -> list[np.ndarray]:
        """Weights, of shape (inputs, units) as Keras has them, and biases of the layers in turn."""
        return [one.T.copy() if one.ndim == 2 else one.copy() for one in self.weights]

    def set_weights(self, weights: Sequence[Any]) -> None:
        """Sets weights and biases, in the form of `get_weights`."""
        made = [np.ascontiguousarray(np.asarray(one, dtype=float).T) for one in weights]
        inputs = made[0].shape[1] if made and made[0].ndim == 2 else self._inputs or 0
        widths = [inputs, *(layer.units for layer in self.layers)]
        expected = [shape for a, b in pairwise(widths) for shape in ((b, a), (b,))]
        if [one.shape for one in made] != expected or (self._inputs is not None and inputs != self._inputs):
            found = ", ".join(str(one.T.shape) for one in made)
            raise ValueError(
                f"weights have shapes {found}; the layers have {', '.join(str(e[::-1]) for e in expected)}"
            )
        if not all(np.isfinite(one).all() for one in made):
            raise ValueError("weights contain NaN or infinity")
        self.weights = made

    def save_weights(self, path: Any) -> None:
        """Writes the weights to a file of NumPy (`.npz`)."""
        with open(path, "wb") as file:
            np.savez(file, *self.get_weights())

    def load_weights(self, path: Any) -> None:
        """Reads weights that `save_weights` has written, of a network with the same layers."""
        with np.load(path) as file:
            self.set_weights([file[f"arr_{index}"] for index in range(len(file.files))])

    def predict(self, x: Any) -> np.ndarray:
        """Outputs of the last layer, of shape (rows, outputs)."""
        return self._outputs(_finite("x", x), with_loss=False)

    __call__ = predict

    def _outputs(self, x: np.ndarray, with_loss: bool) -> np.ndarray:
        """Outputs; those that the loss takes are logits, where it contains the last activation."""
        if not self.weights:
            raise ValueError("the network has not been trained: call fit first")
        inputs = self.weights[0].shape[1]
        if x.shape[1] != inputs:
            raise ValueError(f"x has {x.shape[1]} columns, the network has {inputs} inputs")
        *rest, last = self._activations()
        if last != "softmax" and not (with_loss and _OF_LOSS.get(self._loss) == last):
            return _network.outputs(x, self.weights, [*rest, last])
        logits = _network.outputs(x, self.weights, [*rest, "linear"])
        return logits if with_loss else _network.softmax(logits)

    def _checked(self, x: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
        """Predictors and targets of the sizes of the network."""
        if not self.layers:
            raise ValueError("the network has no layers")
        x, y = _finite("x", x), _finite("y", y)
        if len(x) != len(y):
            raise ValueError(f"x has {len(x)} rows, y has {len(y)}")
        if self._inputs is not None and x.shape[1] != self._inputs:
            raise ValueError(f"x has {x.shape[1]} columns, Input has {self._inputs}")
        outputs = self.layers[-1].units
        is_sparse = self._loss == "sparse_categorical_crossentropy"
        if y.shape[1] != (1 if is_sparse else outputs):
            raise ValueError(
                f"y has {y.shape[1]} columns, the network has {outputs} outputs and the loss is {self._loss}"
            )
        if is_sparse and ((y < 0) | (y >= outputs) | (y != np.floor(y))).any():
            raise ValueError(f"y must be numbers of classes, from 0 to {outputs - 1}")
        return x, y

    def _count(self, inputs: int) -> int:
        """Weights and biases for this number of inputs."""
        widths = [inputs, *(layer.units for layer in self.layers)]
        return sum((a + 1) * b for a, b in pairwise(widths))

    def _activations(self) -> list[str]:
        return [layer.activation or "linear" for layer in self.layers]


def _logarithms(logits: np.ndarray) -> np.ndarray:
    """Logarithms of the probabilities of classes."""
    return np.asarray(logits - np.logaddexp.reduce(logits, axis=1, keepdims=True))


#: Losses of outputs, which are logits for those of classes, and targets.
_LOSSES: dict[str, Callable[[np.ndarray, np.ndarray], float]] = {
    "mean_squared_error": lambda values, y: float(np.mean((values - y) ** 2)),
    "binary_crossentropy": lambda logits, y: float(np.mean(np.logaddexp(0.0, logits) - y * logits)),
    "categorical_crossentropy": lambda logits, y: float(-np.mean((y * _logarithms(logits)).sum(axis=1))),
    "sparse_categorical_crossentropy": lambda logits, y: float(
        -np.mean(np.take_along_axis(_logarithms(logits), y.astype(int), axis=1))
    ),
}


def _evaluated(metric: str, loss: str, values: np.ndarray, y: np.ndarray) -> float:
    """A metric of outputs, which are logits for losses of classes."""
    if metric == "mse":
        return float(np.mean((values - y) ** 2))
    if metric == "rmse":
        return float(np.sqrt(np.mean((values - y) ** 2)))
    if metric == "mae":
        return float(np.mean(np.abs(values - y)))
    if metric == "r2_score":
        return float(np.mean(1.0 - ((values - y) ** 2).sum(axis=0) / ((y - y.mean(axis=0)) ** 2).sum(axis=0)))
    if loss == "sparse_categorical_crossentropy":
        return float(np.mean(values.argmax(axis=1) == y[:, 0]))
    if metric == "binary_accuracy" or values.shape[1] == 1:
        threshold = 0.0 if loss == "binary_crossentropy" else 0.5
        return float(np.mean((values > threshold) == (y > 0.5)))
    return float(np.mean(values.argmax(axis=1) == y.argmax(axis=1)))


def _finite(name: str, values: Any) -> np.ndarray:
    """A matrix of finite numbers; a single column of a list."""
    array = np.ascontiguousarray(values, dtype=np.float64)
    array = array.reshape(-1, 1) if array.ndim == 1 else array
    if array.ndim != 2:
        raise ValueError(f"{name} must have one or two dimensions, got {array.ndim}")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} contains NaN or infinity")
    return array
