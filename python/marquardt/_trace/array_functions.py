"""Counterparts of NumPy's functions that are no universal functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from . import operations as ops
from .graph import Graph
from .recorder import Recorder

ARRAY_FUNCTIONS: dict[Any, Callable[..., Any]] = {}


def _counterpart_of(*functions: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def register(call: Callable[..., Any]) -> Callable[..., Any]:
        ARRAY_FUNCTIONS.update(dict.fromkeys(functions, call))
        return call

    return register


def _recorder(graph: Graph, value: Any) -> Recorder:
    return value if isinstance(value, Recorder) else Recorder(graph, *graph.operand(value))


@_counterpart_of(np.where)
def _where(graph: Graph, condition: Any, *choices: Any) -> Recorder:
    if len(choices) != 2:
        raise graph.refuse("the indices are asked for at which a condition of parameters holds")
    return Recorder(graph, *graph.apply(ops.where, condition, *choices))


@_counterpart_of(np.select)
def _select(graph: Graph, condlist: Sequence[Any], choicelist: Sequence[Any], default: Any = 0) -> Any:
    value = default
    for condition, choice in reversed(list(zip(condlist, choicelist, strict=True))):
        value = _where(graph, condition, choice, value)
    return value


@_counterpart_of(np.piecewise)
def _piecewise(graph: Graph, x: Any, condlist: Any, funclist: Sequence[Any], *args: Any, **kw: Any) -> Any:
    conditions = list(condlist) if isinstance(condlist, list | tuple) else [condlist]
    values = [function(x, *args, **kw) if callable(function) else function for function in funclist]
    default = values.pop() if len(values) == len(conditions) + 1 else 0.0
    # The last condition that holds wins.
    value = default
    for condition, choice in zip(conditions, values, strict=True):
        value = _where(graph, condition, choice, value)
    return value


@_counterpart_of(np.sum)
def _sum(
    graph: Graph, a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, **_: Any
) -> Any:
    return _recorder(graph, a).sum(axis, keepdims=bool(keepdims))


@_counterpart_of(np.prod)
def _prod(
    graph: Graph, a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, **_: Any
) -> Any:
    return _recorder(graph, a).prod(axis, keepdims=bool(keepdims))


@_counterpart_of(np.mean)
def _mean(
    graph: Graph, a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, **_: Any
) -> Any:
    return _recorder(graph, a).mean(axis, keepdims=bool(keepdims))


@_counterpart_of(np.clip)
def _clip(graph: Graph, a: Any, a_min: Any = None, a_max: Any = None, out: Any = None, **bounds: Any) -> Any:
    lower, upper = bounds.get("min", a_min), bounds.get("max", a_max)
    return _recorder(graph, a).clip(lower, upper)


@_counterpart_of(np.sinc)
def _sinc(graph: Graph, x: Any) -> Recorder:
    return _recorder(graph, x).apply(ops.sinc, x)


@_counterpart_of(np.stack, np.vstack)
def _stack(graph: Graph, arrays: Any, axis: int = 0, **_: Any) -> Recorder:
    parts = [_recorder(graph, part) for part in arrays]
    if axis != 0 or len({part.shape for part in parts}) != 1:
        raise graph.refuse("values of parameters are stacked in another way than along the first axis")
    nodes = np.stack([np.asarray(part.nodes, dtype=np.intp) for part in parts])
    return Recorder(graph, nodes, parts[0].is_rows)


@_counterpart_of(np.concatenate, np.hstack)
def _concatenate(graph: Graph, arrays: Any, axis: int | None = 0, **_: Any) -> Recorder:
    parts = [_recorder(graph, part) for part in arrays]
    if axis != 0 or any(part.ndim != 1 for part in parts):
        raise graph.refuse("values of parameters are joined in another way than along their only axis")
    joined = np.concatenate([_rows(graph, part) if part.is_rows else part.nodes for part in parts])
    if joined.size == graph.rows:
        return Recorder(graph, graph.unified([int(node) for node in joined]), True)
    return Recorder(graph, joined, False)


def _rows(graph: Graph, part: Recorder) -> np.ndarray:
    """Nodes of each row."""
    return np.array([graph.at_row(part.nodes, row) for row in range(graph.rows)], dtype=np.intp)


@_counterpart_of(np.polyval)
def _polyval(graph: Graph, p: Any, x: Any) -> Any:
    value: Any = 0.0
    for coefficient in p:
        value = value * x + coefficient
    return value


@_counterpart_of(np.dot, np.inner)
def _dot(graph: Graph, a: Any, b: Any, out: Any = None) -> Any:
    return _recorder(graph, a).dot(b) if np.ndim(b) <= 1 or isinstance(b, Recorder) else np.matmul(a, b)


@_counterpart_of(np.broadcast_to)
def _broadcast_to(graph: Graph, array: Any, shape: Any, subok: bool = False) -> Recorder:
    return Recorder(graph, *graph.apply(ops.add, array, np.zeros(shape)))


@_counterpart_of(np.zeros_like)
def _zeros_like(graph: Graph, a: Any, *_: Any, **__: Any) -> np.ndarray:
    return np.zeros(np.shape(a))


@_counterpart_of(np.ones_like)
def _ones_like(graph: Graph, a: Any, *_: Any, **__: Any) -> np.ndarray:
    return np.ones(np.shape(a))


@_counterpart_of(np.full_like)
def _full_like(graph: Graph, a: Any, fill_value: Any, *_: Any, **__: Any) -> Any:
    return fill_value + np.zeros(np.shape(a))


@_counterpart_of(np.shape)
def _shape(graph: Graph, a: Any) -> tuple[int, ...]:
    return a.shape


@_counterpart_of(np.ndim)
def _ndim(graph: Graph, a: Any) -> int:
    return a.ndim


@_counterpart_of(np.size)
def _size(graph: Graph, a: Any, axis: int | None = None) -> int:
    return a.size if axis is None else a.shape[axis]


@_counterpart_of(np.ravel)
def _ravel(graph: Graph, a: Any, order: str = "C") -> Any:
    return a.ravel()


@_counterpart_of(np.squeeze)
def _squeeze(graph: Graph, a: Any, axis: Any = None) -> Any:
    return a.squeeze()


@_counterpart_of(np.real, np.copy)
def _itself(graph: Graph, a: Any, *_: Any, **__: Any) -> Any:
    return a


@_counterpart_of(np.iscomplexobj)
def _is_complex(graph: Graph, x: Any) -> bool:
    return False


@_counterpart_of(np.isrealobj)
def _is_real(graph: Graph, x: Any) -> bool:
    return True
