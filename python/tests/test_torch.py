"""The optimizer of PyTorch."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from marquardt.torch import LevenbergMarquardt  # noqa: E402


def problem(rows: int = 512):
    torch.manual_seed(0)
    x = torch.rand(rows, 2) * 2 - 1
    y = torch.sin(3 * x[:, :1]) + 0.3 * x[:, 1:] ** 2
    model = torch.nn.Sequential(torch.nn.Linear(2, 12), torch.nn.Tanh(), torch.nn.Linear(12, 1))
    return model, x, y


def error(model, x, y) -> float:
    with torch.no_grad():
        return float(torch.mean((model(x) - y) ** 2))


@pytest.mark.parametrize("rows", [256, 16], ids=["primal", "dual"])
@pytest.mark.parametrize("by_samples", [False, True])
def test_it_learns(rows: int, by_samples: bool) -> None:
    model, x, y = problem()
    optimizer = LevenbergMarquardt(model.parameters())
    before = error(model, x, y)
    for _ in range(20):
        for first in range(0, len(x), rows):
            a, b = x[first : first + rows], y[first : first + rows]
            loss = optimizer.step_on_batch(model, a, b) if by_samples else optimizer.step(lambda a=a, b=b: model(a) - b)
            assert loss.ndim == 0 and optimizer.last_step["loss_after"] <= optimizer.last_step["loss"]
    assert error(model, x, y) < 0.02 * before


def test_both_ways_make_the_same_step() -> None:
    ends = []
    for by_samples in (False, True):
        model, x, y = problem()
        model = model.double()
        x, y = x.double(), y.double()
        optimizer = LevenbergMarquardt(model.parameters())
        if by_samples:
            optimizer.step_on_batch(model, x, y)
        else:
            optimizer.step(lambda model=model, x=x, y=y: model(x) - y)
        ends.append(torch.cat([one.detach().reshape(-1) for one in model.parameters()]).numpy())
    np.testing.assert_allclose(ends[0], ends[1], rtol=1e-8)


def test_frozen_parameters_stay_and_states_go_on() -> None:
    model, x, y = problem()
    frozen = model[0].weight.detach().clone()
    model[0].weight.requires_grad_(False)
    optimizer = LevenbergMarquardt(model.parameters(), lr=0.5)
    optimizer.step(lambda: model(x) - y)
    assert (model[0].weight == frozen).all()
    other = LevenbergMarquardt(model.parameters())
    other.load_state_dict(optimizer.state_dict())
    assert other.param_groups[0]["lr"] == 0.5 and other.state_dict()["solver"] == optimizer.state_dict()["solver"]


def test_schedulers_and_files_of_states_work(tmp_path) -> None:
    model, x, y = problem()
    optimizer = LevenbergMarquardt(model.parameters(), momentum=0.5)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2, 0.5)
    for _ in range(4):
        optimizer.step(lambda: model(x) - y)
        scheduler.step()
    assert optimizer.param_groups[0]["lr"] == 0.25
    torch.save(optimizer.state_dict(), tmp_path / "state.pt")
    other = LevenbergMarquardt(model.parameters())
    other.load_state_dict(torch.load(tmp_path / "state.pt"))
    start = [one.detach().clone() for one in model.parameters()]
    optimizer.step(lambda: model(x) - y)
    with torch.no_grad():
        for one, value in zip(model.parameters(), start, strict=True):
            one.copy_(value)
    other.step(lambda: model(x) - y)
    assert other.last_step == optimizer.last_step


def test_fewer_steps_than_adam() -> None:
    ends = []
    for is_ours in (True, False):
        model, x, y = problem()
        optimizer = LevenbergMarquardt(model.parameters()) if is_ours else torch.optim.Adam(model.parameters(), 0.01)
        for _ in range(30 if is_ours else 300):
            if is_ours:
                optimizer.step_on_batch(model, x, y)
                continue
            optimizer.zero_grad()
            torch.mean((model(x) - y) ** 2).backward()
            optimizer.step()
        ends.append(error(model, x, y))
    assert ends[0] < 0.1 * ends[1]


def test_an_exception_leaves_the_parameters() -> None:
    model, x, y = problem()
    before = [one.detach().clone() for one in model.parameters()]
    calls = 0

    def interrupted():
        nonlocal calls
        calls += 1
        if calls == 2:
            raise KeyboardInterrupt
        return model(x) - y

    with pytest.raises(KeyboardInterrupt):
        LevenbergMarquardt(model.parameters()).step(interrupted)
    assert all((one == old).all() for one, old in zip(model.parameters(), before, strict=True))


def test_wrong_input_is_named() -> None:
    model, x, y = problem()
    optimizer = LevenbergMarquardt(model.parameters())
    before = [one.detach().clone() for one in model.parameters()]
    with pytest.raises(ValueError, match="not their loss"):
        optimizer.step(lambda: torch.mean((model(x) - y) ** 2))
    with pytest.raises(TypeError, match="tensor of residuals"):
        optimizer.step(lambda: 1.0)
    with pytest.raises(ValueError, match="shapes of outputs and targets"):
        optimizer.step_on_batch(model, x, y[:, 0])
    with pytest.raises(ValueError, match="no residuals"):
        optimizer.step(lambda: model(x[:0]) - y[:0])
    with pytest.raises(ValueError, match="depend on no parameter"):
        optimizer.step(lambda: (model(x) - y).detach())
    with pytest.raises(ValueError, match="one group"):
        optimizer.add_param_group({"params": torch.nn.Linear(2, 1).parameters()})
    with pytest.raises(ValueError, match="one group"):
        LevenbergMarquardt([{"params": model[0].parameters()}, {"params": model[2].parameters()}])
    with pytest.raises(ValueError, match="residual 3 is NaN"):
        optimizer.step(lambda: torch.where(torch.arange(len(x))[:, None] == 3, torch.nan, model(x) - y))
    with pytest.raises(ValueError, match="no samples"):
        optimizer.step_on_batch(model, x[:0], y[:0])
    with pytest.raises(ValueError, match="lacks"):
        optimizer.step_on_batch(torch.nn.Linear(2, 1), x, y)
    with pytest.raises(ValueError, match="learning_rate"):
        LevenbergMarquardt(model.parameters(), lr=-1.0)
    assert all((one == old).all() for one, old in zip(model.parameters(), before, strict=True))
