"""Functions shared by the networks of `sklearn` and `nn`: activations, outputs, and the size of minibatches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np


def _sigmoid(values: np.ndarray) -> np.ndarray:
    return 0.5 * (1.0 + np.tanh(0.5 * values))


ACTIVATIONS: dict[str, Callable[[np.ndarray], Any]] = {
    "linear": lambda values: values,
    "tanh": np.tanh,
    "relu": lambda values: np.maximum(values, 0.0),
    "sigmoid": _sigmoid,
    "silu": lambda values: values * _sigmoid(values),
    "softplus": lambda values: np.logaddexp(values, 0.0),
}


def softmax(logits: np.ndarray) -> np.ndarray:
    """Probabilities of classes."""
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def outputs(x: np.ndarray, arrays: Sequence[np.ndarray], activations: Sequence[str]) -> np.ndarray:
    """Outputs of dense layers, whose weights, of shape (units, inputs), and biases take turns."""
    for weights, bias, activation in zip(arrays[::2], arrays[1::2], activations, strict=True):
        x = ACTIVATIONS[activation](x @ weights.T + bias)
    return x


def batch_size(rows: int, parameters: int, is_exact: bool) -> int:
    """Rows of a minibatch: for the exact method, enough to determine all parameters; fewer for other methods."""
    whole = max(512, 8 * parameters) if is_exact else 512
    return rows if rows <= whole else whole if is_exact else 256
