"""The backend as torch.compile knows it: name, options, threads, copies, forks."""

import copy
import multiprocessing
import threading
import tomllib
from importlib.metadata import EntryPoint

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402
from torch._dynamo.exc import BackendCompilerFailed  # noqa: E402

from course_lib.plugins.torch import course, report  # noqa: E402

X = torch.linspace(-1, 1, 12).reshape(3, 4)


@pytest.fixture
def model():
    torch.manual_seed(1)
    return nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)).eval()


def check(run, model):
    with torch.no_grad():
        torch.testing.assert_close(run(X), model(X), rtol=1e-5, atol=1e-6)


def test_the_entry_point_names_the_backend(root):
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    group = "torch_dynamo_backends"
    entries = [EntryPoint(k, v, group) for k, v in project["entry-points"][group].items()]
    assert [(entry.name, entry.load()) for entry in entries] == [("course", course)]


def test_a_whole_graph(ours, model):
    check(ours(model, fullgraph=True), model)
    (graph,) = report().graphs
    assert graph.kernels and not graph.left


class Own(nn.Module):
    """Dynamo asks no backend for a module of torch's own whose `compile` was called."""

    def __init__(self, layers: nn.Module):
        super().__init__()
        self.layers = layers

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layers(x)


def test_compile_as_a_method(ours, model):
    own = Own(copy.deepcopy(model))
    own.compile(backend="course")
    check(own, model)
    (graph,) = report().graphs
    assert graph.kernels and not graph.left


def test_options(ours, model):
    passes = []
    check(ours(model, options={"target": "interpreter", "passes": passes, "threads": 2}), model)
    (kernels,) = report().graphs[0].kernels.values()
    assert all(kernel.name.startswith("numpy_") for kernel in kernels)
    assert "numpy_matmul" in {kernel.name for kernel in kernels}


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"mode": "max-autotune"}, "no mode 'max-autotune', only 'default'"),
        ({"options": {"thread": 1}}, "no option 'thread'; it has threads, passes, target, weights"),
        ({"options": {"threads": 0}}, "threads must be a whole number from 1 on, got 0"),
        ({"options": {"threads": True}}, "threads must be a whole number from 1 on, got True"),
        ({"options": {"target": "gpu"}}, "target must be one of cpu, interpreter, got 'gpu'"),
        ({"options": {"weights": 1}}, "weights must be one of constants, frozen, inputs, got 1"),
        ({"options": {"passes": "fuse"}}, "passes must be a list of graph passes, got 'fuse'"),
    ],
)
def test_what_there_is_not_is_refused_in_words(ours, model, settings, words):
    with torch.no_grad(), pytest.raises(BackendCompilerFailed, match=words):
        ours(model, **settings)(X)


def test_reset_forgets(ours, model):
    check(ours(model), model)
    assert report().graphs
    torch.compiler.reset()
    assert not report().graphs
    check(ours(model), model)


def test_a_deep_copy_is_compiled_for_itself(ours, model):
    run = ours(model)
    check(run, model)
    other = copy.deepcopy(run)
    with torch.no_grad():
        other._orig_mod[0].weight.add_(1)
    check(other, other._orig_mod)
    check(run, model)


def test_two_threads_at_once(ours, model):
    run, wrong = ours(model), []
    inputs = [X + k for k in range(4)]
    with torch.no_grad():
        want = [model(x) for x in inputs]

    def work(k):
        with torch.no_grad():
            for _ in range(200):
                if not torch.allclose(run(inputs[k]), want[k], rtol=1e-5, atol=1e-6):
                    wrong.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert not wrong
    assert not report().failed


def test_a_function_that_calls_itself(ours):
    def power(x, n):
        return x if n == 0 else power(x * 1.5, n - 1) + 1

    with torch.no_grad():
        torch.testing.assert_close(ours(power)(X, 3), power(X, 3))


def _in_child(run, queue):
    with torch.no_grad():
        queue.put(run(X * 2).numpy())


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_process_goes_on_with_the_compiled_code(ours, model):
    run = ours(model, options={"threads": 2})
    check(run, model)
    context = multiprocessing.get_context("fork")
    queue = context.SimpleQueue()
    child = context.Process(target=_in_child, args=(run, queue))
    child.start()
    got = queue.get()
    child.join()
    with torch.no_grad():
        torch.testing.assert_close(torch.from_numpy(got), model(X * 2), rtol=1e-5, atol=1e-6)
