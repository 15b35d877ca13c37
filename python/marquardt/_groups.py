"""One fit of several groups of data, which share some of their parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _engine
from ._fit_result import Fit
from ._model import Model, as_predictors
from ._options import strings
from ._statistics import Band

if TYPE_CHECKING:
    from ._fit import Specification

#: Options that have an entry for each row.
_BY_ROW = ("sigma", "weights", "mask", "sigma_x")


class GroupFit(Fit):
    """A fit of groups that share parameters. Others are called after their group, as the report shows them.

    Attributes
    ----------
    groups : list of str
    shared : list of str
    """

    def __init__(
        self, specification: Specification, models: dict[str, Model], fitted: _engine.Fit, shared: list[str], width: int
    ) -> None:
        super().__init__(specification, next(iter(models.values())), fitted)
        #: Most predictors of a group.
        self._models, self._width = models, width
        self.groups, self.shared = list(models), shared

    @property
    def why_not_traced(self) -> str | None:
        return next((model.why_not_traced for model in self._models.values() if model.why_not_traced), None)

    def predict(self, x: Any, group: str | None = None) -> np.ndarray:
        """The curve of a group at other predictors."""
        group, x = self._group(group), as_predictors(x)[0]
        model = self._models[group]
        if model.function is not None:
            return model.predict(x, self._own(group))
        matrix = model.matrix_for(x)
        assert matrix is not None
        return self._fitted.predict(self._rows_of(matrix, group))

    def confidence_band(self, x: Any, level: float = 0.95, group: str | None = None) -> Band:
        """The band that contains the curve of a group at each of these predictors with this probability."""
        return self._band(x, level, False, None, self._group(group))

    def prediction_band(self, x: Any, level: float = 0.95, sigma: Any = None, group: str | None = None) -> Band:
        """The band that contains a new observation of a group; with `sigma`, one of these standard deviations."""
        return self._band(x, level, True, sigma, self._group(group))

    bands = confidence_band

    def _group(self, group: Any) -> str:
        if group is None or str(group) not in self._models:
            raise ValueError(f"group must be one of {', '.join(self.groups)}, not {group!r}")
        return str(group)

    def _part(self, group: str | None) -> tuple[Model, np.ndarray, np.ndarray]:
        assert group is not None
        places = self._places(group)
        return self._models[group], self.popt[places], self.pcov[np.ix_(places, places)]

    def _rows_of(self, matrix: np.ndarray, group: str | None) -> np.ndarray:
        # A row begins with the number of its group; what a group does not have is not looked at.
        rows = np.zeros((len(matrix), 1 + self._width))
        rows[:, 0], rows[:, 1 : 1 + matrix.shape[1]] = self.groups.index(str(group)), matrix
        return rows

    def _places(self, group: str) -> list[int]:
        """Places of the parameters of a group among all, in the order of its curve."""
        all_names = self.names
        return [all_names.index(name if name in all_names else f"{group}.{name}") for name in self._models[group].names]

    def _own(self, group: str) -> np.ndarray:
        """Parameters of a group, in the order of its curve."""
        return self.popt[self._places(group)]

    def x_for(self, y: Any, *_: Any, **__: Any) -> Any:
        raise ValueError("x_for is of one curve; fit a group by itself")

    def plot(self, ax: Any = None, points: int = 400, level: float = 0.95) -> Any:
        """Draws data, curve and confidence band of each group by matplotlib, and returns the axes."""
        import matplotlib.pyplot as plt

        axes = plt.gca() if ax is None else ax
        labels = np.asarray([str(label) for label in self._specification.groups])
        for group in self.groups:
            x, y = rows_of(self._specification.x, labels == group), self._specification.y[labels == group]
            if not isinstance(x, np.ndarray) or x.ndim != 1:
                raise ValueError("a curve of several predictors is not drawn")
            line = axes.plot(x, y, ".", label=group)[0]
            grid = np.linspace(x.min(), x.max(), points)
            band = self.confidence_band(grid, level, group)
            axes.plot(grid, band.value, color=line.get_color())
            axes.fill_between(grid, band.low, band.high, alpha=0.3, color=line.get_color())
        axes.legend()
        return axes


def rows_of(x: Any, is_chosen: np.ndarray) -> Any:
    """Some of the rows of predictors."""
    if isinstance(x, np.ndarray):
        return np.ascontiguousarray(x[..., is_chosen])
    if isinstance(x, Mapping):
        return {name: np.asarray(column)[is_chosen] for name, column in x.items()}
    return x[is_chosen]


def fit_groups(specification: Specification) -> GroupFit:
    """Fits groups together."""
    labels = np.asarray([str(label) for label in np.ravel(specification.groups)])
    rows = specification.y.size
    if labels.size != rows:
        raise ValueError(f"groups has {labels.size} labels, but y has {rows} values")
    options = specification.options
    shared = strings(specification.shared or [], "shared")
    of_all = {name: options[name] for name in ("loss", "f_scale") if options[name] is not None}
    if not options["retry"]:
        of_all["retry"] = False
    # Twice at most: by programs, and by calls where a program has other values than its function where the fit ends.
    for is_traced in (True, False):
        sets, models = [], {}
        for group in dict.fromkeys(labels.tolist()):
            is_here = labels == group
            own = {name: value for name, value in options.items() if name not in ("loss", "f_scale")}
            for name in _BY_ROW:
                if own[name] is not None and np.ndim(own[name]):
                    value = np.asarray(own[name])
                    if value.ndim == 2 and name == "sigma":
                        raise ValueError("sigma of groups is one for each row, and no covariance")
                    own[name] = value[..., is_here]
            own |= {"loss": None, "f_scale": None}
            part = specification.part(rows_of(specification.x, is_here), specification.y[is_here], own)
            model, matrix, start, prepared = part.prepared(is_traced)
            sets.append((group, model.engine, matrix, part.y, start, prepared))
            models[group] = model
        fitted = _engine.global_fit(sets, shared, of_all, specification.n_jobs)
        result = GroupFit(specification, models, fitted, shared, max(one[2].shape[1] for one in sets))
        if all(model.check_end(result._own(group)) for group, model in models.items()):
            break
    return result
