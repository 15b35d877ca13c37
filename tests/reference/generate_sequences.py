"""Reference numbers of layers for sequences from Keras, all in float64.

Writes sequences.csv next to itself: for each case the outputs for four samples, the
Jacobian of each output by all variables, and the gradient of the sum of squares of
the outputs. Variables are in the order and in the layout of the crate, where the
entry i (from 1) of all variables together is 0.5 sin(1.7 i). Keras' own `kernel` is
transposed to `weight`; a GRU's bias has its two rows one after the other.

Run with Python 3.11.7, keras 3.15.1 (backend: jax 0.10.2), numpy 2.4.6.
"""

import csv
import os
from pathlib import Path

os.environ["KERAS_BACKEND"] = "jax"

import jax

jax.config.update("jax_enable_x64", True)

import jax.numpy as jnp
import keras
import numpy as np
from keras import layers
from keras.src.backend.common import dtypes

keras.config.set_floatx("float64")
keras.config.set_dtype_policy("float64")
# With this backend, Keras computes some functions of float64 in float32.
dtypes.BIT64_TO_BIT32_DTYPE["float64"] = "float64"

HERE = Path(__file__).resolve().parent
ROWS, STEPS, FEATURES = 4, 5, 2


def inputs(features=FEATURES):
    """Samples of `STEPS` steps."""
    row, step, k = np.meshgrid(np.arange(ROWS), np.arange(STEPS), np.arange(features), indexing="ij")
    return np.cos(0.9 * row + 1.1 * step + 0.7 * k)


def padded():
    """Samples whose first, last, or middle steps are padding of zeros; all steps of the last one are."""
    x = inputs()
    x[0, 3:] = 0.0
    x[1, :2] = 0.0
    x[2, 2] = 0.0
    x[3] = 0.0
    return x


def words():
    """Row numbers; 0 is padding."""
    return np.array([[1, 2, 3, 0, 0], [4, 4, 1, 2, 0], [3, 1, 2, 4, 2], [0, 0, 2, 0, 1]], dtype=np.float64)


def layout(weight):
    """Of one of Keras' arrays: the shapes that the crate's entries have, one after the other, and how they become Keras' array."""
    path, shape = weight.path, tuple(weight.shape)
    name = path.split("/")[-1]
    if "multi_head" in path and name == "kernel":
        if "output" in path:
            rows, columns = shape[2], shape[0] * shape[1]
        else:
            rows, columns = shape[1] * shape[2], shape[0]
        return rows * columns, lambda flat: flat.reshape(rows, columns).T.reshape(shape)
    if name in ("kernel", "recurrent_kernel"):
        return int(np.prod(shape)), lambda flat: flat.reshape(shape[::-1]).T
    return int(np.prod(shape)), lambda flat: flat.reshape(shape)


def write(out, case, name, values):
    for index, value in enumerate(np.asarray(values, dtype=np.float64).ravel()):
        out.writerow([case, name, index, repr(float(value))])


def record(out, case, model, *arrays):
    weights = model.trainable_variables
    layouts = [layout(weight) for weight in weights]
    count = sum(size for size, _ in layouts)
    start = 0.5 * np.sin(1.7 * np.arange(1, count + 1))
    arrays = [jnp.asarray(array) for array in arrays]

    def outputs(flat):
        values, at = [], 0
        for size, into in layouts:
            values.append(into(flat[at : at + size]))
            at += size
        result, _ = model.stateless_call(values, [v.value for v in model.non_trainable_variables], *arrays)
        return result.reshape(ROWS, -1)

    flat = jnp.asarray(start)
    write(out, case, "outputs", outputs(flat))
    write(out, case, "jacobian", jax.jacobian(outputs)(flat).reshape(-1, count))
    write(out, case, "gradient", jax.grad(lambda flat: jnp.sum(outputs(flat) ** 2))(flat))


def sequential(*stack, shape=(STEPS, FEATURES)):
    return keras.Sequential([keras.Input(shape), *stack])


def attention(*args, **settings):
    """A layer that drops nothing, as it is not trained: with this setting, Keras computes scores in float64."""
    return layers.MultiHeadAttention(*args, dropout=0.5, **settings)


def main():
    with open(HERE / "sequences.csv", "w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["case", "name", "index", "value"])
        x = inputs()
        kinds = {"simple_rnn": layers.SimpleRNN, "lstm": layers.LSTM, "gru": layers.GRU}
        for name, kind in kinds.items():
            record(out, name, sequential(kind(2)), x)
            record(out, name + "_sequences", sequential(kind(1, return_sequences=True), layers.Dense(1)), x)
            record(out, name + "_masked", sequential(layers.Masking(), kind(2)), padded())
        record(out, "lstm_backwards", sequential(layers.LSTM(1, go_backwards=True, return_sequences=True)), x)
        record(out, "lstm_without_bias", sequential(layers.LSTM(2, use_bias=False)), x)
        record(
            out,
            "lstm_activations",
            sequential(layers.LSTM(2, activation="softplus", recurrent_activation="tanh")),
            x,
        )
        record(out, "gru_reset_before", sequential(layers.GRU(2, reset_after=False)), x)
        record(out, "bidirectional", sequential(layers.Bidirectional(layers.GRU(2))), x)
        record(
            out,
            "bidirectional_masked",
            sequential(layers.Masking(), layers.Bidirectional(layers.LSTM(2, return_sequences=True)), layers.LSTM(1)),
            padded(),
        )
        record(
            out,
            "embedding_masked",
            sequential(layers.Embedding(5, 2, mask_zero=True), layers.GRU(2), shape=(STEPS,)),
            words(),
        )
        record(
            out,
            "pooling_masked",
            sequential(layers.Embedding(5, 2, mask_zero=True), layers.GlobalAveragePooling1D(), shape=(STEPS,)),
            words(),
        )
        record(
            out,
            "layer_normalization",
            sequential(layers.Dense(3), layers.LayerNormalization(), layers.GlobalAveragePooling1D()),
            x,
        )

        sequence = keras.Input((STEPS, FEATURES))
        attended = attention(2, 3)(sequence, sequence)
        record(out, "attention", keras.Model(sequence, layers.GlobalAveragePooling1D()(attended)), x)

        sequence = keras.Input((STEPS, FEATURES))
        causal = attention(2, 1, value_dim=2, use_bias=False, output_shape=1)
        record(out, "attention_causal", keras.Model(sequence, causal(sequence, sequence, use_causal_mask=True)), x)

        # Masked keys, of which each sample has at least one left.
        numbers = keras.Input((STEPS,))
        embedded = layers.Embedding(5, 2, mask_zero=True)(numbers)
        attended = attention(1, 2)(embedded, embedded)
        pooled = layers.GlobalAveragePooling1D()(attended)
        record(out, "attention_masked", keras.Model(numbers, pooled), words())

        # A decoder that attends to an encoder's steps, and starts from its states.
        sequence = keras.Input((STEPS, FEATURES))
        encoded, h, c = layers.LSTM(2, return_sequences=True, return_state=True)(sequence)
        decoded = layers.LSTM(2, return_sequences=True)(sequence, initial_state=[h, c])
        attended = attention(1, 2)(decoded, encoded)
        record(out, "decoder", keras.Model(sequence, layers.GlobalAveragePooling1D()(attended)), x)


if __name__ == "__main__":
    main()
