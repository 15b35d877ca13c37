"""Stand-in for parameters, which records what is computed with it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import numpy as np

from . import operations as ops
from .graph import MOST_ROWS, Graph, Untraceable
from .operations import METHODS, OPERATIONS, Make


class Recorder:
    """A value that depends on parameters: one, an array of a few, or any of these for each row of the data."""

    __slots__ = ("graph", "is_rows", "nodes")
    __array_priority__ = 1e6

    def __init__(self, graph: Graph, nodes: Any, is_rows: bool) -> None:
        self.graph, self.nodes, self.is_rows = graph, nodes, is_rows

    # What NumPy asks.

    @property
    def shape(self) -> tuple[int, ...]:
        lead = self.nodes.shape if isinstance(self.nodes, np.ndarray) else ()
        return (*lead, self.graph.rows) if self.is_rows else lead

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        size = 1
        for length in self.shape:
            size *= length
        return size

    @property
    def dtype(self) -> np.dtype[np.float64]:
        return np.dtype(np.float64)

    @property
    def real(self) -> Recorder:
        return self

    @property
    def imag(self) -> Any:
        return np.zeros(self.shape)

    @property
    def T(self) -> Recorder:
        if self.ndim < 2:
            return self
        if self.is_rows:
            raise self.graph.refuse("rows of values are transposed")
        return Recorder(self.graph, self.nodes.T, False)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of a single value")
        return self.shape[0]

    def __iter__(self) -> Iterator[Recorder]:
        if not self.shape:
            raise TypeError("iteration over a single value")
        return (self[index] for index in range(self.shape[0]))

    def __getitem__(self, key: Any) -> Recorder:
        if not self.is_rows:
            if not isinstance(self.nodes, np.ndarray):
                # NumPy's scalars take these, too.
                return Recorder(self.graph, np.asarray(self.nodes, dtype=np.intp)[key], False)
            return self._of(self.nodes[key], False)
        keys = key if isinstance(key, tuple) else (key,)
        lead = self.ndim - 1
        if lead == 0 and keys not in ((Ellipsis,), (slice(None),), (Ellipsis, slice(None))):
            return self._of_rows(key)
        taken = sum(1 for part in keys if part is not None and part is not Ellipsis)
        if any(part is Ellipsis for part in keys):
            if keys[-1] is Ellipsis:
                keys = keys[:-1]
            elif keys == (Ellipsis, slice(None)):
                keys = ()
            else:
                raise self.graph.refuse("single rows are taken from rows of values")
        elif taken == lead + 1:
            if not (isinstance(keys[-1], slice) and keys[-1] == slice(None)):
                raise self.graph.refuse("single rows are taken from rows of values")
            keys = keys[:-1]
        elif taken > lead:
            raise IndexError("too many indices")
        if not keys:
            return self
        return self._of(np.asarray(self.nodes, dtype=np.intp)[keys], True)

    def _of_rows(self, key: Any) -> Any:
        """Single rows: a value, or an array of values."""
        if self.graph.rows > MOST_ROWS:
            raise self.graph.refuse(f"single rows are taken from more than {MOST_ROWS} rows of values")
        indices = np.arange(self.graph.rows)[key]
        if np.ndim(indices) == 0:
            return Recorder(self.graph, self.graph.at_row(self.nodes, int(indices)), False)
        values = [Recorder(self.graph, self.graph.at_row(self.nodes, int(index)), False) for index in indices.ravel()]
        array = np.empty(len(values), dtype=object)
        array[:] = values
        return array.reshape(indices.shape)

    def __setitem__(self, key: Any, value: Any) -> NoReturn:
        raise self.graph.refuse("entries are assigned to a value that depends on parameters")

    def _of(self, nodes: Any, is_rows: bool) -> Recorder:
        return Recorder(self.graph, nodes if isinstance(nodes, np.ndarray) and nodes.ndim else int(nodes), is_rows)

    def apply(self, make: Make, *values: Any) -> Recorder:
        """Records an operation."""
        return Recorder(self.graph, *self.graph.apply(make, *values))

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **keywords: Any) -> Any:
        if method == "reduce" and ufunc in _REDUCTIONS:
            axis = keywords.get("axis", 0)
            return inputs[0].reduced(_REDUCTIONS[ufunc], axis, bool(keywords.get("keepdims", False)))
        if method != "__call__":
            raise self.graph.refuse(f"{ufunc.__name__}.{method} is called with a parameter")
        if keywords.get("where", True) is not True or keywords.get("dtype") not in (None, float, np.float64):
            raise self.graph.refuse(f"{ufunc.__name__} is called with where or dtype")
        if ufunc is np.matmul:
            return _matmul(self, *inputs)
        make = OPERATIONS.of(ufunc)
        if make is None:
            raise self.graph.refuse(f"there is no counterpart of {ufunc.__name__}")
        return self.apply(make, *inputs)

    def __array_function__(self, function: Any, types: Any, arguments: Any, keywords: Any) -> Any:
        from .array_functions import ARRAY_FUNCTIONS

        call = ARRAY_FUNCTIONS.get(function)
        if call is None:
            raise self.graph.refuse(f"there is no counterpart of numpy.{function.__name__}")
        return call(self.graph, *arguments, **keywords)

    # Methods of arrays.

    def reduced(self, make: Make, axis: Any, keepdims: bool = False) -> Recorder:
        """The entries along axes, joined by an operation one after the other."""
        if not self.shape:
            return self
        axes = range(self.ndim) if axis is None else [axis] if not isinstance(axis, tuple) else axis
        axes = sorted({one % self.ndim for one in axes})
        if self.is_rows and self.ndim - 1 in axes:
            if self.ndim > 1 or keepdims:
                raise self.graph.refuse("rows are summed up")
            total = self[0]
            for row in range(1, self.graph.rows):
                total = self.apply(make, total, self[row])
            return total
        nodes = self.nodes
        for one in reversed(axes):
            parts = np.moveaxis(nodes, one, 0)
            total = parts[0]
            for part in parts[1:]:
                total, _ = self.graph.apply(make, self._of(total, False), self._of(part, False))
            nodes = np.asarray(total, dtype=np.intp)
            if keepdims:
                nodes = np.expand_dims(nodes, one)
        return self._of(nodes, self.is_rows)

    def sum(self, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False) -> Recorder:
        return self.reduced(ops.add, axis, keepdims)

    def prod(self, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False) -> Recorder:
        return self.reduced(ops.multiply, axis, keepdims)

    def mean(self, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False) -> Recorder:
        total = self.reduced(ops.add, axis, keepdims)
        return self.apply(ops.divide, total, float(self.size // total.size))

    def dot(self, other: Any) -> Recorder:
        return _matmul(self, self, other) if np.ndim(other) and self.ndim else self * other

    def clip(self, min: Any = None, max: Any = None, out: Any = None) -> Recorder:
        value = self
        if min is not None:
            value = value.apply(ops.named("max"), value, min)
        if max is not None:
            value = value.apply(ops.named("min"), value, max)
        return value

    def astype(self, dtype: Any, *_: Any, **__: Any) -> Recorder:
        if np.dtype(dtype) not in (np.dtype(np.float64), np.dtype(object)):
            raise self.graph.refuse(f"a parameter is converted to {np.dtype(dtype)}")
        return self

    def reshape(self, *shape: Any, **_: Any) -> Recorder:
        wanted = shape[0] if len(shape) == 1 and isinstance(shape[0], tuple | list) else shape
        if self.is_rows:
            if tuple(wanted) in ((-1,), (self.graph.rows,)) and self.ndim == 1:
                return self
            raise self.graph.refuse("rows of values are reshaped")
        return self._of(np.asarray(self.nodes, dtype=np.intp).reshape(wanted), False)

    def ravel(self, *_: Any, **__: Any) -> Recorder:
        return self.reshape(-1) if self.shape else self._of(np.array([self.nodes], dtype=np.intp), False)

    flatten = ravel

    def squeeze(self, *_: Any, **__: Any) -> Recorder:
        nodes = self.nodes.squeeze() if isinstance(self.nodes, np.ndarray) else self.nodes
        return self._of(nodes, self.is_rows)

    def copy(self, *_: Any, **__: Any) -> Recorder:
        return self

    def conj(self) -> Recorder:
        return self

    def __copy__(self) -> Recorder:
        return self

    def __deepcopy__(self, _: Any) -> Recorder:
        return self

    # Conversions, which would lose the record.

    def _no_number(self, *_: Any, **__: Any) -> NoReturn:
        raise self.graph.refuse(
            "a plain number is made of a parameter, as by float(), math.exp() or a masked assignment"
        )

    __float__ = __int__ = __index__ = __complex__ = __round__ = __trunc__ = __floor__ = __ceil__ = _no_number
    item = tolist = __format__ = _no_number

    def __bool__(self) -> NoReturn:
        raise self.graph.refuse("a decision is made by the value of a parameter, as by if, while, and, or")

    def __repr__(self) -> str:
        return f"<parameter of shape {self.shape} that is being recorded>"

    __hash__ = object.__hash__

    def __getattr__(self, name: str) -> Any:
        # Attributes of arrays that are not here; NumPy looks for protocols, which are not to be there.
        if name.startswith("__"):
            raise AttributeError(name)
        raise AttributeError(
            self.graph.refuse(f"there is no counterpart of the attribute {name!r} of an array").args[0]
        )


def _matmul(self: Recorder, a: Any, b: Any) -> Recorder:
    """`a @ b`, for a right side with few entries, or rows on the right."""
    left, left_rows = self.graph.operand(a)
    right, right_rows = self.graph.operand(b)
    if left_rows and right_rows:
        raise self.graph.refuse("rows are summed up")
    left, right = np.asarray(left, dtype=np.intp), np.asarray(right, dtype=np.intp)
    if right_rows:
        # (k, m) or (m,) on the right: a sum over k.
        if left.ndim != 1 or right.ndim != 1 or left.shape != right.shape:
            raise self.graph.refuse("matrices of parameters are multiplied")
        pairs, is_rows = zip(left, right, strict=True), True
    elif left.ndim == 1 and right.ndim == 1 and left.shape == right.shape and not left_rows:
        pairs, is_rows = zip(left, right, strict=True), False
    elif left.ndim == 2 and right.ndim == 1 and not left_rows and left.shape[1] == len(right):
        parts = [_matmul(self, self._of(row, False), self._of(right, False)).nodes for row in left]
        nodes = np.array(parts, dtype=np.intp)
        if len(parts) == self.graph.rows:
            return Recorder(self.graph, self.graph.unified(parts), True)
        return self._of(nodes, False)
    else:
        raise self.graph.refuse("matrices of parameters are multiplied")
    total = None
    for one, other in pairs:
        product = ops.multiply(self.graph, int(one), int(other))
        total = product if total is None else ops.add(self.graph, total, product)
    return Recorder(self.graph, total, is_rows)


_REDUCTIONS: dict[Any, Make] = {
    np.add: ops.add,
    np.multiply: ops.multiply,
    np.maximum: ops.named("max"),
    np.minimum: ops.named("min"),
}


def _operator(make: Make, is_reflected: bool) -> Callable[[Recorder, Any], Any]:
    def method(self: Recorder, other: Any) -> Any:
        graph, nodes = self.graph, self.nodes
        if type(nodes) is int:
            # The usual case, in short.
            if type(other) is Recorder and type(other.nodes) is int and other.graph is graph:
                pair = (other.nodes, nodes) if is_reflected else (nodes, other.nodes)
                return Recorder(graph, make(graph, *pair), self.is_rows or other.is_rows)
            if type(other) is float or type(other) is int:
                constant = graph.constant(other)
                pair = (constant, nodes) if is_reflected else (nodes, constant)
                return Recorder(graph, make(graph, *pair), self.is_rows)
        if isinstance(other, str) or other is None:
            return NotImplemented
        if type(other) is not Recorder and _is_foreign(other):
            return NotImplemented
        return self.apply(make, other, self) if is_reflected else self.apply(make, self, other)

    return method


def _is_foreign(other: Any) -> bool:
    """Objects with operators of their own, such as those of pandas, are asked first."""
    return not isinstance(other, int | float | complex | np.generic | np.ndarray | list | tuple | bool)


_OPERATORS: dict[str, Make] = {
    "add": ops.add, "sub": ops.subtract, "mul": ops.multiply, "truediv": ops.divide, "pow": ops.power,
    "floordiv": ops.floor_divide, "mod": ops.named("mod"), "and": ops.bitwise(ops.logical_and),
    "or": ops.bitwise(ops.logical_or), "xor": ops.bitwise(ops.logical_xor),
}  # fmt: skip
_COMPARISONS: dict[str, Make] = {
    "lt": ops.less, "le": ops.less_equal, "gt": lambda g, a, b: ops.less(g, b, a),
    "ge": lambda g, a, b: ops.less_equal(g, b, a), "eq": ops.equal, "ne": ops.negated(ops.equal),
}  # fmt: skip


def _unary(make: Make) -> Callable[..., Recorder]:
    def method(self: Recorder, *_: Any) -> Recorder:
        return self.apply(make, self)

    return method


def _matmul_reflected(self: Recorder, other: Any) -> Recorder:
    return _matmul(self, other, self)


for _name, _make in _OPERATORS.items():
    setattr(Recorder, f"__{_name}__", _operator(_make, False))
    setattr(Recorder, f"__r{_name}__", _operator(_make, True))
for _name, _make in _COMPARISONS.items():
    setattr(Recorder, f"__{_name}__", _operator(_make, False))
for _name in METHODS:
    _make_of_name = OPERATIONS.of(getattr(np, _name))
    assert _make_of_name is not None
    setattr(Recorder, _name, _unary(_make_of_name))
_SPECIAL_METHODS: dict[str, Any] = {
    "matmul": lambda self, other: _matmul(self, self, other),
    "rmatmul": _matmul_reflected,
    "neg": _unary(ops.negate),
    "pos": lambda self: self,
    "abs": _unary(ops.named("abs")),
    "invert": _unary(ops.bitwise(ops.logical_not)),
}
for _name, _method in _SPECIAL_METHODS.items():
    setattr(Recorder, f"__{_name}__", _method)

__all__ = ["Recorder", "Untraceable"]
