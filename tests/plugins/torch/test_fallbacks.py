"""What our compiler lacks, PyTorch runs. The answer is eager's; the report says what and why."""

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

from course_lib.plugins.torch import report  # noqa: E402


class Spectrum(nn.Module):
    """An op without a rule, between two that have one."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)

    def forward(self, x):
        y = self.fc(x).relu()
        z = torch.fft.rfft(y)
        return z.abs() + z.real.sum() * 2


def test_ops_around_an_unsupported_one_are_compiled(same):
    same(Spectrum().eval(), torch.randn(3, 8))
    told = report()
    assert len(told.graphs) == 1
    assert told.graphs[0].regions == 2
    assert {left.op for left in told.left} >= {"aten._fft_r2c.default"}
    (fft,) = [left for left in told.left if "fft" in left.op]
    assert "no rule" in fft.why and "test_fallbacks.py:" in fft.where
    assert "left to PyTorch: aten._fft_r2c.default" in str(told)


class Broken(nn.Module):
    """Control flow that depends on data: two graphs."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(4, 4), nn.Linear(4, 2)

    def forward(self, x):
        y = self.first(x).tanh()
        if y.sum() > 1e6:
            return y
        return self.second(y)


def test_a_graph_break_gives_two_graphs(same):
    same(Broken().eval(), torch.randn(2, 4))
    told = report()
    assert len(told.graphs) == 2
    assert told.compiled == told.ops > 3
    origins = [{p for ks in g.kernels.values() for k in ks for p in k.origin} for g in told.graphs]
    assert "first" in origins[0] and origins[1] == {"second"}


X = torch.arange(24.0).reshape(4, 6)
IMAGE = torch.linspace(-1, 1, 2 * 3 * 4 * 4).reshape(2, 3, 4, 4)
LAST = IMAGE.to(memory_format=torch.channels_last)

