"""Reference numbers from Keras and PyTorch, all in float64.

Writes next to itself:
  optimizers.csv          weights after 1, 2, 10 and 100 optimizer steps
  schedules.csv           learning rates of Keras' schedules
  networks.csv            losses, gradients and activations from PyTorch
  images.csv              outputs, gradients and per-sample Jacobians of
                          convolution, pooling and layer normalisation from
                          PyTorch, and "same" padding from Keras
  torch_cnn.safetensors   the weights of the case "cnn" in images.csv
  torch_mlp.safetensors   the weights of the network used in networks.csv
and prints the default hyperparameters of the optimizers.

Run with Python 3.11.7, keras 3.15.1 (backend: tensorflow-cpu 2.21.0),
torch 2.15.0, numpy 2.4.6, safetensors 0.8.0.
"""

import csv
import inspect
import math
import os
from pathlib import Path

os.environ["KERAS_BACKEND"] = "tensorflow"
os.environ["CUDA_VISIBLE_DEVICES"] = ""
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

# Before TensorFlow: torch.optim loads torch._dynamo (and with it Triton's LLVM)
# on first use, which aborts if TensorFlow's LLVM is already in the process.
import torch
import torch._dynamo

import keras
import numpy as np
import safetensors.torch
import tensorflow as tf

keras.config.set_floatx("float64")
torch.set_default_dtype(torch.float64)
torch.sparse.check_sparse_tensor_invariants.enable()

HERE = Path(__file__).resolve().parent
RECORDED_STEPS = (1, 2, 10, 100)
SCHEDULE_STEPS = (0, 1, 2, 5, 9, 10, 11, 25, 50, 99, 100, 150)
LR = 0.05


# --- The two problems --------------------------------------------------------


def start(n):
    return np.cos(np.arange(1, n + 1, dtype=np.float64))


def dense_gradient(t, w):
    """Gradient at step t = 1, 2, ... for the flat weights w before the step."""
    i = np.arange(len(w), dtype=np.float64)
    return np.sin(0.7 * t + 1.3 * (i + 1)) + 0.5 * w


DENSE_NAMES, DENSE_SHAPES = ("a", "b"), ((3, 2), (4,))
TABLE_SHAPE = (6, 2)


def split(flat):
    """Flat vector of 10 values -> arrays "a" (3, 2) and "b" (4,)."""
    return [flat[:6].reshape(3, 2), flat[6:]]


def sparse_gradient(t):
    """Rows (with repetitions) and their values at step t."""
    rows = np.array([t % 6, (2 * t + 1) % 6, t % 6])
    k, j = np.meshgrid(np.arange(3.0), np.arange(2.0), indexing="ij")
    return rows, np.sin(0.7 * t + 1.3 * (2 * k + j + 1))


def summed_rows(t):
    """The sparse gradient with repeated rows summed, rows ascending."""
    rows, values = sparse_gradient(t)
    unique, inverse = np.unique(rows, return_inverse=True)
    summed = np.zeros((len(unique), TABLE_SHAPE[1]))
    np.add.at(summed, inverse, values)
    return unique, summed


# --- Keras -------------------------------------------------------------------


def f64(settings):
    """Python floats as numpy.float64.

    With the TensorFlow backend, keras.ops.cast(0.9, "float64") and
    keras.ops.convert_to_tensor(0.1) round a Python float to float32 first, also
    with floatx "float64". numpy.float64 values keep their precision.
    """

    def convert(v):
        if type(v) is float:
            return np.float64(v)
        return [convert(x) for x in v] if isinstance(v, list) else v

    return {k: convert(v) for k, v in settings.items()}


def keras_optimizer(cls, learning_rate=LR, **settings):
    if isinstance(learning_rate, float):
        learning_rate = np.float64(learning_rate)
    optimizer = cls(learning_rate=learning_rate, **settings)
    # The same for the defaults (beta_1, beta_2, epsilon, ...).
    for name, value in f64(vars(optimizer)).items():
        if isinstance(value, np.float64):
            setattr(optimizer, name, value)
    return optimizer


