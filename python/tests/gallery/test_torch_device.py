# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""PyTorch's cuda device on the emulated device. tools/test-torch runs this under `cuprum run`."""

import os
import subprocess
import sys

import pytest

if not os.environ.get("CUPRUM_TEST_TORCH"):
    pytest.skip("tools/test-torch runs these", allow_module_level=True)

import torch
import triton
import triton.language as tl
from torch import nn
from torch.nn import functional

MODULES = {
    "linear": (lambda: nn.Linear(5, 7), (4, 5)),
    "convolution": (lambda: nn.Conv2d(3, 4, 3), (2, 3, 8, 8)),
    "depthwise": (lambda: nn.Conv2d(4, 4, 3, groups=4), (2, 4, 8, 8)),
    "transposed": (lambda: nn.ConvTranspose2d(3, 4, 3), (2, 3, 8, 8)),
    "normalised": (lambda: nn.Sequential(nn.BatchNorm2d(3), nn.GELU()), (2, 3, 8, 8)),
    "rms_norm": (lambda: nn.RMSNorm(5), (4, 5)),
    "lstm": (lambda: nn.LSTM(5, 7, 2), (4, 3, 5)),
    "gru": (lambda: nn.GRU(5, 7), (4, 3, 5)),
    "transformer": (
        lambda: nn.TransformerEncoderLayer(8, 2, 16, 0.0, batch_first=True),
        (2, 3, 8),
    ),
}


def forward_and_backward(module, x):
    """Return the output, and the gradients of the input and of the parameters."""
    x = x.clone().requires_grad_()
    out = module(x)
    out = out[0] if isinstance(out, tuple) else out
    out.square().sum().backward()
    return [each.detach().cpu() for each in (out, x.grad, *(p.grad for p in module.parameters()))]


