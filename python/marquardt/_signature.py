"""Names of the parameters of a function."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import FunctionType
from typing import Any

_VARARGS = 0x04


def positional_names(function: Callable[..., Any]) -> tuple[tuple[str, ...], bool]:
    """Names of all positional parameters, and whether the function takes any number of further ones."""
    if type(function) is FunctionType and not hasattr(function, "__wrapped__"):
        code = function.__code__
        return code.co_varnames[: code.co_argcount], bool(code.co_flags & _VARARGS)
    names, has_more = [], False
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            names.append(parameter.name)
        has_more = has_more or parameter.kind == parameter.VAR_POSITIONAL
    return tuple(names), has_more


def parameter_names(function: Callable[..., Any], count: int | None) -> tuple[str, ...]:
    """Names of the parameters of `function(x, a, b, …)`, `count` of them if a start says how many there are."""
    try:
        names, _ = positional_names(function)
    except (TypeError, ValueError):
        names = ()
    own = names[1:] if names else ()
    if count is None:
        if not own:
            raise ValueError("Unable to determine number of fit parameters.")
        return own
    taken, index = list(own[:count]), len(own[:count])
    while len(taken) < count:
        # Parameters of `*p` have no names of their own.
        name = f"p{index}"
        taken.append(name if name not in taken else f"{name}_")
        index += 1
    return tuple(taken)


def takes_any_number(function: Callable[..., Any]) -> bool:
    """The function takes any number of parameters, or does not say how many."""
    try:
        return positional_names(function)[1]
    except (TypeError, ValueError):
        return True