def exponential(initial, decay_steps, decay_rate):
    return keras.optimizers.schedules.ExponentialDecay(
        np.float64(initial), decay_steps, np.float64(decay_rate)
    )


def exclude_b(optimizer):
    optimizer.exclude_from_weight_decay(var_names=["b"])
    return optimizer


def keras_dense_cases():
    o, make = keras.optimizers, keras_optimizer
    return {
        "sgd": make(o.SGD),
        "sgd_momentum": make(o.SGD, momentum=0.9),
        "sgd_nesterov": make(o.SGD, momentum=0.9, nesterov=True),
        "adam": make(o.Adam),
        "adam_amsgrad": make(o.Adam, amsgrad=True),
        "adamw": make(o.AdamW, weight_decay=0.1),
        "rmsprop": make(o.RMSprop),
        "rmsprop_momentum": make(o.RMSprop, momentum=0.9),
        "rmsprop_centered": make(o.RMSprop, momentum=0.9, centered=True),
        "adagrad": make(o.Adagrad),
        "sgd_weight_decay": make(o.SGD, weight_decay=0.1),
        "adam_exclude_decay": exclude_b(make(o.Adam, weight_decay=0.1)),
        "adam_clipvalue": make(o.Adam, clipvalue=0.3),
        "adam_clipnorm": make(o.Adam, clipnorm=0.5),
        "adam_global_clipnorm": make(o.Adam, global_clipnorm=0.7),
        "sgd_clipvalue": make(o.SGD, clipvalue=0.3),
        "sgd_clipnorm": make(o.SGD, clipnorm=0.5),
        "sgd_global_clipnorm": make(o.SGD, global_clipnorm=0.7),
        "sgd_ema": make(
            o.SGD, use_ema=True, ema_momentum=0.9, ema_overwrite_frequency=7
        ),
        "adam_accumulate": make(o.Adam, gradient_accumulation_steps=4),
        "adam_schedule": make(o.Adam, exponential(0.05, 10, 0.8)),
        "sgd_momentum_schedule": make(
            o.SGD, exponential(0.05, 10, 0.8), momentum=0.9
        ),
    }


def keras_sparse_cases():
    o, make = keras.optimizers, keras_optimizer
    return {
        "sparse_sgd": make(o.SGD),
        "sparse_sgd_momentum": make(o.SGD, momentum=0.9),
        "sparse_adam": make(o.Adam),
        "sparse_rmsprop": make(o.RMSprop),
        "sparse_adagrad": make(o.Adagrad),
    }


def keras_variable(value, name):
    variable = keras.Variable(value, name=name, dtype="float64")
    np.testing.assert_array_equal(variable.numpy(), value)
    return variable


def keras_dense(optimizer):
    """Yields (step, flat weights) after each step."""
    variables = [keras_variable(v, n) for v, n in zip(split(start(10)), DENSE_NAMES)]
    for t in range(1, RECORDED_STEPS[-1] + 1):
        w = np.concatenate([v.numpy().ravel() for v in variables])
        gradients = [tf.constant(g) for g in split(dense_gradient(t, w))]
        optimizer.apply(gradients, variables)
        yield t, np.concatenate([v.numpy().ravel() for v in variables])


def keras_sparse(optimizer):
    """Yields (step, flat table) after each step.

    Keras 3 does not sum repeated rows of tf.IndexedSlices before it squares
    the gradient: Adam, RMSprop and Adagrad then accumulate the sum of the
    squares, not the square of the sum (SGD is not affected). The rows are
    therefore summed here, which is also what tf.keras 2 did itself.
    """
    table = keras_variable(start(12).reshape(TABLE_SHAPE), "table")
    for t in range(1, RECORDED_STEPS[-1] + 1):
        rows, values = summed_rows(t)
        gradient = tf.IndexedSlices(
            tf.constant(values), tf.constant(rows), tf.constant(TABLE_SHAPE)
        )
        optimizer.apply([gradient], [table])
        yield t, table.numpy().ravel()


