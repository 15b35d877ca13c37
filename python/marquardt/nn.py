"""Small dense networks, as Keras has them, trained by Levenberg-Marquardt or by the optimizers that Keras knows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from . import _engine, _network

#: Optimizers by name: the exact method, the one with Kronecker factors, and those of first order.
optimizers = ("lm", "kfac", "adagrad", "adam", "adamw", "rmsprop", "sgd")
#: Losses by name, and their short names.
losses = ("mean_squared_error", "binary_crossentropy", "categorical_crossentropy", "sparse_categorical_crossentropy")
_SHORT = {"mse": "mean_squared_error"}
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
    activation : {'linear', 'tanh', 'relu', 'sigmoid', 'silu', 'softplus', 'softmax'}, optional
        'softmax' is for the last layer.
    """

    units: int
    activation: str | None = None

    def __post_init__(self) -> None:
        if int(self.units) != self.units or self.units < 1:
            raise ValueError(f"units must be a positive whole number, got {self.units!r}")
        known = [*_network.ACTIVATIONS, "softmax"]
        if self.activation is not None and self.activation not in known:
            raise ValueError(f"activation must be one of {', '.join(known)}, got {self.activation!r}")


@dataclass(frozen=True)
class History:
    """Losses of each pass over the data: `loss`, and `val_loss` where rows were held out."""

    history: dict[str, list[float]]


class Sequential:
    """Dense layers one after the other.

    Parameters
    ----------
    layers : iterable of Dense
    seed : int
        Decides the first weights, and the order of rows.

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

    def __init__(self, layers: Iterable[Dense] = (), seed: int = 0) -> None:
        self.layers: list[Dense] = []
        self.weights: list[np.ndarray] = []
        self._seed = seed
        self.compile()
        for layer in layers:
            self.add(layer)

    def add(self, layer: Dense) -> None:
        """Adds a layer at the end, before the first fit."""
        if not isinstance(layer, Dense):
            raise TypeError(f"layers must be Dense, not {type(layer).__name__}")
        if self.weights:
            raise ValueError("the network has been trained: make a new one for other layers")
        self.layers.append(layer)

    def compile(
        self, optimizer: str = "lm", loss: str = "mse", learning_rate: float | None = None, weight_decay: float = 0.0
    ) -> None:
        """Sets how the network is trained.

        Parameters
        ----------
        optimizer : str
            One of `optimizers`.
        loss : str
            One of `losses`, or 'mse'. After a last layer without 'softmax' or 'sigmoid', those of classes take logits.
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
        self._optimizer, self._loss = optimizer.lower(), loss
        self._learning_rate, self._weight_decay = learning_rate, weight_decay

    def fit(
        self,
        x: Any,
        y: Any,
        batch_size: int | None = None,
        epochs: int = 1,
        validation_split: float = 0.0,
        patience: int | None = None,
        n_jobs: int | None = None,
    ) -> History:
        """Trains the network, from its weights where it has been trained before.

        Parameters
        ----------
        x : array_like of shape (rows, inputs)
        y : array_like of shape (rows, outputs) or (rows,)
            Targets; numbers of classes for 'sparse_categorical_crossentropy'.
        batch_size : int, optional
            Rows of a minibatch: by default eight for each weight for 'lm', 512 at least, and 256 of more than 512 rows for the others.
        epochs : int
            Most passes over the data.
        validation_split : float
            Share of the rows, from the end, that is held out.
        patience : int, optional
            Passes without improvement after which training ends; all passes are made by default.
        n_jobs : int, optional
            Threads; all cores by default.
        """
        if not self.layers:
            raise ValueError("the network has no layers")
        x, y = _finite("x", x), _finite("y", y)
        if len(x) != len(y):
            raise ValueError(f"x has {len(x)} rows, y has {len(y)}")
        if x.size == 0:
            raise ValueError("x has no rows" if len(x) == 0 else "x has no columns")
        if batch_size is None:
            batch_size = _network.batch_size(len(x), self._count(x.shape[1]), self._optimizer == "lm")
        if batch_size < 1:
            raise ValueError(f"batch_size must be positive, got {batch_size}")
        outputs = self.layers[-1].units
        is_sparse = self._loss == "sparse_categorical_crossentropy"
        if y.shape[1] != (1 if is_sparse else outputs):
            raise ValueError(
                f"y has {y.shape[1]} columns, the network has {outputs} outputs and the loss is {self._loss}"
            )
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
        }
        arrays, history = _engine.train_network(x, y, options, 0 if n_jobs is None or n_jobs < 0 else int(n_jobs))
        self.weights = [array for _, array in arrays]
        return History({name: list(column) for name, column in history})

    def predict(self, x: Any) -> np.ndarray:
        """Outputs of the last layer, of shape (rows, outputs)."""
        if not self.weights:
            raise ValueError("the network has not been trained: call fit first")
        x = _finite("x", x)
        inputs = self.weights[0].shape[1]
        if x.shape[1] != inputs:
            raise ValueError(f"x has {x.shape[1]} columns, the network has {inputs} inputs")
        *rest, last = self._activations()
        if last != "softmax":
            return _network.outputs(x, self.weights, [*rest, last])
        return _network.softmax(_network.outputs(x, self.weights, [*rest, "linear"]))

    def _count(self, inputs: int) -> int:
        """Weights and biases for this number of inputs."""
        widths = [inputs, *(layer.units for layer in self.layers)]
        return sum((a + 1) * b for a, b in pairwise(widths))

    def _activations(self) -> list[str]:
        return [layer.activation or "linear" for layer in self.layers]


def _finite(name: str, values: Any) -> np.ndarray:
    """A matrix of finite numbers; a single column of a list."""
    array = np.ascontiguousarray(values, dtype=np.float64)
    array = array.reshape(-1, 1) if array.ndim == 1 else array
    if array.ndim != 2:
        raise ValueError(f"{name} must have one or two dimensions, got {array.ndim}")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} contains NaN or infinity")
    return array
