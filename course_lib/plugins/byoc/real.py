"""A module of ours as one of the real TVM.

    real(package(), module)      the same bindings, made by tvm.relax.op and a BlockBuilder

Next room: `dense.py`.
"""

from __future__ import annotations

from typing import Any

from course_lib.plugins.byoc.tree import GenericConst, IRModule, Op, RelaxCall, TensorType


def real(tvm: Any, module: IRModule) -> Any:
    """`main` of a module that nothing has divided, in TVM."""
    relax, main = tvm.relax, module["main"]
    values: dict[Any, Any] = {}
    for param in main.params:
        assert isinstance(param.ty, TensorType)
        values[param] = relax.Var(param.name, relax.TensorType(param.ty.shape, param.ty.dtype))
    builder = relax.BlockBuilder()
    with builder.function("main", [values[p] for p in main.params]):
        with builder.dataflow():
            for binding in main.bindings:
                call = binding.value
                assert isinstance(call, RelaxCall) and isinstance(call.op, Op)
                operands = [relax.const(a.value.numpy()) if isinstance(a, GenericConst)
                            else values[a] for a in call.args]  # fmt: skip
                op = relax.op
                for part in call.op.name.split(".")[1:]:
                    op = getattr(op, part)
                value = op(*operands, **dict(call.attrs.pairs))
                last = main.results == (binding.var,)  # `emit_output` would bind it once more
                emit = builder.emit_output if last else builder.emit
                values[binding.var] = emit(value, name_hint=binding.var.name)
            output = values[main.results[0]]
            if len(main.results) > 1:
                output = builder.emit_output(relax.Tuple([values[r] for r in main.results]))
        builder.emit_func_output(output)
    return builder.get()
