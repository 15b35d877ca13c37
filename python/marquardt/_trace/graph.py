"""Graph of the operations that a function makes with its parameters."""

from __future__ import annotations

from typing import Any

import numpy as np

#: Most operations of a graph; the engine's programs have at most 10,000 after equal ones were joined.
MOST_NODES = 20_000
#: Most ways in which rows are computed.
MOST_FORMS = 12
#: Most rows that are taken apart, to be computed one by one.
MOST_ROWS = 500
#: Most entries of an array of constants that meets a parameter and is no column.
MOST_ENTRIES = 4_096


class Untraceable(TypeError):
    """The function does something with a parameter that no program can repeat."""


class Graph:
    """Operations, in the order in which they were made. Equal ones are one node.

    A node is a tuple: ``("const", value)``, ``("param", index)``, ``("column", index)``, or an operation with the numbers of the nodes
    that it takes.

    Parameters
    ----------
    rows : int
        Number of observations. An array whose last axis has this length is a column for each entry of its other axes.
    """

    def __init__(self, rows: int) -> None:
        self.rows = rows
        self.nodes: list[tuple[Any, ...]] = []
        self.columns: list[np.ndarray] = []
        #: First reason for which the function cannot be recorded. It is kept, as the function may catch the exception.
        self.reason: str | None = None
        self._known: dict[tuple[Any, ...], int] = {}
        self._forms: dict[tuple[Any, ...], int] = {}
        self._form_by_node: dict[int, int] = {}
        self._at_row: dict[tuple[int, int], int] = {}
        self._column_by_bytes: dict[bytes, int] = {}

    def refuse(self, reason: str) -> Untraceable:
        """Returns the exception for a reason, and keeps the first reason."""
        if self.reason is None:
            self.reason = reason
        return Untraceable(reason)

    def add(self, *node: Any) -> int:
        """Number of a node, which is appended unless there is an equal one."""
        known = self._known.get(node)
        if known is None:
            known = len(self.nodes)
            if known >= MOST_NODES:
                raise self.refuse(f"the function makes more than {MOST_NODES} operations with its parameters")
            self.nodes.append(node)
            self._known[node] = known
        return known

    def constant(self, value: Any) -> int:
        """Node of a real number."""
        if isinstance(value, complex | np.complexfloating):
            raise self.refuse("a parameter meets a complex number")
        value = float(value)
        # 0.0 and -0.0 are equal, but not the same constant; NaN is not equal to itself.
        key = ("const", value, value.hex())
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = len(self.nodes)
            self.nodes.append(("const", value))
        return known

    def column(self, values: np.ndarray) -> int:
        """Node of an array with an entry for each row; that of a constant if all entries are equal."""
        if values.dtype.kind not in "fiub":
            raise self.refuse(f"a parameter meets an array of type {values.dtype}")
        own = np.ascontiguousarray(values, dtype=np.float64)
        if own.size and own[0] == own[-1] and (own == own[0]).all():
            return self.constant(own[0])
        data = own.tobytes()
        index = self._column_by_bytes.get(data)
        if index is None:
            index = self._column_by_bytes[data] = len(self.columns)
            self.columns.append(np.frombuffer(data))
        return self.add("column", index)

    def operand(self, value: Any) -> tuple[Any, bool]:
        """Nodes of a value, one or an array, and whether they stand for a row each."""
        kind = type(value)
        if kind is float or kind is int or kind is np.float64:
            return self.constant(value), False
        nodes = getattr(value, "nodes", None)
        if nodes is not None and getattr(value, "graph", None) is self:
            return nodes, value.is_rows
        if isinstance(value, bool | int | float | complex | np.number | np.bool_):
            return self.constant(value), False
        array = np.asarray(value)
        if array.dtype == object:
            return self._object_operand(array)
        if array.ndim == 0:
            return self.constant(array[()]), False
        if array.shape[-1] == self.rows:
            if array.ndim == 1:
                return self.column(array), True
            if array.size // max(self.rows, 1) > MOST_ENTRIES:
                raise self.refuse(f"a parameter meets an array of shape {array.shape}")
            lead = array.reshape(-1, self.rows)
            nodes = np.array([self.column(row) for row in lead], dtype=np.intp)
            return nodes.reshape(array.shape[:-1]), True
        if array.size > MOST_ENTRIES:
            raise self.refuse(f"a parameter meets an array of shape {array.shape}, but there are {self.rows} rows")
        nodes = np.array([self.constant(entry) for entry in array.ravel()], dtype=np.intp)
        return nodes.reshape(array.shape), False

    def _object_operand(self, array: np.ndarray) -> tuple[Any, bool]:
        """Nodes of an array of recorders and numbers."""
        parts = [self.operand(entry) for entry in array.ravel()]
        if any(np.ndim(nodes) for nodes, _ in parts):
            raise self.refuse("an array holds arrays of parameters")
        rows = {is_rows for nodes, is_rows in parts if self.nodes[nodes][0] != "const"}
        if len(rows) == 2:
            raise self.refuse("an array holds both single values and rows of values")
        nodes = np.array([nodes for nodes, _ in parts], dtype=np.intp).reshape(array.shape)
        if rows == {True}:
            return (nodes if array.ndim else int(nodes)), True
        if array.ndim and array.shape[-1] == self.rows and self.rows > 1:
            lead = [self.unified(list(row)) for row in nodes.reshape(-1, self.rows)]
            return (lead[0] if array.ndim == 1 else np.array(lead, dtype=np.intp).reshape(array.shape[:-1])), True
        return (nodes if array.ndim else int(nodes)), False

    def at_row(self, node: int, row: int) -> int:
        """Node of the value of a node in one row: its columns are constants there."""
        known = self._at_row.get((node, row))
        if known is None:
            made = self.nodes[node]
            if made[0] in ("const", "param"):
                known = node
            elif made[0] == "column":
                known = self.constant(self.columns[made[1]][row])
            else:
                known = self.add(made[0], *(self.at_row(argument, row) for argument in made[1:]))
            self._at_row[node, row] = known
        return known

    def unified(self, nodes: list[int]) -> int:
        """One node whose value in row `i` is that of `nodes[i]`.

        Nodes that differ in constants alone become one, with columns for these. Those that are made in different ways are chosen from by a
        column.
        """
        groups: dict[int, list[int]] = {}
        for row, node in enumerate(nodes):
            groups.setdefault(self._form(node), []).append(row)
        if len(groups) > MOST_FORMS:
            raise self.refuse(f"the function computes its rows in more than {MOST_FORMS} ways")
        result = None
        for rows in groups.values():
            own = [nodes[rows[0]]] * len(nodes)
            for row in rows:
                own[row] = nodes[row]
            made = self._merged(own)
            if result is None:
                result = made
                continue
            is_here = np.zeros(len(nodes))
            is_here[rows] = 1.0
            result = self.add("select", self.constant(0.5), self.column(is_here), made, result)
        assert result is not None
        return result

    def _form(self, node: int) -> int:
        """Number of the way in which a node is made, whatever the constants."""
        made = self.nodes[node]
        if made[0] == "const":
            key: tuple[Any, ...] = ("const",)
        elif made[0] in ("param", "column"):
            key = made
        else:
            key = (made[0], *(self._form_of(argument) for argument in made[1:]))
        return self._forms.setdefault(key, len(self._forms))

    def _form_of(self, node: int) -> int:
        known = self._form_by_node.get(node)
        if known is None:
            known = self._form_by_node[node] = self._form(node)
        return known

    def _merged(self, nodes: list[int]) -> int:
        """One node for nodes of one form."""
        if all(node == nodes[0] for node in nodes):
            return nodes[0]
        all_nodes = [self.nodes[node] for node in nodes]
        if all_nodes[0][0] == "const":
            return self.column(np.array([node[1] for node in all_nodes]))
        arguments = [self._merged(list(column)) for column in zip(*(node[1:] for node in all_nodes), strict=True)]
        return self.add(all_nodes[0][0], *arguments)

    def broadcast(self, operands: list[tuple[Any, bool]]) -> tuple[list[Any], bool]:
        """Nodes of the operands in a common shape, and whether they stand for a row each."""
        is_rows = any(rows for _, rows in operands)
        parts = []
        for nodes, rows in operands:
            if is_rows and not rows and type(nodes) is np.ndarray:
                if nodes.shape[-1] == self.rows and self.rows > 1:
                    lead = [self.unified(list(row)) for row in nodes.reshape(-1, self.rows)]
                    nodes = np.array(lead, dtype=np.intp).reshape(nodes.shape[:-1])
                elif nodes.shape[-1] == 1:
                    nodes = nodes[..., 0]
                else:
                    raise self.refuse(f"an array of shape {nodes.shape} meets one of {self.rows} rows")
            parts.append(nodes)
        try:
            return list(np.broadcast_arrays(*parts)), is_rows
        except ValueError:
            raise self.refuse("arrays of different shapes meet") from None

    def apply(self, make: Any, *values: Any) -> tuple[Any, bool]:
        """Nodes of an operation for each entry of the operands; `make(graph, *nodes)` adds one."""
        operands = [self.operand(value) for value in values]
        for nodes, _ in operands:
            if type(nodes) is np.ndarray:
                break
        else:
            return make(self, *[nodes for nodes, _ in operands]), any(rows for _, rows in operands)
        parts, is_rows = self.broadcast(operands)
        made = [make(self, *(int(node) for node in nodes)) for nodes in zip(*(p.ravel() for p in parts), strict=True)]
        if not parts[0].ndim:
            return made[0], is_rows
        return np.array(made, dtype=np.intp).reshape(parts[0].shape), is_rows