WHOLE = {  # no op is left to PyTorch
    "non-contiguous": (lambda x: x.relu() + 1, [X.t()]),
    "expanded": (lambda x: x * 2, [torch.arange(4.0).expand(3, 4)]),
    "offset": (lambda x: x * 2, [X[1:, 1:]]),
    "inputs that alias": (lambda x, y: x + y, [X[:2], X[1:3]]),
    "the same input twice": (lambda x, y: x * y, [X, X]),
    "integers": (lambda x: x // 2 + 1, [torch.arange(7)]),
    "a number among the results": (lambda x: (x + 1, 3, None), [X]),
    "shapes among the results": (lambda x: (x + 1, x.shape[0], x.shape), [X]),
    "the same result twice": (lambda x: (y := x + 1, y), [X]),
    "a result and a view of it": (lambda x: (y := x + 1, y[1:], y.t()), [X]),
    "an input as it is": (lambda x: (x, x + 1), [X]),
    "a view of an input": (lambda x: (x[1:] * 2, x.t()), [X]),
    "a constant": (lambda x: (x + 1, torch.ones(2, 3)), [X]),
    "no size at all": (lambda x: x.sum() * 2, [X]),
    "size 0": (lambda x: x * 2 + 1, [torch.empty(0, 3)]),
    "a dict": (lambda x: {"a": x + 1, "b": [x.exp()]}, [X / 24]),
    "channels last in": (lambda x: torch.relu(x) * 2, [LAST]),
    "channels last, pooled": (lambda x: nn.functional.adaptive_avg_pool2d(x + 1, 1), [LAST]),
    "a negated view": (lambda x: x * 2, [torch.tensor([1 + 2j, 3 - 4j]).conj().imag]),
    "a transposed result": (lambda x: (x * 2).transpose(0, 1), [X]),
}

PARTS = {  # something is
    "complex": (lambda x: x * torch.view_as_complex(x.reshape(2, 6, 2)).abs().sum(), [X]),
    "bfloat16": (lambda x: (x.bfloat16() * 3).float() + 1, [X]),
    "sparse": (lambda x: torch.sparse.mm(x.to_sparse(), x.t()) + 1, [X]),
    "a size that depends on data": (lambda x: x[x > 3] * 2, [X]),
    "meta": (lambda x: (x + 1, torch.empty(2, device="meta") + 1), [X]),
    "not of numpy": (lambda x: torch.special.bessel_j0(x) + 1, [X]),
}


def eager_and_ours(ours, function, inputs):
    """Both results, on inputs of their own; and the inputs afterwards."""
    runs = []
    for run in (function, ours(function)):
        own = [x.detach().clone(memory_format=torch.preserve_format) if x.is_contiguous() else x
               for x in inputs]  # fmt: skip
        with torch.no_grad():
            runs.append((run(*own), own))
    return runs


@pytest.mark.parametrize("name", [*WHOLE, *PARTS])
def test_the_answer_is_that_of_eager(ours, name):
    function, inputs = {**WHOLE, **PARTS}[name]
    (want, _), (got, _) = eager_and_ours(ours, function, inputs)
    for g, w in zip(*map(torch.utils._pytree.tree_leaves, (got, want)), strict=True):
        if isinstance(w, torch.Tensor) and w.device.type == "cpu":
            torch.testing.assert_close(g, w, rtol=1e-5, atol=1e-5, check_stride=w.numel() > 0)
        else:
            assert type(g) is type(w)
    assert not report().failed
    if name in WHOLE:
        assert not report().left


def test_a_result_that_is_an_input_is_the_same_object(ours):
    with torch.no_grad():
        y, _ = ours(lambda x: (x, x + 1))(X)
    assert y is X


def test_a_view_of_an_input_shares_its_memory(ours):
    x = X.clone()
    with torch.no_grad():
        view, _ = ours(lambda x: (x[1:], x * 2))(x)
    assert view.data_ptr() == x[1:].data_ptr()


def test_two_results_that_are_equal_have_memory_of_their_own(ours):
    with torch.no_grad():
        y, z = ours(lambda x: (x + 1, (x + 1).clone()))(X)
        y.zero_()
    assert z.sum() > 0


class Mutating(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("seen", torch.zeros(3))

    def forward(self, x, y):
        x.mul_(2)
        y[0] = x[1]
        self.seen += x.sum(0)
        return x + y + self.seen


def test_what_a_model_changes_in_place_is_visible_outside(ours):
    (model, other), pairs = (Mutating(), Mutating()), []
    run = ours(model)
    for call in (other, run):
        x, y = torch.ones(2, 3), torch.zeros(2, 3)
        with torch.no_grad():
            pairs.append([call(x, y), call(x, y), x, y])
    torch.testing.assert_close(pairs[1], pairs[0])
    torch.testing.assert_close(model.seen, other.seen)


def test_mutation_of_one_of_two_inputs_that_overlap(ours):
    def run(x, y):
        x.add_(1)
        return x + y

    base, own = torch.arange(6.0), torch.arange(6.0)
    with torch.no_grad():
        want, got = run(base[:4], base[2:]), ours(run)(own[:4], own[2:])
    torch.testing.assert_close((got, own), (want, base))


def test_where_tensors_are_made_by_default_changes_nothing(ours):
    run = ours(lambda x: (x * 2, (x + 1).t()))
    with torch.no_grad(), torch.device("meta"):
        double, more = run(X)
    torch.testing.assert_close((double, more), (X * 2, (X + 1).t()))


def test_random_numbers_are_those_of_pytorch(ours):
    def run(x):
        return nn.functional.dropout(x * 2, 0.5, training=True) + torch.rand(4, 6)

    compiled, x = ours(run), X + 1
    with torch.no_grad():
        torch.manual_seed(3)
        want = [run(x), run(x)]
        torch.manual_seed(3)
        got = [compiled(x), compiled(x)]
    torch.testing.assert_close(got, want)
    assert any("bernoulli" in left.op or "rand" in left.op for left in report().left)


def test_autocast_is_left_to_pytorch(ours):
    model = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 4)).eval()
    x = torch.randn(3, 8)
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        want, got = model(x), ours(model)(x)
    assert got.dtype == want.dtype == torch.bfloat16
    torch.testing.assert_close(got, want)
    assert any("bfloat16" in left.why for left in report().left)


def test_an_error_of_ours_stops_no_program(ours, monkeypatch):
    def refuse(*_, **__):
        raise RuntimeError("no machine code today")

    monkeypatch.setattr("course_lib.plugins.torch.part.compile", refuse)
    model = nn.Linear(4, 2)
    x = torch.randn(3, 4)
    with torch.no_grad():
        torch.testing.assert_close(ours(model)(x), model(x))
    assert report().failed == ["RuntimeError: no machine code today"]


def test_an_error_while_a_graph_is_divided_stops_no_program(ours, monkeypatch):
    monkeypatch.setattr("course_lib.plugins.torch.backend.divide", None)
    model = nn.Linear(4, 2)
    x = torch.randn(3, 4)
    with torch.no_grad():
        torch.testing.assert_close(ours(model)(x), model(x))
    assert "not callable" in report().failed[0]


def test_a_wrong_index_is_the_error_of_eager(ours):
    model = nn.Embedding(5, 3)
    run = ours(model)
    good, bad = torch.tensor([0, 4, 2]), torch.tensor([0, 9, 2])
    with torch.no_grad():
        torch.testing.assert_close(run(good), model(good))
        with pytest.raises(IndexError) as eager:
            model(bad)
        with pytest.raises(IndexError) as mine:
            run(bad)
    assert str(mine.value) == str(eager.value)
    assert not report().failed


def test_wrong_sizes_are_refused_by_pytorch(ours):
    with torch.no_grad(), pytest.raises(RuntimeError, match="same reduction dim"):
        ours(nn.Linear(4, 2))(torch.randn(3, 5))