def keras_schedules():
    s = keras.optimizers.schedules
    cases = {
        "exponential": (s.ExponentialDecay, (0.1, 10, 0.5), {}),
        "exponential_staircase": (
            s.ExponentialDecay, (0.1, 10, 0.5), {"staircase": True},
        ),
        "piecewise_constant": (
            s.PiecewiseConstantDecay, ([10, 50], [0.1, 0.05, 0.01]), {},
        ),
        "polynomial": (
            s.PolynomialDecay, (0.1, 100), {"end_learning_rate": 0.01, "power": 2.0},
        ),
        "polynomial_cycle": (
            s.PolynomialDecay,
            (0.1, 100),
            {"end_learning_rate": 0.01, "power": 2.0, "cycle": True},
        ),
        "inverse_time": (s.InverseTimeDecay, (0.1, 10, 0.5), {}),
        "inverse_time_staircase": (
            s.InverseTimeDecay, (0.1, 10, 0.5), {"staircase": True},
        ),
        "cosine": (s.CosineDecay, (0.1, 100), {"alpha": 0.1}),
        "cosine_warmup": (
            s.CosineDecay,
            (0.01, 100),
            {"alpha": 0.1, "warmup_target": 0.1, "warmup_steps": 10},
        ),
        "cosine_restarts": (
            s.CosineDecayRestarts,
            (0.1,),
            {"first_decay_steps": 20, "t_mul": 2.0, "m_mul": 0.9, "alpha": 0.1},
        ),
    }
    for name, (cls, args, settings) in cases.items():
        args = f64(dict(enumerate(args))).values()
        schedule = cls(*args, **f64(settings))
        for step in SCHEDULE_STEPS:
            # Optimizers call a schedule with their int64 iteration counter.
            value = schedule(tf.constant(step, tf.int64))
            assert value.dtype == tf.float64, name
            yield name, step, float(value)


# --- PyTorch: optimizers -----------------------------------------------------


def torch_dense_cases():
    """Case -> (function that makes the optimizer, further settings of the loop)."""
    o = torch.optim
    return {
        "sgd": (lambda p: o.SGD(p, lr=LR), {}),
        "sgd_momentum": (lambda p: o.SGD(p, lr=LR, momentum=0.9), {}),
        "sgd_nesterov": (
            lambda p: o.SGD(p, lr=LR, momentum=0.9, nesterov=True), {},
        ),
        "adam": (lambda p: o.Adam(p, lr=LR), {}),
        "adam_amsgrad": (lambda p: o.Adam(p, lr=LR, amsgrad=True), {}),
        "adamw": (lambda p: o.AdamW(p, lr=LR, weight_decay=0.1), {}),
        "rmsprop": (lambda p: o.RMSprop(p, lr=LR), {}),
        "rmsprop_momentum": (lambda p: o.RMSprop(p, lr=LR, momentum=0.9), {}),
        "rmsprop_centered": (
            lambda p: o.RMSprop(p, lr=LR, momentum=0.9, centered=True), {},
        ),
        "adagrad": (lambda p: o.Adagrad(p, lr=LR), {}),
        "sgd_momentum_schedule": (
            lambda p: o.SGD(p, lr=LR, momentum=0.9),
            {"factor": lambda epoch: 0.8 ** (epoch / 10)},
        ),
        "adam_l2": (lambda p: o.Adam(p, lr=LR, weight_decay=0.1), {}),
        "sgd_l2": (lambda p: o.SGD(p, lr=LR, momentum=0.9, weight_decay=0.1), {}),
        "sgd_dampening": (
            lambda p: o.SGD(p, lr=LR, momentum=0.9, dampening=0.5), {},
        ),
        "adam_clip_grad_norm": (lambda p: o.Adam(p, lr=LR), {"max_norm": 0.7}),
    }


def torch_sparse_cases():
    o = torch.optim
    return {
        "sparse_sgd": lambda p: o.SGD(p, lr=LR),
        "sparse_sgd_momentum": lambda p: o.SGD(p, lr=LR, momentum=0.9),
        "sparse_lazy_adam": lambda p: o.SparseAdam(p, lr=LR),
        "sparse_adagrad": lambda p: o.Adagrad(p, lr=LR),
    }


