"""Weights are constants of our code for as long as they stay as they are; in training, inputs."""

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402
from torch.nn.functional import mse_loss  # noqa: E402

from course_lib.plugins.torch import report  # noqa: E402
from course_lib.plugins.torch.part import REFOLDS  # noqa: E402

X = torch.linspace(-1, 1, 12).reshape(3, 4)


def net():
    torch.manual_seed(1)
    return nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))


def check(run, model, x=X):
    with torch.no_grad():
        torch.testing.assert_close(run(x), model(x), rtol=1e-5, atol=1e-6)


def step(model):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    model(X).sum().backward()
    optimizer.step()


def move(model):
    model[0].weight.data = torch.ones(8, 4)


def replace(model):
    model[0].weight = nn.Parameter(torch.ones(8, 4))


def half_and_back(model):
    model.half().float()


def load(model):
    model.load_state_dict({k: v + 1 for k, v in model.state_dict().items()})


def fill(model):
    with torch.no_grad():
        model[2].bias.fill_(7)


@pytest.mark.parametrize("change", [step, replace, move, half_and_back, load, fill])
def test_a_changed_weight_changes_the_answer(ours, change):
    model = net()
    run = ours(model)
    check(run, model)
    before = report().graphs[0].sizes
    check(run, model)
    assert report().graphs[0].sizes == before == 1
    change(model)
    check(run, model)
    check(run, model)
    assert len(report().graphs) == 1 and report().graphs[0].sizes == 2


def test_weights_are_folded(ours):
    model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU()).eval()
    check(ours(model), model, torch.randn(1, 3, 6, 6))
    (kernels,) = report().graphs[0].kernels.values()
    assert [k.name for k in kernels] == ["conv_add_relu_0"]


def test_a_weight_that_changes_again_and_again_becomes_an_input(ours):
    model = net()
    run = ours(model)
    for _ in range(REFOLDS + 4):
        check(run, model)
        fill(model)
    told = report().graphs[0]
    assert told.sizes == REFOLDS + 2
    assert told.notes == ["1 weight became inputs: they change in place again and again"]
    check(run, model)
    fill(model)
    check(run, model)
    assert told.sizes == REFOLDS + 2


def test_weights_may_be_inputs_from_the_beginning(ours):
    model = net()
    run = ours(model, options={"weights": "inputs"})
    check(run, model)
    model.get_parameter("0.weight").data.mul_(2)  # PyTorch does not count this change
    check(run, model)
    assert report().graphs[0].sizes == 1


def test_frozen_weights_are_not_looked_at_but_new_ones_are_seen(ours):
    model = net()
    run = ours(model, options={"weights": "frozen"})
    with torch.no_grad():
        before = model(X)
        check(run, model)
        model.get_parameter("2.bias").add_(1)
        torch.testing.assert_close(run(X), before, rtol=1e-5, atol=1e-6)
    replace(model)
    check(run, model)
    assert report().graphs[0].sizes == 2


def test_weights_made_in_inference_mode_count_no_changes_and_are_inputs(ours):
    with torch.inference_mode():
        model = net()
        run = ours(model)
        for _ in range(2):
            torch.testing.assert_close(run(X), model(X), rtol=1e-5, atol=1e-6)
            model.get_parameter("0.weight").mul_(3)


def test_a_buffer_that_the_model_writes_is_no_constant(ours):
    model, other = nn.BatchNorm1d(4), nn.BatchNorm1d(4)
    run = ours(model)
    with torch.no_grad():
        for _ in range(3):
            torch.testing.assert_close(run(X), other(X), rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(model.running_mean, other.running_mean)


class Small(nn.Module):
    """What training graphs are made of: convolution, batch norm, pooling, layer norm, attention."""

    def __init__(self):
        super().__init__()
        self.conv, self.bn = nn.Conv2d(2, 4, 3, padding=1), nn.BatchNorm2d(4)
        self.fc, self.norm = nn.Linear(16, 8), nn.LayerNorm(8)

    def forward(self, x):
        x = nn.functional.max_pool2d(self.bn(self.conv(x)).relu(), 2).flatten(1)
        x = nn.functional.gelu(self.norm(self.fc(x)))
        return nn.functional.softmax(x, -1) * x.sigmoid()


def test_gradients_are_those_of_eager(ours):
    models, losses = [], []
    for compiled in (False, True):
        torch.manual_seed(2)
        model, x = Small(), torch.randn(5, 2, 4, 4, requires_grad=True)
        run = ours(model) if compiled else model
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(2):
            optimizer.zero_grad()
            loss = mse_loss(run(x), torch.ones(5, 8))
            loss.backward()
            optimizer.step()
        models.append([*model.parameters(), *model.buffers(), x.grad])
        losses.append(loss)
    torch.testing.assert_close(losses[1], losses[0], rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(models[1], models[0], rtol=1e-4, atol=1e-5)
    told = report()
    assert [graph.kind for graph in told.graphs] == ["forward", "backward"]
    assert not told.failed
    assert "aten.convolution_backward.default" in {left.op for left in told.left}
    assert told.compiled > len(told.left)
    assert all(graph.sizes == graph.regions for graph in told.graphs)


def test_training_and_inference_of_one_model_are_two_graphs(ours):
    model = net()
    run = ours(model)
    for _ in range(2):
        check(run, model)
        run(X).sum().backward()
    assert [graph.kind for graph in report().graphs] == ["inference", "forward", "backward"]
