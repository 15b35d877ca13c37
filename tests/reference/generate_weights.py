"""Weights of Keras' layers as a user saves them, with the outputs of the layers, all in float64.

Writes keras_layers.safetensors next to itself: the variables of each layer under Keras'
own paths, and `<layer>/outputs` for the inputs that reference_weights.rs makes as well.

Run with Python 3.11.7, keras 3.15.1 (backend: jax 0.10.2), numpy 2.4.6, safetensors 0.8.0.
"""

import os
from pathlib import Path

os.environ["KERAS_BACKEND"] = "jax"

import jax

jax.config.update("jax_enable_x64", True)

import keras
import numpy as np
from keras import layers
from keras.src.backend.common import dtypes
from safetensors.numpy import save_file

keras.config.set_floatx("float64")
keras.config.set_dtype_policy("float64")
# With this backend, Keras computes some functions of float64 in float32.
dtypes.BIT64_TO_BIT32_DTYPE["float64"] = "float64"

HERE = Path(__file__).resolve().parent
ROWS = 3


def inputs(*shape):
    """Numbers in the order of the rows."""
    return np.cos(0.7 * np.arange(ROWS * int(np.prod(shape)))).reshape(ROWS, *shape)


class CrossAttention(layers.Layer):
    """A sequence that attends to another one, which is a part of its features."""

    def __init__(self, **settings):
        super().__init__(**settings)
        # A layer that drops nothing, as it is not trained: with this setting, Keras computes scores in float64.
        self.attention = layers.MultiHeadAttention(2, 3, value_dim=2, dropout=0.5, name="attention")

    def call(self, x):
        return self.attention(x, x)


def main():
    keras.utils.set_random_seed(7)
    stacks = {
        "dense": ([layers.Dense(4, activation="tanh"), layers.Dense(2)], inputs(3)),
        "conv": ([layers.Conv2D(3, (2, 3)), layers.Conv2D(2, 2, strides=2)], inputs(6, 7, 2)),
        "embedding": ([layers.Embedding(5, 3)], np.arange(ROWS * 4).reshape(ROWS, 4) % 5.0),
        "simple_rnn": ([layers.SimpleRNN(3)], inputs(4, 2)),
        "lstm": ([layers.LSTM(3, return_sequences=True), layers.LSTM(2)], inputs(4, 2)),
        "gru": ([layers.GRU(3)], inputs(4, 2)),
        "gru_reset_before": ([layers.GRU(3, reset_after=False)], inputs(4, 2)),
        "bidirectional": ([layers.Bidirectional(layers.GRU(2))], inputs(4, 2)),
        "attention": ([CrossAttention()], inputs(4, 5)),
        "layer_normalization": ([layers.LayerNormalization()], inputs(5)),
    }
    tensors = {}
    for name, (stack, x) in stacks.items():
        model = keras.Sequential([keras.Input(x.shape[1:]), *stack], name=name)
        # Biases and factors other than zeros and ones.
        random = np.random.default_rng(len(name))
        for weight in model.weights:
            weight.assign(weight.numpy() + 0.1 * random.standard_normal(weight.shape))
        for weight in model.weights:
            path = f"{name}/{weight.path}"
            assert path not in tensors, path
            tensors[path] = np.ascontiguousarray(weight.numpy())
        y = np.asarray(model(x))
        if y.ndim == 4:
            y = y.transpose(0, 3, 1, 2)
        assert y.dtype == np.float64
        tensors[f"{name}/outputs"] = np.ascontiguousarray(y.reshape(ROWS, -1))
    save_file(tensors, HERE / "keras_layers.safetensors")
    for name, tensor in tensors.items():
        print(name, tensor.shape)


if __name__ == "__main__":
    main()
