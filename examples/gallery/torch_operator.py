# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Test a CUDA operator of PyTorch, forward and backward, on a machine without a GPU.

The operator is what a PyTorch extension ships: two kernels, registered with ``torch.library``. On a
GPU they work on PyTorch's tensors in place. Without one, tensors on the CPU are copied to the
emulated device and back: the same kernels run under ``gradcheck`` and ``opcheck`` in CI.

python torch_operator.py [PICTURE.svg]
"""

import functools
import sys

import numpy as np
import torch

import cuprum

SOURCE = r"""
// softplus(x) = log(1 + exp(x)), without overflow.
template <typename T>
__global__ void softplus(const T* in, T* out, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) out[i] = max(in[i], T(0)) + log1p(exp(-abs(in[i])));
}

template <typename T>
__global__ void softplus_backward(const T* in, const T* gradient, T* out, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) out[i] = gradient[i] / (T(1) + exp(-in[i]));
}
"""
TYPES = {torch.float32: "float", torch.float64: "double"}
BLOCK = 256


@functools.cache
def kernel(name, dtype):
    """Return the kernel for a type of elements, compiled once."""
    expression = f"{name}<{TYPES[dtype]}>"
    program = cuprum.Program(
        SOURCE, "c++", cuprum.ProgramOptions(name="softplus.cu", lineinfo=True)
    )
    return program.compile("ptx", name_expressions=(expression,)).get_kernel(expression)


def run(name, *inputs):
    """Run a kernel that reads some tensors and writes one of the same shape."""
    inputs = [each.contiguous() for each in inputs]
    out = torch.empty_like(inputs[0])
    count = out.numel()
    if count == 0:
        return out
    config = cuprum.LaunchConfig(grid=(count + BLOCK - 1) // BLOCK, block=BLOCK)
    if out.is_cuda:
        # On a GPU: PyTorch's memory and PyTorch's stream.
        device = cuprum.Device(out.device.index)
        device.set_current()  # PyTorch runs backward functions on a thread of its own
        stream = device.create_stream(torch.cuda.current_stream(out.device))
        arguments = [each.data_ptr() for each in (*inputs, out)]
        cuprum.launch(stream, config, kernel(name, out.dtype), *arguments, np.int32(count))
        return out
    device = cuprum.Device(0)
    stream = device.create_stream()
    buffers = [device.allocate(each.nbytes, stream=stream) for each in (*inputs, out)]
    for buffer, tensor in zip(buffers, inputs, strict=False):
        buffer.copy_from_host(tensor.detach().numpy(), stream=stream)
    cuprum.launch(stream, config, kernel(name, out.dtype), *buffers, np.int32(count))
    buffers[-1].copy_to_host(out.numpy(), stream=stream)
    stream.sync()
    return out


@torch.library.custom_op("gallery::softplus", mutates_args=())
def softplus(x: torch.Tensor) -> torch.Tensor:
    return run("softplus", x)


@torch.library.custom_op("gallery::softplus_backward", mutates_args=())
def softplus_backward(x: torch.Tensor, gradient: torch.Tensor) -> torch.Tensor:
    return run("softplus_backward", x, gradient)


@softplus.register_fake
def _(x):
    return torch.empty_like(x, memory_format=torch.contiguous_format)


@softplus_backward.register_fake
def _(x, gradient):  # noqa: ARG001
    return torch.empty_like(x, memory_format=torch.contiguous_format)


def keep_input(ctx, inputs, output):  # noqa: ARG001
    ctx.save_for_backward(*inputs)


def differentiate(ctx, gradient):
    return softplus_backward(ctx.saved_tensors[0], gradient)


softplus.register_autograd(differentiate, setup_context=keep_input)


def main():
    cuprum.Device(0).set_current()
    torch.manual_seed(1)
    place = "cpu" if cuprum.Device(0).is_emulated else "cuda"

    x = torch.linspace(-90, 90, 1001, device=place)
    torch.testing.assert_close(softplus(x), torch.nn.functional.softplus(x))
    print("forward: agrees with torch.nn.functional.softplus")

    points = torch.randn(5, 7, dtype=torch.float64, device=place, requires_grad=True)
    assert torch.autograd.gradcheck(softplus, (points,))
    print("backward: gradcheck agrees with finite differences")

    torch.library.opcheck(softplus, (points,))
    print("registration: opcheck finds nothing wrong")

    model = torch.nn.Linear(4, 1, dtype=torch.float64, device=place)
    data = torch.randn(64, 4, dtype=torch.float64, device=place)
    wanted = torch.nn.functional.softplus(data.sum(dim=1, keepdim=True))
    optimiser = torch.optim.Adam(model.parameters(), lr=0.1)
    losses = []
    for _ in range(40):
        optimiser.zero_grad()
        loss = (softplus(model(data)) - wanted).square().mean()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    print(f"training: the loss falls from {losses[0]:.3f} to {losses[-1]:.5f}")
    assert losses[-1] < losses[0] / 10
    print("ran on", cuprum.Device(0))

    if len(sys.argv) > 1:
        draw(sys.argv[1], losses)


def draw(path, losses):
    """Draw the loss of each step."""
    width, height, margin = 420, 220, 30
    top = max(losses)
    points = " ".join(
        f"{margin + index * (width - 2 * margin) / (len(losses) - 1):.1f},"
        f"{height - margin - loss * (height - 2 * margin) / top:.1f}"
        for index, loss in enumerate(losses)
    )
    with open(path, "w", encoding="utf-8") as file:
        file.write(
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
            f'width="{width}" height="{height}" font-family="sans-serif" font-size="12">\n'
            '<rect width="100%" height="100%" fill="#fff"/>\n'
            f'<path d="M{margin} {margin}V{height - margin}H{width - margin}" stroke="#999" '
            'fill="none"/>\n'
            f'<polyline points="{points}" fill="none" stroke="#2f7ed8" stroke-width="2"/>\n'
            f'<text x="{margin}" y="20">loss of a model with the operator, in {len(losses)} steps'
            "</text>\n"
            f'<text x="4" y="{margin + 4}">{top:.1f}</text>'
            f'<text x="12" y="{height - margin + 4}">0</text>\n</svg>\n'
        )


if __name__ == "__main__":
    main()
