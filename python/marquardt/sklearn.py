"""Estimators of scikit-learn: small networks, trained by Levenberg-Marquardt.

`scikit-learn` has to be installed; the package does not need it otherwise.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, check_random_state, validate_data

from . import _engine, _network

#: Parameters of a network up to which the exact method takes less time than Kronecker factors.
EXACT = 3000
#: Activations by their names in scikit-learn.
_NAMES = {"tanh": "tanh", "relu": "relu", "logistic": "sigmoid", "identity": "linear"}
#: Rows from which on some are held out to stop early.
FEWEST_TO_HOLD_OUT = 50


class _Network(BaseEstimator):
    """What both estimators do: scale, train, and compute the outputs."""

    def __init__(
        self,
        hidden_layer_sizes: Any = (32,),
        activation: str = "tanh",
        solver: str = "auto",
        alpha: float = 1e-6,
        batch_size: Any = "auto",
        learning_rate_init: float = 1e-3,
        max_iter: int = 200,
        early_stopping: bool = True,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 10,
        tol: float = 1e-6,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.hidden_layer_sizes = hidden_layer_sizes
        self.activation = activation
        self.solver = solver
        self.alpha = alpha
        self.batch_size = batch_size
        self.learning_rate_init = learning_rate_init
        self.max_iter = max_iter
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _train(
        self, x: np.ndarray, targets: np.ndarray, outputs: int, is_classifier: bool
    ) -> tuple[np.ndarray, np.ndarray, dict[str, Any]]:
        """Trains on scaled predictors; targets are scaled, or numbers of classes. Returns rows, targets and options as trained."""
        rows, inputs = x.shape
        hidden = [int(units) for units in np.atleast_1d(np.asarray(self.hidden_layer_sizes, dtype=int))]
        if any(units < 1 for units in hidden):
            raise ValueError(f"hidden_layer_sizes must be positive, got {self.hidden_layer_sizes}")
        for name in ("max_iter", "n_iter_no_change"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be positive, got {getattr(self, name)}")
        if not 0.0 < self.validation_fraction < 1.0:
            raise ValueError(f"validation_fraction must be between 0 and 1, got {self.validation_fraction}")
        widths = [inputs, *hidden, outputs]
        parameters = sum((a + 1) * b for a, b in pairwise(widths))
        solver = self.solver
        if solver == "auto":
            solver = "lm" if parameters <= EXACT else "kfac"
        holds_out = self.early_stopping and rows >= FEWEST_TO_HOLD_OUT
        random = check_random_state(self.random_state)
        seed = int(random.randint(np.iinfo(np.int32).max))
        self._center, self._scale = _location(x)
        # Rows are held out from the end.
        order = random.permutation(rows)
        scaled = np.ascontiguousarray(((x - self._center) / self._scale)[order])
        targets = np.ascontiguousarray(targets[order], dtype=np.float64)
        automatic = _network.batch_size(rows, parameters, solver == "lm")
        batch = automatic if self.batch_size == "auto" else int(self.batch_size)
        activation = _NAMES.get(self.activation)
        if activation is None:
            raise ValueError(f"activation must be one of {', '.join(_NAMES)}, got {self.activation!r}")
        if solver not in ("lm", "kfac", "adam"):
            raise ValueError(f"solver must be 'auto', 'lm', 'kfac' or 'adam', got {solver!r}")
        self._activations = [activation] * len(hidden) + ["linear"]
        options = {
            "layers": list(zip([*hidden, outputs], self._activations, strict=True)),
            "loss": "sparse_categorical_crossentropy" if is_classifier else "mean_squared_error",
            "optimizer": solver,
            "learning_rate": float(self.learning_rate_init) if solver == "adam" else None,
            "weight_decay": float(self.alpha),
            "epochs": int(self.max_iter),
            "batch_size": max(1, batch),
            "validation_split": float(self.validation_fraction) if holds_out else 0.0,
            "early_stopping": (int(self.n_iter_no_change), float(self.tol)),
            "seed": seed,
        }
        arrays, history = _engine.train_network(scaled, targets, options, self._threads())
        matrices = [array for _, array in arrays]
        self.coefs_ = [matrix.T for matrix in matrices if matrix.ndim == 2]
        self.intercepts_ = [matrix for matrix in matrices if matrix.ndim == 1]
        self.solver_ = solver
        self.history_ = {name: np.array(column) for name, column in history}
        self.n_iter_ = len(self.history_["loss"])
        self.loss_ = float(self.history_["loss"][-1])
        return scaled, targets, options

    def _threads(self) -> int:
        return 0 if self.n_jobs is None or self.n_jobs < 0 else int(self.n_jobs)

    def _outputs(self, x: Any) -> np.ndarray:
        check_is_fitted(self)
        x = validate_data(self, x, reset=False, dtype=np.float64)
        values = (x - self._center) / self._scale
        arrays = [array for pair in zip(self.coefs_, self.intercepts_, strict=True) for array in (pair[0].T, pair[1])]
        return _network.outputs(values, arrays, self._activations)


def _location(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Means and standard deviations of columns; one for a constant column."""
    center, scale = x.mean(axis=0), x.std(axis=0)
    return center, np.where(scale > 0.0, scale, 1.0)


