"""Several models of one class: PyTorch has one graph for them, and we have code for each."""

import gc
import weakref

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

from course_lib.plugins.torch import report  # noqa: E402
from course_lib.plugins.torch.part import CODES, PAYS, Part  # noqa: E402

X = torch.linspace(-1, 1, 12).reshape(3, 4)
FAST = {"target": "interpreter"}  # compiles in a millisecond; what is kept does not depend on it


def net(seed):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)).eval()


def check(run, model, x=X):
    with torch.no_grad():
        torch.testing.assert_close(run(x), model(x), rtol=1e-5, atol=1e-6)


@pytest.fixture
def part(monkeypatch):
    """The only region of what a test compiles, as a function: it is there after the first call."""
    made, begin = [], Part.__init__

    def keep(self, *args):
        begin(self, *args)
        made.append(weakref.ref(self))

    monkeypatch.setattr(Part, "__init__", keep)

    def only():
        (own,) = made
        return own()

    return only


def several(ours, count, **options):
    models = [net(seed) for seed in range(count)]
    return [(ours(model, **options), model) for model in models]


def test_two_models_in_turns_have_code_of_their_own(ours, part):
    pairs = several(ours, 2)
    for _ in range(5):
        for run, model in pairs:
            check(run, model)
    (graph,) = report().graphs
    assert graph.sizes == 2 and not graph.notes
    assert [len(code.run.run.graph.inputs) for code in part().codes.values()] == [1, 1]  # x alone


def test_each_of_two_models_may_change_and_the_other_is_not_compiled_again(ours):
    pairs = several(ours, 2)
    for run, model in pairs:
        check(run, model)
    with torch.no_grad():
        pairs[0][1].get_parameter("0.weight").mul_(2)
    for _ in range(2):
        for run, model in pairs:
            check(run, model)
    assert report().graphs[0].sizes == 3


def test_the_code_of_a_model_that_is_no_more_goes(ours, part):
    pairs = several(ours, 2)
    for run, model in pairs:
        check(run, model)
    codes = [weakref.ref(code) for code in part().codes.values()]
    memory = weakref.ref(pairs[1][1])
    del run, model, pairs[1]
    gc.collect()
    assert memory() is None
    assert [code() is None for code in codes] == [False, True]
    assert len(part().codes) == 1
    check(*pairs[0])
    assert report().graphs[0].sizes == 2


def test_models_that_come_and_go_leave_nothing(ours, part):
    (run, model), *_ = several(ours, 1, options=FAST)
    check(run, model)
    for _ in range(3):
        (other,) = several(ours, 1, options=FAST)
        check(*other)
        del other
        gc.collect()
        assert len(part().codes) == 1
    check(run, model)
    assert report().graphs[0].sizes == 4


def test_the_model_that_was_not_called_for_longest_goes(ours, part):
    pairs = several(ours, CODES + 1, options=FAST)
    with torch.no_grad():
        for _ in range(PAYS):
            for run, _model in pairs[:CODES]:
                run(X)
    check(*pairs[0])
    check(*pairs[CODES])  # takes the place of number 1
    assert len(part().codes) == CODES
    (graph,) = report().graphs
    check(*pairs[0])
    assert graph.sizes == CODES + 1
    check(*pairs[1])
    assert graph.sizes == CODES + 2 and not graph.notes


def test_too_many_models_in_turns_share_code_that_reads_their_weights(ours, part):
    pairs = several(ours, CODES + 1, options=FAST)
    for _ in range(3):
        for run, model in pairs:
            check(run, model)
    (graph,) = report().graphs
    assert len(part().codes) == 1 and graph.sizes == CODES + 1
    why = f"4 weights became inputs: {CODES} other sets came within {CODES} calls"
    assert graph.notes == [why] and why in str(report())


def test_a_weight_that_is_replaced_in_each_step_becomes_an_input(ours, part):
    ((run, model),) = several(ours, 1, options=FAST)
    for step in range(CODES + 4):
        check(run, model)
        model[0].weight = nn.Parameter(torch.full((8, 4), float(step)))
    assert report().graphs[0].sizes == CODES + 1
    assert len(part().codes) == 1


def test_models_in_turns_without_guards_on_modules(ours):
    unguarded = torch.compiler.skip_guard_on_all_nn_modules_unsafe
    models = [net(seed) for seed in range(2)]
    pairs = [(ours(model, options={"guard_filter_fn": unguarded}), model) for model in models]
    for k in range(4):
        for run, model in pairs:
            check(run, model)
        if k == 1:
            models[1][0].weight = nn.Parameter(torch.ones(8, 4))
        if k == 2:
            with torch.no_grad():
                models[0].get_parameter("2.bias").add_(1)
    (graph,) = report().graphs
    assert graph.sizes == 4 and not graph.notes


def test_sizes_and_models_together(ours):
    pairs = [(ours(model, dynamic=True), model) for model in map(net, range(2))]
    for _ in range(2):
        for rows in (2, 3):
            for run, model in pairs:
                check(run, model, X[:rows])
    (graph,) = report().graphs
    assert graph.sizes == 4
    with torch.no_grad():
        pairs[0][1].get_parameter("2.bias").add_(1)
    for run, model in pairs:
        for rows in (2, 3):
            check(run, model, X[:rows])
    assert graph.sizes == 6 and not graph.notes  # one change is one, however many sizes there are
