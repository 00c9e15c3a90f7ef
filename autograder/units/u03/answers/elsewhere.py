"""What other compilers make of a softmax over f32[512,1024], recorded (unit 3, "In the wild").

Inductor is torch 2.13.0 on an x86-64 with AVX-512, one thread:

    run_and_get_code(torch.compile(lambda x: torch.softmax(x, -1)), torch.randn(512, 1024))

XLA is jax 0.10.2 on the same processor:

    jax.jit(lambda x: jax.nn.softmax(x, axis=-1)).lower(x).compile().as_text()

The texts are theirs, shortened. Inductor's lost its type casts, its bounds tests, the lambdas of
its reductions and the handling of NaN in its maximum; XLA's its layouts, its kinds of fusion and
its metadata. The two ynn_fusions are of kind kCustom: a library, YNNPACK, computes them. `inductor`
makes the first text anew, for any function; it needs a C++ compiler and up to a minute. Next room:
programs.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from math import prod
from typing import Any

INDUCTOR_SOFTMAX = """
kernel(const float* in_ptr0, float* out_ptr0, float* out_ptr1, float* out_ptr2)

    std::unique_ptr<float []> buf_local_buffer_data_0 = std::make_unique<float []>(1024);
    float* local_buffer_data_0 = buf_local_buffer_data_0.get();
    for (x0 = 0; x0 < 512; x0 += 1)
        tmp_acc0_vec = Vectorized<float>(-infinity);
        for (x1 = 0; x1 < 1024; x1 += 16)
            tmp0 = loadu(in_ptr0 + x1 + 1024*x0);
            tmp_acc0_vec = maximum(tmp_acc0_vec, tmp0);
        out_ptr0[x0] = vec_reduce_all(maximum, tmp_acc0_vec);

        tmp_acc0_vec = Vectorized<float>(0);
        for (x1 = 0; x1 < 1024; x1 += 16)
            tmp0 = loadu(in_ptr0 + x1 + 1024*x0);
            tmp4 = (tmp0 - Vectorized<float>(out_ptr0[x0])).exp();
            tmp4.store(local_buffer_data_0 + x1);
            tmp_acc0_vec = tmp_acc0_vec + tmp4;
        out_ptr1[x0] = vec_reduce_all(+, tmp_acc0_vec);

        for (x1 = 0; x1 < 1024; x1 += 16)
            tmp0 = loadu(local_buffer_data_0 + x1);
            tmp3 = tmp0 / Vectorized<float>(out_ptr1[x0]);
            tmp3.store(out_ptr2 + x1 + 1024*x0);
"""

XLA_SOFTMAX = """
fused_computation.1 (param_0: f32[512,1024]) -> f32[512,1024]
    reduce_max.0 = f32[512] reduce(param_0, -inf), dimensions={1}, to_apply=maximum
    sub.0 = f32[512,1024] broadcast(reduce_max.0), dimensions={0}
    sub.1 = f32[512,1024] subtract(param_0, sub.0)
    ROOT exp.0 = f32[512,1024] exponential(sub.1)

fused_computation (param_0: f32[512,1024]) -> f32[512]
    ROOT reduce_sum.0 = f32[512] reduce(param_0, 0), dimensions={1}, to_apply=add

fused_computation.3 (param_0: f32[512]) -> f32[512]
    ROOT divide.1 = f32[512] divide(broadcast(1), param_0)

fused_computation.2 (param_0: f32[512,1024], param_1: f32[512]) -> f32[512,1024]
    broadcast.3 = f32[512,1024] broadcast(param_1), dimensions={0}
    ROOT multiply.1 = f32[512,1024] multiply(param_0, broadcast.3)

ENTRY main.3 (x.1: f32[512,1024]) -> f32[512,1024]
    ynn_fusion.1 = f32[512,1024] fusion(x.1), calls=fused_computation.1
    ynn_fusion = f32[512] fusion(ynn_fusion.1), calls=fused_computation
    broadcast_divide_fusion = f32[512] fusion(ynn_fusion), calls=fused_computation.3
    ROOT broadcast_multiply_fusion = f32[512,1024] fusion(ynn_fusion.1, broadcast_divide_fusion), calls=fused_computation.2
"""  # noqa: E501 (the printed form of an instruction is one line)

FLOAT = 4  # bytes


def recorded_costs() -> dict[str, tuple[int, float]]:
    """Kernels, and the MB that they read and write, by the texts above."""
    row, image = 512 * FLOAT, 512 * 1024 * FLOAT
    inductor = image + 2 * row + image  # reads in_ptr0, writes out_ptr0, out_ptr1 and out_ptr2
    return {
        "Inductor, torch 2.13": (INDUCTOR_SOFTMAX.count("kernel("), inductor / 1e6),
        "XLA, jax 0.10.2": (XLA_SOFTMAX.count("fusion("), _moved(XLA_SOFTMAX) / 1e6),
    }


def _moved(hlo: str) -> int:
    """What the fusions of the entry computation read and write, each operand once."""
    entry = hlo[hlo.index("ENTRY") :]
    typed = re.findall(r"([\w.]+)(?::| =) f32\[([\d,]+)\]", entry)
    sizes = {name: _bytes(dims) for name, dims in typed}
    return sum(
        sizes[result] + sum(sizes[operand] for operand in operands.split(", "))
        for result, operands in re.findall(r"([\w.]+) = \S+ fusion\(([^)]*)\)", entry)
    )


def _bytes(dims: str) -> int:
    return FLOAT * prod(map(int, dims.split(",")))


def inductor(function: Callable[..., Any], *inputs: Any) -> str:
    """The code that torch.compile generates for a function of tensors, as one text."""
    import torch
    from torch._inductor.utils import run_and_get_code

    _, texts = run_and_get_code(torch.compile(function), *inputs)
    return "\n".join(texts)