class LMRegressor(RegressorMixin, _Network):
    """A network for regression, trained by Levenberg-Marquardt.

    Predictors and targets are standardised inside. Networks of up to 3,000 parameters are trained by the exact method, larger ones with
    Kronecker factors. From 50 rows on, a tenth of them is held out, and training ends when their error no longer falls.

    Parameters
    ----------
    hidden_layer_sizes : sequence of int
        Units of the hidden layers.
    activation : {'tanh', 'relu', 'logistic', 'identity'}
    solver : {'auto', 'lm', 'kfac', 'adam'}
    alpha : float
        Weight decay; biases do not decay.
    batch_size : int or 'auto'
        Rows of a minibatch. 'auto' is eight for each parameter, 512 at least, for 'lm', and 256 of more than 512 rows for the others.
    learning_rate_init : float
        Learning rate of Adam.
    max_iter : int
        Largest number of passes over the data.
    early_stopping : bool
    validation_fraction : float
        Fraction of the rows that is held out.
    n_iter_no_change : int
        Number of passes without improvement after which training ends.
    tol : float
        Smallest change that counts as an improvement.
    random_state : int, RandomState or None
    n_jobs : int, optional
        Threads; all cores by default.

    Attributes
    ----------
    coefs_, intercepts_ : list of ndarray
        Weights and biases of the layers, for standardised predictors.
    history_ : dict of ndarray
        Losses of each pass.
    n_iter_ : int
    loss_ : float
    solver_ : str
    n_features_in_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from marquardt.sklearn import LMRegressor
    >>> x = np.linspace(-1, 1, 200)[:, None]
    >>> y = np.sin(5 * x[:, 0])
    >>> model = LMRegressor((10,), random_state=0).fit(x, y)
    >>> bool(model.score(x, y) > 0.999)
    True
    """

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def fit(self, X: Any, y: Any) -> LMRegressor:
        """Trains the network."""
        X, y = validate_data(self, X, y, dtype=np.float64, multi_output=True, y_numeric=True)
        targets = np.asarray(y, dtype=np.float64)
        self._is_flat = targets.ndim == 1
        targets = targets.reshape(len(X), -1)
        self._target_center, self._target_scale = _location(targets)
        scaled = (targets - self._target_center) / self._target_scale
        self.n_outputs_ = targets.shape[1]
        self._training = self._train(X, scaled, self.n_outputs_, False)
        return self

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Predicts targets.

        Parameters
        ----------
        X : array_like of shape (n_samples, n_features)
        return_std : bool
            Returns standard deviations of new targets as well, by the Laplace approximation of the weights from all training rows, which the
            estimator keeps. Its matrix has a row for each weight, or for each target of fewer training rows.

        Returns
        -------
        y : ndarray
        std : ndarray, of the same shape, with `return_std`
        """
        values = self._outputs(X) * self._target_scale + self._target_center
        if not return_std:
            return values.ravel() if self._is_flat else values
        rows, targets, options = self._training
        pairs = zip(self.coefs_, self.intercepts_, strict=True)
        weights = np.concatenate([part.ravel() for coefs, intercepts in pairs for part in (coefs.T, intercepts)])
        at = (validate_data(self, X, reset=False, dtype=np.float64) - self._center) / self._scale
        given = {**options, "start": weights.tolist()}
        _, std = _engine.predict_with_std(rows, targets, np.ascontiguousarray(at), given, self._threads())
        std = std * self._target_scale
        return (values.ravel(), std.ravel()) if self._is_flat else (values, std)


class LMClassifier(ClassifierMixin, _Network):
    """A network for classification, trained by generalised Levenberg-Marquardt on the cross-entropy.

    Parameters and attributes are those of `LMRegressor`, and `classes_`.

    Examples
    --------
    >>> import numpy as np
    >>> from marquardt.sklearn import LMClassifier
    >>> x = np.random.default_rng(0).normal(size=(300, 2))
    >>> inside = np.hypot(x[:, 0], x[:, 1]) < 1
    >>> bool(LMClassifier((16,), random_state=0).fit(x, inside).score(x, inside) > 0.95)
    True
    """

    def fit(self, X: Any, y: Any) -> LMClassifier:
        """Trains the network."""
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        self.classes_, numbers = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError("The number of classes has to be greater than one; got 1 class")
        self._train(X, numbers.reshape(-1, 1), len(self.classes_), True)
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """Logits of the classes; of two classes, the difference of the second from the first."""
        logits = self._outputs(X)
        return logits[:, 1] - logits[:, 0] if logits.shape[1] == 2 else logits

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of the classes."""
        return _network.softmax(self._outputs(X))

    def predict(self, X: Any) -> np.ndarray:
        """Predicted classes."""
        numbers = self._outputs(X).argmax(axis=1)
        return self.classes_[numbers]
