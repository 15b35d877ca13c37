"""The engine, in Rust. Users meet what the Python files make of it."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

_Array = NDArray[np.float64]
_Band = tuple[_Array, _Array, _Array, _Array]
_Ended = tuple[float, float, str, str]
_Numbers = list[tuple[str, list[float]]]
_State = tuple[int, _Numbers, _Numbers]

class Model:
    @staticmethod
    def traced(parameters: Sequence[str], columns: int, nodes: list[tuple[Any, ...]], result: int) -> Model: ...
    @staticmethod
    def formula(text: str, predictors: Sequence[str]) -> Model: ...
    @staticmethod
    def named(name: str) -> Model: ...
    @staticmethod
    def names() -> list[str]: ...
    @staticmethod
    def callable(
        function: Callable[..., Any],
        x: Any,
        rows: int,
        parameters: Sequence[str],
        jacobian: Callable[..., Any] | None = None,
        difference: str = "2-point",
        first: tuple[list[float], Any] | None = None,
    ) -> Model: ...
    @property
    def parameters(self) -> list[str]: ...
    @property
    def width(self) -> int: ...
    @property
    def text(self) -> str | None: ...
    def evaluate(self, x: _Array, parameters: _Array) -> _Array: ...
    def jacobian(self, x: _Array, parameters: _Array) -> _Array: ...
    def agrees(self, x: _Array, parameters: _Array, values: _Array) -> bool | None: ...

class BlockProblem:
    def add_blocks(self, manifold: str, starts: _Array) -> int: ...
    def hold(self, blocks: list[int]) -> None: ...
    def add_residuals(
        self,
        residuals: list[tuple[Model, _Array]],
        blocks: NDArray[np.int64],
        loss_of_blocks: tuple[str, float] | None = None,
    ) -> None: ...
    def points(self, first: int, count: int) -> _Array: ...
    def move_to(self, first: int, points: _Array) -> None: ...
    def cost(self) -> float: ...
    def freedom(self) -> int | None: ...
    def standard_errors(self, first: int, count: int) -> _Array: ...
    def solve(self, options: dict[str, Any], threads: int = 0) -> dict[str, Any]: ...

def pose_graph(text: str, is_file: bool, options: dict[str, Any], threads: int = 0) -> dict[str, Any]: ...

class MinibatchSolver:
    def __init__(self, parameters: int) -> None: ...
    def set(self, name: str, value: float) -> None: ...
    def step(
        self, x: _Array, count: int, residuals: Callable[[_Array], Any], linearize: Callable[[_Array], tuple[Any, Any]]
    ) -> tuple[_Array, dict[str, Any]]: ...
    def state(self) -> _State: ...
    def restore(self, iterations: int, slots: _Numbers, numbers: _Numbers) -> None: ...

class Fit:
    names: list[str]
    values: _Array
    standard_errors: _Array
    states: list[str]
    covariance: _Array
    correlation: _Array
    is_converged: bool
    status: str
    message: str
    evaluations: tuple[int, int]
    iterations: int
    attempts: int
    degrees_of_freedom: int
    chi_square: float
    reduced_chi_square: float | None
    r_squared: float | None
    residual_standard_deviation: float | None
    criteria: tuple[float, float, float]
    robust_scale: float | None
    omitted_rows: list[int]
    observed: _Array
    warnings: list[tuple[str, bool]]
    undetermined: list[str]
    def fitted(self) -> _Array: ...
    def residuals(self, whitened: bool = False) -> _Array: ...
    def report(self, digits: int | None = None) -> str: ...
    def markdown(self) -> str: ...
    def summary_json(self) -> str: ...
    def to_json(self) -> str: ...
    def confidence_interval(self, name: str, level: float) -> tuple[float, float]: ...
    def profile_interval(self, name: str, level: float) -> _Ended: ...
    def profile(self, name: str, level: float, points: int) -> tuple[_Ended, list[float], list[float], _Array]: ...
    def bootstrap(self, replicates: int, scheme: str | None, seed: int) -> tuple[_Array, int]: ...
    def predict(self, x: _Array) -> _Array: ...
    def band(self, x: _Array, level: float, of_prediction: bool, sigma: _Array | None = None) -> _Band: ...
    def derive(self, text: str, level: float) -> tuple[float, float, float, float]: ...
    def x_for(
        self,
        responses: list[float],
        level: float,
        within: tuple[float, float] | None = None,
        sigma: float | None = None,
    ) -> list[tuple[float, float, float, float]]: ...

def fit(
    model: Model, x: _Array, y: _Array, start: list[float] | None, options: dict[str, Any], threads: int = 0
) -> Fit: ...
def multi_start(
    model: Model,
    x: _Array,
    y: _Array,
    start: list[float] | None,
    options: dict[str, Any],
    starts: int,
    seed: int,
    ranges: list[tuple[str, float, float, bool]],
    threads: int = 0,
) -> tuple[Fit, list[tuple[list[float], float, int]], int]: ...
def compare(fits: list[tuple[str, Fit]]) -> list[tuple[str, float, float, float, float]]: ...
def least_squares(problem: Any, start: list[float], residuals: int, options: dict[str, Any]) -> dict[str, Any]: ...
def fit_many(
    model: Model,
    x: Any,
    y: Any,
    start: Any,
    sigma: Any,
    options: dict[str, Any],
    threads: int = 0,
    progress: Any = None,
) -> tuple[Any, Any, Any, Any, Any, Any, list[str], Any]: ...
def fit_many_single(
    model: Model,
    x: Any,
    y: Any,
    start: Any,
    sigma: Any,
    options: dict[str, Any],
    threads: int = 0,
    progress: Any = None,
) -> tuple[Any, Any, Any, Any, Any, Any, list[str], Any]: ...
def global_fit(
    sets: list[tuple[str, Model, _Array, _Array, list[float] | None, dict[str, Any]]],
    shared: list[str],
    options: dict[str, Any],
    threads: int = 0,
) -> Fit: ...
def train_network(
    x: _Array,
    y: _Array,
    options: dict[str, Any],
    threads: int = 0,
    validation: tuple[_Array, _Array] | None = None,
    on_epoch: Callable[[list[tuple[str, float]]], bool] | None = None,
) -> tuple[list[tuple[str, _Array]], list[tuple[str, list[float]]]]: ...
def predict_with_std(
    x: _Array,
    y: _Array,
    at: _Array,
    options: dict[str, Any],
    threads: int = 0,
) -> tuple[_Array, _Array]: ...
