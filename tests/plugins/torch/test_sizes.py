"""Sizes that change: each set of sizes is compiled once, and a bounded number of them is kept."""

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

from course_lib.plugins.torch import report  # noqa: E402
from course_lib.plugins.torch.part import CODES  # noqa: E402


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 4)

    def forward(self, x):
        n = x.shape[0]
        y = self.fc(x).relu().reshape(n * 2, 2)
        return y / n + torch.zeros(n * 2, 1), n * 2


def check(run, model, x):
    with torch.no_grad():
        torch.testing.assert_close(run(x), model(x), rtol=1e-5, atol=1e-6)


def test_batches_of_several_sizes(ours):
    model = Net().eval()
    run = ours(model)
    for size in (1, 2, 5, 7, 2, 5, 1, 0):
        check(run, model, torch.randn(size, 6))
    told = report()
    assert not told.left and not told.failed
    assert len(told.graphs) <= 4  # 1 and 0 are numbers for PyTorch, 2 is one until 5 comes
    assert sum(graph.sizes for graph in told.graphs) <= 6


def test_a_size_that_is_marked_dynamic(ours):
    model = Net().eval()
    run = ours(model, fullgraph=True)
    for size in (5, 7, 2, 5, 7):
        x = torch.randn(size, 6)
        torch._dynamo.mark_dynamic(x, 0)
        check(run, model, x)
    (graph,) = report().graphs
    assert graph.sizes == 3 and not report().left


def test_only_so_many_sizes_are_kept(ours):
    run = ours(lambda x: x * 2 + x.shape[0], dynamic=True, options={"target": "interpreter"})
    for size in [*range(2, CODES + 5), 2, CODES + 4]:
        check(run, lambda x: x * 2 + x.shape[0], torch.randn(size, 3))
    (graph,) = report().graphs
    assert graph.sizes == CODES + 4  # 2 was thrown away and came again, the largest was kept


def test_strides_follow_those_of_the_inputs(ours):
    run = ours(lambda x: x * 2, dynamic=True)
    for x in (torch.randn(3, 4), torch.randn(4, 3).t(), torch.randn(5, 2).t()):
        with torch.no_grad():
            assert run(x).stride() == (x * 2).stride()


def test_symbols_around_an_op_that_is_left_to_pytorch(ours):
    def run(x):
        n, m = x.shape
        y = torch.fft.rfft(x * 2).real.sum(-1)
        return y.reshape(n, 1).expand(n, m) + x.reshape(m, n).t() * (n + m)

    compiled = ours(run, dynamic=True)
    for shape in ((3, 4), (5, 2), (3, 4)):
        check(compiled, run, torch.randn(shape))
    told = report()
    assert len(told.graphs) == 1 and told.left and not told.failed


def test_gradients_with_symbols(ours):
    model, x = Net(), [torch.randn(n, 6) for n in (3, 5, 4)]
    run, grads = ours(model, dynamic=True), []
    for call in (model, run):
        model.zero_grad()  # which leaves the old gradients to us
        for each in x:
            call(each)[0].exp().sum().backward()
        grads.append([p.grad for p in model.parameters()])
    torch.testing.assert_close(grads[1], grads[0], rtol=1e-4, atol=1e-5)
    assert not report().failed