def torch_dense(make, factor=None, max_norm=None):
    parameters = [torch.nn.Parameter(torch.tensor(v)) for v in split(start(10))]
    optimizer = make(parameters)
    scheduler = factor and torch.optim.lr_scheduler.LambdaLR(optimizer, factor)
    for t in range(1, RECORDED_STEPS[-1] + 1):
        w = np.concatenate([p.detach().numpy().ravel() for p in parameters])
        for p, g in zip(parameters, split(dense_gradient(t, w))):
            p.grad = torch.tensor(g)
        if max_norm is not None:
            torch.nn.utils.clip_grad_norm_(parameters, max_norm=max_norm)
        optimizer.step()
        if scheduler is not None:
            scheduler.step()
        yield t, np.concatenate([p.detach().numpy().ravel() for p in parameters])


def torch_sparse(make):
    table = torch.nn.Parameter(torch.tensor(start(12).reshape(TABLE_SHAPE)))
    optimizer = make([table])
    for t in range(1, RECORDED_STEPS[-1] + 1):
        rows, values = sparse_gradient(t)
        table.grad = torch.sparse_coo_tensor(
            torch.tensor(rows)[None], torch.tensor(values), TABLE_SHAPE
        ).coalesce()
        optimizer.step()
        yield t, table.detach().numpy().ravel()


def write_optimizers():
    runs = [("keras", n, keras_dense(o)) for n, o in keras_dense_cases().items()]
    runs += [("keras", n, keras_sparse(o)) for n, o in keras_sparse_cases().items()]
    runs += [
        ("torch", n, torch_dense(make, **settings))
        for n, (make, settings) in torch_dense_cases().items()
    ]
    runs += [("torch", n, torch_sparse(m)) for n, m in torch_sparse_cases().items()]
    rows = []
    for source, case, steps in runs:
        for t, weights in steps:
            assert weights.dtype == np.float64 and np.isfinite(weights).all()
            if t in RECORDED_STEPS:
                rows += [(source, case, t, i, w) for i, w in enumerate(weights)]
    write("optimizers.csv", "source,case,step,index,value", rows)


def write_schedules():
    rows = [("keras", *row) for row in keras_schedules()]
    write("schedules.csv", "source,schedule,step,value", rows)


# --- PyTorch: losses, gradients, activations ---------------------------------


def network():
    n = torch.nn
    model = n.Sequential(
        n.Linear(3, 5), n.Tanh(), n.Linear(5, 4), n.SiLU(), n.Linear(4, 2)
    )
    i = 0
    with torch.no_grad():
        for p in model.state_dict().values():
            index = torch.arange(i + 1, i + 1 + p.numel(), dtype=torch.float64)
            p.copy_(0.5 * torch.sin(1.7 * index).reshape(p.shape))
            i += p.numel()
    return model


