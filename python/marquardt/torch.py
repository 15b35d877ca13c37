"""Levenberg-Marquardt as an optimizer of PyTorch.

`torch` 2.0 or later has to be installed; the package does not need it otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import torch

from . import _engine

#: Rows of the Jacobian that are computed at once.
CHUNK = 256


class LevenbergMarquardt(torch.optim.Optimizer):
    """Levenberg-Marquardt in the place of `torch.optim.Adam`: a damped Gauss-Newton step for each minibatch.

    The loss is the mean of the squared residuals. Steps are solved by the normal equations, or in the dual form where a minibatch has fewer
    residuals than there are parameters, in float64 on the processor. The damping follows the gain ratio; a step that does not lower the
    loss of its minibatch is tried again with more of it. The Jacobian is held in memory: residuals times parameters times 8 bytes.

    Parameters
    ----------
    params : iterable of torch.nn.Parameter
        One group. Parameters that need no gradient are not changed.
    lr : float
        Factor of the steps, above 0; a scheduler of PyTorch may change it.
    momentum : float
        Fraction of the last step that is added, below 1.
    weight_decay : float
    loss_damping : float
        Lower bound of the damping relative to the loss, for minibatches with fewer residuals than parameters.
    attempts : int
        Largest number of trials for each minibatch.

    Examples
    --------
    >>> optimizer = LevenbergMarquardt(model.parameters())  # doctest: +SKIP
    >>> for x, y in batches:  # doctest: +SKIP
    ...     loss = optimizer.step(lambda: model(x) - y)
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1.0,
        momentum: float = 0.0,
        weight_decay: float = 0.0,
        loss_damping: float = 0.1,
        attempts: int = 8,
    ) -> None:
        settings = {"lr": lr, "momentum": momentum, "weight_decay": weight_decay}
        super().__init__(params, settings | {"loss_damping": loss_damping, "attempts": attempts})
        self._parameters = [one for one in self.param_groups[0]["params"] if one.requires_grad]
        if not self._parameters:
            raise ValueError("params holds no parameter that requires a gradient")
        self._solver = _engine.MinibatchSolver(sum(one.numel() for one in self._parameters))
        self._apply_settings()
        #: Details of the last step: `loss`, `loss_after`, `applied`, `damping`, `gain_ratio`, `attempts`, `form`.
        self.last_step: dict[str, Any] = {}

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Refused after the first group: all parameters share one damping."""
        if self.param_groups:
            raise ValueError("LevenbergMarquardt takes one group of parameters")
        super().add_param_group(param_group)

    def step(self, closure: Callable[[], Any]) -> Any:  # type: ignore[override]
        """Makes a step on the residuals that `closure` returns, and returns the loss before it.

        The Jacobian is computed by batched reverse sweeps through the whole minibatch, one for each residual: `step_on_batch` takes less time
        where the residuals of a sample depend on this sample alone. The closure is called again for each trial, and has to return the same at
        the same parameters: no dropout, no new random numbers. It calls neither `zero_grad` nor `backward`.
        """

        def values() -> Any:
            residuals = closure()
            if not isinstance(residuals, torch.Tensor):
                raise TypeError(f"closure must return a tensor of residuals, not {type(residuals).__name__}")
            if residuals.ndim == 0:
                raise ValueError("closure must return the residuals, such as model(x) - y, not their loss")
            if residuals.numel() == 0:
                raise ValueError("closure returned no residuals")
            return residuals.reshape(-1)

        def linearize() -> tuple[Any, Any]:
            with torch.enable_grad():
                residuals = values()
                if not residuals.requires_grad:
                    raise ValueError("the residuals depend on no parameter that is optimised: are they detached?")
                return residuals.detach(), self._rows(residuals)

        return self._step(values, linearize)

    def step_on_batch(
        self,
        model: Any,
        inputs: Any,
        targets: Any,
        residuals: Callable[[Any, Any], Any] = torch.sub,
    ) -> Any:
        """Makes a step on the samples of a minibatch, and returns the loss before it.

        Parameters
        ----------
        model : torch.nn.Module
            Owner of the parameters. Outputs of a sample depend on this sample alone: no batch normalisation.
        inputs, targets : Tensor
            Samples along the first dimension.
        residuals : callable
            Residuals of the outputs and targets; `outputs - targets` by default.
        """
        names = {id(parameter): name for name, parameter in model.named_parameters()}
        try:
            own = {names[id(parameter)]: parameter for parameter in self._parameters}
        except KeyError:
            raise ValueError("model lacks some of the parameters that are optimised") from None
        if len(inputs) != len(targets):
            raise ValueError(f"inputs has {len(inputs)} samples, targets has {len(targets)}")
        if len(inputs) == 0:
            raise ValueError("inputs has no samples")

        def values() -> Any:
            return residuals(model(inputs), targets).reshape(-1)

        def of_sample(parameters: dict[str, Any], one: Any, target: Any) -> Any:
            outputs = torch.func.functional_call(model, parameters, (one.unsqueeze(0),))
            return residuals(outputs, target.unsqueeze(0)).reshape(-1)

        def linearize() -> tuple[Any, Any]:
            detached = {name: parameter.detach() for name, parameter in own.items()}
            of_samples = torch.func.vmap(torch.func.jacrev(of_sample), in_dims=(None, 0, 0))
            blocks = of_samples(detached, inputs, targets)
            # Each of shape (samples, residuals of a sample, *shape of the parameter).
            samples, of_each = next(iter(blocks.values())).shape[:2]
            rows = torch.cat([blocks[name].reshape(samples * of_each, -1) for name in own], dim=1)
            return values(), rows

        return self._step(values, linearize)

    def state_dict(self) -> dict[str, Any]:
        """State of the optimizer, with its damping."""
        return {**super().state_dict(), "solver": self._solver.state()}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restores a state."""
        rest = dict(state_dict)
        self._solver.restore(*rest.pop("solver"))
        super().load_state_dict(rest)

    def _apply_settings(self) -> None:
        group = self.param_groups[0]
        self._solver.set("learning_rate", float(group["lr"]))
        for name in ("momentum", "weight_decay", "loss_damping", "attempts"):
            self._solver.set(name, float(group[name]))

    def _step(self, values: Callable[[], Any], linearize: Callable[[], tuple[Any, Any]]) -> Any:
        self._apply_settings()
        with torch.no_grad():
            start = self._flat()
            first = linearize()
            count, rows = first[0].numel(), first[1].shape[0]
            if count != rows:
                raise ValueError(
                    f"{count} residuals of the minibatch, but {rows} of its samples: do shapes of outputs and targets differ?"
                )
            # Half of the sum of squares is then the mean of the squares.
            scale = (2.0 / count) ** 0.5

            def scaled(tensor: Any) -> np.ndarray:
                array: np.ndarray = tensor.detach().to("cpu", torch.float64).numpy()
                return array * scale

            def at(x: np.ndarray) -> np.ndarray:
                self._assign(x)
                return scaled(values())

            def with_rows(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
                self._assign(x)
                residuals, rows = first if np.array_equal(x, start) else linearize()
                return scaled(residuals), scaled(rows)

            end = start
            try:
                end, self.last_step = self._solver.step(start, count, at, with_rows)
            finally:
                self._assign(end)
        return first[0].new_tensor(self.last_step["loss"])

    def _flat(self) -> np.ndarray:
        flat = torch.cat([one.detach().reshape(-1).to("cpu", torch.float64) for one in self._parameters])
        array: np.ndarray = flat.numpy()
        return array

    def _assign(self, x: np.ndarray) -> None:
        first = 0
        for one in self._parameters:
            part = torch.from_numpy(x[first : first + one.numel()].copy())
            one.copy_(part.reshape(one.shape).to(one.device, one.dtype))
            first += one.numel()

    def _rows(self, residuals: Any) -> Any:
        """The Jacobian of residuals by the parameters, in chunks of rows."""
        count, chunks = residuals.numel(), []
        for first in range(0, count, CHUNK):
            rows = min(CHUNK, count - first)
            seeds = torch.zeros(rows, count, device=residuals.device, dtype=residuals.dtype)
            seeds[torch.arange(rows), torch.arange(first, first + rows)] = 1.0
            blocks = torch.autograd.grad(
                residuals, self._parameters, seeds, retain_graph=True, is_grads_batched=True, allow_unused=True
            )
            pairs = zip(blocks, self._parameters, strict=True)
            blocks = [
                seeds.new_zeros(rows, one.numel()) if block is None else block.reshape(rows, -1) for block, one in pairs
            ]
            chunks.append(torch.cat(blocks, dim=1))
        return torch.cat(chunks)
