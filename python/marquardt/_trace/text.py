"""Text of a recorded function."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

_OPERATORS = {"add": ("+", 1), "sub": ("-", 1), "mul": ("*", 2), "div": ("/", 2), "pow": ("^", 4)}
#: Longest text. Shared operations are written out where they occur, which may take much more room than the program.
LONGEST = 10_000


def formula_text(
    nodes: Sequence[tuple[Any, ...]], result: int, parameters: Sequence[str], columns: Sequence[str]
) -> str | None:
    """The formula of a node, as the engine reads it; `None` for a formula of more than 10,000 characters."""
    texts: list[tuple[str, int]] = []

    def part(node: int, least: int) -> str:
        text, binding = texts[node]
        return text if binding >= least else f"({text})"

    for node in nodes[: result + 1]:
        kind = node[0]
        if kind == "const":
            made = (repr(node[1]), 5 if node[1] >= 0 else 1)
        elif kind == "param":
            made = (parameters[node[1]], 5)
        elif kind == "column":
            made = (columns[node[1]], 5)
        elif kind == "neg":
            made = (f"-{part(node[1], 3)}", 1)
        elif kind in _OPERATORS:
            sign, binding = _OPERATORS[kind]
            left, right = part(node[1], binding + (kind == "pow")), part(node[2], binding + 1)
            made = (f"{left}{sign}{right}" if binding > 1 else f"{left} {sign} {right}", binding)
        elif kind == "select":
            a, b, then, otherwise = (part(argument, 0) for argument in node[1:])
            made = (f"if({a} < {b}, {then}, {otherwise})", 5)
        else:
            made = (f"{kind}({', '.join(part(argument, 0) for argument in node[1:])})", 5)
        if len(made[0]) > LONGEST:
            return None
        texts.append(made)
    return texts[result][0]
