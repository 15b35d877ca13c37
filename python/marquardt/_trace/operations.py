"""Operations of programs for NumPy's and SciPy's universal functions."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from .graph import Graph

Make = Callable[..., int]


def named(name: str) -> Make:
    """The operation of this name."""
    return lambda graph, *nodes: graph.add(name, *nodes)


add, subtract, multiply, divide = named("add"), named("sub"), named("mul"), named("div")
negate, select, exp, log = named("neg"), named("select"), named("exp"), named("ln")


def power(graph: Graph, base: int, exponent: int) -> int:
    return graph.add("pow", base, exponent)


def scaled(factor: float) -> Make:
    return lambda graph, a: multiply(graph, graph.constant(factor), a)


def less(graph: Graph, a: int, b: int) -> int:
    return select(graph, a, b, graph.constant(1.0), graph.constant(0.0))


def less_equal(graph: Graph, a: int, b: int) -> int:
    return select(graph, b, a, graph.constant(0.0), graph.constant(1.0))


def equal(graph: Graph, a: int, b: int) -> int:
    zero, one = graph.constant(0.0), graph.constant(1.0)
    return select(graph, a, b, zero, select(graph, b, a, zero, one))


def negated(condition: Make) -> Make:
    return lambda graph, *nodes: subtract(graph, graph.constant(1.0), condition(graph, *nodes))


def truth(graph: Graph, a: int) -> int:
    """One where a value is not zero."""
    return negated(equal)(graph, a, graph.constant(0.0))


def is_condition(graph: Graph, node: int) -> bool:
    """The node is one or zero by the way it was made."""
    made = graph.nodes[node]
    if made[0] == "select":
        return all(
            graph.nodes[part] in (("const", 1.0), ("const", 0.0)) or is_condition(graph, part) for part in made[3:]
        )
    if made[0] == "sub":
        return graph.nodes[made[1]] == ("const", 1.0) and is_condition(graph, made[2])
    if made[0] in ("mul", "max"):
        return all(is_condition(graph, part) for part in made[1:])
    if made[0] == "column":
        values = graph.columns[made[1]]
        return bool(((values == 0.0) | (values == 1.0)).all())
    return made in (("const", 1.0), ("const", 0.0))


def as_condition(graph: Graph, node: int) -> int:
    return node if is_condition(graph, node) else truth(graph, node)


def logical_and(graph: Graph, a: int, b: int) -> int:
    return multiply(graph, as_condition(graph, a), as_condition(graph, b))


def logical_or(graph: Graph, a: int, b: int) -> int:
    return graph.add("max", as_condition(graph, a), as_condition(graph, b))


def logical_xor(graph: Graph, a: int, b: int) -> int:
    return negated(equal)(graph, as_condition(graph, a), as_condition(graph, b))


def logical_not(graph: Graph, a: int) -> int:
    return subtract(graph, graph.constant(1.0), as_condition(graph, a))


def bitwise(logical: Make) -> Make:
    """`&`, `|`, `^` and `~`, which are logical of conditions alone."""

    def make(graph: Graph, *nodes: int) -> int:
        if not all(is_condition(graph, node) for node in nodes):
            raise graph.refuse("bits of a parameter are asked for")
        return logical(graph, *nodes)

    return make


def where(graph: Graph, condition: int, then: int, otherwise: int) -> int:
    made = graph.nodes[condition]
    zero, one = ("const", 0.0), ("const", 1.0)
    if made[0] == "select" and {graph.nodes[made[3]], graph.nodes[made[4]]} == {zero, one}:
        if graph.nodes[made[3]] == one:
            return select(graph, made[1], made[2], then, otherwise)
        return select(graph, made[1], made[2], otherwise, then)
    half = graph.constant(0.5)
    return select(graph, half, as_condition(graph, condition), then, otherwise)


def fmax(graph: Graph, a: int, b: int) -> int:
    """The larger number, whatever NaN is the other."""
    larger = select(graph, a, b, b, a)
    return select(graph, graph.constant(-math.inf), a, larger, b)


def fmin(graph: Graph, a: int, b: int) -> int:
    smaller = select(graph, b, a, b, a)
    return select(graph, a, graph.constant(math.inf), smaller, b)


def truncated(graph: Graph, a: int) -> int:
    return select(graph, a, graph.constant(0.0), graph.add("ceil", a), graph.add("floor", a))


def floor_divide(graph: Graph, a: int, b: int) -> int:
    return graph.add("floor", divide(graph, a, b))


def heaviside(graph: Graph, a: int, at_zero: int) -> int:
    zero, one = graph.constant(0.0), graph.constant(1.0)
    return select(graph, a, zero, zero, select(graph, zero, a, one, at_zero))


def log_sum(base_exp: str, base_log: str) -> Make:
    """`logaddexp` and `logaddexp2`."""

    def make(graph: Graph, a: int, b: int) -> int:
        larger, difference = graph.add("max", a, b), graph.add("abs", subtract(graph, a, b))
        one = graph.constant(1.0)
        small = graph.add(base_exp, negate(graph, difference))
        rest = graph.add("ln_1p", small) if base_log == "ln" else graph.add(base_log, add(graph, one, small))
        return add(graph, larger, rest)

    return make


def expit(graph: Graph, a: int) -> int:
    # By the tail that is small, which loses no digits and does not overflow.
    one, size = graph.constant(1.0), graph.add("abs", a)
    tail = exp(graph, negate(graph, size))
    small = divide(graph, tail, add(graph, one, tail))
    return select(graph, a, graph.constant(0.0), small, divide(graph, one, add(graph, one, tail)))


def logit(graph: Graph, a: int) -> int:
    return subtract(graph, log(graph, a), graph.add("ln_1p", negate(graph, a)))


def x_log(of: str) -> Make:
    """`xlogy` and `xlog1py`: zero where the factor is zero."""

    def make(graph: Graph, a: int, b: int) -> int:
        zero = graph.constant(0.0)
        return where(graph, equal(graph, a, zero), zero, multiply(graph, a, graph.add(of, b)))

    return make


def normal_distribution(graph: Graph, a: int) -> int:
    tail = graph.add("erfc", scaled(-math.sqrt(0.5))(graph, a))
    return scaled(0.5)(graph, tail)


def sinc(graph: Graph, a: int) -> int:
    return graph.add("sinc", scaled(math.pi)(graph, a))


def bessel(name: str) -> Make:
    """A Bessel function, whose order is a constant integer."""

    def make(graph: Graph, order: int, a: int) -> int:
        made = graph.nodes[order]
        if made[0] != "const" or not float(made[1]).is_integer():
            raise graph.refuse("the order of a Bessel function is no constant integer")
        return graph.add(name, order, a)

    return make


_UNARY = {
    "absolute": "abs", "fabs": "abs", "arccos": "acos", "arccosh": "acosh", "arcsin": "asin", "arcsinh": "asinh",
    "arctan": "atan", "arctanh": "atanh", "cbrt": "cbrt", "ceil": "ceil", "cos": "cos", "cosh": "cosh", "exp": "exp",
    "exp2": "exp2", "expm1": "exp_m1", "floor": "floor", "log": "ln", "log10": "log10", "log1p": "ln_1p", "log2": "log2",
    "negative": "neg", "reciprocal": "recip", "sign": "sign", "sin": "sin", "sinh": "sinh", "sqrt": "sqrt", "tan": "tan",
    "tanh": "tanh",
}  # fmt: skip

_BINARY: dict[str, Make] = {
    "add": add, "arctan2": named("atan2"), "divide": divide, "equal": equal, "float_power": power,
    "floor_divide": floor_divide, "fmax": fmax, "fmin": fmin, "greater": lambda g, a, b: less(g, b, a),
    "greater_equal": lambda g, a, b: less_equal(g, b, a), "heaviside": heaviside, "hypot": named("hypot"), "less": less,
    "less_equal": less_equal, "logaddexp": log_sum("exp", "ln"), "logaddexp2": log_sum("exp2", "log2"),
    "logical_and": logical_and, "logical_or": logical_or, "logical_xor": logical_xor, "maximum": named("max"),
    "minimum": named("min"), "multiply": multiply, "not_equal": negated(equal), "power": power, "remainder": named("mod"),
    "subtract": subtract, "bitwise_and": bitwise(logical_and), "bitwise_or": bitwise(logical_or),
    "bitwise_xor": bitwise(logical_xor),
}  # fmt: skip

_OTHER: dict[str, Make] = {
    "conjugate": lambda _, a: a, "deg2rad": scaled(math.pi / 180.0), "degrees": scaled(180.0 / math.pi),
    "invert": bitwise(logical_not), "logical_not": logical_not, "positive": lambda _, a: a, "rad2deg": scaled(180.0 / math.pi),
    "radians": scaled(math.pi / 180.0), "square": lambda g, a: multiply(g, a, a), "trunc": truncated,
}  # fmt: skip

_SPECIAL: dict[str, Make] = {
    "beta": named("beta"), "betainc": named("betainc"), "cbrt": named("cbrt"), "erf": named("erf"), "erfc": named("erfc"),
    "exp10": lambda g, a: g.add("pow", g.constant(10.0), a), "exp2": named("exp2"), "expit": expit, "expm1": named("exp_m1"),
    "gamma": named("gamma"), "gammainc": named("gammainc"), "gammaincc": named("gammaincc"), "gammaln": named("lgamma"),
    "i0": named("i0"), "i1": named("i1"), "iv": bessel("in"), "j0": named("j0"), "j1": named("j1"), "jv": bessel("jn"),
    "k0": named("k0"), "k1": named("k1"), "kn": bessel("kn"), "kv": bessel("kn"), "log1p": named("ln_1p"), "logit": logit,
    "ndtr": normal_distribution, "voigt_profile": named("voigt"), "xlog1py": x_log("ln_1p"), "xlogy": x_log("ln"),
    "y0": named("y0"), "y1": named("y1"), "yn": bessel("yn"), "yv": bessel("yn"),
}  # fmt: skip


def _of_numpy() -> dict[np.ufunc, Make]:
    table = {getattr(np, name): named(engine) for name, engine in _UNARY.items()}
    return table | {getattr(np, name): make for name, make in (_BINARY | _OTHER).items()}


class Operations:
    """Operations by universal functions. Those of `scipy.special` are known once a program has imported it."""

    def __init__(self) -> None:
        self._table: dict[Any, Make] = _of_numpy()
        self._has_special = False

    def of(self, ufunc: Any) -> Make | None:
        """Operation of a universal function; `None` if there is none."""
        make = self._table.get(ufunc)
        special = sys.modules.get("scipy.special")
        if make is None and special is not None and not self._has_special:
            self._has_special = True
            for name, special_make in _SPECIAL.items():
                if hasattr(special, name):
                    self._table.setdefault(getattr(special, name), special_make)
            make = self._table.get(ufunc)
        return make


OPERATIONS = Operations()
#: Names of the universal functions that an array of recorders calls as methods of its entries.
METHODS = (*_UNARY, "deg2rad", "degrees", "rad2deg", "radians", "square", "trunc", "logical_not", "conjugate")