def write_networks():
    n = torch.nn
    f = n.functional
    r = torch.arange(7, dtype=torch.float64)[:, None]
    x = torch.cos(0.9 * r + 1.1 * torch.arange(3, dtype=torch.float64))
    target = torch.sin(0.4 * r + torch.arange(2, dtype=torch.float64))
    label = torch.arange(7) % 2
    binary = torch.stack([label, torch.arange(7) // 2 % 2], dim=1).double()
    counts = (r + 2 * torch.arange(2)) % 4
    losses = {
        "mse": lambda y: n.MSELoss()(y, target),
        "huber": lambda y: n.HuberLoss(delta=1.0)(y, target),
        "huber_small": lambda y: n.HuberLoss(delta=0.3)(y, target),
        "l1": lambda y: n.L1Loss()(y, target),
        "log_cosh": lambda y: torch.log(torch.cosh(y - target)).mean(),
        "bce_logits": lambda y: n.BCEWithLogitsLoss()(y, binary),
        "ce": lambda y: n.CrossEntropyLoss()(y, label),
        "poisson_nll": lambda y: n.PoissonNLLLoss(log_input=True)(y, counts),
    }
    model = network()
    rows = []
    for case, loss in losses.items():
        value = loss(model(x))
        gradients = torch.autograd.grad(value, list(model.parameters()))
        flat = torch.cat([g.ravel() for g in gradients])
        rows.append((case, "loss", 0, value.item()))
        rows += [(case, "gradient", i, g) for i, g in enumerate(flat.tolist())]

    activations = {
        "relu": f.relu,
        "leaky_relu": lambda z: f.leaky_relu(z, 0.01),
        "elu": f.elu,
        "softplus": f.softplus,
        "silu": f.silu,
        "gelu": f.gelu,
        "gelu_tanh": lambda z: f.gelu(z, approximate="tanh"),
        "tanh": torch.tanh,
        "sigmoid": torch.sigmoid,
    }
    for name, activation in activations.items():
        z = torch.tensor([-3 + 0.37 * i for i in range(17)], requires_grad=True)
        y = activation(z)
        (dy,) = torch.autograd.grad(y.sum(), z)
        for suffix, values in (("", y), ("_derivative", dy)):
            rows += [
                ("activations", name + suffix, i, v)
                for i, v in enumerate(values.tolist())
            ]

    outputs = model(x)
    assert outputs.dtype == torch.float64
    rows += [("outputs", "y", i, v) for i, v in enumerate(outputs.ravel().tolist())]
    write("networks.csv", "case,name,index,value", rows)
    safetensors.torch.save_file(model.state_dict(), HERE / "torch_mlp.safetensors")


# --- PyTorch: convolution, pooling, layer normalization ----------------------


def image_cases():
    """Case -> (shape of an input, layers)."""
    n = torch.nn
    c = lambda *arguments, **settings: n.Conv2d(*arguments, **settings)
    return {
        "conv": ((2, 4, 5), [c(2, 3, (3, 2))]),
        "conv_1x1": ((3, 2, 2), [c(3, 2, 1)]),
        "conv_whole": ((2, 3, 3), [c(2, 2, 3)]),
        "conv_no_bias": ((1, 4, 4), [c(1, 1, 2, bias=False)]),
        "conv_same": ((2, 4, 3), [c(2, 2, (3, 2), padding="same")]),
        "conv_strides": ((2, 5, 6), [c(2, 3, (2, 3), stride=(2, 1))]),
        "conv_padding": ((1, 4, 3), [c(1, 2, 3, stride=(1, 2), padding=(1, 2))]),
        "conv_dilation": ((1, 6, 5), [c(1, 2, (3, 2), dilation=(2, 3), padding=1)]),
        "max": ((2, 4, 5), [c(2, 2, 1), n.MaxPool2d(2)]),
        "max_overlapping": (
            (1, 5, 5),
            [c(1, 2, 2), n.MaxPool2d((3, 2), stride=(1, 2), padding=1)],
        ),
        "average": ((2, 4, 5), [c(2, 2, 1), n.AvgPool2d((2, 3), stride=(1, 2))]),
        "average_padding": (
            (1, 4, 4),
            [
                c(1, 2, 1),
                n.AvgPool2d(3, stride=2, padding=1, count_include_pad=False),
            ],
        ),
        "global_average": (
            (1, 4, 4),
            [c(1, 3, 2), n.SiLU(), n.AdaptiveAvgPool2d(1)],
        ),
        "layer_norm": ((5,), [n.Linear(5, 4), n.LayerNorm(4), n.Tanh()]),
        "layer_norm_image": (
            (1, 3, 4),
            [c(1, 2, 2), n.LayerNorm((2, 2, 3), eps=1e-3), n.Tanh()],
        ),
        "layer_norm_plain": (
            (4,), [n.Linear(4, 3), n.LayerNorm(3, elementwise_affine=False), n.Tanh()],
        ),
        "cnn": (
            (1, 7, 7),
            [
                c(1, 2, 3, padding=1), n.Tanh(), n.MaxPool2d(2),
                c(2, 3, 2), n.ReLU(), n.Flatten(), n.LayerNorm(12), n.Linear(12, 2),
            ],
        ),
    }


def image_inputs(shape):
    r = torch.arange(3, dtype=torch.float64)[:, None]
    x = torch.cos(0.9 * r + 1.1 * torch.arange(math.prod(shape), dtype=torch.float64))
    return x.reshape(3, *shape)


def sine_weights(tensors):
    i = 0
    with torch.no_grad():
        for p in tensors:
            index = torch.arange(i + 1, i + 1 + p.numel(), dtype=torch.float64)
            p.copy_(0.5 * torch.sin(1.7 * index).reshape(p.shape))
            i += p.numel()


def keras_same_cases():
    """Keras' "same" padding, with channels last.

    Case -> (shape of an input, channels first, layer). All weights of Keras are
    put in PyTorch's order, and its results channels first.
    """
    l = keras.layers
    settings = {"padding": "same", "data_format": "channels_last"}
    return {
        "keras_conv": ((2, 5, 6), l.Conv2D(3, (3, 2), strides=(2, 3), **settings)),
        "keras_conv_dilation": (
            (1, 4, 5), l.Conv2D(2, (2, 3), dilation_rate=(3, 2), **settings),
        ),
        "keras_max": ((2, 5, 6), l.MaxPooling2D((2, 3), strides=(2, 2), **settings)),
        "keras_average": (
            (2, 5, 4), l.AveragePooling2D((3, 2), strides=(2, 3), **settings),
        ),
    }


def write_images():
    rows = []

    def record(case, name, values):
        values = values.detach().ravel().tolist()
        rows.extend((case, name, i, v) for i, v in enumerate(values))

    for case, (shape, layers) in image_cases().items():
        model = torch.nn.Sequential(*layers)
        sine_weights(model.state_dict().values())
        parameters = list(model.parameters())
        outputs = model(image_inputs(shape)).flatten(1)
        record(case, "outputs", outputs)
        # Of half the sum of squares.
        loss = 0.5 * outputs.square().sum()
        gradients = torch.autograd.grad(loss, parameters, retain_graph=True)
        record(case, "gradient", torch.cat([g.ravel() for g in gradients]))
        # The last output of every sample.
        for i, output in enumerate(outputs[:, -1]):
            row = torch.autograd.grad(output, parameters, retain_graph=True)
            record(case, f"jacobian_{i}", torch.cat([g.ravel() for g in row]))
        if case == "cnn":
            file = HERE / "torch_cnn.safetensors"
            safetensors.torch.save_file(model.state_dict(), file)

    for case, (shape, layer) in keras_same_cases().items():
        x = image_inputs(shape).permute(0, 2, 3, 1).numpy()
        layer.build(x.shape)
        if layer.weights:
            height, width, channels, filters = layer.kernel.shape
            kernel = torch.empty(filters, channels, height, width)
            bias = torch.empty(filters)
            sine_weights([kernel, bias])
            kernel = kernel.permute(2, 3, 1, 0)
            layer.kernel.assign(kernel.numpy())
            layer.bias.assign(bias.numpy())
        with tf.GradientTape() as tape:
            x = tf.constant(x)
            tape.watch(x)
            outputs = layer(x)
            loss = 0.5 * tf.reduce_sum(outputs**2)
        gradient = tape.gradient(loss, x)
        for name, values in (("outputs", outputs), ("input_gradient", gradient)):
            values = torch.tensor(values.numpy())
            assert values.dtype == torch.float64
            record(case, name, values.permute(0, 3, 1, 2))
    write("images.csv", "case,name,index,value", rows)


# --- Output ------------------------------------------------------------------


def write(name, header, rows):
    with open(HERE / name, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header.split(","))
        for *key, value in rows:
            assert math.isfinite(value)
            writer.writerow([*key, repr(float(value))])


def print_defaults():
    """The constructors' default arguments, as installed."""
    k, t = keras.optimizers, torch.optim
    for label, classes in (
        (f"keras {keras.__version__}", (k.SGD, k.Adam, k.AdamW, k.RMSprop, k.Adagrad)),
        (
            f"torch {torch.__version__}",
            (t.SGD, t.Adam, t.AdamW, t.RMSprop, t.Adagrad, t.SparseAdam),
        ),
    ):
        for cls in classes:
            arguments = inspect.signature(cls).parameters.values()
            defaults = ", ".join(
                f"{a.name}={a.default!r}"
                for a in arguments
                if a.default is not inspect.Parameter.empty and a.name != "name"
            )
            print(f"{label} {cls.__name__}({defaults})")


if __name__ == "__main__":
    print_defaults()
    write_optimizers()
    write_schedules()
    write_networks()
    write_images()