@pytest.mark.parametrize("name", MODULES)
def test_modules_give_what_they_give_on_the_cpu(name):
    make, shape = MODULES[name]
    torch.manual_seed(0)
    on_cpu, on_device = make(), make()
    on_device.load_state_dict(on_cpu.state_dict())
    x = torch.randn(shape)
    wanted = forward_and_backward(on_cpu, x)
    given = forward_and_backward(on_device.cuda(), x.cuda())
    torch.testing.assert_close(given, wanted, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("backend", ["FLASH_ATTENTION", "EFFICIENT_ATTENTION", "MATH"])
def test_attention_works_whatever_kernel_is_asked_for(backend):
    from torch.nn.attention import SDPBackend, sdpa_kernel

    q, k, v = (torch.randn(1, 2, 6, 8, device="cuda", requires_grad=True) for _ in range(3))
    with sdpa_kernel(getattr(SDPBackend, backend)):
        out = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
    out.sum().backward()
    wanted = functional.scaled_dot_product_attention(q.cpu(), k.cpu(), v.cpu(), is_causal=True)
    torch.testing.assert_close(out.cpu(), wanted)


def test_results_are_in_memory_of_the_device():
    before = torch.cuda.memory_allocated()
    x = torch.ones(1000, device="cuda") + 1
    assert torch.cuda.memory_allocated() - before >= x.nbytes
    del x
    assert torch.cuda.memory_allocated() == before


def test_views_share_memory():
    x = torch.arange(12.0, device="cuda").view(3, 4)
    x.t().add_(1)
    x[1:, ::2] = 7
    wanted = torch.arange(1.0, 13.0).view(3, 4)
    wanted[1:, ::2] = 7
    assert torch.equal(x.cpu(), wanted)


def test_out_gets_the_size_of_the_result():
    out = torch.empty(0, device="cuda")
    assert torch.add(torch.ones(2, 3, device="cuda"), 1, out=out) is out
    assert out.tolist() == [[2, 2, 2], [2, 2, 2]]


def test_lazy_conjugation_is_kept():
    x = torch.view_as_complex(torch.randn(3, 2, device="cuda"))
    assert x.conj().is_conj()
    torch.testing.assert_close((x.conj() * x).imag.cpu(), torch.zeros(3))
    assert torch.equal(x.conj().cpu().resolve_conj(), x.cpu().conj().resolve_conj())


def test_random_numbers_depend_on_seed_and_state():
    def draw():
        return torch.rand(8, device="cuda"), functional.dropout(torch.ones(64, device="cuda"))

    torch.cuda.manual_seed(3)
    first, state, second = draw(), torch.cuda.get_rng_state(), draw()
    torch.cuda.set_rng_state(state)
    assert all(map(torch.equal, draw(), second))
    torch.cuda.manual_seed(3)
    assert all(map(torch.equal, draw(), first))
    assert not torch.equal(first[0], second[0])


def test_random_numbers_of_the_device_leave_those_of_the_cpu_alone():
    torch.manual_seed(4)
    wanted = torch.rand(4)
    torch.manual_seed(4)
    torch.randn(5, device="cuda")
    functional.dropout(torch.ones(64, device="cuda"))
    assert torch.equal(torch.rand(4), wanted)


def test_tensors_of_the_cpu_are_refused_as_on_a_gpu():
    with pytest.raises(RuntimeError, match="found at least two devices, cuda:0 and cpu"):
        torch.ones(3, device="cuda") + torch.ones(3)
    assert (torch.ones(3, device="cuda") + torch.tensor(1)).tolist() == [2, 2, 2]


def test_an_operator_without_a_cpu_kernel_names_itself():
    x = torch.ones(1, 1, 4, 4, device="cuda")
    with pytest.raises(NotImplementedError, match=r"aten::cudnn_convolution has no CPU kernel"):
        torch.ops.aten.cudnn_convolution(
            x, x, [0, 0], [1, 1], [1, 1], 1, benchmark=False, deterministic=False, allow_tf32=False
        )


def test_quantised_tensors_are_refused():
    with pytest.raises(NotImplementedError, match="quantised tensor"):
        torch.quantize_per_tensor(torch.ones(3, device="cuda"), 0.1, 0, torch.qint8)


def test_capture_of_operators_is_refused_and_does_no_harm():
    x = torch.ones(3, device="cuda")
    with (
        pytest.raises(RuntimeError, match=r"aten::add.* cannot be captured"),
        torch.cuda.graph(torch.cuda.CUDAGraph()),
    ):
        x + 1
    assert (x + 1).tolist() == [2, 2, 2]


def test_sparse_and_nested_tensors():
    sparse = torch.sparse_coo_tensor([[0, 1], [1, 0]], [1.0, 2.0], (2, 2), device="cuda")
    assert (sparse @ torch.eye(2, device="cuda")).tolist() == [[0, 1], [2, 0]]
    assert (sparse + sparse).to_dense().tolist() == [[0, 2], [4, 0]]
    rows = sparse.to_sparse_csr()
    assert (rows @ torch.ones(2, 1, device="cuda")).tolist() == [[1], [2]]
    parts = [torch.ones(n, 3, device="cuda") for n in (2, 4)]
    nested = torch.nested.nested_tensor(parts)
    assert (nested + nested).to_padded_tensor(0).sum().item() == 36


def test_devices_have_their_own_tensors():
    a = torch.randn(4, 6, device="cuda:0")
    b = a.t().to("cuda:1")
    assert torch.equal(b.cpu(), a.t().cpu())
    assert (b + 1).device == torch.device("cuda:1")
    with pytest.raises(RuntimeError, match="cuda:0 and cuda:1"):
        a.t() + b
    with torch.cuda.device(1):
        assert torch.zeros(3, device="cuda").device.index == 1
    lists = torch._foreach_add([torch.ones(2, device=f"cuda:{i}") for i in (0, 1)], 1)
    assert [each.device.index for each in lists] == [0, 1]


@pytest.mark.parametrize("kind", [{"foreach": True}, {"fused": True}])
def test_mixed_precision_and_optimisers(kind):
    torch.manual_seed(0)
    model = nn.Linear(4, 1).cuda()
    optimiser = torch.optim.AdamW(model.parameters(), lr=0.1, **kind)
    scaler = torch.amp.GradScaler("cuda", init_scale=16)
    x = torch.randn(64, 4, device="cuda")
    losses = []
    for _ in range(40):
        optimiser.zero_grad()
        with torch.autocast("cuda", dtype=torch.float16):
            loss = (model(x) - x.sum(1, keepdim=True)).square().mean()
        scaler.scale(loss).backward()
        scaler.step(optimiser)
        scaler.update()
        losses.append(loss.item())
    assert losses[-1] < losses[0] / 10


def test_streams_order_operators_and_copies():
    side = torch.cuda.Stream()
    pinned = torch.arange(1000.0).pin_memory()
    with torch.cuda.stream(side):
        x = pinned.to("cuda", non_blocking=True)
        y = x * 2
    torch.cuda.current_stream().wait_stream(side)
    assert (y + 1).sum().item() == 1000000


def test_tensors_larger_than_the_device_are_refused():
    with pytest.raises(torch.OutOfMemoryError, match="Tried to allocate"):
        torch.empty(10**12, device="cuda")


def test_data_loaders_with_workers():
    loader = torch.utils.data.DataLoader(
        torch.arange(20.0), batch_size=4, num_workers=2, pin_memory=True
    )
    assert sum(batch.cuda(non_blocking=True).sum().item() for batch in loader) == 190


def test_inductor_compiles_for_the_device():
    def f(x, y):
        return functional.gelu(x @ y).softmax(-1).sum(0)

    x, y = torch.randn(32, 16), torch.randn(16, 8)
    torch.testing.assert_close(torch.compile(f)(x.cuda(), y.cuda()).cpu(), f(x, y))


# ---- kernels of the program ---------------------------------------------------------------------


@triton.jit
def softmax_kernel(x, out, n, block: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, block)
    values = tl.load(x + row * n + i, mask=i < n, other=float("-inf"))
    values = tl.exp(values - tl.max(values))
    tl.store(out + row * n + i, values / tl.sum(values), mask=i < n)


class Softmax(torch.autograd.Function):
    """Softmax of rows, forward by Triton."""

    @staticmethod
    def forward(ctx, x):
        x = x.contiguous()
        out = torch.empty_like(x)
        n = x.shape[-1]
        if x.is_cuda:
            on_grid = softmax_kernel[(x.numel() // n,)]
            on_grid(x, out, n, block=triton.next_power_of_2(n))
        else:
            out = x.softmax(-1)
        ctx.save_for_backward(out)
        return out

    @staticmethod
    def backward(ctx, grad):
        (out,) = ctx.saved_tensors
        return out * (grad - (grad * out).sum(-1, keepdim=True))


class Transformer(nn.Module):
    def __init__(self, words=11, width=16):
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        self.attention = nn.Linear(width, 3 * width)
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, words)

    def forward(self, x):
        x = self.embedding(x)
        q, k, v = self.attention(self.norm(x)).chunk(3, -1)
        x = x + Softmax.apply(q @ k.transpose(-1, -2) / 4) @ v
        return self.head(x)


def test_a_transformer_with_a_triton_kernel_learns_as_on_the_cpu():
    def losses(device):
        torch.manual_seed(0)
        model = Transformer()
        words = torch.randint(0, 11, (8, 12))
        model, words = model.to(device), words.to(device)
        optimiser = torch.optim.AdamW(model.parameters(), lr=0.02)
        for _ in range(30):
            optimiser.zero_grad()
            loss = functional.cross_entropy(model(words).flatten(0, 1), words.flip(1).flatten())
            loss.backward()
            optimiser.step()
            yield loss.item()

    on_device, on_cpu = list(losses("cuda")), list(losses("cpu"))
    torch.testing.assert_close(on_device, on_cpu, rtol=1e-3, atol=1e-4)
    assert on_device[-1] < on_device[0] / 2


BEYOND = """
import torch, triton, triton.language as tl
@triton.jit
def double(x, n, block: tl.constexpr):
    i = tl.program_id(0) * block + tl.arange(0, block)
    tl.store(x + i, tl.load(x + i, mask=i < n) * 2)  # line 6: no mask
x = torch.ones(1000, device="cuda")
on_grid = double[(20,)]
on_grid(x, 1000, block=256)
torch.cuda.synchronize()
"""
UNWRITTEN = """
import torch, triton, triton.language as tl
@triton.jit
def double(x, y, n, block: tl.constexpr):
    i = tl.program_id(0) * block + tl.arange(0, block)
    tl.store(x + i, tl.load(x + i, mask=i < n) * tl.load(y + i, mask=i < n), mask=i < n)  # line 6
x, y = torch.ones(100, device="cuda"), torch.empty(100, device="cuda")
on_grid = double[(1,)]
on_grid(x, x + 1, 100, block=128)
torch.cuda.synchronize()
print("right so far", flush=True)
on_grid(x, y, 100, block=128)
torch.cuda.synchronize()
"""
RACE = """
import torch, triton, triton.language as tl
@triton.jit
def count(x, block: tl.constexpr):
    tl.store(x, tl.load(x) + tl.program_id(0))  # line 5: no atomic
x = torch.zeros(1, device="cuda")
on_grid = count[(4,)]
on_grid(x, block=32)
torch.cuda.synchronize()
"""


@pytest.mark.parametrize(
    ("check", "program", "line", "words"),
    [
        ("memory", BEYOND, 6, "illegal address"),
        ("initialized", UNWRITTEN, 6, "uninitialised read"),
        ("races", RACE, 5, "race"),
    ],
)
def test_the_checks_find_a_planted_bug(tmp_path, check, program, line, words):
    file = tmp_path / "bug.py"
    file.write_text(program)
    ended = subprocess.run(
        [sys.executable, file],
        env={**os.environ, "CUPRUM_EMULATOR_CHECK": check, "CUPRUM_EMULATOR_DEVICES": "1"},
        capture_output=True,
        text=True,
    )
    assert ended.returncode != 0
    assert ("right so far" in ended.stdout) == (check == "initialized")
    assert words in ended.stderr
    assert f"bug.py:{line}" in ended.stderr


EXTENSION = """
#include <torch/types.h>
#include <c10/cuda/CUDAStream.h>

__global__ void scale(const float* x, float* y, int n, float a) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i];
}

torch::Tensor scaled(torch::Tensor x, double a) {
    auto y = torch::empty_like(x);
    int n = x.numel();
    auto stream = c10::cuda::getCurrentCUDAStream();
    scale<<<(n + 255) / 256, 256, 0, stream>>>(x.data_ptr<float>(), y.data_ptr<float>(), n, a);
    return y;
}
"""


def test_an_extension_with_a_kernel_of_nvcc_runs(tmp_path):
    from torch.utils.cpp_extension import CUDA_HOME, load_inline

    nvcc = os.path.join(CUDA_HOME or "/usr", "bin", "nvcc")
    version = subprocess.run([nvcc, "--version"], capture_output=True, text=True).stdout
    if f"release {torch.version.cuda.split('.')[0]}." not in version:
        pytest.skip(f"PyTorch is for CUDA {torch.version.cuda}, and nvcc is not")
    module = load_inline(
        "scaling",
        cpp_sources="torch::Tensor scaled(torch::Tensor x, double a);",
        cuda_sources=EXTENSION,
        functions=["scaled"],
        build_directory=str(tmp_path),
    )
    x = torch.randn(1000, device="cuda")
    assert torch.equal(module.scaled(x, 3.0), x * 3)
